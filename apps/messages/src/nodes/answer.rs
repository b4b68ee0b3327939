//! Where a thread that computes waits until the one that receives for it has its answer.
//!
//! # Memory ordering
//! | label | release side                  | acquire side                 | what it publishes        |
//! |-------|-------------------------------|------------------------------|--------------------------|
//! | A1    | `give` or `fail` stores        | `wait` loads it              | what came with the answer |

use raddle_sync::prim::{Acquire, AtomicU64, Release};
use raddle_sync::wait::{SpinBudget, WaitCell, Way};

/// No answer will come.
const NEVER: u64 = u64::MAX;

/// The number of the last answer, and the cell of who waits for it.
#[derive(Debug, Default)]
pub(super) struct Answer {
    number: AtomicU64,
    cell: WaitCell,
}

impl Answer {
    /// The answer of that number is there: wakes who waits for it.
    #[inline]
    pub(super) fn give(&self, number: u64) {
        // ORDERING(A1): Release, what came was written before.
        self.number.store(number, Release);
        let _whether_it_slept = self.cell.ring();
    }

    /// No further answer will come.
    pub(super) fn fail(&self) {
        self.give(NEVER);
    }

    /// Waits for the answer of that number; false when there will be none.
    #[inline]
    pub(super) fn wait(&self, budget: &mut SpinBudget, way: Way, number: u64) -> bool {
        // ORDERING(A1): Acquire, here and below: what came is read after it.
        let has_come = || self.number.load(Acquire) >= number;
        budget.wait_until(&self.cell, way, has_come);
        self.number.load(Acquire) != NEVER
    }
}
