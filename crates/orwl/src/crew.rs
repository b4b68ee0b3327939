//! The operations of a program while it runs: how many turns there are, who has ended, and what went wrong first.
//!
//! A run ends when all operations have had all turns; when one says that there are no more (the limit is cut); or when one fails. In the
//! last two cases others may wait for what never comes. They are *halted*: a flag is set, each is woken, and whoever waits in a
//! section leaves it by unwinding with [`Halted`], which nobody sees.
//!
//! A limit that was cut halts nobody who still has turns below it: those wait only for turns that are below it as well. So
//! it is known of each operation whether it has had its turns, and the last one halts the rest.
//!
//! # Memory ordering
//! | label | one side                                                | other side                                            |
//! |-------|---------------------------------------------------------|-------------------------------------------------------|
//! | C1    | operation: ends a turn, light fence, looks at the limit | `cut`: sets the limit, heavy fence, looks at its turns |
//!
//! So whoever has had his turns when the limit is cut either is seen to, or sees the limit and ends.
//! # Invariants
//! 1. An operation that is marked as done needs nothing any more, and nobody needs anything of it.
//! 2. The flag is set before anybody is woken because of it, and each waits with his waker left before he looks at the flag last.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use raddle_runtime::Waiter;
use raddle_sync::prim::{
    Acquire, AtomicBool, AtomicU64, AtomicUsize, Mutex, Relaxed, Release, heavy_fence,
};

use raddle_trace::Moves;

use crate::error::{Broken, Panic, RunError, words_of};
use crate::moving::Mover;
use crate::operation::Operation;
use crate::placement::ProgramPlacement;

/// What an operation unwinds with that waits when all is over.
#[derive(Debug)]
pub(crate) struct Halted;

/// The operations of a program.
pub(crate) type Operations = Arc<[Arc<Operation>]>;

/// What all operations of a program share.
#[derive(Debug)]
pub(crate) struct Crew {
    limit: AtomicU64,
    halted: AtomicBool,
    /// None before and after the run: each of them has the crew.
    operations: Mutex<Operations>,
    ends: Mutex<Ends>,
    /// Operations that run.
    running: AtomicUsize,
    /// All operations have ended, and what their handles had asked for was given back.
    over: AtomicBool,
    /// There is a CPU for each operation that has a thread.
    may_spin: AtomicBool,
    waiter: OnceLock<Waiter>,
    mover: OnceLock<Mover>,
}

#[derive(Debug, Default)]
struct Ends {
    /// Those that have had all their turns.
    done: Vec<bool>,
    done_count: usize,
    failure: Option<RunError>,
}

impl Crew {
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

    /// Says who is in it, and how many turns there are, before anybody runs.
    pub(crate) fn muster(&self, operations: Vec<Arc<Operation>>, limit: u64, may_spin: bool) {
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

    /// Has operations moved while they run.
    pub(crate) fn hire(&self, mover: Mover) {
        assert!(self.mover.set(mover).is_ok(), "a program runs once");
    }

    /// What was moved; says in the placement where everybody came to be.
    pub(crate) fn moved(&self, placement: &mut ProgramPlacement) -> Moves {
        let Some(mover) = self.mover.get() else {
            return Moves::default();
        };
        let (moves, places) = mover.told();
        for (place, (worker_index, cpu)) in placement.places.iter_mut().zip(places) {
            (place.worker_index, place.cpu) = (worker_index, cpu);
        }
        moves
    }

    /// An operation has ended a turn.
    #[inline]
    pub(crate) fn turn_ended(&self, turn: u64) {
        if let Some(mover) = self.mover.get() {
            mover.turn_ended(turn, || self.operations());
        }
    }

    /// The number of turns.
    #[inline]
    pub(crate) fn limit(&self) -> u64 {
        // Relaxed: ordered by the fences (C1), where that matters.
        self.limit.load(Relaxed)
    }

    /// True when operations with threads may spin while they wait.
    pub(crate) fn may_spin(&self) -> bool {
        // Relaxed: set before threads start.
        self.may_spin.load(Relaxed)
    }

    /// True when nobody shall begin anything any more.
    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        // Relaxed: it publishes nothing.
        self.halted.load(Relaxed)
    }

    /// The run is over.
    pub(crate) fn is_over(&self) -> bool {
        // ORDERING: Acquire, so that who drops a handle now finds the seat as it was left; its partner is in `set_over`.
        self.over.load(Acquire)
    }

    pub(crate) fn set_over(&self) {
        // ORDERING: Release; its partner is in `is_over`.
        self.over.store(true, Release);
    }

    /// There are no more turns than `turns`: the operation that says so has ended that many.
    pub(crate) fn cut(&self, turns: u64) {
        // Relaxed: ordered by the fence.
        self.limit.fetch_min(turns, Relaxed);
        // ORDERING(C1): the limit is set before the turns are looked at.
        heavy_fence();
        for (index, operation) in self.operations().iter().enumerate() {
            if operation.turn() >= turns {
                self.mark(index);
            }
        }
    }

    /// The operation has ended: with all its turns, or since all was over.
    pub(crate) fn end(&self, index: usize) {
        self.mark(index);
        // ORDERING: Release, so that who waits for the end sees all that was done; its partner is in `wait`.
        if self.running.fetch_sub(1, Release) == 1 {
            self.waiter.get().expect("it was mustered").notify();
        }
    }

    /// The operation has panicked, or left; true when it has panicked.
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
            message: words_of(&*panic),
            panic: Panic(panic),
        });
        true
    }

    /// Halts all, and keeps the reason if it is the first. Who found a location broken was not: somebody broke it.
    pub(crate) fn halt_because(&self, failure: RunError) {
        {
            let kept = &mut self.ends().failure;
            if matches!(kept, None | Some(RunError::Broken(_))) {
                *kept = Some(failure);
            }
        }
        self.halt();
    }

    /// Waits until all operations have ended; returns why, if they did not have all their turns.
    pub(crate) fn wait(&self) -> Result<(), RunError> {
        let waiter = self.waiter.get().expect("it was mustered");
        // ORDERING: Acquire, what the operations did; its partner is in `end`.
        waiter.wait_until(|| self.running.load(Acquire) == 0);
        self.ends().failure.take().map_or(Ok(()), Err)
    }

    pub(crate) fn operations(&self) -> Operations {
        Arc::clone(&self.running_operations())
    }

    /// Lets the operations go when all is over; otherwise they and the crew would keep each other, and what they have of the runtime.
    pub(crate) fn disband(&self) {
        *self.running_operations() = Operations::default();
    }

    fn running_operations(&self) -> impl std::ops::DerefMut<Target = Operations> + '_ {
        self.operations
            .lock()
            .expect("nothing panics under this lock")
    }

    /// Marks an operation as done; the last one halts those that wait for what never comes.
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
