//! The pool that chooses itself: several pools, of which one at a time gets the new tasks.
//!
//! How many tasks the workers get is counted, and the time now and then read: a pool's speed. [`judge`] compares.
//!
//! So whatever makes a pool slow on a program (tasks too small for one queue, too few for blocks, a lock under which
//! threads are interrupted, an order that the caches do not like) counts, without a model of it.
//!
//! # Moving
//! A move changes where tasks are put from now on. Those that lie elsewhere stay until they are taken: a worker looks into the
//! current pool first, and then into every other one that is in use. One that was left and is empty counts as used no more.
//!
//! # Memory ordering
//! | label | one side                                            | other side                                                 |
//! |-------|-----------------------------------------------------|------------------------------------------------------------|
//! | A1    | `put` puts a task, light fence, looks at `used`     | clears a bit of `used`, heavy fence, looks for tasks there |
//!
//! No task is missed. Whoever puts one sees to it that its pool counts as used, before the fence that he owes to those who sleep; who is
//! about to sleep looks at what is used after the fence on his side ([`raddle_sync::idle`]). Where a pool stops to count just when a task
//! is put there, its maker sees that and makes it count again, or the task is seen (A1) by who cleared the bit; that one tells whoever
//! went to sleep in between.
//! # Invariants
//! 1. Of the workers, one at a time weighs and moves: whoever has the lock of `judge`; nobody waits for it.

mod judge;

use std::cell::Cell;
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::lock::{Locked, SimpleLock};
use raddle_sync::prim::{AtomicU64, AtomicUsize, Relaxed, heavy_fence, light_fence};
use raddle_trace::Choice;

use self::judge::{CANDIDATES, Judge, Turn};
use super::{Found, Look, Mark, Pool, Put, Seat, Setup, Wanted};
use crate::clock::Instant;
use crate::task::Task;

/// In a model everything is asked and moved all the time.
const HASTY: bool = cfg!(any(loom, shuttle));

/// Tasks that a worker gets between two readings of the clock.
const TASKS_PER_LOOK: u32 = if HASTY { 1 } else { 64 };

/// All candidates, and who decides between them.
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
    /// A bit for every candidate that may hold tasks.
    used: CachePadded<AtomicUsize>,
    /// Tasks that each worker has got, as of its last reading of the clock.
    counts: Box<[CachePadded<AtomicU64>]>,
    worker_count: usize,
    /// Workers that there have been: the counts of the others are zero.
    present: Arc<AtomicUsize>,
    judge: Locked<SimpleLock, Court>,
    born: Instant,
}

/// The judge, and what has been measured so far in this turn.
#[derive(Debug)]
struct Court {
    judge: Judge,
    start_ns: u64,
    /// Tasks that all workers had got when the turn began.
    count: u64,
}

#[derive(Debug)]
struct AutoSeat {
    worker_index: usize,
    seats: Box<[Box<dyn Seat>]>,
    shared: Arc<Shared>,
    /// Tasks got since the clock was read.
    since_look: Cell<u32>,
}

impl Auto {
    pub(super) fn build(name: &'static str, setup: &Setup) -> Box<dyn Pool> {
        let counts = (0..setup.worker_limit()).map(|_| CachePadded::default());
        Box::new(Self {
            name,
            shared: Arc::new(Shared {
                pools: CANDIDATES.iter().map(|kind| kind.build(setup)).collect(),
                current: CachePadded::new(AtomicUsize::new(0)),
                used: CachePadded::new(AtomicUsize::new(1)),
                counts: counts.collect(),
                worker_count: setup.worker_count(),
                present: setup.present(),
                judge: Locked::new(Court {
                    judge: Judge::new(),
                    start_ns: 0,
                    count: 0,
                }),
                born: Instant::now(),
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
            worker_index,
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

    fn choice(&self) -> Option<Choice> {
        Some(self.shared.judge.with(|court| court.judge.tell()))
    }
}

impl Shared {
    #[inline]
    fn current(&self) -> usize {
        // Relaxed: see `move_to`.
        self.current.load(Relaxed)
    }

    /// The candidates that may hold tasks.
    fn used(&self) -> impl Iterator<Item = usize> {
        // Relaxed: see the header.
        of_bits(self.used.load(Relaxed))
    }

    /// Counts these candidates as used, since tasks were put there besides.
    #[inline]
    fn use_again(&self, bits: usize) {
        // Relaxed: ordered by the fence that follows each put.
        if self.used.load(Relaxed) & bits != bits {
            // Relaxed: as above.
            self.used.fetch_or(bits, Relaxed);
        }
    }

    /// Ends the turn if its time is over and nobody else is just doing so; true when there was a task for a moment where nobody looks.
    #[cold]
    fn look_at_turn(&self) -> bool {
        let look = |court: &mut Court| {
            let now_ns = u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX);
            // Relaxed: a statistic; what is counted late is counted in the next turn.
            let present = &self.counts[..self.present.load(Relaxed)];
            // Relaxed: as above.
            let counts = present.iter().map(|count| count.load(Relaxed));
            let count = counts.fold(0, u64::wrapping_add);
            let turn = Turn {
                ns: now_ns.saturating_sub(court.start_ns),
                tasks: count.wrapping_sub(court.count),
                workers: self.worker_count as u64,
            };
            if !Judge::may_end(turn) {
                return false;
            }
            court.judge.end_turn(turn);
            (court.start_ns, court.count) = (now_ns, count);
            self.move_to(court.judge.current())
        };
        self.judge.try_with(look).unwrap_or(false)
    }

    /// Has tasks put to `next` from now on; true as [`look_at_turn`](Self::look_at_turn).
    fn move_to(&self, next: usize) -> bool {
        // Relaxed: it says where to put, and nothing of what is there.
        self.current.store(next, Relaxed);
        let is_empty = |pool: &usize| *pool != next && !self.pools[*pool].has_work();
        let empty = bits_of(self.used().filter(is_empty));
        if empty == 0 {
            return false;
        }
        // Relaxed: ordered by the fence.
        self.used.fetch_and(!empty, Relaxed);
        // ORDERING(A1): cleared before the look for tasks.
        heavy_fence();
        let has_work = |pool: &usize| self.pools[*pool].has_work();
        let missed = bits_of(of_bits(empty).filter(has_work));
        self.use_again(missed);
        missed != 0
    }
}

/// The candidates whose bits are set.
fn of_bits(bits: usize) -> impl Iterator<Item = usize> {
    (0..CANDIDATES.len()).filter(move |pool| bits & (1 << pool) != 0)
}

/// The bits of these candidates.
fn bits_of(pools: impl Iterator<Item = usize>) -> usize {
    pools.fold(0, |bits, pool| bits | 1 << pool)
}

impl AutoSeat {
    /// Counts a task that was got, and looks at the turn now and then; true as [`Shared::look_at_turn`].
    #[inline]
    fn count(&self) -> bool {
        let since_look = self.since_look.get() + 1;
        self.since_look.set(since_look);
        since_look >= TASKS_PER_LOOK && self.count_slow()
    }

    #[cold]
    fn count_slow(&self) -> bool {
        let count = &self.shared.counts[self.worker_index];
        // Relaxed: a statistic, written by one thread.
        let so_far = count.load(Relaxed);
        // Relaxed: as above.
        count.store(so_far + u64::from(self.since_look.take()), Relaxed);
        self.shared.look_at_turn()
    }

    #[inline]
    fn put_with<R>(&self, put: impl FnOnce(&dyn Seat) -> R) -> R {
        let current = self.shared.current();
        let result = put(&*self.seats[current]);
        // ORDERING(A1): put before the look at whether that counts.
        light_fence();
        self.shared.use_again(1 << current);
        result
    }

    /// Looks where tasks were put earlier.
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

    /// Only the first candidate has positions; the others are searched as a whole.
    fn mark(&self) -> Mark {
        self.seats[0].mark()
    }

    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        let current = self.shared.current();
        let mut found = self.seats[current].get(wanted, look);
        if look.hid {
            // Tasks that were out of sight for a moment did not count meanwhile.
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
