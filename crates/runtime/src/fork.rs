//! Fork-join that costs next to nothing while nobody is hungry.
//!
//! A fork goes on its worker's private fork stack: two stores and a compare. Nobody else reads that stack. When a
//! hungry worker asks, it closes the *gates* of a busy one; the next fork or join there runs into the gate and
//! *publishes* the oldest private fork, the largest piece of work it has, as a task in the pool. The thief that
//! takes it closes the victim's gates again, so that a worker that is being stolen from keeps one fork ready.
//! At the join, a fork that is still private is simply called; a published one is taken back if no thief has it;
//! otherwise the worker waits, running only work from below that fork (see [`crate::worker`]).
//!
//! ```text
//!   first                 base                    top                    end
//!     │  published forks    │  private forks        │  room                │
//!     ▼  (cells in a pool)  ▼  (jobs on the stack)  ▼                      ▼
//!   ┌─────────────────────┬───────────────────────┬──────────────────────┐
//!   └─────────────────────┴───────────────────────┴──────────────────────┘
//!   push_gate: `end` while open, null when closed:   a push at `slot >= push_gate` goes the slow way
//!   pop_gate:  `base` while open, the last address when closed:  a pop at `slot < pop_gate` goes the slow way
//! ```
//! The gates and their ordering are those of [`raddle_sync::gates`].
//! # Invariants
//! 1. Only the owner touches `top`, `base` and the slots; others touch only the gates.
//! 2. Slots below `base` hold published cells, slots from `base` to `top` jobs on the owner's call stack, which
//!    stay there until their join: `join` does not return or unwind before its fork is run or taken back.
//! 3. A worker that has no room for another fork runs it at once.
//! # Source
//! Lazy publication on request: Acar, Charguéraud, Rainwater: Scheduling parallel programs by work stealing with
//! private deques. PPoPP 2013. The split stack: van Dijk, van de Pol: Lace: non-blocking split deque for
//! work-stealing. Euro-Par 2014 workshops.

mod current;
mod join;
pub(crate) mod process;

use std::cell::Cell;
use std::ptr;

use raddle_sync::CachePadded;
use raddle_sync::gates::Gates;
use raddle_sync::prim::{AtomicU64, LIGHT, Relaxed};

use crate::worker::Worker;

pub(crate) use current::{as_nobody, as_worker, current_worker, with_worker};
pub use join::join;

/// Forks that one worker can have open at a time: far more than fit on its call stack.
const SLOT_COUNT: usize = if LIGHT { 4 } else { 1 << 16 };

/// The head of every job on a call stack: what runs it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct JobHead {
    run: unsafe fn(*const JobHead),
}

/// A job on some worker's call stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobRef(*const JobHead);

impl JobRef {
    /// Runs the job and stores its result or its panic in it; does not unwind.
    ///
    /// # Safety
    /// The caller has won the job, and its join has not returned (invariant 2).
    pub(crate) unsafe fn run(self) {
        // SAFETY: the job is alive (contract).
        let run = unsafe { (*self.0).run };
        // SAFETY: the function belongs to this job.
        unsafe { run(self.0) };
    }
}

/// What a slot holds: a job while private, a task cell once published.
pub(crate) type Slot = *const ();

/// The fork stack of one worker: its private part on one cache line, what others may write on another.
#[derive(Debug)]
pub(crate) struct ForkStack {
    private: CachePadded<Private>,
    gates: CachePadded<Gates<Slot>>,
}

#[derive(Debug)]
struct Private {
    top: Cell<*mut Slot>,
    base: Cell<*mut Slot>,
    first: Cell<*mut Slot>,
    end: Cell<*mut Slot>,
    /// The worker that owns this stack; null for the stack of all other threads.
    worker: Cell<*const Worker>,
    inline: AtomicU64,
}

// SAFETY: `private` is touched by the owning worker's thread alone (invariant 1), except `inline`, an atomic.
unsafe impl Sync for ForkStack {}
// SAFETY: as above; the stack moves to its worker's thread before that thread uses it.
unsafe impl Send for ForkStack {}

impl ForkStack {
    raddle_sync::const_fn! {
        /// A stack without room, whose gates are closed for good: that of threads which are no workers.
        const fn outside() -> Self {
            Self {
                private: CachePadded::new(Private {
                    top: Cell::new(ptr::null_mut()),
                    base: Cell::new(ptr::null_mut()),
                    first: Cell::new(ptr::null_mut()),
                    end: Cell::new(ptr::null_mut()),
                    worker: Cell::new(ptr::null()),
                    inline: AtomicU64::new(0),
                }),
                gates: CachePadded::new(Gates::new()),
            }
        }
    }

    /// The stack of a worker that has not begun: without room, its gates closed.
    pub(crate) fn new() -> Self {
        Self::outside()
    }

    /// Makes room, because the worker begins on this thread. Others may have gone to sleep before, and have asked.
    fn make_room(&self, anyone_sleeps: impl FnOnce() -> bool) {
        let slots: Box<[Slot]> = vec![ptr::null(); SLOT_COUNT].into_boxed_slice();
        let first = Box::into_raw(slots).cast::<Slot>();
        self.private.first.set(first);
        self.private.top.set(first);
        self.private.base.set(first);
        self.private.end.set(first.wrapping_add(SLOT_COUNT));
        self.gates
            .open_unless_asked(self.private.end.get(), first, anyone_sleeps);
    }

    /// What other workers use to ask this one for work.
    #[inline]
    pub(crate) fn gates(&self) -> &Gates<Slot> {
        &self.gates
    }

    /// Forks that were called at their join without ever leaving this stack.
    pub(crate) fn inline_count(&self) -> u64 {
        // Relaxed: a statistic.
        self.private.inline.load(Relaxed)
    }

    /// The slot that the next fork will have. For the owner alone, like all that follows.
    pub(crate) fn top(&self) -> usize {
        self.private.top.get().addr()
    }

    /// Opens the gates and gives the oldest private fork to `publish`; false, and gates unchanged, without one.
    ///
    /// `publish` gets the job and the address of its slot, and returns the cell that stands for it from now on.
    /// The second value has a bit for every sleeping asker.
    pub(crate) fn answer<'a>(
        &self,
        publish: impl FnOnce(JobRef, usize) -> &'a crate::task::TaskCell,
    ) -> Option<u64> {
        let base = self.private.base.get();
        if base == self.private.top.get() {
            return None;
        }
        self.private.base.set(base.wrapping_add(1));
        let askers = self
            .gates
            .open_and_take(self.private.end.get(), base.wrapping_add(1));
        // SAFETY: a slot between base and top, which holds a job (invariant 2).
        let job = JobRef(unsafe { base.read() }.cast::<JobHead>());
        let cell = publish(job, base.addr());
        // SAFETY: our own slot (invariant 1).
        unsafe { base.write(ptr::from_ref(cell).cast::<()>()) };
        Some(askers)
    }
}

impl Drop for ForkStack {
    fn drop(&mut self) {
        let first = self.private.first.get();
        if !first.is_null() {
            let slots = ptr::slice_from_raw_parts_mut(first, SLOT_COUNT);
            // SAFETY: made by `Box::into_raw` in `new`.
            drop(unsafe { Box::from_raw(slots) });
        }
    }
}
