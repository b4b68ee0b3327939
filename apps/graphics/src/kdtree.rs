//! kd-trees by the exact surface-area heuristic, built in O(N log N), and the way of rays through them.
//!
//! A tree halves space with axis-aligned planes until the heuristic says that testing what is left is cheaper
//! than halving on. [`KdTree::build`] does it with all workers, [`KdTree::build_sequential`] with the calling
//! thread alone; both give the same tree, node for node.
//!
//! ```text
//! parameters   what is weighed; level: the bound on copies of cut triangles
//! event        an end of a triangle's extent along an axis; sorting, merging
//! arena        the names of triangles, and the pieces that planes cut them into
//! cell         a box with its triangles and their events
//! sweep        the cheapest plane of a cell
//! mark         who is on which side of it
//! clip         the extents of the pieces of a triangle cut by a plane; perfect_split: the same for builders elsewhere
//! route        where the events of a triangle go
//! split, deal  dealing a cell's triangles and events out to its halves; lists: these while they are filled
//! shares       the same by several, each of whom has a part of the lists; halving: what their phases hand on
//! build        what all builders share; prepared: what they start from; crew: who does it
//! duplicates   leaving out triangles that no ray can hit
//! sequential, tasks, messages: the builders
//! work, store  what the latter two do with each cell, and in which memory; sums: what was counted, added up
//! assemble     from their pieces to a tree
//! large        hierarchies of boxes for large leaves
//! node         eight bytes of tree; traverse: rays; statistics: figures; estimate: what a ray costs
//! ```
//!
//! **Invariant:** whatever a builder decides depends on the cell alone, never on how or by whom the work is
//! done: every list has one possible order, and ties have a rule.
//!
//! # Source
//! I. Wald, V. Havran: On building fast kd-trees for ray tracing, and on doing that in O(N log N). IEEE
//! Symposium on Interactive Ray Tracing 2006.

mod arena;
mod assemble;
mod build;
mod cell;
mod clip;
mod crew;
mod deal;
mod duplicates;
mod error;
mod estimate;
mod event;
mod halving;
mod large;
mod level;
mod lists;
mod mark;
pub mod messages;
mod node;
mod parameters;
pub mod perfect_split;
mod prepared;
mod progress;
mod route;
mod sequential;
mod shares;
mod split;
mod statistics;
mod store;
mod sums;
mod sweep;
mod tasks;
mod traverse;
mod work;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crew::Alone;
use large::Hierarchies;
use level::Level;
use progress::Progress;
use sequential::Workspace;
use store::Store;
use work::Work;

use crate::intersect::Corners;
use crate::mesh::{Bounds, Mesh};

pub use crew::{Crew, Everybody};
pub use error::BuildError;
pub use estimate::TESTS_SLOW;
pub use node::{Node, NodeKind};
pub use parameters::{DEPTH_MAX, DepthLimit, Parameters};
pub use prepared::{PrepareTimes, Prepared};
pub use statistics::TreeStatistics;
pub use traverse::RayCost;

#[cfg(test)]
mod tests;

/// A kd-tree over the triangles of a mesh, with a copy of them in the order in which rays come by.
///
/// Leaves hold only triangles that rays can hit. Triangles with two equal corners are left out.
/// Where many triangles have the very same corners, all but the first are left out too: hits at the
/// same distance count for the lowest index, so that hits stay the same.
///
/// # Examples
/// ```
/// use glam::Vec3;
/// use raddle_graphics::{kdtree::{KdTree, Parameters}, mesh::Mesh};
///
/// let mesh = Mesh {
///     positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
///     normals: Vec::new(),
///     triangles: vec![[0, 1, 2], [0, 1, 3]],
/// };
/// let tree = KdTree::build(&mesh, &Parameters::default())?;
/// assert_eq!(tree, KdTree::build_sequential(&mesh, &Parameters::default())?);
/// # Ok::<(), raddle_graphics::kdtree::BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct KdTree {
    bounds: Bounds,
    parameters: Parameters,
    /// The depth of the deepest leaf.
    depth: u32,
    /// The root, a node that fills its pair, then pairs of children.
    nodes: Vec<Node>,
    /// Lists of all leaves; indices into `corners` and `triangle_ids`.
    entries: Vec<u32>,
    /// Each triangle once, in the order in which the leaves first name them.
    corners: Vec<Corners>,
    /// The index in the mesh of each of `corners`.
    triangle_ids: Vec<u32>,
    /// The hierarchies of boxes below large leaves.
    hierarchies: Hierarchies,
}

/// A tree, and how long it took.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Timed {
    /// The tree.
    pub tree: KdTree,
    /// From the sorted events to the tree: without what comes before, and without the freeing of the cells' lists.
    pub time: Duration,
}

/// Frees some memory; what that took.
fn freeing<T>(memory: T) -> Duration {
    let begun = Instant::now();
    drop(memory);
    begun.elapsed()
}

impl KdTree {
    /// Builds a tree with all workers of the runtime; the tree does not depend on how many there are.
    ///
    /// Cost: O(N log N) work; some 250 bytes per triangle while it runs.
    ///
    /// # Errors
    /// As [`build_sequential`](Self::build_sequential).
    pub fn build(mesh: &Mesh, parameters: &Parameters) -> Result<Self, BuildError> {
        Self::build_with(mesh, parameters, |_| ())
    }

    /// As [`build`](Self::build), and tells how much of the tree stands.
    ///
    /// `on_progress` hears, from any worker, the share of the triangles that are in finished subtrees, from 0
    /// to 1; once for some thousand triangles, and at last 1. A worker that is overtaken tells an earlier share
    /// after a later one. The last steps, which take a few per cent of the time, come after the 1.
    ///
    /// # Errors
    /// As [`build_sequential`](Self::build_sequential).
    /// # Examples
    /// ```
    /// use raddle_graphics::kdtree::{KdTree, Parameters};
    /// use raddle_graphics::scene::{self, Scene};
    ///
    /// let mesh = scene::generate(Scene::Flake, 50_000);
    /// let tree = KdTree::build_with(&mesh, &Parameters::default(), |share| {
    ///     assert!(share > 0.0 && share <= 1.0);
    /// })?;
    /// # Ok::<(), raddle_graphics::kdtree::BuildError>(())
    /// ```
    pub fn build_with(
        mesh: &Mesh,
        parameters: &Parameters,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Self, BuildError> {
        Self::from_prepared(Prepared::new(mesh)?, parameters, on_progress)
    }

    /// As [`build_with`](Self::build_with), from what was prepared before.
    ///
    /// # Errors
    /// [`BuildError::ParameterOutOfRange`].
    pub fn from_prepared(
        prepared: Prepared,
        parameters: &Parameters,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Self, BuildError> {
        Self::from_prepared_by(prepared, parameters, &Everybody, on_progress)
    }

    /// As [`from_prepared`](Self::from_prepared), with a crew of one's own.
    ///
    /// # Errors
    /// [`BuildError::ParameterOutOfRange`].
    pub fn from_prepared_by(
        prepared: Prepared,
        parameters: &Parameters,
        crew: &impl Crew,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Self, BuildError> {
        Ok(Self::timed_by(prepared, parameters, crew, on_progress)?.tree)
    }

    /// As [`from_prepared_by`](Self::from_prepared_by), and tells how long it took.
    ///
    /// # Errors
    /// [`BuildError::ParameterOutOfRange`].
    pub fn timed_by(
        prepared: Prepared,
        parameters: &Parameters,
        crew: &impl Crew,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Timed, BuildError> {
        let (input, cell, memory) = prepared.for_build(parameters, Progress::new(&on_progress))?;
        let begun = Instant::now();
        // One shelf for all: what one worker has put back another takes, before memory is touched that is fresh from the system.
        let store = Store::new(1);
        store.expect(cell.names.len());
        store.put_stack(memory.lists);
        let work = Work {
            input,
            store: Arc::new(store),
        };
        let extent = cell.extent;
        let piece = tasks::build(&work, cell.into(), crew);
        let Work { input, store } = work;
        let freeing = freeing(store);
        let tree = assemble::assemble(&input, extent, piece, memory.tree, crew);
        let time = begun.elapsed().saturating_sub(freeing);
        Ok(Timed { tree, time })
    }

    /// Builds a tree on the calling thread.
    ///
    /// Cost: O(N log N) time; some 250 bytes per triangle while it runs.
    ///
    /// # Errors
    /// [`BuildError`] where the mesh breaks the rules of [`crate::mesh`], has 2^26 triangles or more, or a
    /// parameter is out of range. A mesh without triangles has a tree: one empty leaf.
    pub fn build_sequential(mesh: &Mesh, parameters: &Parameters) -> Result<Self, BuildError> {
        Self::build_sequential_with(mesh, parameters, |_| ())
    }

    /// As [`build_sequential`](Self::build_sequential), and tells how much of the tree stands, as
    /// [`build_with`](Self::build_with).
    ///
    /// # Errors
    /// As [`build_sequential`](Self::build_sequential).
    pub fn build_sequential_with(
        mesh: &Mesh,
        parameters: &Parameters,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Self, BuildError> {
        Self::from_prepared_sequential(Prepared::sequential(mesh)?, parameters, on_progress)
    }

    /// As [`build_sequential_with`](Self::build_sequential_with), from what was prepared before.
    ///
    /// # Errors
    /// [`BuildError::ParameterOutOfRange`].
    pub fn from_prepared_sequential(
        prepared: Prepared,
        parameters: &Parameters,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Self, BuildError> {
        Ok(Self::timed_sequential(prepared, parameters, on_progress)?.tree)
    }

    /// As [`from_prepared_sequential`](Self::from_prepared_sequential), and tells how long it took.
    ///
    /// # Errors
    /// [`BuildError::ParameterOutOfRange`].
    pub fn timed_sequential(
        prepared: Prepared,
        parameters: &Parameters,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Timed, BuildError> {
        let (input, cell, memory) = prepared.for_build(parameters, Progress::new(&on_progress))?;
        let begun = Instant::now();
        let extent = cell.extent;
        let mut workspace = Workspace::within(memory.lists);
        let (piece, cell) =
            sequential::build(&input, cell, Level::ROOT, progress::WHOLE, &mut workspace);
        let freeing = freeing((workspace, cell));
        let tree = assemble::assemble(&input, extent, piece, memory.tree, &Alone);
        let time = begun.elapsed().saturating_sub(freeing);
        Ok(Timed { tree, time })
    }

    /// The box around all triangles that a ray can hit; a point at the origin when there are none.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The highest index of a triangle in any leaf. Cost: O(triangles).
    pub(crate) fn triangle_highest(&self) -> Option<usize> {
        self.triangle_ids
            .iter()
            .max()
            .map(|&triangle| triangle as usize)
    }

    /// What the tree was built with.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> Node {
        self.nodes[0]
    }

    /// All nodes: the root, a filler, then pairs of children; see [`NodeKind::Inner`].
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The triangles of a leaf, as indices into the mesh; none of an inner node.
    pub fn triangles_of(&self, node: Node) -> impl ExactSizeIterator<Item = u32> + '_ {
        let entries = match node.kind() {
            NodeKind::Leaf { first, count } => &self.entries[first..first + count],
            NodeKind::Inner { .. } => &[],
        };
        entries
            .iter()
            .map(|&entry| self.triangle_ids[entry as usize])
    }
}
