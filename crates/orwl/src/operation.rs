//! The state of an operation: its turn, its links to locations, and how it is woken at the end.
//!
//! An operation is a unit that has its own thread or is a future. A task consists of one or several
//! operations. The code that runs an operation calls [`Operation::begin_turn`] and
//! [`Operation::end_turn`] around each turn. The handles of the operation read the turn, and record
//! that they were used.
//!
//! # Invariants
//! 1. An operation that is a future never waits on the thread of its worker: other futures, which
//!    may be ahead of it, need that thread. Such a wait is refused.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use raddle_runtime::{AssignedWorker, Instant};
use raddle_sync::fifo::Access;
use raddle_sync::prim::{Acquire, AtomicBool, AtomicU64, Mutex, Relaxed, Release, light_fence};
use raddle_topology::CpuId;
use raddle_trace::record::{self, Name as RecordedName};

use crate::current;
use crate::handle_requests::PutIn;
use crate::location::Identity;
use crate::program_state::ProgramState;

/// The value of `next_cpu` for no CPU.
const NOWHERE: u64 = u64::MAX;

/// The state that an operation, its handles and its program share.
pub(crate) struct Operation {
    /// The number of the operation, which is unique in the process and starts at 1.
    pub(crate) number: u64,
    /// The number of its program.
    program: u64,
    pub(crate) name: Name,
    /// True if it is placed together with all operations of its task for which this is true.
    is_together: bool,
    pub(crate) program_state: Arc<ProgramState>,
    pub(crate) links: OnceLock<Vec<Arc<Link>>>,
    pub(crate) requests: OnceLock<Vec<Arc<dyn PutIn>>>,
    /// True if a handle was dropped since the last turn ended.
    has_dropped_handle: AtomicBool,
    /// The worker that polls the operation, if the operation is a future.
    pub(crate) assigned: OnceLock<AssignedWorker>,
    /// The CPU to which the operation's thread is bound next, or [`NOWHERE`].
    next_cpu: AtomicU64,
    /// The time when the operation's thread began, if it has one.
    pub(crate) began: OnceLock<Instant>,
    /// The time that the operation's thread has waited, in nanoseconds.
    pub(crate) waited_ns: AtomicU64,
    /// The time spent in polls, in nanoseconds, if the operation is a future.
    pub(crate) polled_ns: AtomicU64,
    /// The number of turns that have ended, which is the number of the current turn.
    ///
    /// Written only by the thread that runs the operation.
    turn: AtomicU64,
    /// True if the operation has only one turn, which has ended.
    is_brief: AtomicBool,
    /// The waker of the operation while it waits, for waking it when the program is halted.
    waker: Mutex<Option<Waker>>,
    /// The name in recordings.
    recorded_name: OnceLock<RecordedName>,
}

/// The names of an operation and of its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) task: String,
    /// The name of the operation within its task; `None` if the task has only one operation.
    pub(crate) operation: Option<String>,
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.operation {
            Some(operation) => write!(formatter, "{}/{operation}", self.task),
            None => formatter.write_str(&self.task),
        }
    }
}

/// Returns a label for each operation; operations that stay together have the same label.
///
/// Returns `None` if no operations stay together.
pub(crate) fn labels_of<'a>(
    operations: impl Iterator<Item = &'a Operation> + Clone,
) -> Option<Vec<usize>> {
    operations.clone().find(|operation| operation.is_together)?;
    let mut tasks = HashMap::new();
    let label = |(own, operation): (usize, &'a Operation)| match operation.is_together {
        true => *tasks.entry(&operation.name.task).or_insert(own),
        false => own,
    };
    Some(operations.enumerate().map(label).collect())
}

/// The part of a handle's state that its operation and program can read.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) location: Arc<Identity>,
    pub(crate) access: Access,
    /// True if the handle is used only in the first turn.
    pub(crate) is_once: bool,
    /// The number of turns in which the handle was used and is no longer in its section.
    ///
    /// It is `u64::MAX` once the handle is dropped or a one-shot handle has been used.
    pub(crate) turns: AtomicU64,
    /// The number of sections that were entered, including the current one and one that a thread
    /// waits for.
    pub(crate) sections: AtomicU64,
    /// The number of bytes of the location when it was last measured.
    pub(crate) extent: AtomicU64,
    /// The greatest number of its bytes that a turn uses.
    pub(crate) touched: AtomicU64,
}

impl Link {
    /// Records that a section begins.
    #[inline(never)]
    pub(crate) fn record_begin(&self) {
        let name = self.location.recorded_name();
        record::section(name, self.access == Access::Write);
    }

    /// Records that a section has ended.
    #[inline(never)]
    pub(crate) fn record_end(&self) {
        record::end_section(self.location.recorded_name(), self.is_once);
    }

    /// Returns an estimate of the number of bytes that a turn uses; 0 if the handle is not used any
    /// more.
    pub(crate) fn bytes(&self) -> f64 {
        // Relaxed, here and below: an estimate.
        if self.turns.load(Relaxed) == u64::MAX {
            return 0.0;
        }
        self.extent.load(Relaxed).min(self.touched.load(Relaxed)) as f64
    }
}

impl Operation {
    pub(crate) fn new(
        number: u64,
        program: u64,
        name: Name,
        is_together: bool,
        program_state: &Arc<ProgramState>,
    ) -> Arc<Self> {
        Arc::new(Self {
            number,
            program,
            name,
            is_together,
            program_state: Arc::clone(program_state),
            links: OnceLock::new(),
            requests: OnceLock::new(),
            has_dropped_handle: AtomicBool::new(false),
            assigned: OnceLock::new(),
            next_cpu: AtomicU64::new(NOWHERE),
            began: OnceLock::new(),
            waited_ns: AtomicU64::new(0),
            polled_ns: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            is_brief: AtomicBool::new(false),
            waker: Mutex::new(None),
            recorded_name: OnceLock::new(),
        })
    }

    /// Returns the number of the current turn, from 0.
    #[inline]
    pub(crate) fn turn(&self) -> u64 {
        // Relaxed: the thread that runs the operation reads its own write; for others see
        // `ProgramState::lower_limit`.
        self.turn.load(Relaxed)
    }

    /// Records that the operation is a future that does not request turns, and that it has ended.
    pub(crate) fn has_one_turn(&self) {
        // Relaxed: read after the run.
        self.is_brief.store(true, Relaxed);
    }

    /// Returns true if the operation does not affect the number of turns.
    pub(crate) fn is_brief(&self) -> bool {
        // Relaxed: as above.
        self.is_brief.load(Relaxed)
    }

    /// Returns true if there is another turn.
    pub(crate) fn begin_turn(&self) -> bool {
        let begins = self.turn() < self.program_state.limit() && !self.program_state.is_halted();
        if begins && record::is_on() {
            let name = || RecordedName::of_text(&self.name.to_string());
            record::run_call(*self.recorded_name.get_or_init(name));
        }
        begins
    }

    /// Ends a turn.
    ///
    /// # Panics
    /// Panics if a handle was not used in the turn, or is still in its section.
    pub(crate) fn end_turn(&self) {
        let turn = self.turn() + 1;
        for link in self.links() {
            // Relaxed: written by this operation.
            if link.turns.load(Relaxed) < turn {
                self.panic_unused(link);
            }
        }
        // Relaxed: `give_back_left_requests` reads it again, with Acquire.
        if self.has_dropped_handle.load(Relaxed) {
            self.give_back_left_requests();
        }
        // Relaxed: ordered by the fences.
        self.turn.store(turn, Relaxed);
        // ORDERING(C1): the turn has ended before the limit is read.
        light_fence();
        self.program_state.turn_ended(turn);
    }

    /// Panics because a handle was not used in the current turn, or is still in its section.
    #[cold]
    fn panic_unused(&self, link: &Link) -> ! {
        let turn = self.turn();
        // Relaxed: as above.
        assert!(
            link.sections.load(Relaxed) <= turn,
            "task {} was still in its section on location {:?} at the end of turn {turn}; expected \
             it to be given back before, so that the tasks behind it have their turn",
            self.name,
            link.location.name,
        );
        panic!(
            "task {} did not use its handle on location {:?} in turn {turn}; expected a section by \
             this task, which owns the handle, or `pass` in turns that need none, so that the \
             tasks behind it go on",
            self.name, link.location.name,
        );
    }

    /// Records that a handle was dropped. Its requests are given back when the turn has ended.
    pub(crate) fn note_dropped_handle(&self) {
        // ORDERING: Release, so that a thread that sees the flag sees which handle was dropped. The
        // acquire is in `give_back_left_requests`.
        self.has_dropped_handle.store(true, Release);
    }

    /// Gives up all places of an operation that has had its only turn, so that the tasks behind it
    /// go on.
    ///
    /// If a handle has been moved out of the operation and still exists, it would keep those tasks
    /// waiting. Then the program ends with this turn.
    pub(crate) fn give_up_places(&self) {
        self.give_back_left_requests();
        let mut requests = self.requests.get().into_iter().flatten();
        if !requests.all(|requests| requests.is_dropped()) {
            self.program_state.lower_limit(self.turn());
        }
    }

    /// Gives back the requests that dropped handles have left.
    #[cold]
    pub(crate) fn give_back_left_requests(&self) {
        // ORDERING: Acquire, to see which handles were dropped. The release is in
        // `note_dropped_handle`. A handle that is dropped later sets the flag again.
        self.has_dropped_handle.swap(false, Acquire);
        for requests in self.requests.get().into_iter().flatten() {
            requests.give_back_if_dropped();
        }
    }

    /// Records in the locations which handles still exist after the run.
    ///
    /// The requests of these handles will never be used.
    pub(crate) fn note_kept(&self) {
        let requests = self.requests.get().into_iter().flatten();
        for (link, requests) in self.links().iter().zip(requests) {
            if !requests.is_dropped() {
                let name = self.name.to_string();
                link.location.kept().push((name, Arc::clone(requests)));
            }
        }
    }

    pub(crate) fn links(&self) -> &[Arc<Link>] {
        self.links.get().map_or(&[], Vec::as_slice)
    }

    /// Moves the operation to another worker, or its thread to another CPU.
    ///
    /// The move takes effect with the next turn or wake-up.
    pub(crate) fn move_to(&self, worker_index: usize, cpu: Option<CpuId>) {
        if let Some(assigned) = self.assigned.get() {
            assigned.move_to(worker_index);
        } else if let Some(cpu) = cpu {
            // Relaxed: the thread may read it in its next turn, or in the one after.
            self.next_cpu.store(u64::from(cpu.0), Relaxed);
        }
    }

    /// Takes the CPU to which the operation's thread is to move, if there is one.
    #[inline]
    pub(crate) fn take_next_cpu(&self) -> Option<CpuId> {
        // Relaxed: as above.
        if self.next_cpu.load(Relaxed) == NOWHERE {
            return None;
        }
        let cpu = self.next_cpu.swap(NOWHERE, Relaxed);
        u32::try_from(cpu).ok().map(CpuId)
    }

    /// Estimates the work of the operation by the number of bytes that it uses.
    pub(crate) fn load(&self) -> f64 {
        1.0 + self.links().iter().map(|link| link.bytes()).sum::<f64>()
    }

    /// Returns the time that the operation has worked so far.
    ///
    /// A wait that is in progress counts as work.
    pub(crate) fn busy(&self) -> Duration {
        // Relaxed: an estimate.
        let (waited, polled) = (self.waited_ns.load(Relaxed), self.polled_ns.load(Relaxed));
        let began = self.began.get().map_or(Duration::ZERO, Instant::elapsed);
        began.saturating_sub(Duration::from_nanos(waited)) + Duration::from_nanos(polled)
    }

    /// Calls `run` as this operation.
    pub(crate) fn run_as<T>(&self, run: impl FnOnce() -> T) -> T {
        current::run_as(self.number, self.program, run)
    }

    /// Returns true if this thread runs a turn of this operation.
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        current::is_operation(self.number)
    }

    /// Checks that the operation has a thread that it may block.
    ///
    /// # Panics
    /// Panics if the operation is a future. The task that it waits for may need the same worker.
    #[track_caller]
    pub(crate) fn expect_thread(&self, link: &Link) {
        assert!(
            self.assigned.get().is_none(),
            "the async task {} waits on its thread for location {:?}; expected `.enter().await`",
            self.name,
            link.location.name
        );
    }

    /// Leaves the waker for a wake-up when the program is halted. A waker of the same task is kept.
    pub(crate) fn leave(&self, waker: &Waker) {
        let mut left = self.waker.lock().expect("nothing panics under this lock");
        if !left.as_ref().is_some_and(|left| left.will_wake(waker)) {
            *left = Some(waker.clone());
        }
    }

    /// Wakes the operation so that it sees that the program is halted.
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the waker.
    ///
    /// An operation that has ended must not leave its waker here, since a waker keeps its task
    /// alive.
    pub(crate) fn take_waker(&self) -> Option<Waker> {
        self.waker
            .lock()
            .expect("nothing panics under this lock")
            .take()
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Operation")
            .field("name", &self.name)
            .field("turn", &self.turn())
            .finish_non_exhaustive()
    }
}
