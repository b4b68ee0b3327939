//! The fork stack of one worker: its open forks, and the frames that they were made in.
//!
//! A fork goes on its worker's private fork stack: two stores and a compare. When a worker without
//! work asks, it closes the *gates* of a busy worker. The next fork or join there meets a closed
//! gate and *publishes* the oldest private fork, the largest piece of work that it has, as a task
//! in the pool. The thief that takes it closes the victim's gates again, so that a worker that is
//! being stolen from keeps one fork ready. A worker that does not answer, because it runs a long
//! leaf, is *raided*: the thief publishes its oldest fork itself ([`raddle_sync::split_stack`];
//! when that happens: [`crate::worker`]).
//!
//! At the join, a fork that is still private is simply called. A published one is taken back if no
//! thief has it; otherwise the worker waits and runs only work from below that fork.
//!
//! # Invariants
//! 1. Only the owner pushes and pops.
//! 2. Slots below the base hold published cells. Slots from there to the top hold jobs on the
//!    owner's call stack, which stay there until their join: `join` does not return or unwind
//!    before its fork has been run or taken back.
//! 3. If the stack is full, its worker runs a further fork at once instead of pushing it.
//!
//! # Source
//! Lazy publication on request: Acar, Charguéraud, Rainwater: Scheduling parallel programs by work
//! stealing with private deques. PPoPP 2013. The split stack: van Dijk, van de Pol: Lace:
//! non-blocking split deque for work-stealing. Euro-Par 2014 workshops.

mod frames;

use std::cell::Cell;
use std::ptr;

use raddle_sync::gates::Gates;
use raddle_sync::prim::LIGHT;
use raddle_sync::split_stack::{Progress, Slot, SplitStack};

use crate::task::{JobRef, TaskCell};
use frames::Frames;

/// The number of forks that one worker can have open: far more than fit on its call stack.
const SLOT_COUNT: usize = if LIGHT { 4 } else { 1 << 16 };

/// The fork stack of a worker of type `W`.
#[derive(Debug)]
pub(crate) struct ForkStack<W> {
    stack: SplitStack,
    /// The worker that owns this stack. Null for the stack of all other threads.
    worker: Cell<*const W>,
    /// True if the owner may run open tasks ([`crate::open`]).
    is_open: Cell<bool>,
    frames: Frames,
}

// SAFETY: only the owning worker's thread touches `worker`, `is_open` and the deeper frames; all
// else is atomics. The stack of all other threads is never written.
unsafe impl<W> Sync for ForkStack<W> {}
// SAFETY: as above; the stack moves to its worker's thread before that thread uses it.
unsafe impl<W> Send for ForkStack<W> {}

impl<W> ForkStack<W> {
    raddle_sync::const_fn! {
        /// Creates a stack without capacity and with closed gates: that of a worker that has not
        /// started, or of a thread that is no worker.
        pub(crate) const fn new() -> Self {
            Self {
                stack: SplitStack::new(),
                worker: Cell::new(ptr::null()),
                is_open: Cell::new(false),
                frames: Frames::new(),
            }
        }
    }

    /// Gives the stack its capacity and its owner. For the owner's thread, which calls it first.
    ///
    /// `anyone_sleeps` says whether a worker sleeps that may have to be woken.
    pub(crate) fn start(&self, worker: &W, is_open: bool, anyone_sleeps: impl Fn() -> bool) {
        self.stack.allocate(SLOT_COUNT, anyone_sleeps);
        self.worker.set(worker);
        self.is_open.set(is_open);
    }

    /// Returns true if the owner of this stack, the current thread, may run open tasks.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.get()
    }

    /// Returns the worker that owns this stack.
    ///
    /// # Safety
    /// The caller runs on that worker's thread, and does not keep the reference for longer than the
    /// worker runs.
    #[inline]
    pub(crate) unsafe fn worker(&self) -> Option<&W> {
        // SAFETY: null, or set by `start` to a worker that lives as long as it runs (contract).
        unsafe { self.worker.get().as_ref() }
    }

    /// Returns the slots, on which the owner pushes and pops.
    #[inline]
    pub(crate) fn slots(&self) -> &SplitStack {
        &self.stack
    }

    /// Returns the gates, with which other workers ask this one for work.
    #[inline]
    pub(crate) fn gates(&self) -> &Gates<Slot> {
        self.stack.gates()
    }

    /// Returns the number of forks that were called at their join without ever leaving this stack.
    pub(crate) fn inline_count(&self) -> u64 {
        self.stack.inline_count()
    }

    /// Returns how far this worker has come, or `None` if it has no private fork. A hint, for other
    /// workers.
    pub(crate) fn progress(&self) -> Option<Progress> {
        self.stack.progress()
    }

    /// Returns a number that changes only while this worker makes forks or offers.
    pub(crate) fn activity(&self) -> u64 {
        self.stack.activity()
    }

    /// Enters a frame. For the owner, like the next two functions.
    #[inline]
    pub(crate) fn enter_frame(&self, frame: &'static TaskCell) {
        self.frames.push(frame, self.stack.top().addr());
    }

    /// Leaves the innermost frame.
    #[inline]
    pub(crate) fn exit_frame(&self) {
        self.frames.pop();
    }

    /// Returns the innermost frame.
    #[inline]
    pub(crate) fn frame(&self) -> Option<&'static TaskCell> {
        self.frames.innermost()
    }

    /// Opens the gates and gives the oldest private fork to `publish`. Without a private fork it
    /// returns `None` and leaves the gates unchanged. For the owner.
    ///
    /// `publish` gets the job, the frame that it was made in, and its depth in this stack. It
    /// returns the cell that represents the fork from now on. The result has a bit for every
    /// sleeping asker.
    pub(crate) fn answer(
        &self,
        publish: impl FnOnce(JobRef, Option<&'static TaskCell>, usize) -> &'static TaskCell,
    ) -> Option<u64> {
        // SAFETY: called by the owner, which publishes below.
        let answer = unsafe { self.stack.answer() }?;
        let job = JobRef::from_slot(answer.fork);
        let frame = self.frames.of_own_slot(answer.slot.addr());
        let cell = publish(job, frame, self.depth_of(answer.slot));
        // SAFETY: the fork of this answer, which is not popped before this function ends.
        unsafe { self.stack.publish(answer.slot, as_slot(cell)) };
        Some(answer.askers)
    }

    /// Returns the number of forks below a slot: its depth.
    pub(crate) fn depth_of(&self, slot: *mut Slot) -> usize {
        self.stack.depth_of(slot)
    }

    /// Opens the gates although no fork becomes public, because the owner answers with other work.
    /// The result has a bit for every sleeping asker. For the owner.
    pub(crate) fn open_gates(&self) -> u64 {
        // SAFETY: called by the owner.
        unsafe { self.stack.open_gates() }
    }

    /// Publishes the oldest private fork of a worker that does not answer; returns false if there
    /// is none. For other workers.
    ///
    /// `publish` is as for [`answer`](Self::answer). It runs under a lock that the owner may wait
    /// for.
    pub(crate) fn raid(
        &self,
        publish: impl FnOnce(JobRef, Option<&'static TaskCell>, usize) -> &'static TaskCell,
    ) -> bool {
        self.stack.raid(|fork, slot| {
            let job = JobRef::from_slot(fork);
            let frame = self.frames.of_slot(slot.addr());
            as_slot(publish(job, frame, self.depth_of(slot)))
        })
    }
}

/// Returns the slot value of a fork that is published as `cell`.
fn as_slot(cell: &'static TaskCell) -> *mut () {
    ptr::from_ref(cell).cast_mut().cast::<()>()
}

/// Returns the cell of a published fork from the value of its slot.
///
/// # Safety
/// `slot` is the slot value of a published fork.
pub(crate) unsafe fn published_cell(slot: *mut ()) -> &'static TaskCell {
    // SAFETY: `as_slot` made it from a cell (contract); cells live as long as the process.
    unsafe { &*slot.cast::<TaskCell>() }
}
