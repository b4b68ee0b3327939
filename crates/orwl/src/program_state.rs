//! The operations of a program while it runs: the number of turns, which operations have ended, and
//! the first failure.
//!
//! A run ends when all operations have completed all turns, when an operation ends the program
//! early (the limit is *lowered*), or when an operation fails. In the last two cases, other
//! operations may wait for a grant that never comes. They are *halted*: a flag is set, each
//! operation is woken, and an operation that waits for a section unwinds with [`Halted`], which the
//! program catches.
//!
//! A lower limit does not halt an operation that still has turns below the new limit, since such an
//! operation waits only for turns that are below the limit as well. This module therefore records
//! which operations have completed their turns, and halts the rest when the last one has.
//!
//! # Memory ordering
//! | label | operation                            | `lower_limit`                           |
//! |-------|--------------------------------------|-----------------------------------------|
//! | C1    | ends a turn, light fence, reads the  | sets the limit, heavy fence, reads the  |
//! |       | limit                                | turns of each operation                 |
//!
//! So if an operation has completed its turns when the limit is lowered, either `lower_limit` sees
//! that, or the operation sees the new limit and ends.
//!
//! # Invariants
//! 1. An operation that is marked as done needs nothing more from other operations, and no other
//!    operation needs anything from it.
//! 2. The flag is set before operations are woken because of it. An operation that waits leaves its
//!    waker before it reads the flag for the last time.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use raddle_runtime::Waiter;
use raddle_sync::prim::{
    Acquire, AtomicBool, AtomicU64, AtomicUsize, Mutex, Relaxed, Release, heavy_fence,
};

use raddle_trace::Moves;

use crate::error::{Broken, Panic, RunError, message_of};
use crate::moving::Mover;
use crate::operation::Operation;
use crate::placement::ProgramPlacement;

/// The payload with which a waiting operation unwinds when the program is halted.
#[derive(Debug)]
pub(crate) struct Halted;

/// The operations of a program.
pub(crate) type Operations = Arc<[Arc<Operation>]>;

/// The state that all operations of a program share.
#[derive(Debug)]
pub(crate) struct ProgramState {
    limit: AtomicU64,
    halted: AtomicBool,
    /// Empty before and after the run, since each operation has a reference to the state.
    operations: Mutex<Operations>,
    ends: Mutex<Ends>,
    /// The number of operations that run.
    running: AtomicUsize,
    /// True once all operations have ended and the requests of their handles were given back.
    over: AtomicBool,
    /// True if there is a CPU for each operation that has a thread.
    may_spin: AtomicBool,
    waiter: OnceLock<Waiter>,
    mover: OnceLock<Mover>,
}

#[derive(Debug, Default)]
struct Ends {
    /// For each operation, true once it has completed all its turns.
    done: Vec<bool>,
    done_count: usize,
    failure: Option<RunError>,
}

impl ProgramState {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            limit: AtomicU64::new(u64::MAX),
            halted: AtomicBool::new(false),
            operations: Mutex::default(),
            ends: Mutex::default(),
            running: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            may_spin: AtomicBool::new(false),
            waiter: OnceLock::new(),
            mover: OnceLock::new(),
        })
    }

    /// Sets the operations and the number of turns, before any operation runs.
    pub(crate) fn begin_run(&self, operations: Vec<Arc<Operation>>, limit: u64, may_spin: bool) {
        // Relaxed: threads start after it.
        self.limit.store(limit, Relaxed);
        self.may_spin.store(may_spin, Relaxed);
        self.running.store(operations.len(), Relaxed);
        self.ends().done = vec![false; operations.len()];
        *self.running_operations() = operations.into();
        self.waiter
            .set(Waiter::current())
            .expect("a program runs once");
    }

    /// Sets the mover, which moves operations while they run.
    pub(crate) fn set_mover(&self, mover: Mover) {
        assert!(self.mover.set(mover).is_ok(), "a program runs once");
    }

    /// Returns the moves, and updates `placement` to where the operations are now.
    pub(crate) fn moved(&self, placement: &mut ProgramPlacement) -> Moves {
        let Some(mover) = self.mover.get() else {
            return Moves::default();
        };
        let (moves, places) = mover.report();
        for (place, (worker_index, cpu)) in placement.places.iter_mut().zip(places) {
            (place.worker_index, place.cpu) = (worker_index, cpu);
        }
        moves
    }

    /// Reports that an operation has ended a turn.
    #[inline]
    pub(crate) fn turn_ended(&self, turn: u64) {
        if let Some(mover) = self.mover.get() {
            mover.turn_ended(turn, || self.operations());
        }
    }

    /// Returns the number of turns of the run.
    #[inline]
    pub(crate) fn limit(&self) -> u64 {
        // Relaxed: ordered by the fences (C1), where that matters.
        self.limit.load(Relaxed)
    }

    /// Returns true if operations with threads may spin while they wait.
    pub(crate) fn may_spin(&self) -> bool {
        // Relaxed: set before threads start.
        self.may_spin.load(Relaxed)
    }

    /// Returns true if no operation may begin another turn or section.
    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        // Relaxed: it publishes nothing.
        self.halted.load(Relaxed)
    }

    /// Returns true if the run is over.
    pub(crate) fn is_over(&self) -> bool {
        // ORDERING: Acquire, so that a thread that drops a handle now finds its requests as
        // they were left. The release is in `set_over`.
        self.over.load(Acquire)
    }

    /// Records that the run is over.
    pub(crate) fn set_over(&self) {
        // ORDERING: Release; the acquire is in `is_over`.
        self.over.store(true, Release);
    }

    /// Limits the run to `turns` turns, which the calling operation has ended.
    pub(crate) fn lower_limit(&self, turns: u64) {
        // Relaxed: ordered by the fence.
        self.limit.fetch_min(turns, Relaxed);
        // ORDERING(C1): the limit is set before the turns are read.
        heavy_fence();
        for (index, operation) in self.operations().iter().enumerate() {
            if operation.turn() >= turns {
                self.mark(index);
            }
        }
    }

    /// Records that an operation has ended, with all its turns or because the run was halted.
    pub(crate) fn end(&self, index: usize) {
        self.mark(index);
        // ORDERING: Release, so that the thread that waits for the end sees all effects. The
        // acquire is in `wait`.
        if self.running.fetch_sub(1, Release) == 1 {
            self.waiter.get().expect("the run has begun").notify();
        }
    }

    /// Handles an unwind of the operation. Returns true if the operation panicked.
    pub(crate) fn fail(&self, operation: &Operation, panic: Box<dyn Any + Send>) -> bool {
        if panic.is::<Halted>() {
            return false;
        }
        let panic = match panic.downcast::<Broken>() {
            Ok(broken) => {
                self.halt_because(RunError::Broken(*broken));
                return false;
            }
            Err(panic) => panic,
        };
        self.halt_because(RunError::Panicked {
            operation: operation.name.to_string(),
            turn: operation.turn(),
            message: message_of(&*panic),
            panic: Panic(panic),
        });
        true
    }

    /// Halts all operations, and keeps the reason if it is the first.
    ///
    /// A broken location is never the first reason, since another operation broke it. So a later
    /// reason replaces it.
    pub(crate) fn halt_because(&self, failure: RunError) {
        {
            let kept = &mut self.ends().failure;
            if matches!(kept, None | Some(RunError::Broken(_))) {
                *kept = Some(failure);
            }
        }
        self.halt();
    }

    /// Waits until all operations have ended, and returns the failure if there was one.
    pub(crate) fn wait(&self) -> Result<(), RunError> {
        let waiter = self.waiter.get().expect("the run has begun");
        // ORDERING: Acquire the effects of the operations; the release is in `end`.
        waiter.wait_until(|| self.running.load(Acquire) == 0);
        self.ends().failure.take().map_or(Ok(()), Err)
    }

    pub(crate) fn operations(&self) -> Operations {
        Arc::clone(&self.running_operations())
    }

    /// Drops the references to the operations after the run.
    ///
    /// Otherwise the operations and the state would keep each other alive, and with them their
    /// parts of the runtime.
    pub(crate) fn drop_operations(&self) {
        *self.running_operations() = Operations::default();
    }

    fn running_operations(&self) -> impl std::ops::DerefMut<Target = Operations> + '_ {
        self.operations
            .lock()
            .expect("nothing panics under this lock")
    }

    /// Marks an operation as done. The last one halts the operations that still wait.
    fn mark(&self, index: usize) {
        let is_last = {
            let ends = &mut *self.ends();
            if std::mem::replace(&mut ends.done[index], true) {
                return;
            }
            ends.done_count += 1;
            ends.done_count == ends.done.len()
        };
        if is_last {
            self.halt();
        }
    }

    fn halt(&self) {
        // Relaxed: the locks of the wakers order it (invariant 2).
        self.halted.store(true, Relaxed);
        for operation in self.operations().iter() {
            operation.wake();
        }
    }

    fn ends(&self) -> impl std::ops::DerefMut<Target = Ends> + '_ {
        self.ends.lock().expect("nothing panics under this lock")
    }
}
