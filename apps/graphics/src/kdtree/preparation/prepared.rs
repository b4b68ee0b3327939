//! The input of every builder: the checked triangles of a mesh and the sorted events of their
//! extents.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::memory::{self, Memory};
use super::{duplicates, events, triangles};
use crate::intersect::Corners;
use crate::kdtree::cells::cell::OwnedCell;
use crate::kdtree::cells::names::{Name, Reference};
use crate::kdtree::error::BuildError;
use crate::kdtree::fork_join::{AllWorkers, ForkJoin, OneThread};
use crate::mesh::Mesh;

/// The triangles of a mesh and their sorted events, ready to build a tree from.
///
/// Published build times of kd-trees exclude this preparation, so it is a step of its own. A build
/// consumes its result.
///
/// # Examples
/// ```
/// use raddle_graphics::kdtree::{KdTree, Parameters, Prepared};
/// use raddle_graphics::scene::{self, Scene};
///
/// let mesh = scene::generate(Scene::Flake, 1_000);
/// let prepared = Prepared::new(&mesh)?;
/// assert_eq!(prepared.triangle_count(), mesh.triangles.len());
/// let began = std::time::Instant::now();
/// let tree = KdTree::from_prepared(prepared, &Parameters::default(), |_| ())?;
/// println!("sorted and built in {:?} without the sorting", began.elapsed());
/// assert_eq!(tree, KdTree::build(&mesh, &Parameters::default())?);
/// # Ok::<(), raddle_graphics::kdtree::BuildError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The corners of all triangles of the mesh.
    corners: Vec<Corners>,
    /// The cell of the root.
    cell: OwnedCell,
    /// Memory for the build, including the memory that the sort no longer needs.
    memory: Memory,
    times: PrepareTimes,
}

/// The durations of the steps before a build.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrepareTimes {
    /// The time to copy and check the triangles, and to compute their boxes.
    pub references: Duration,
    /// The time to generate the events: two for each triangle and axis.
    pub events: Duration,
    /// The time to sort the events, to remove duplicates, and to allocate memory for the build.
    pub sort: Duration,
}

impl Prepared {
    /// Prepares a mesh with all workers of the runtime.
    ///
    /// Takes O(N log N) work and about 250 bytes per triangle until the tree is complete.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the mesh breaks the rules of [`crate::mesh`], or has 2^26
    /// triangles or more.
    pub fn new(mesh: &Mesh) -> Result<Self, BuildError> {
        Self::by(mesh, &AllWorkers)
    }

    /// Prepares a mesh on the calling thread.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn sequential(mesh: &Mesh) -> Result<Self, BuildError> {
        Self::by(mesh, &OneThread)
    }

    fn by(mesh: &Mesh, threads: &impl ForkJoin) -> Result<Self, BuildError> {
        let began = Instant::now();
        let corners = triangles::corners_of(mesh, threads)?;
        let (references, extent) = triangles::references_of(&corners, threads);
        let after_references = Instant::now();
        let parts = events::parts_of_events(&references, threads);
        let after_events = Instant::now();
        let mut names: Vec<Name> = references.iter().map(Reference::name).collect();
        drop(references);
        let (mut events, spare) = events::sorted(parts, threads);
        duplicates::leave_out(&corners, &mut names, &mut events);
        let memory = memory::memory_of(names.len(), spare, threads);
        let cell = OwnedCell {
            extent,
            names,
            events,
            arena: Arc::default(),
        };
        let times = PrepareTimes {
            references: after_references - began,
            events: after_events - after_references,
            sort: after_events.elapsed(),
        };
        Ok(Self {
            corners,
            cell,
            memory,
            times,
        })
    }

    /// Returns the triangles of the mesh, the root cell and the memory for the build.
    pub(in crate::kdtree) fn into_parts(self) -> (Vec<Corners>, OwnedCell, Memory) {
        (self.corners, self.cell, self.memory)
    }

    /// Returns the number of triangles of the mesh.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.corners.len()
    }

    /// Returns the durations of the preparation steps.
    #[must_use]
    pub fn times(&self) -> PrepareTimes {
        self.times
    }
}
