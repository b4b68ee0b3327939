//! The options of a run, which are the same on all nodes, and the volume.

use std::sync::Arc;
use std::thread;

use raddle::net::bricks::{Answers, Associativity, Backup, BrickSource, HomeRule};
use raddle::net::{NodeId, Shape};

use raddle_sync::wait::SpinBudget;

use super::tiles::TileRule;
use crate::volume::isosurface::BrickFetch;
use crate::volume::{Grid, ValueRanges, VoxelKind};

/// The options of a run.
#[derive(Debug, Clone)]
pub struct DirtOptions {
    /// The number of workers, at least one. The supervisor is another node.
    pub workers: u16,
    /// The number of renderers of each worker, at least one.
    pub renderers: u16,
    /// The number of voxels along an edge of a brick.
    pub brick_edge: usize,
    /// The number of bytes of the cache of each worker.
    pub cache_bytes: u64,
    /// The lines of the cache that a brick may use.
    pub associativity: Associativity,
    /// The way of a brick from its home to another worker.
    pub answers: Answers,
    /// The bricks that a ray fetches.
    pub fetch: BrickFetch,
    /// The rule by which bricks are distributed over the workers.
    pub homes: HomeRule,
    /// The sizes of tiles.
    pub tiles: TileRule,
    /// The number of tiles that a worker has been assigned for each of its renderers, at least one.
    /// With two, a renderer need not wait for its next one.
    pub ahead: usize,
    /// True if the threads of all workers on a machine are more than its CPUs. Then no thread spins
    /// while it waits.
    pub is_oversubscribed: bool,
    /// If true, all threads measure their functions.
    pub profiles: bool,
}

impl DirtOptions {
    /// Returns the usual options for a number of workers and renderers of each.
    #[must_use]
    pub fn new(workers: u16, renderers: u16) -> Self {
        Self {
            workers,
            renderers,
            brick_edge: 12,
            cache_bytes: 64 << 20,
            associativity: Associativity::default(),
            answers: Answers::default(),
            fetch: BrickFetch::default(),
            homes: HomeRule::default(),
            tiles: TileRule::default(),
            ahead: 2,
            is_oversubscribed: Self::is_oversubscribed(usize::from(workers), renderers),
            profiles: false,
        }
    }

    /// Returns true if this machine has fewer CPUs than threads: a communicator and renderers of
    /// each worker, and a supervisor.
    #[must_use]
    pub fn is_oversubscribed(workers: usize, renderers: u16) -> bool {
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        workers * (usize::from(renderers) + 1) + 1 > cpus
    }

    /// Returns the budget of a thread that waits.
    pub(super) const fn budget(&self) -> SpinBudget {
        match self.is_oversubscribed {
            true => SpinBudget::none(),
            false => SpinBudget::of_price(1),
        }
    }

    /// Returns the shape of the program: the supervisor is node 0, and each node has a port for its
    /// messages and one for each renderer.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        Shape {
            nodes: self.workers + 1,
            ports: self.renderers + 1,
        }
    }

    /// Returns the nodes that are workers.
    pub fn worker_nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (1..=self.workers).map(NodeId)
    }
}

/// The volume of a run, and the source of its bricks.
#[derive(Clone)]
pub struct Content {
    /// The grid of the voxels.
    pub grid: Grid,
    /// The type of the voxels.
    pub kind: VoxelKind,
    /// The ranges of values in the blocks of the volume.
    pub ranges: Arc<ValueRanges>,
    /// Produces the bricks of a worker, from a file or a formula. If they are kept in memory, it is
    /// dropped when they are there.
    pub source: Arc<dyn BrickSource>,
    /// True if each worker keeps its own bricks in memory. Otherwise it produces them on demand.
    pub is_in_memory: bool,
    /// Produces the bricks of workers that have ended.
    pub backup: Backup,
}

impl std::fmt::Debug for Content {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut content = formatter.debug_struct("Content");
        content.field("grid", &self.grid).field("kind", &self.kind);
        content
            .field("is_in_memory", &self.is_in_memory)
            .finish_non_exhaustive()
    }
}
