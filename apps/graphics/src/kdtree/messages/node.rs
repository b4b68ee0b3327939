//! Node tasks: each coordinates the splitting of one cell, and makes one for either half.

use std::sync::Arc;

use raddle::Grain;
use raddle::prelude::*;
use raddle_sync::prim::{AtomicUsize, Relaxed};

use super::options::MessageOptions;
use super::split::{self, Outcome, Split};
use super::store::Store;
use super::team::{Team, Teams};
use crate::intersect::Corners;
use crate::kdtree::assemble::Piece;
use crate::kdtree::build::Input;
use crate::kdtree::cell::SharedCell;
use crate::kdtree::progress;
use crate::kdtree::sequential;
use crate::kdtree::split::{Counts, Halves};
use crate::kdtree::sweep::{self, Lightest, Plane, Surface};

/// What all tasks of a build know.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) input: Input<'static>,
    pub(super) options: MessageOptions,
    pub(super) grain: Grain,
    pub(super) teams: Arc<Teams>,
    pub(super) store: Arc<Store>,
    pub(super) node_tasks: AtomicUsize,
    pub(super) worker_tasks: AtomicUsize,
}

impl Build {
    pub(super) fn triangles(&self) -> &[Corners] {
        &self.input.triangles
    }

    /// Builds a subtree as one task.
    fn whole(&self, cell: SharedCell, depth: u32, share: progress::Share) -> Piece {
        let mut workspace = self.store.workspace();
        let cell = self.store.in_one_piece(cell);
        let (piece, cell) = sequential::build(&self.input, cell, depth, share, &mut workspace);
        self.store.put_workspace(workspace);
        self.store.put_cell(cell.into());
        piece
    }

    /// How many worker tasks a cell is worth.
    pub(super) fn team_len(&self, cell: &SharedCell) -> usize {
        cell.len() / self.options.references_per_task.max(1)
    }

    /// The cheapest plane, if it is worth it.
    pub(super) fn plane(&self, cell: &SharedCell, lightest: [Lightest; 3]) -> Option<Plane> {
        let count = cell.len();
        let planes = std::array::from_fn(|axis| {
            let events = &cell.events[axis];
            let ends = (*events.get(0)?, *events.get(events.len() - 1)?);
            let surface = Surface::new(&cell.extent, axis);
            surface.plane(lightest[axis], ends, count as u32, &self.input.parameters)
        });
        self.input.worth_it(sweep::cheapest_of(planes), count)
    }

    /// Which halves of a cell at some depth need events.
    pub(super) fn wanted(&self, counts: Counts, depth: u32) -> Halves<bool> {
        Halves {
            below: self.input.may_split(counts.below, depth + 1),
            above: self.input.may_split(counts.above, depth + 1),
        }
    }
}

/// A cell that waits for a node task.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) cell: SharedCell,
    pub(super) depth: u32,
    pub(super) share: progress::Share,
}

/// Coordinates the splitting of a cell.
#[derive(Debug)]
pub(super) struct NodeTask {
    build: Arc<Build>,
}

impl NodeTask {
    pub(super) fn new(build: Arc<Build>) -> Self {
        // Relaxed: a count.
        build.node_tasks.fetch_add(1, Relaxed);
        Self { build }
    }

    /// Makes a seed for a half of this task's cell.
    ///
    /// The cell goes with the seed: a message would wait at this worker until it has time for it, wherever the seed is by then.
    fn make_half(&self, cx: &Cx<Self>, half: usize, order: Order) {
        let (build, above) = (Arc::clone(&self.build), cx.this());
        cx.chare(move |cx: &mut Cx<Self>| {
            cx.this().build(order, half, above);
            Self::new(build)
        });
    }

    async fn subtree(&self, cx: &mut Cx<Self>, order: Order) -> Piece {
        let Order { cell, depth, share } = order;
        let build = &self.build;
        if !build.grain.splits(cell.len()) || !build.input.may_split(cell.len(), depth) {
            return build.whole(cell, depth, share);
        }
        let cell = Arc::new(cell);
        let split = self.split(cx, &cell, depth).await;
        let cell = Arc::into_inner(cell).expect("worker tasks keep no cell");
        let Some((plane, halves)) = split else {
            return build.whole(cell, depth, share);
        };
        build.store.put_cell(cell);
        let [below, above] = halves.each_ref().map(SharedCell::len);
        let (below, above) = progress::halves(share, below, above);
        for ((half, cell), share) in halves.into_iter().enumerate().zip([below, above]) {
            let depth = depth + 1;
            self.make_half(cx, half, Order { cell, depth, share });
        }
        let mut pieces = [None, None];
        for _ in 0..2 {
            let (half, piece) = cx.next(Self::done).await;
            pieces[half] = Some(piece);
        }
        let [Some(below), Some(above)] = pieces else {
            unreachable!("each half is done once")
        };
        Piece::Split {
            axis: plane.axis,
            position: plane.position,
            halves: Box::new((below, above)),
        }
    }

    /// Finds the plane by which to split a cell, and deals it out to its halves; none where no plane is worth it.
    async fn split(
        &self,
        cx: &mut Cx<Self>,
        cell: &Arc<SharedCell>,
        depth: u32,
    ) -> Option<Outcome> {
        let build = &self.build;
        let wanted = build.team_len(cell);
        if wanted < 2 {
            return split::alone(build, cell, depth);
        }
        let team = build.teams.enlist(cx, wanted).await;
        // Relaxed: a count.
        build.worker_tasks.fetch_add(team.len, Relaxed);
        let scan = build.options.scans.at(depth, cx.worker_count());
        let outcome = Split::new(build, &team, cell, depth).run(scan).await;
        team.dismiss();
        outcome
    }
}

#[chare]
impl NodeTask {
    /// A team that was asked for.
    #[message]
    pub(super) fn lent(team: Team);

    /// The subtree of a half.
    #[message]
    pub(super) fn done(half: usize, piece: Piece);

    /// Builds the whole tree.
    #[entry]
    pub(super) async fn tree(&mut self, cx: &mut Cx<Self>, order: Order) -> Piece {
        cx.end();
        self.subtree(cx, order).await
    }

    /// Builds the subtree of a half of the cell above.
    #[entry]
    async fn build(&mut self, cx: &mut Cx<Self>, order: Order, half: usize, above: NodeTaskProxy) {
        cx.end();
        above.done(half, self.subtree(cx, order).await);
    }
}
