//! Fork-join that costs next to nothing while no worker is without work.
//!
//! A fork goes on its worker's private fork stack: two stores and a compare. When a worker without work asks, it closes the
//! *gates* of a busy one; the next fork or join there meets a closed gate and *publishes* the oldest private fork, the largest
//! piece of work that it has, as a task in the pool. The thief that takes it closes the victim's gates again, so that a worker that is
//! being stolen from keeps one fork ready. A worker that does not answer, because it runs a long leaf, is *raided*: the thief
//! publishes its oldest fork itself ([`raddle_sync::split_stack`]; when: [`crate::worker`]).
//!
//! At the join, a fork that is still private is simply called; a published one is taken back if no thief has it;
//! otherwise the worker waits, running only work from below that fork (see [`crate::worker`]).
//!
//! # Invariants
//! 1. Only the owner pushes and pops.
//! 2. Slots below the base hold published cells, slots from there to the top hold jobs on the owner's call stack, which
//!    stay there until their join: `join` does not return or unwind before its fork is run or taken back.
//! 3. A worker that has no room for another fork runs it at once.
//! # Source
//! Lazy publication on request: Acar, Charguéraud, Rainwater: Scheduling parallel programs by work stealing with
//! private deques. PPoPP 2013. The split stack: van Dijk, van de Pol: Lace: non-blocking split deque for
//! work-stealing. Euro-Par 2014 workshops.

mod current;
mod frames;
mod job;
mod join;
mod offer;
pub(crate) mod process;

use std::cell::Cell;
use std::ptr;

use raddle_sync::gates::Gates;
use raddle_sync::prim::LIGHT;
use raddle_sync::split_stack::{Progress, Slot, SplitStack};

use crate::task::TaskCell;
use crate::worker::Worker;
use frames::Frames;
use job::JobHead;

pub(crate) use current::{as_nobody, as_worker, current_worker, with_worker};
pub(crate) use job::JobRef;
pub use join::join;
pub(crate) use offer::{Offer, Offered};

/// Forks that one worker can have open at a time: far more than fit on its call stack.
const SLOT_COUNT: usize = if LIGHT { 4 } else { 1 << 16 };

/// The fork stack of one worker: its forks, and the frames that they were made in.
#[derive(Debug)]
pub(crate) struct ForkStack {
    stack: SplitStack,
    /// The worker that owns this stack; null for the stack of all other threads.
    worker: Cell<*const Worker>,
    frames: Frames,
}

// SAFETY: `worker` and the deeper frames are touched by the owning worker's thread alone; all else is atomics.
unsafe impl Sync for ForkStack {}
// SAFETY: as above; the stack moves to its worker's thread before that thread uses it.
unsafe impl Send for ForkStack {}

impl ForkStack {
    raddle_sync::const_fn! {
        /// A stack without room, whose gates are closed for good: that of threads which are no workers.
        const fn outside() -> Self {
            Self {
                stack: SplitStack::new(),
                worker: Cell::new(ptr::null()),
                frames: Frames::new(),
            }
        }
    }

    /// The stack of a worker that has not begun: without room, its gates closed.
    pub(crate) fn new() -> Self {
        Self::outside()
    }

    /// What other workers use to ask this one for work.
    #[inline]
    pub(crate) fn gates(&self) -> &Gates<Slot> {
        self.stack.gates()
    }

    /// Forks that were called at their join without ever leaving this stack.
    pub(crate) fn inline_count(&self) -> u64 {
        self.stack.inline_count()
    }

    /// How far this worker has come; none if it has no private fork. A hint, for other workers.
    pub(crate) fn progress(&self) -> Option<Progress> {
        self.stack.progress()
    }

    /// A number that changes only while this worker makes forks or offers.
    pub(crate) fn activity(&self) -> u64 {
        self.stack.activity()
    }

    /// Enters a frame. For the owner alone, like the next two.
    #[inline]
    pub(crate) fn enter(&self, frame: &'static TaskCell) {
        self.frames.push(frame, self.stack.top().addr());
    }

    /// Leaves the innermost frame.
    #[inline]
    pub(crate) fn leave(&self) {
        self.frames.pop();
    }

    /// Returns the innermost frame.
    pub(crate) fn frame(&self) -> Option<&'static TaskCell> {
        self.frames.innermost()
    }

    /// Opens the gates and gives the oldest private fork to `publish`; none, and gates unchanged, without one. For the owner alone.
    ///
    /// `publish` gets the job and the frame that it was made in, and returns the cell that stands for it from now on.
    /// Returns a bit for every sleeping asker.
    pub(crate) fn answer(
        &self,
        publish: impl FnOnce(JobRef, Option<&'static TaskCell>) -> &'static TaskCell,
    ) -> Option<u64> {
        // SAFETY: called by the owner, which publishes below.
        let answer = unsafe { self.stack.answer() }?;
        let job = JobRef(answer.fork.cast_const().cast::<JobHead>());
        let cell = publish(job, self.frames.of_own_slot(answer.slot.addr()));
        // SAFETY: the fork of this answer, which is not popped before this function ends.
        unsafe { self.stack.publish(answer.slot, as_slot(cell)) };
        Some(answer.askers)
    }

    /// Publishes the oldest private fork of a worker that does not answer; false without one. For other workers.
    ///
    /// `publish` is that of [`answer`](Self::answer); it runs under a lock that the owner may wait for.
    pub(crate) fn raid(
        &self,
        publish: impl FnOnce(JobRef, Option<&'static TaskCell>) -> &'static TaskCell,
    ) -> bool {
        self.stack.raid(|fork, slot| {
            let job = JobRef(fork.cast_const().cast::<JobHead>());
            as_slot(publish(job, self.frames.of_slot(slot.addr())))
        })
    }
}

fn as_slot(cell: &'static TaskCell) -> *mut () {
    ptr::from_ref(cell).cast_mut().cast::<()>()
}
