//! The parallel builder by forks and joins: one task per subtree, and several tasks that share the
//! splitting of the largest cells.
//!
//! As long as there are fewer cells than workers, or hardly more, all workers share the splitting
//! of each cell, phase by phase ([`super::shares`]). The two halves are then built in parallel,
//! down to cells that are small enough for the sequential builder. The result is a tree of
//! [`Piece`]s.
//!
//! # Source
//! Wald, Havran 2006 (see [`crate::kdtree`]); the scheme of tasks: Choi et al. 2010 (see
//! [`crate::kdtree::phases`]), section 4 ("nested").

use std::sync::Arc;

use super::progress::{self, Share as Progress};
use super::shares::{Counted, Share, ShareCounts, ShareNames};
use super::split_phases::{self, ShareEvents, TrianglePhase};
use super::work::{self, Step, Work};
use crate::kdtree::cells::cell::SharedCell;
use crate::kdtree::cost::level::Level;
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::cost::sweep::{Lightest, Passed};
use crate::kdtree::fork_join::ForkJoin;
use crate::kdtree::layout::piece::Piece;

/// Subtrees with fewer triangles than this are always a single task.
const CELL_LEN_MIN: usize = progress::CELL_LEN_MIN;
/// Subtrees with more triangles than this are never a single task.
const CELL_LEN_MAX: usize = 16 * 1024;
/// The number of subtrees per worker, so that all workers are busy until the end.
const CELLS_PER_WORKER: usize = 16;

/// Builds the subtree of a cell.
pub(super) fn build(work: &Work<'_>, cell: SharedCell, threads: &impl ForkJoin) -> Piece {
    let (count, workers) = (cell.len(), threads.part_count().max(1));
    let tasks = Tasks {
        work,
        threads,
        grain: (count / (CELLS_PER_WORKER * workers)).clamp(CELL_LEN_MIN, CELL_LEN_MAX),
        root: count,
    };
    tasks.subtree(cell, Level::ROOT, progress::WHOLE)
}

struct Tasks<'a, C> {
    work: &'a Work<'a>,
    threads: &'a C,
    /// Cells with fewer triangles than this are built by one task.
    grain: usize,
    /// The number of triangles of the root.
    root: usize,
}

impl<C: ForkJoin> Tasks<'_, C> {
    fn subtree(&self, cell: SharedCell, level: Level, share: Progress) -> Piece {
        let count = cell.len();
        if count < self.grain || !self.work.input.may_split(count, level) {
            return self.work.build_subtree(cell, level, share);
        }
        let team = work::team_len(count, self.root, self.threads.part_count().max(1));
        let plane = match self.step(&cell, team, level) {
            Step::Leaf => return self.work.build_subtree(cell, level, share),
            Step::CutOff(plane, empty) => {
                let level = level.below(&plane, count);
                let full = self.subtree(cell.narrowed(&plane, empty), level, share);
                return Piece::cut_off(&plane, empty, level.depth, full);
            }
            Step::Split(plane) => plane,
        };
        let level = level.below(&plane, count);
        let cell = Arc::new(cell);
        let [below, above] = if team == 1 {
            split_phases::split_on_one_thread(&cell, plane, &self.work.input, &self.work.store)
        } else {
            self.split(&cell, plane, team)
        };
        let cell = Arc::into_inner(cell).expect("all tasks have dropped the cell");
        self.work.store.put_cell(cell);
        let shares = progress::halves(share, below.len(), above.len());
        let halves = self.threads.join(
            || self.subtree(below, level, shares.0),
            || self.subtree(above, level, shares.1),
        );
        Piece::split(&plane, halves)
    }

    /// Finds the plane of a cell with `team` tasks.
    fn step(&self, cell: &SharedCell, team: usize, level: Level) -> Step {
        if team == 1 {
            return self.work.step_alone(cell, level);
        }
        // Count each share, then add up the counts before each share.
        let counted = self.for_each_share(team, |share| Counted::of(cell, share));
        let mut before = [Passed::default(); 3];
        let mut parts: Vec<(Counted, [Passed; 3], [Lightest; 3])> = Vec::new();
        for counted in counted {
            let passed = counted.passed;
            parts.push((counted, before, [Lightest::none(); 3]));
            before = [0, 1, 2].map(|axis: usize| before[axis] + passed[axis]);
        }
        self.threads
            .for_each(&mut parts, |index, (counted, before, lightest)| {
                let share = Share { index, count: team };
                *lightest = counted.lightest(cell, share, *before);
            });
        // Combine the lightest planes of all shares.
        let lightest = parts.iter().map(|(.., lightest)| *lightest);
        let lightest = lightest.fold([Lightest::none(); 3], |best, other| {
            [0, 1, 2].map(|axis: usize| best[axis].or(other[axis]))
        });
        self.work.step(cell, lightest, level)
    }

    /// Splits a cell with `team` tasks.
    fn split(&self, cell: &Arc<SharedCell>, plane: Plane, team: usize) -> [SharedCell; 2] {
        let (input, store) = (&self.work.input, &*self.work.store);
        let triangle_phase = TrianglePhase::new(cell, plane, store);
        // Mark the triangles, then distribute the names of each share as if it were the first one.
        self.for_each_share(team, |share| triangle_phase.mark(share));
        let names = self.for_each_share(team, |share| {
            triangle_phase.distribute(&input.triangles, share, store)
        });
        // Renumber each share by the counts before it, then distribute the events.
        let mut before = ShareCounts::default();
        let mut names: Vec<(ShareNames, ShareCounts)> = names
            .into_iter()
            .map(|share_names| {
                let own = before;
                before = before + share_names.share_counts();
                (share_names, own)
            })
            .collect();
        self.threads
            .for_each(&mut names, |index, (share_names, before)| {
                triangle_phase.renumber(share_names, Share { index, count: team }, *before, store);
            });
        let event_phase = triangle_phase
            .into_event_phase(names.into_iter().map(|(share_names, _)| share_names), store);
        let events: Vec<ShareEvents> =
            self.for_each_share(team, |share| event_phase.distribute(share, store));
        event_phase.halves_of_chunks(events, store)
    }

    /// Calls `body` with each share and returns the results in order.
    fn for_each_share<T: Send>(&self, team: usize, body: impl Fn(Share) -> T + Sync) -> Vec<T> {
        let mut slots: Vec<Option<T>> = (0..team).map(|_| None).collect();
        self.threads.for_each(&mut slots, |index, slot| {
            *slot = Some(body(Share { index, count: team }));
        });
        slots.into_iter().flatten().collect()
    }
}
