//! Constructors.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::input::Input;
use super::progress::{self, Progress};
use super::store::Store;
use super::work::Work;
use super::workspace::Workspace;
use super::{sequential, tasks};
use crate::kdtree::cost::level::Level;
use crate::kdtree::cost::parameters::Parameters;
use crate::kdtree::crew::{AllWorkers, Crew, OneThread};
use crate::kdtree::error::BuildError;
use crate::kdtree::layout::assemble::assemble;
use crate::kdtree::layout::tree::KdTree;
use crate::kdtree::preparation::Prepared;
use crate::mesh::Mesh;

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
        Self::from_prepared_by(prepared, parameters, &AllWorkers, on_progress)
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
        let (triangles, cell, memory) = prepared.into_parts();
        let input = Input::new(triangles, parameters, Progress::new(&on_progress))?;
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
        let tree = assemble(
            (&input.triangles, &input.parameters),
            extent,
            piece,
            memory.tree,
            crew,
        );
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
        let (triangles, cell, memory) = prepared.into_parts();
        let input = Input::new(triangles, parameters, Progress::new(&on_progress))?;
        let begun = Instant::now();
        let extent = cell.extent;
        let mut workspace = Workspace::within(memory.lists);
        let (piece, cell) =
            sequential::build(&input, cell, Level::ROOT, progress::WHOLE, &mut workspace);
        let freeing = freeing((workspace, cell));
        let tree = assemble(
            (&input.triangles, &input.parameters),
            extent,
            piece,
            memory.tree,
            &OneThread,
        );
        let time = begun.elapsed().saturating_sub(freeing);
        Ok(Timed { tree, time })
    }
}
