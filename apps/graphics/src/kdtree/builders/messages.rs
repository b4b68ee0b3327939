//! The builder by messages. Every large cell has a node task, which coordinates its splitting, and
//! worker tasks, which share the work.
//!
//! A node task is a chare that is created as soon as its cell exists. It calls its worker tasks for
//! one data-parallel phase after the other, and each worker task answers when its share is done.
//! Then the node task creates the node tasks of both halves as seeds, which wait on its worker
//! until a worker has time for them, and waits for their subtrees. Small cells are built by the
//! sequential builder.
//!
//! No task blocks a worker: a task waits by suspending its entry method. Shared data is owned by
//! the tasks that read it. The only locks are those of the free lists of buffers, and each worker
//! has free lists of its own.
//!
//! ```text
//! options    the options of a build
//! node       node tasks
//! split      the phases that a node task coordinates
//! worker     worker tasks
//! team       the origin of the worker tasks of a cell
//! ```
//!
//! # Invariants
//! 1. A worker task keeps no reference to the data of a phase after it has answered. So its node
//!    task can take the lists back (`Arc::into_inner`), and the next cell reuses their memory
//!    (`builders/store`).
//! 2. Lists that were passed in with a build are freed with it.
//!
//! # Source
//! P. Jetley, L. V. Kalé: Optimizations for message driven applications on multicore architectures.
//! HiPC 2011, sections III to VI. The parallel algorithm: B. Choi et al.: Parallel SAH k-D tree
//! construction. High Performance Graphics 2010. Clipping the triangles that planes cut follows
//! Wald and Havran; the new events are distributed along with the others.

mod node;
mod options;
mod split;
mod team;
mod worker;

use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle::prelude::*;
use raddle::{Grain, GrainTuner};
use raddle_sync::prim::{AtomicUsize, Relaxed};

use crate::kdtree::builders::input::Input;
use crate::kdtree::builders::progress::{Progress, WHOLE};
use crate::kdtree::builders::store::Store;
use crate::kdtree::builders::work::Work;
use crate::kdtree::cells::cell::SharedCell;
use crate::kdtree::cost::level::Level;
use crate::kdtree::cost::parameters::Parameters;
use crate::kdtree::error::BuildError;
use crate::kdtree::fork_join::AllWorkers;
use crate::kdtree::layout::assemble::assemble;
use crate::kdtree::layout::tree::KdTree;
use crate::kdtree::preparation::Prepared;
use crate::kdtree::preparation::memory::Memory;
use node::{Build, NodeTask, SubtreeJob};
use team::Teams;

pub use options::{
    MessageOptions, NodeGrain, ScanChoice, SharedArrays, UnknownNodeGrain, UnknownScanChoice,
    UnknownSharedArrays, UnknownWorkerTasks, WorkerTasks,
};

/// Builds trees by messages, one after the other, and learns the best grain from build to build.
///
/// The builder keeps about 300 bytes of memory for each triangle of the most recent build, as long
/// as it exists. The learned grain applies to builds with the same number of triangles and similar
/// parameters; create another builder for others.
///
/// # Examples
/// ```
/// use raddle_graphics::kdtree::messages::{MessageBuilder, MessageOptions};
/// use raddle_graphics::kdtree::{KdTree, Parameters, Prepared};
/// use raddle_graphics::scene::{self, Scene};
///
/// let mesh = scene::generate(Scene::Flake, 50_000);
/// let runtime = raddle::Runtime::builder().workers(2).build()?;
/// let builder = MessageBuilder::new(&runtime, MessageOptions::default());
/// let parameters = Parameters::default();
/// let built = builder.build(Prepared::new(&mesh)?, &parameters, |_| ())?;
/// assert_eq!(built.tree, KdTree::build_sequential(&mesh, &parameters)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MessageBuilder<'runtime> {
    runtime: &'runtime Runtime,
    options: MessageOptions,
    teams: Arc<Teams>,
    store: Arc<Store>,
    tuner: GrainTuner,
}

/// A tree and statistics of its build.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Built {
    /// The tree.
    pub tree: KdTree,
    /// The time from the sorted events to the tree, as in [`Timed`](crate::kdtree::Timed).
    pub time: Duration,
    /// The number of node tasks, including those that built a subtree alone.
    pub node_tasks: usize,
    /// The number of worker tasks that have worked on cells. A worker task counts once for each
    /// cell that it has worked on.
    pub worker_tasks: usize,
    /// The number of parts into which the tree was to be cut.
    pub parts: usize,
}

impl<'runtime> MessageBuilder<'runtime> {
    /// Creates a builder on the workers of a runtime. Static worker tasks are created here.
    pub fn new(runtime: &'runtime Runtime, options: MessageOptions) -> Self {
        Self {
            runtime,
            options,
            teams: Arc::new(Teams::new(runtime, options.worker_tasks, options.sync)),
            store: Arc::new(Store::new(runtime.worker_count())),
            tuner: GrainTuner::new("kdtree"),
        }
    }

    /// Returns the options of this builder.
    #[must_use]
    pub fn options(&self) -> &MessageOptions {
        &self.options
    }

    /// Builds a tree.
    ///
    /// `on_progress` is called on any worker, as for [`KdTree::build_with`].
    ///
    /// # Errors
    /// Returns [`BuildError::ParameterOutOfRange`] if a parameter is out of range.
    ///
    /// # Panics
    /// Panics when called on a worker of a runtime, since that worker would wait for itself. Also
    /// panics when `on_progress` panics. The runtime's chares have then failed, as after a panic in
    /// any entry method, and further builds by messages need a new runtime.
    pub fn build(
        &self,
        prepared: Prepared,
        parameters: &Parameters,
        on_progress: impl Fn(f32) + Send + Sync + 'static,
    ) -> Result<Built, BuildError> {
        assert!(
            raddle::worker_index().is_none(),
            "a build by messages must not be called on a worker of a runtime; \
             use `KdTree::build` there"
        );
        let progress = Progress::new(on_progress);
        let (
            triangles,
            cell,
            Memory {
                lists,
                tree: memory,
            },
        ) = prepared.into_parts();
        let input = Input::new(triangles, parameters, progress)?;
        let weight = cell.names.len();
        self.store.expect(weight);
        self.store.put_initial(lists);
        let run = match self.options.grain {
            NodeGrain::Tuned => Some(self.runtime.install(|| self.tuner.begin(weight))),
            NodeGrain::Tasks(_) => None,
        };
        let parts = match (&run, self.options.grain) {
            (Some(run), _) => run.task_count(),
            (None, NodeGrain::Tasks(count)) => count.max(1),
            (None, NodeGrain::Tuned) => unreachable!("a tuned build is a run of the tuner"),
        };
        let begun = Instant::now();
        let build = Arc::new(Build {
            work: Work {
                input,
                store: Arc::clone(&self.store),
            },
            options: self.options,
            grain: Grain::tasks(weight, parts),
            triangle_count: weight,
            teams: Arc::clone(&self.teams),
            node_tasks: AtomicUsize::new(0),
            worker_tasks: AtomicUsize::new(0),
        });
        let extent = cell.extent;
        let root = {
            let build = Arc::clone(&build);
            self.runtime.chare(move |_| NodeTask::new(build))
        };
        let job = SubtreeJob {
            cell: SharedCell::root(cell),
            level: Level::ROOT,
            share: WHOLE,
        };
        let piece = root.tree(job).wait();
        let tree = self.runtime.install(|| {
            let Input {
                triangles,
                parameters,
                ..
            } = &build.work.input;
            assemble((triangles, parameters), extent, piece, memory, &AllWorkers)
        });
        let time = begun.elapsed();
        self.store.free_external_cells();
        if let Some(run) = run {
            run.finish_after(time);
        }
        Ok(Built {
            tree,
            time,
            // Relaxed: all tasks that count have replied.
            node_tasks: build.node_tasks.load(Relaxed),
            worker_tasks: build.worker_tasks.load(Relaxed),
            parts,
        })
    }
}

impl Drop for MessageBuilder<'_> {
    fn drop(&mut self) {
        self.teams.end();
    }
}
