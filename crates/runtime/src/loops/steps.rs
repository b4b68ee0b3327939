//! The execution of a piece of a loop: chunk by chunk, step by step.
//!
//! Before a chunk the loop is split in two if that pays off ([`pace`](super::pace)). During each
//! step, what is left of the loop is offered to workers without work.

use std::any::type_name;

use raddle_trace::record::Loop;

use super::on_worker;
use super::pace::Pace;
use super::piece::Piece;
use super::stop::Stop;
use crate::fork::{Offer, Offered};
use crate::worker::current_worker;

/// The results that a loop gathers while it runs: nothing, or the return values of its body.
pub(super) trait Gather: Send {
    /// Creates an empty value for a part of `len` items that another worker runs.
    fn elsewhere(len: usize) -> Self;

    /// Appends the results of the part that follows this one.
    fn append(&mut self, behind: Self);
}

impl Gather for () {
    #[inline]
    fn elsewhere(_: usize) {}

    #[inline]
    fn append(&mut self, (): ()) {}
}

impl<T: Send> Gather for Vec<T> {
    fn elsewhere(len: usize) -> Self {
        Self::with_capacity(len)
    }

    fn append(&mut self, mut behind: Self) {
        Self::append(self, &mut behind);
    }
}

/// The data that all parts of a loop read. They have a cache line of their own, so that no write
/// next to them takes the line away from other workers.
#[repr(align(64))]
struct Common<F> {
    stop: Stop,
    run: F,
}

/// Calls `run` with non-empty parts of `piece`, on all workers that have time. `run` adds its
/// results to its first argument.
#[inline]
pub(super) fn run_piece<P: Piece, G: Gather, F: Fn(&mut G, P) + Sync>(
    gathered: &mut G,
    piece: P,
    run: F,
) {
    let items = piece.item_count();
    if items > 0 {
        let common = Common {
            stop: Stop::new(),
            run,
        };
        on_worker(|| {
            let _recorded = Loop::begin(type_name::<F>(), items);
            common.drive(gathered, piece, Pace::start());
        });
    }
}

impl<F> Common<F> {
    /// Runs a piece on the current worker, gives parts of it away when asked, and offers what is
    /// left during each step.
    fn drive<P: Piece, G: Gather>(&self, gathered: &mut G, mut piece: P, mut pace: Pace)
    where
        F: Fn(&mut G, P) + Sync,
    {
        let stop = &self.stop;
        let worker = current_worker().expect("loops run on workers");
        let mut offer = Offer::of(|rest| self.drive_elsewhere(rest, Pace::eager()));
        let mut is_first = true;
        loop {
            let len = piece.item_count();
            if len == 0 || (pace.may_take_long() && stop.is_set()) {
                return;
            }
            // Split what is left if a worker asks for work and the split pays off. Each part runs
            // the rest of this function for itself.
            if let Some(cut) = pace.cut(len, worker) {
                let (left, right) = piece.split(cut.left);
                let left = |pace| self.drive(gathered, left, pace);
                let right = |pace| self.drive_elsewhere(right, pace);
                let ((), behind) = pace.split(cut, worker, left, right);
                gathered.append(behind);
                return;
            }
            // Run the next chunk in steps. During each step, offer everything behind it.
            let mut chunk = pace.begin_chunk(len, worker);
            loop {
                let count = chunk.step();
                let (step, rest) = piece.split(count);
                let is_first_step = std::mem::take(&mut is_first);
                let run_step = || {
                    if is_first_step {
                        worker.call_stall_watch();
                    }
                    stop.unless_panics(|| (self.run)(gathered, step));
                };
                let offered = if rest.item_count() == 0 || worker.is_alone() {
                    (run_step(), Offered::Kept(rest))
                } else {
                    offer.during(rest, run_step)
                };
                // If the offer was taken, another worker has run everything behind this step.
                match offered {
                    ((), Offered::Kept(rest)) => piece = rest,
                    ((), Offered::Taken(behind)) => return gathered.append(behind),
                }
                if chunk.is_over(count, worker) || stop.is_set() {
                    break;
                }
            }
            if piece.item_count() == 0 {
                return;
            }
            pace.end_chunk(&chunk, len, worker);
            if stop.is_set() {
                return;
            }
        }
    }

    /// Runs a piece on the worker that has taken it. Returns the gathered results.
    fn drive_elsewhere<P: Piece, G: Gather>(&self, piece: P, pace: Pace) -> G
    where
        F: Fn(&mut G, P) + Sync,
    {
        let mut gathered = G::elsewhere(piece.item_count());
        self.drive(&mut gathered, piece, pace);
        gathered
    }
}
