//! Node tasks. Each one coordinates the splitting of one cell and creates the node tasks of both
//! halves.

use std::sync::Arc;

use raddle::Grain;
use raddle::prelude::*;
use raddle_sync::prim::{AtomicUsize, Relaxed};

use super::options::MessageOptions;
use super::split::Split;
use super::team::{Team, Teams};
use crate::kdtree::builders::store::Store;
use crate::kdtree::builders::work::{self, Step, Work};
use crate::kdtree::builders::{progress, split_phases};
use crate::kdtree::cells::cell::SharedCell;
use crate::kdtree::cost::level::Level;
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::layout::piece::Piece;

/// The maximum number of worker tasks of a cell per worker. With more tasks than this, the work of
/// each would not be worth a message.
const TASKS_PER_WORKER_MAX: usize = 64;

/// The state that all tasks of a build share.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) work: Work<'static>,
    pub(super) options: MessageOptions,
    pub(super) grain: Grain,
    /// The number of triangles of the root.
    pub(super) triangle_count: usize,
    pub(super) teams: Arc<Teams>,
    pub(super) node_tasks: AtomicUsize,
    pub(super) worker_tasks: AtomicUsize,
}

impl Build {
    pub(super) fn store(&self) -> &Store {
        &self.work.store
    }

    /// Returns the number of worker tasks for a cell.
    fn team_len(&self, cell: &SharedCell, workers: usize) -> usize {
        match self.options.triangles_per_task {
            Some(count) => (cell.len() / count.max(1)).min(TASKS_PER_WORKER_MAX * workers),
            None => work::team_len(cell.len(), self.triangle_count, workers),
        }
    }

    /// Returns true if a cell at the given level is split by tasks.
    fn is_split(&self, cell: &SharedCell, level: Level) -> bool {
        self.grain.splits(cell.len()) && self.work.input.may_split(cell.len(), level)
    }
}

/// The result of processing a cell.
enum Outcome {
    /// The subtree, built by this task alone.
    Whole(Piece),
    /// Like [`Step::CutOff`], with the rest of the cell.
    CutOff(Plane, usize, Box<SharedCell>),
    /// Both halves, and the number of references of the cell.
    Halves(Plane, Box<[SharedCell; 2]>, usize),
}

/// A request to build the subtree of a cell.
#[derive(Debug)]
pub(super) struct SubtreeJob {
    pub(super) cell: SharedCell,
    pub(super) level: Level,
    pub(super) share: progress::Share,
}

/// Coordinates the splitting of a cell.
#[derive(Debug)]
pub(super) struct NodeTask {
    build: Arc<Build>,
}

impl NodeTask {
    pub(super) fn new(build: Arc<Build>) -> Self {
        // Relaxed: this is only a counter.
        build.node_tasks.fetch_add(1, Relaxed);
        Self { build }
    }

    /// Creates the node task of a half of this task's cell, as a seed.
    ///
    /// The cell travels with the seed. If it were sent in a message, the message would first wait
    /// until this worker has time for it, even after the seed has moved to another worker.
    fn make_half(&self, cx: &Cx<Self>, half: usize, job: SubtreeJob) {
        let (build, above) = (Arc::clone(&self.build), cx.this());
        cx.chare(move |cx: &mut Cx<Self>| {
            cx.this().build(job, half, above);
            Self::new(build)
        });
    }

    async fn subtree(&self, cx: &mut Cx<Self>, job: SubtreeJob) -> Piece {
        let SubtreeJob {
            mut cell,
            mut level,
            share,
        } = job;
        // Planes that cut off empty space leave a single half, so they are handled by a loop.
        let mut cut_off = Vec::new();
        let mut piece = loop {
            match self.step(cx, cell, level, share).await {
                Outcome::Whole(piece) => break piece,
                Outcome::CutOff(plane, empty, rest) => {
                    level = level.below(&plane, rest.len());
                    cut_off.push((plane, empty, level.depth));
                    cell = *rest;
                }
                Outcome::Halves(plane, halves, count) => {
                    let level = level.below(&plane, count);
                    break self.halves(cx, plane, *halves, (level, share)).await;
                }
            }
        };
        // Add the nodes of these planes, from the lowest to the highest.
        while let Some((plane, empty, depth)) = cut_off.pop() {
            piece = Piece::cut_off(&plane, empty, depth, piece);
        }
        piece
    }

    /// Creates the node tasks of both halves and waits for their subtrees.
    async fn halves(
        &self,
        cx: &mut Cx<Self>,
        plane: Plane,
        halves: [SharedCell; 2],
        (level, share): (Level, progress::Share),
    ) -> Piece {
        let [below, above] = halves.each_ref().map(SharedCell::len);
        let (below, above) = progress::halves(share, below, above);
        for ((half, cell), share) in halves.into_iter().enumerate().zip([below, above]) {
            self.make_half(cx, half, SubtreeJob { cell, level, share });
        }
        let mut pieces = [None, None];
        for _ in 0..2 {
            let (half, piece) = cx.next(Self::done).await;
            pieces[half] = Some(piece);
        }
        let [Some(below), Some(above)] = pieces else {
            unreachable!("each half is done once")
        };
        Piece::split(&plane, (below, above))
    }

    /// Finds the plane of a cell and splits the cell accordingly.
    async fn step(
        &self,
        cx: &mut Cx<Self>,
        cell: SharedCell,
        level: Level,
        share: progress::Share,
    ) -> Outcome {
        let build = &self.build;
        let whole = |cell| Outcome::Whole(build.work.build_subtree(cell, level, share));
        if !build.is_split(&cell, level) {
            return whole(cell);
        }
        let wanted = build.team_len(&cell, cx.worker_count());
        let cell = Arc::new(cell);
        let (step, halves) = if wanted < 2 {
            let step = build.work.step_alone(&cell, level);
            let halves = match step {
                Step::Split(plane) => {
                    let (input, store) = (&build.work.input, build.store());
                    Some(split_phases::split_on_one_thread(
                        &cell, plane, input, store,
                    ))
                }
                _ => None,
            };
            (step, halves)
        } else {
            let team = build.teams.request_team(cx, wanted).await;
            // Relaxed: this is only a counter.
            build.worker_tasks.fetch_add(team.len, Relaxed);
            let scan = build.options.scans.at(level.depth, cx.worker_count());
            let outcome = Split::new(build, &team, (&cell, level), scan).run().await;
            team.dismiss();
            outcome
        };
        let cell = Arc::into_inner(cell).expect("worker tasks keep no cell");
        match (step, halves) {
            (Step::Split(plane), Some(halves)) => {
                let count = cell.len();
                build.store().put_cell(cell);
                Outcome::Halves(plane, Box::new(halves), count)
            }
            (Step::CutOff(plane, empty), _) => {
                Outcome::CutOff(plane, empty, Box::new(cell.narrowed(&plane, empty)))
            }
            (Step::Leaf | Step::Split(_), _) => whole(cell),
        }
    }
}

#[chare]
impl NodeTask {
    /// Receives the team that this task has requested.
    #[message]
    pub(super) fn team_granted(team: Team);

    /// Receives the subtree of a half.
    #[message]
    pub(super) fn done(half: usize, piece: Piece);

    /// Builds the whole tree.
    #[entry]
    pub(super) async fn tree(&mut self, cx: &mut Cx<Self>, job: SubtreeJob) -> Piece {
        cx.end();
        self.subtree(cx, job).await
    }

    /// Builds the subtree of a half of the parent's cell.
    #[entry]
    async fn build(
        &mut self,
        cx: &mut Cx<Self>,
        job: SubtreeJob,
        half: usize,
        above: NodeTaskProxy,
    ) {
        cx.end();
        above.done(half, self.subtree(cx, job).await);
    }
}
