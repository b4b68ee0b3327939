//! Teams of worker tasks: how a node task gets one, and what happens to the team afterwards.
//!
//! *Static* collections are created before the first build. For m = 1, 2, 4, … up to the number of
//! workers, collection `T(m, i)` has one task on each of the m workers from i·m on. A node task on
//! worker p uses `T(m, p / m)`. There are several replicas of each collection, and the node task
//! picks one at random, so that two node tasks seldom request the same one. If they do, one of them
//! waits: a [`Lender`] lends its collection to one node task at a time.
//!
//! *Dynamic* tasks are created for one cell. If there are more of them than workers, they are
//! spread over all workers. Otherwise they are seeds, which wait on the worker of their node task
//! until this worker or an idle one instantiates them.
//!
//! # Source
//! Jetley, Kalé (see [`super`]), section V-B.

use raddle::Array;
use raddle::chare::{ArrayOptions, Section, SectionForm};
use raddle::prelude::*;
use raddle_sync::prim::{AtomicU64, Relaxed};

use super::node::NodeTask;
use super::options::WorkerTasks;
use super::worker::{WorkerTask, WorkerTaskProxy};
use crate::kdtree::builders::shares::Share;

/// The number of replicas of each static collection.
const REPLICAS: usize = 4;

/// The tasks that share the work on a cell.
#[derive(Debug)]
pub(super) struct Team {
    pub(super) section: Section<WorkerTask>,
    pub(super) len: usize,
    from: Source,
}

/// The origin of a team.
#[derive(Debug)]
enum Source {
    /// The team belongs to a lender.
    Lender(LenderProxy),
    /// The team was created for the cell.
    Made(Vec<WorkerTaskProxy>),
}

impl Team {
    /// Returns the team to its lender, or ends its tasks.
    pub(super) fn dismiss(self) {
        match self.from {
            Source::Lender(lender) => lender.returned(),
            Source::Made(tasks) => {
                self.section.destroy();
                tasks.iter().for_each(WorkerTaskProxy::leave);
            }
        }
    }
}

/// The source of the teams of a build.
#[derive(Debug)]
pub(super) enum Teams {
    Static {
        /// The lenders, indexed by the logarithm of the size, then by worker range and replica.
        lenders: Vec<Vec<LenderProxy>>,
        arrays: Vec<Array<WorkerTask>>,
        pick_count: AtomicU64,
    },
    Dynamic {
        sync: SectionForm,
    },
}

impl Teams {
    pub(super) fn new(runtime: &Runtime, tasks: WorkerTasks, sync: SectionForm) -> Self {
        if tasks == WorkerTasks::Dynamic {
            return Self::Dynamic { sync };
        }
        let workers = runtime.worker_count();
        let (mut lenders, mut arrays) = (Vec::new(), Vec::new());
        for size in (0..=workers.ilog2()).map(|log2| 1 << log2) {
            let mut of_size = Vec::new();
            for replica in 0..workers.div_ceil(size) * REPLICAS {
                let first = replica / REPLICAS * size;
                let options =
                    ArrayOptions::new(size).placed(move |index: usize| (first + index) % workers);
                let array = runtime.array_with(options, move |index| {
                    WorkerTask::new(Share { index, count: size })
                });
                let section = array.section_with(sync, 0..size);
                arrays.push(array);
                of_size.push(runtime.chare_on(first, move |_| Lender { section, len: size }));
            }
            lenders.push(of_size);
        }
        Self::Static {
            lenders,
            arrays,
            pick_count: AtomicU64::new(0),
        }
    }

    /// Gets a team of about `wanted` tasks, two or more, for a node task. A static team has at most
    /// as many tasks as there are workers.
    pub(super) async fn request_team(&self, cx: &mut Cx<NodeTask>, wanted: usize) -> Team {
        match self {
            Self::Static {
                lenders,
                pick_count,
                ..
            } => {
                let size_log2 = (wanted.ilog2() as usize).min(lenders.len() - 1);
                let near = cx.worker() >> size_log2 << REPLICAS.trailing_zeros();
                // Relaxed: the counter is only a source of pseudo-random numbers.
                let replica = mixed(pick_count.fetch_add(1, Relaxed)) as usize % REPLICAS;
                lenders[size_log2][near + replica].lend(cx.this());
                cx.next(NodeTask::team_granted).await
            }
            Self::Dynamic { sync } => create(cx, wanted, *sync),
        }
    }

    /// Ends the static collections.
    pub(super) fn end(&self) {
        if let Self::Static {
            lenders, arrays, ..
        } = self
        {
            lenders.iter().flatten().for_each(|lender| lender.leave());
            arrays.iter().for_each(|array| array.destroy());
        }
    }
}

/// Creates the tasks for one cell.
fn create(cx: &mut Cx<NodeTask>, len: usize, sync: SectionForm) -> Team {
    let workers = cx.worker_count();
    let tasks: Vec<WorkerTaskProxy> = (0..len)
        .map(|index| {
            let share = Share { index, count: len };
            let make = move |_: &mut Cx<WorkerTask>| WorkerTask::new(share);
            if len > workers {
                cx.runtime().chare_on(index * workers / len, make)
            } else {
                cx.chare(make)
            }
        })
        .collect();
    Team {
        section: cx.runtime().section_with(sync, tasks.iter().copied()),
        len,
        from: Source::Made(tasks),
    }
}

/// Mixes the bits of a number (the finaliser of SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Lends a collection of tasks to one node task after the other.
#[derive(Debug)]
pub(super) struct Lender {
    section: Section<WorkerTask>,
    len: usize,
}

#[chare]
impl Lender {
    /// Reports that the borrower no longer needs the collection.
    #[message]
    pub(super) fn returned();

    /// Lends the collection and waits until it is returned. The next request is served after that.
    #[entry]
    pub(super) async fn lend(&mut self, cx: &mut Cx<Self>, to: super::node::NodeTaskProxy) {
        to.team_granted(Team {
            section: self.section,
            len: self.len,
            from: Source::Lender(cx.this()),
        });
        cx.next(Self::returned).await;
    }

    /// Ends this chare, since there are no further builds.
    #[entry]
    pub(super) fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}
