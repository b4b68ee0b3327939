//! The wait cell in which a computing thread waits until the thread that receives for it has its
//! reply.
//!
//! # Memory ordering
//! | label | release side                        | acquire side    | what it publishes      |
//! |-------|-------------------------------------|-----------------|------------------------|
//! | A1    | `publish` or `fail` stores `number` | `wait` loads it | the data of the answer |

use raddle_sync::prim::{Acquire, AtomicU64, Release};
use raddle_sync::wait::{SpinBudget, WaitCell, Way};

/// The number that means that no further answer will come.
const NEVER: u64 = u64::MAX;

/// The number of the last answer, and the cell of the thread that waits for the next one.
#[derive(Debug, Default)]
pub(super) struct Answer {
    number: AtomicU64,
    cell: WaitCell,
}

impl Answer {
    /// Announces that the answer with this number has arrived, and wakes the waiting thread.
    #[inline]
    pub(super) fn publish(&self, number: u64) {
        // ORDERING(A1): Release, because the data of the answer was written before.
        self.number.store(number, Release);
        let _was_asleep = self.cell.ring();
    }

    /// Announces that no further answer will come.
    pub(super) fn fail(&self) {
        self.publish(NEVER);
    }

    /// Waits for the answer with this number. Returns false if it will never come.
    #[inline]
    pub(super) fn wait(&self, budget: &mut SpinBudget, way: Way, number: u64) -> bool {
        // ORDERING(A1): Acquire, here and below, because the data of the answer is read after it.
        let has_come = || self.number.load(Acquire) >= number;
        budget.wait_until(&self.cell, way, has_come);
        self.number.load(Acquire) != NEVER
    }
}
