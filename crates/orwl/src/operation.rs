//! An operation under way: its turn, its links to locations, and how it is told that all is over.
//!
//! An operation is what has a thread, or is a future, of its own; a task is one or several of them. Whoever runs it calls
//! [`Operation::begin_turn`] and [`Operation::end_turn`] around each turn; its handles look at the turn and write down that they were used.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Duration;

use raddle_runtime::{AssignedWorker, Instant};
use raddle_sync::fifo::Access;
use raddle_sync::prim::{Acquire, AtomicBool, AtomicU64, Mutex, Relaxed, Release, light_fence};
use raddle_topology::CpuId;

use crate::crew::Crew;
use crate::current;
use crate::location::Identity;
use crate::seat::PutIn;

/// No CPU has this number.
const NOWHERE: u64 = u64::MAX;

/// What an operation, its handles and its program share.
pub(crate) struct Operation {
    /// From 1, and of no other operation of the process.
    pub(crate) number: u64,
    /// The number of its program.
    program: u64,
    pub(crate) name: Name,
    /// It stays with all operations of its task of which this is said, too.
    is_together: bool,
    pub(crate) crew: Arc<Crew>,
    pub(crate) links: OnceLock<Vec<Arc<Link>>>,
    pub(crate) seats: OnceLock<Vec<Arc<dyn PutIn>>>,
    /// A handle was dropped in this turn.
    has_left: AtomicBool,
    /// Where it is at home, if it is a future, and what its thread is to be bound to next, if it has one.
    pub(crate) home: OnceLock<AssignedWorker>,
    next_cpu: AtomicU64,
    /// When its thread began, if it has one.
    pub(crate) began: OnceLock<Instant>,
    /// Nanoseconds that its thread has waited.
    pub(crate) waited_ns: AtomicU64,
    /// Nanoseconds that it was polled, if it is a future.
    pub(crate) polled_ns: AtomicU64,
    /// Turns that have ended, which is the number of the one that runs. Written by whoever runs the operation.
    turn: AtomicU64,
    /// It has had the only turn that it has.
    is_brief: AtomicBool,
    /// What to wake when all is over.
    waker: Mutex<Option<Waker>>,
}

/// The names of an operation and its task, equal where the task has one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) task: String,
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

/// A label for each operation, the same for those that stay together; `None` when nobody does.
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

/// What is known of a handle without having it.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) location: Arc<Identity>,
    pub(crate) access: Access,
    /// It is used in one turn alone.
    pub(crate) is_once: bool,
    /// Turns that it has been used in, or passed, and is no more; all there are, for one that is used once and was.
    pub(crate) turns: AtomicU64,
    /// Sections that it is or was in.
    pub(crate) sections: AtomicU64,
    /// The bytes of the location when last looked at.
    pub(crate) extent: AtomicU64,
    /// The most bytes of it that a turn goes through.
    pub(crate) touched: AtomicU64,
}

impl Link {
    /// The bytes that a turn goes through, as far as is known; none of a handle that is not used any more.
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
        crew: &Arc<Crew>,
    ) -> Arc<Self> {
        Arc::new(Self {
            number,
            program,
            name,
            is_together,
            crew: Arc::clone(crew),
            links: OnceLock::new(),
            seats: OnceLock::new(),
            has_left: AtomicBool::new(false),
            home: OnceLock::new(),
            next_cpu: AtomicU64::new(NOWHERE),
            began: OnceLock::new(),
            waited_ns: AtomicU64::new(0),
            polled_ns: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            is_brief: AtomicBool::new(false),
            waker: Mutex::new(None),
        })
    }

    /// The turn that runs, from 0.
    #[inline]
    pub(crate) fn turn(&self) -> u64 {
        // Relaxed: who runs it reads what he wrote himself; for others see `Crew::cut`.
        self.turn.load(Relaxed)
    }

    /// It is a future that does not ask for turns, and has ended.
    pub(crate) fn has_one_turn(&self) {
        // Relaxed: read when all is over.
        self.is_brief.store(true, Relaxed);
    }

    /// True when it has no say in how many turns there were.
    pub(crate) fn is_brief(&self) -> bool {
        // Relaxed: as above.
        self.is_brief.load(Relaxed)
    }

    /// True when there is another turn.
    pub(crate) fn begin_turn(&self) -> bool {
        self.turn() < self.crew.limit() && !self.crew.is_halted()
    }

    /// Ends a turn.
    ///
    /// # Panics
    /// When a handle was not used in it, or is still in its section.
    pub(crate) fn end_turn(&self) {
        let turn = self.turn() + 1;
        for link in self.links() {
            // Relaxed: written by this operation.
            if link.turns.load(Relaxed) < turn {
                self.complain(link);
            }
        }
        // Relaxed: who sees it looks again, with more care.
        if self.has_left.load(Relaxed) {
            self.clear_left_seats();
        }
        // Relaxed: ordered by the fences.
        self.turn.store(turn, Relaxed);
        // ORDERING(C1): the turn has ended before the limit is looked at.
        light_fence();
        self.crew.turn_ended(turn);
    }

    #[cold]
    fn complain(&self, link: &Link) -> ! {
        let turn = self.turn();
        // Relaxed: as above.
        assert!(
            link.sections.load(Relaxed) <= turn,
            "task {} was still in its section on location {:?} at the end of turn {turn}; expected it to be given back before, \
             so that those who wait behind it have their turn",
            self.name,
            link.location.name,
        );
        panic!(
            "task {} did not use its handle on location {:?} in turn {turn}; expected a section by this task, whose handle it is, or `pass` in turns \
             that need none, so that those who wait behind it go on",
            self.name, link.location.name,
        );
    }

    /// A handle was dropped: its place is given up when the turn has ended.
    pub(crate) fn has_left_seats(&self) {
        // ORDERING: Release, so that who sees it sees which seat was left; its partner is in `clear_left_seats`.
        self.has_left.store(true, Release);
    }

    /// Has had its only turn: those behind it go on without it. Whoever has its handles now keeps them waiting, and ends the program.
    pub(crate) fn give_up_places(&self) {
        self.clear_left_seats();
        let mut seats = self.seats.get().into_iter().flatten();
        if !seats.all(|seat| seat.is_left()) {
            self.crew.cut(self.turn());
        }
    }

    /// Gives back what dropped handles have left.
    #[cold]
    pub(crate) fn clear_left_seats(&self) {
        // ORDERING: Acquire, which seats were left; its partner is in `has_left_seats`. What is left later sets it again.
        self.has_left.swap(false, Acquire);
        for seat in self.seats.get().into_iter().flatten() {
            seat.clear_if_left();
        }
    }

    /// Says to locations which handles are still there when the run is over, with requests that nobody will use.
    pub(crate) fn note_kept(&self) {
        let seats = self.seats.get().into_iter().flatten();
        for (link, seat) in self.links().iter().zip(seats) {
            if !seat.is_left() {
                let name = self.name.to_string();
                link.location.kept().push((name, Arc::clone(seat)));
            }
        }
    }

    pub(crate) fn links(&self) -> &[Arc<Link>] {
        self.links.get().map_or(&[], Vec::as_slice)
    }

    /// Sends it to another worker, or its thread to another CPU; it goes there with its next turn or wake-up.
    pub(crate) fn move_to(&self, worker_index: usize, cpu: Option<CpuId>) {
        if let Some(home) = self.home.get() {
            home.move_to(worker_index);
        } else if let Some(cpu) = cpu {
            // Relaxed: read with its next turn, or the one after.
            self.next_cpu.store(u64::from(cpu.0), Relaxed);
        }
    }

    /// The CPU that its thread is to go to, once.
    #[inline]
    pub(crate) fn take_next_cpu(&self) -> Option<CpuId> {
        // Relaxed: as above.
        if self.next_cpu.load(Relaxed) == NOWHERE {
            return None;
        }
        let cpu = self.next_cpu.swap(NOWHERE, Relaxed);
        u32::try_from(cpu).ok().map(CpuId)
    }

    /// How much work it seems to be: the bytes that it goes through.
    pub(crate) fn load(&self) -> f64 {
        1.0 + self.links().iter().map(|link| link.bytes()).sum::<f64>()
    }

    /// How long it has worked so far; what its thread waits at the moment counts as work.
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

    /// True when this thread runs a turn of this operation.
    #[inline]
    pub(crate) fn is_current(&self) -> bool {
        current::is_operation(self.number)
    }

    /// Sees that it has a thread to wait on.
    ///
    /// # Panics
    /// When it is a future: on the thread of its worker stands what it waits for, as likely as not.
    #[track_caller]
    pub(crate) fn expect_thread(&self, link: &Link) {
        assert!(
            self.home.get().is_none(),
            "the async task {} waits on its thread for location {:?}; expected `.enter().await`",
            self.name,
            link.location.name
        );
    }

    /// Leaves what is to be woken when all is over; a waker of the same task is kept.
    pub(crate) fn leave(&self, waker: &Waker) {
        let mut left = self.waker.lock().expect("nothing panics under this lock");
        if !left.as_ref().is_some_and(|left| left.will_wake(waker)) {
            *left = Some(waker.clone());
        }
    }

    /// Wakes it, so that it sees that all is over.
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes what is to be woken; whoever has ended wants no waker, which would keep what it wakes.
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
