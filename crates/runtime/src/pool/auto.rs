//! The self-choosing pool: it contains several pools, the candidates, and puts new tasks into one
//! of them at a time.
//!
//! The time is divided into turns. The pool counts how many tasks the workers get during a turn,
//! and reads the clock now and then: this is the speed of the current candidate. [`judge`] compares
//! the speeds and decides which candidate has the next turn.
//!
//! Therefore everything that makes a candidate slow for the program at hand counts, without a model
//! of it: tasks too small for a single queue, too few tasks for blocks, a lock under which threads
//! are interrupted, an order that is bad for the caches.
//!
//! # Change of the current candidate
//! A change only affects where new tasks are put. Tasks in other candidates stay there until they
//! are taken. A worker looks into the current candidate first, and then into all others that are in
//! use. When a turn ends, all candidates that are empty, except for the current one, are marked as
//! unused.
//!
//! # Memory ordering
//! | label | one side                       | other side                       |
//! |-------|--------------------------------|----------------------------------|
//! | A1    | `put` puts a task, light       | `move_to` clears a bit of        |
//! |       | fence, checks the bit in       | `used`, heavy fence, checks that |
//! |       | `used`                         | candidate for tasks              |
//!
//! # No task is missed
//! A worker that puts a task makes sure that the bit of the candidate is set. It does so before the
//! fence that a producer has to execute before it looks for sleepers. A worker that is about to
//! sleep reads `used` after its own fence ([`raddle_sync::idle`]). If a bit is cleared at the same
//! time as a task is put, one of two things happens (A1):
//!
//! - The worker that puts the task sees that the bit is clear, and sets it again.
//! - The worker that cleared the bit sees the task. It sets the bit again, and notifies workers
//!   that went to sleep in between.
//! # Invariants
//! 1. At most one worker at a time evaluates a turn and changes the current candidate: the one that
//!    holds the lock of `turns`. No worker waits for this lock.

mod judge;

use std::cell::Cell;
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::lock::{Locked, SimpleLock};
use raddle_sync::prim::{AtomicU64, AtomicUsize, Relaxed, heavy_fence, light_fence};
use raddle_trace::Choice;
use raddle_trace::record::{self, Name};

use self::judge::{CANDIDATES, Judge, Turn};
use super::{Found, Look, Mark, Pool, Put, Seat, Setup, Wanted};
use crate::clock::Instant;
use crate::task::Task;

/// True in a model, where the candidates are compared and changed all the time.
const HASTY: bool = cfg!(any(loom, shuttle));

/// The number of tasks that a worker gets between two readings of the clock.
const TASKS_PER_LOOK: u32 = if HASTY { 1 } else { 64 };

/// All candidates, and the judge that decides between them.
#[derive(Debug)]
pub(super) struct Auto {
    name: &'static str,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    pools: Box<[Box<dyn Pool>]>,
    /// The candidate that gets new tasks.
    current: CachePadded<AtomicUsize>,
    /// One bit for each candidate, set if it may contain tasks.
    used: CachePadded<AtomicUsize>,
    /// The number of tasks that the workers have got, each as of its last reading of the clock.
    count: CachePadded<AtomicU64>,
    worker_count: usize,
    turns: Locked<SimpleLock, Turns>,
    started: Instant,
}

/// The judge, and the start of the current turn.
#[derive(Debug)]
struct Turns {
    judge: Judge,
    start_ns: u64,
    /// The number of tasks that all workers had got when the turn began.
    count: u64,
}

#[derive(Debug)]
struct AutoSeat {
    seats: Box<[Box<dyn Seat>]>,
    shared: Arc<Shared>,
    /// The number of tasks got since the last reading of the clock.
    since_look: Cell<u32>,
}

impl Auto {
    pub(super) fn build(name: &'static str, setup: &Setup) -> Box<dyn Pool> {
        Box::new(Self {
            name,
            shared: Arc::new(Shared {
                pools: CANDIDATES.iter().map(|kind| kind.build(setup)).collect(),
                current: CachePadded::new(AtomicUsize::new(0)),
                used: CachePadded::new(AtomicUsize::new(1)),
                count: CachePadded::default(),
                worker_count: setup.worker_count(),
                turns: Locked::new(Turns {
                    judge: Judge::new(),
                    start_ns: 0,
                    count: 0,
                }),
                started: Instant::now(),
            }),
        })
    }
}

impl Pool for Auto {
    fn name(&self) -> &'static str {
        self.name
    }

    fn seat(&self, worker_index: usize) -> Box<dyn Seat> {
        let pools = self.shared.pools.iter();
        Box::new(AutoSeat {
            seats: pools.map(|pool| pool.seat(worker_index)).collect(),
            shared: Arc::clone(&self.shared),
            since_look: Cell::new(0),
        })
    }

    fn has_work(&self) -> bool {
        self.shared
            .used()
            .any(|pool| self.shared.pools[pool].has_work())
    }

    fn len_estimate(&self) -> Option<usize> {
        let used = self.shared.used();
        used.map(|pool| self.shared.pools[pool].len_estimate())
            .sum()
    }

    fn choice(&self) -> Option<Choice> {
        Some(self.shared.turns.with(|turns| turns.judge.choice()))
    }
}

impl Shared {
    #[inline]
    fn current(&self) -> usize {
        // Relaxed: see `move_to`.
        self.current.load(Relaxed)
    }

    /// Returns the candidates that may contain tasks.
    fn used(&self) -> impl Iterator<Item = usize> {
        // Relaxed: see the header.
        of_bits(self.used.load(Relaxed))
    }

    /// Marks these candidates as used, because tasks were put into them or became visible there.
    #[inline]
    fn use_again(&self, bits: usize) {
        // Relaxed: ordered by the fence that follows each put.
        if self.used.load(Relaxed) & bits != bits {
            // Relaxed: as above.
            self.used.fetch_or(bits, Relaxed);
        }
    }

    /// Ends the turn if its time is over and no other worker is ending it. Returns true if some
    /// tasks were invisible for a moment, because they were in a candidate marked as unused.
    #[cold]
    fn look_at_turn(&self) -> bool {
        let look = |turns: &mut Turns| {
            let now_ns = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
            // Relaxed: a statistic; tasks that are counted late count for the next turn.
            let count = self.count.load(Relaxed);
            let turn = Turn {
                ns: now_ns.saturating_sub(turns.start_ns),
                tasks: count.wrapping_sub(turns.count),
                workers: self.worker_count as u64,
            };
            if !Judge::may_end(turn) {
                return false;
            }
            turns.judge.end_turn(turn);
            (turns.start_ns, turns.count) = (now_ns, count);
            self.move_to(turns.judge.current())
        };
        self.turns.try_with(look).unwrap_or(false)
    }

    /// Makes `next` the current candidate, into which new tasks are put. Marks empty candidates as
    /// unused. Returns the same as [`look_at_turn`](Self::look_at_turn).
    fn move_to(&self, next: usize) -> bool {
        if record::is_on() && next != self.current() {
            let name = Name::of_member("choose pool", CANDIDATES[next].name());
            record::note(name, next as u64);
        }
        // Relaxed: the index says where to put tasks. It publishes no tasks.
        self.current.store(next, Relaxed);
        let is_empty = |pool: &usize| *pool != next && !self.pools[*pool].has_work();
        let empty = bits_of(self.used().filter(is_empty));
        if empty == 0 {
            return false;
        }
        // Relaxed: ordered by the fence.
        self.used.fetch_and(!empty, Relaxed);
        // ORDERING(A1): the bits are cleared before the check for tasks.
        heavy_fence();
        let has_work = |pool: &usize| self.pools[*pool].has_work();
        let missed = bits_of(of_bits(empty).filter(has_work));
        self.use_again(missed);
        missed != 0
    }
}

/// Returns the candidates of a set of bits.
fn of_bits(bits: usize) -> impl Iterator<Item = usize> {
    (0..CANDIDATES.len()).filter(move |pool| bits & (1 << pool) != 0)
}

/// Returns the set of bits of these candidates.
fn bits_of(pools: impl Iterator<Item = usize>) -> usize {
    pools.fold(0, |bits, pool| bits | 1 << pool)
}

impl AutoSeat {
    /// Counts a task that this worker has got, and sometimes checks whether the turn is over.
    /// Returns the same as [`Shared::look_at_turn`].
    #[inline]
    fn count(&self) -> bool {
        let since_look = self.since_look.get() + 1;
        self.since_look.set(since_look);
        since_look >= TASKS_PER_LOOK && self.count_slow()
    }

    #[cold]
    fn count_slow(&self) -> bool {
        let got = u64::from(self.since_look.take());
        // Relaxed: a statistic.
        self.shared.count.fetch_add(got, Relaxed);
        self.shared.look_at_turn()
    }

    #[inline]
    fn put_with<R>(&self, put: impl FnOnce(&dyn Seat) -> R) -> R {
        let current = self.shared.current();
        let result = put(&*self.seats[current]);
        // ORDERING(A1): the task is put before the check of `used`.
        light_fence();
        self.shared.use_again(1 << current);
        result
    }

    /// Looks into the candidates into which tasks were put earlier.
    fn get_elsewhere(&self, current: usize, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        // Relaxed: see the header.
        let others = self.shared.used.load(Relaxed) & !(1 << current);
        if others == 0 {
            return None;
        }
        let found = of_bits(others).find_map(|pool| self.seats[pool].get(wanted, look));
        if look.hid {
            self.shared.use_again(others);
        }
        found
    }
}

impl Seat for AutoSeat {
    fn put(&self, task: Task) -> Put {
        self.put_with(|seat| seat.put(task))
    }

    fn share(&self, task: Task) {
        self.put_with(|seat| seat.share(task));
    }

    fn share_all(&self) -> bool {
        let shared_in = |pool: &usize| self.seats[*pool].share_all();
        let used = self.shared.used().filter(shared_in);
        let changed = bits_of(used);
        self.shared.use_again(changed);
        changed != 0
    }

    /// Returns a position in the first candidate. The others need no positions, because they are
    /// searched as a whole.
    fn mark(&self) -> Mark {
        self.seats[0].mark()
    }

    fn has_own(&self) -> bool {
        self.shared.used().any(|pool| self.seats[pool].has_own())
    }

    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        let current = self.shared.current();
        let mut found = self.seats[current].get(wanted, look);
        if look.hid {
            // Tasks that were invisible for a moment may have made the candidate look empty.
            self.shared.use_again(1 << current);
        }
        if found.is_none() {
            found = self.get_elsewhere(current, wanted, look);
        }
        if found.is_some() {
            look.hid |= self.count();
        }
        found
    }
}
