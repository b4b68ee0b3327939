//! The constructors of [`KdTree`] on the calling thread and by tasks.

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
use crate::kdtree::error::BuildError;
use crate::kdtree::fork_join::{AllWorkers, ForkJoin, OneThread};
use crate::kdtree::layout::assemble::assemble;
use crate::kdtree::layout::tree::KdTree;
use crate::kdtree::preparation::Prepared;
use crate::mesh::Mesh;

/// A tree and its build time.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Timed {
    /// The tree.
    pub tree: KdTree,
    /// The time from the sorted events to the tree. It includes neither the preparation before nor
    /// the freeing of the cells' lists afterwards.
    pub time: Duration,
}

/// Frees some memory and returns the time that this took.
fn freeing<T>(memory: T) -> Duration {
    let begun = Instant::now();
    drop(memory);
    begun.elapsed()
}

impl KdTree {
    /// Builds a tree with all workers of the runtime. The tree does not depend on the number of
    /// workers.
    ///
    /// Takes O(N log N) work, and about 250 bytes per triangle while it runs.
    ///
    /// # Errors
    /// As for [`build_sequential`](Self::build_sequential).
    pub fn build(mesh: &Mesh, parameters: &Parameters) -> Result<Self, BuildError> {
        Self::build_with(mesh, parameters, |_| ())
    }

    /// Builds a tree like [`build`](Self::build), and reports the progress.
    ///
    /// `on_progress` is called on any worker with the share of the triangles that are in finished
    /// subtrees, from 0 to 1. It is called once per some thousand triangles, and at last with 1.
    /// Calls from different workers can overtake each other, so a smaller share may follow a larger
    /// one. The last steps of the build, which take a few per cent of the time, come after the 1.
    ///
    /// # Errors
    /// As for [`build_sequential`](Self::build_sequential).
    ///
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

    /// Builds a tree like [`build_with`](Self::build_with), of a mesh that has already been
    /// prepared.
    ///
    /// # Errors
    /// Returns [`BuildError::ParameterOutOfRange`] if a parameter is out of range.
    pub fn from_prepared(
        prepared: Prepared,
        parameters: &Parameters,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Self, BuildError> {
        Self::from_prepared_by(prepared, parameters, &AllWorkers, on_progress)
    }

    /// Builds a tree like [`from_prepared`](Self::from_prepared), on the given threads.
    ///
    /// # Errors
    /// Returns [`BuildError::ParameterOutOfRange`] if a parameter is out of range.
    pub fn from_prepared_by(
        prepared: Prepared,
        parameters: &Parameters,
        threads: &impl ForkJoin,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Self, BuildError> {
        Ok(Self::timed_by(prepared, parameters, threads, on_progress)?.tree)
    }

    /// Builds a tree like [`from_prepared_by`](Self::from_prepared_by), and returns it with the
    /// build time.
    ///
    /// # Errors
    /// Returns [`BuildError::ParameterOutOfRange`] if a parameter is out of range.
    pub fn timed_by(
        prepared: Prepared,
        parameters: &Parameters,
        threads: &impl ForkJoin,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Timed, BuildError> {
        let (triangles, cell, memory) = prepared.into_parts();
        let input = Input::new(triangles, parameters, Progress::new(&on_progress))?;
        let begun = Instant::now();
        // All workers share one set of free lists: a worker should reuse a buffer of any other
        // worker before it touches memory that is fresh from the system.
        let store = Store::new(1);
        store.expect(cell.names.len());
        store.put_stack(memory.lists);
        let work = Work {
            input,
            store: Arc::new(store),
        };
        let extent = cell.extent;
        let piece = tasks::build(&work, cell.into(), threads);
        let Work { input, store } = work;
        let freeing = freeing(store);
        let tree = assemble(
            (&input.triangles, &input.parameters),
            extent,
            piece,
            memory.tree,
            threads,
        );
        let time = begun.elapsed().saturating_sub(freeing);
        Ok(Timed { tree, time })
    }

    /// Builds a tree on the calling thread.
    ///
    /// Takes O(N log N) time, and about 250 bytes per triangle while it runs.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the mesh breaks the rules of [`crate::mesh`], has 2^26 triangles
    /// or more, or if a parameter is out of range. A mesh without triangles is no error; its tree
    /// is one empty leaf.
    pub fn build_sequential(mesh: &Mesh, parameters: &Parameters) -> Result<Self, BuildError> {
        Self::build_sequential_with(mesh, parameters, |_| ())
    }

    /// Builds a tree like [`build_sequential`](Self::build_sequential), and reports the progress as
    /// [`build_with`](Self::build_with) does.
    ///
    /// # Errors
    /// As for [`build_sequential`](Self::build_sequential).
    pub fn build_sequential_with(
        mesh: &Mesh,
        parameters: &Parameters,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Self, BuildError> {
        Self::from_prepared_sequential(Prepared::sequential(mesh)?, parameters, on_progress)
    }

    /// Builds a tree like [`build_sequential_with`](Self::build_sequential_with), of a mesh that
    /// has already been prepared.
    ///
    /// # Errors
    /// Returns [`BuildError::ParameterOutOfRange`] if a parameter is out of range.
    pub fn from_prepared_sequential(
        prepared: Prepared,
        parameters: &Parameters,
        on_progress: impl Fn(f32) + Sync,
    ) -> Result<Self, BuildError> {
        Ok(Self::timed_sequential(prepared, parameters, on_progress)?.tree)
    }

    /// Builds a tree like [`from_prepared_sequential`](Self::from_prepared_sequential), and returns
    /// it with the build time.
    ///
    /// # Errors
    /// Returns [`BuildError::ParameterOutOfRange`] if a parameter is out of range.
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
