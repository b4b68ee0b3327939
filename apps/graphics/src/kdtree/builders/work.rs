//! The work of parallel builders on a cell, by tasks or by messages: find its plane, or build its
//! whole subtree.

use std::sync::Arc;

use super::input::Input;
use super::shares::{Counted, Share};
use super::store::Store;
use super::{progress, sequential};
use crate::kdtree::cells::cell::SharedCell;
use crate::kdtree::cost::level::Level;
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::cost::sweep::{self, Lightest, Surface};
use crate::kdtree::layout::piece::Piece;

/// Several tasks share a cell only if each has at least this many triangles.
const SHARE_LEN_MIN: usize = 8 * 1024;
/// The maximum number of shares per worker.
const SHARES_PER_WORKER: usize = 2;

/// Returns the number of shares into which the work on a cell is divided, given the number of
/// triangles of the cell and of the root.
///
/// Several tasks together take somewhat more time than one. So cells are shared only as long as
/// there are fewer cells than workers, or hardly more.
pub(super) fn team_len(count: usize, root: usize, workers: usize) -> usize {
    if workers == 1 || count < 3 * root / (2 * workers) {
        return 1;
    }
    (count / SHARE_LEN_MIN).clamp(1, SHARES_PER_WORKER * workers)
}

/// The input and the memory of a parallel build.
#[derive(Debug)]
pub(super) struct Work<'a> {
    pub(super) input: Input<'a>,
    pub(super) store: Arc<Store>,
}

/// The decision about a cell that may be split.
#[derive(Debug)]
pub(super) enum Step {
    /// No plane is worth a split.
    Leaf,
    /// The plane cuts off a half that no triangle reaches into: 0 for below, 1 for above.
    CutOff(Plane, usize),
    /// The plane has triangles on both sides.
    Split(Plane),
}

impl Work<'_> {
    /// Builds a subtree on this thread.
    pub(super) fn build_subtree(
        &self,
        cell: SharedCell,
        level: Level,
        share: progress::Share,
    ) -> Piece {
        let mut workspace = self.store.workspace();
        let is_external = cell.is_external;
        let cell = self.store.in_one_piece(cell);
        let (piece, cell) = sequential::build(&self.input, cell, level, share, &mut workspace);
        self.store.put_workspace(workspace);
        self.store.put_cell(SharedCell {
            is_external,
            ..cell.into()
        });
        piece
    }

    /// Decides about a cell, given the lightest plane along each axis.
    pub(super) fn step(&self, cell: &SharedCell, lightest: [Lightest; 3], level: Level) -> Step {
        let count = cell.len();
        let ends = [0, 1, 2].map(|axis: usize| {
            let events = &cell.events[axis];
            Some((*events.get(0)?, *events.get(events.len() - 1)?))
        });
        let planes = std::array::from_fn(|axis| {
            let surface = Surface::new(&cell.extent, axis);
            let parameters = &self.input.parameters;
            surface.plane(lightest[axis], ends[axis]?, count as u32, parameters)
        });
        let plane = sweep::cheapest_of(planes);
        let plane = self.input.worth_it(plane, count, level);
        let Some((plane, ends)) = plane.and_then(|plane| Some((plane, ends[plane.axis]?))) else {
            return Step::Leaf;
        };
        match plane.empty_half(ends) {
            Some(half) => Step::CutOff(plane, half),
            None => Step::Split(plane),
        }
    }

    /// Decides about a cell on this thread.
    pub(super) fn step_alone(&self, cell: &SharedCell, level: Level) -> Step {
        let counted = Counted::of(cell, Share::WHOLE);
        self.step(
            cell,
            counted.lightest(cell, Share::WHOLE, Default::default()),
            level,
        )
    }
}

impl SharedCell {
    /// Returns the half that contains all triangles of this cell. `empty` is the other half.
    pub(super) fn narrowed(mut self, plane: &Plane, empty: usize) -> Self {
        let (below, above) = self.extent.halves(plane.axis, plane.position);
        self.extent = if empty == 0 { above } else { below };
        self
    }
}
