//! The pool that chooses itself: several pools, of which one at a time gets the new tasks.
//!
//! What a pool costs is time that its workers spend in it, and time that they spend without work: its *loss*, a share of
//! all their time. Both are measured while the program runs: the first on one call in [`CALLS_PER_SAMPLE`], the second whenever
//! a worker runs out of work. While the loss is small nothing happens. When it is not, the pools get a turn of
//! [`TURN`] each, and the one with the least loss stays; then the question is left alone for a while, and for twice as long each
//! time that the answer was the same.
//!
//! So whatever makes a pool slow on a program (tasks too small for one queue, too few for blocks, a lock under which
//! threads are interrupted) counts, without a model of it.
//!
//! # Moving
//! A move changes where tasks are put from now on. Those that lie elsewhere stay until they are taken: a worker looks into the
//! current pool first, and then into every other one that was ever used.
//!
//! # Memory ordering
//! | label | release side                   | acquire side               | what it publishes                             |
//! |-------|--------------------------------|----------------------------|-----------------------------------------------|
//! | A1    | a move stores `current`        | the fence after a `put`    | that the pool counts as used                  |
//!
//! No task is missed: a pool counts as used before a task is put there (A1), and who is about to sleep looks at what is used
//! after the fence on his side of the sleep protocol ([`raddle_sync::idle`]). The fence of A1 is the other side's. Whoever
//! looks without a fence may miss the task, as one that is put a moment later.
//! # Invariants
//! 1. Of the workers, one at a time weighs and moves: whoever has the lock of `judge`; nobody waits for it.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::CachePadded;
use raddle_sync::lock::{Locked, SimpleLock};
use raddle_sync::prim::{AtomicU64, AtomicUsize, Relaxed, Release};
use raddle_trace::Choice;

use super::{Found, Look, Mark, Pool, PoolKind, Put, Seat, Setup, Wanted};
use crate::clock::Instant;
use crate::task::Task;

/// In a model everything is asked and moved all the time.
const HASTY: bool = cfg!(any(loom, shuttle));

/// The pools to choose from, the one to begin with first; in a model, one of each family.
const CANDIDATES: &[PoolKind] = if HASTY {
    &[PoolKind::Deque, PoolKind::DqBlTlC, PoolKind::SqTl]
} else {
    &[
        PoolKind::Deque,
        PoolKind::DqBlTlC,
        PoolKind::DqTlPrivC,
        PoolKind::SqTl,
        PoolKind::DqBlSlC,
        PoolKind::DqSlPrivC,
        PoolKind::SqSl,
    ]
};

/// How long a candidate is tried.
const TURN: Duration = Duration::from_micros(if HASTY { 100 } else { 2_000 });
/// Turns before the question is asked again, at first and at most: a tenth of a second to six seconds.
const REST_TURNS: [u32; 2] = if HASTY { [0, 0] } else { [50, 3_200] };
/// Loss below which no question is asked.
const LOSS_FINE: f64 = 0.02;
/// A candidate wins over the one that is there when its loss is less by this much, and by a fifth.
const LOSS_MARGIN: f64 = 0.01;

/// Calls of which one is timed.
const CALLS_PER_SAMPLE: u32 = if HASTY { 1 } else { 32 };
/// Samples between two looks at whether the turn is over.
const SAMPLES_PER_LOOK: u32 = if HASTY { 2 } else { 4 };

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
    /// A bit for every candidate that ever got a task.
    used: AtomicUsize,
    meters: Box<[CachePadded<Meter>]>,
    judge: Locked<SimpleLock, Judge>,
    born: Instant,
}

/// What one worker has lost since the runtime came up, in nanoseconds.
#[derive(Debug, Default)]
struct Meter {
    in_pool_ns: AtomicU64,
    idle_ns: AtomicU64,
    /// Since when it has no work, plus one; zero while it has some.
    idle_since_ns: AtomicU64,
}

/// What is known of the candidates, and what is going on.
#[derive(Debug)]
struct Judge {
    turn_end_ns: u64,
    turn_start_ns: u64,
    /// What all workers had lost when the turn began.
    lost_ns: u64,
    phase: Phase,
    losses: [f64; CANDIDATES.len()],
    turns: [u64; CANDIDATES.len()],
    chosen: usize,
    rest_turns: u32,
    moves: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The chosen one works; the question is asked after so many more turns.
    Rest(u32),
    /// This candidate has its turn.
    Trial(usize),
}

#[derive(Debug)]
struct AutoSeat {
    worker_index: usize,
    seats: Box<[Box<dyn Seat>]>,
    shared: Arc<Shared>,
    calls: Cell<u32>,
}

impl Auto {
    pub(super) fn build(name: &'static str, setup: &Setup) -> Box<dyn Pool> {
        let meters = (0..setup.worker_limit()).map(|_| CachePadded::default());
        Box::new(Self {
            name,
            shared: Arc::new(Shared {
                pools: CANDIDATES.iter().map(|kind| kind.build(setup)).collect(),
                current: CachePadded::new(AtomicUsize::new(0)),
                used: AtomicUsize::new(1),
                meters: meters.collect(),
                judge: Locked::new(Judge::new()),
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
            calls: Cell::new(0),
        })
    }

    fn has_work(&self) -> bool {
        self.shared
            .used()
            .any(|pool| self.shared.pools[pool].has_work())
    }

    fn choice(&self) -> Option<Choice> {
        Some(self.shared.judge.with(|judge| judge.tell()))
    }
}

impl Shared {
    #[inline]
    fn current(&self) -> usize {
        // Relaxed: who puts has a fence after it (A1).
        self.current.load(Relaxed)
    }

    /// The candidates that ever got a task.
    fn used(&self) -> impl Iterator<Item = usize> {
        // Relaxed: see the header.
        let used = self.used.load(Relaxed);
        (0..CANDIDATES.len()).filter(move |pool| used & (1 << pool) != 0)
    }

    fn age_ns(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn lost_ns(&self, now_ns: u64) -> u64 {
        self.meters.iter().map(|meter| meter.lost_ns(now_ns)).sum()
    }

    /// Ends the turn if its time is over and nobody else is just doing so.
    #[cold]
    fn look_at_turn(&self, now_ns: u64) {
        self.judge.try_with(|judge| {
            if now_ns < judge.turn_end_ns {
                return;
            }
            let worker_time = (now_ns - judge.turn_start_ns) as f64 * self.meters.len() as f64;
            let lost_ns = self.lost_ns(now_ns);
            let loss = lost_ns.saturating_sub(judge.lost_ns) as f64 / worker_time;
            let next = judge.end_turn(loss);
            judge.begin_turn(now_ns, lost_ns);
            // Relaxed: A1 publishes it.
            self.used.fetch_or(1 << next, Relaxed);
            // ORDERING(A1): Release, the bit of `used`.
            self.current.store(next, Release);
        });
    }
}

impl Meter {
    fn lost_ns(&self, now_ns: u64) -> u64 {
        let idle_now_ns = match read(&self.idle_since_ns) {
            0 => 0,
            since_ns => now_ns.saturating_sub(since_ns - 1),
        };
        read(&self.in_pool_ns) + read(&self.idle_ns) + idle_now_ns
    }

    fn begin_idle(&self, now_ns: u64) {
        write(&self.idle_since_ns, now_ns + 1);
    }

    #[inline]
    fn is_idle(&self) -> bool {
        read(&self.idle_since_ns) != 0
    }

    fn end_idle(&self, now_ns: u64) {
        let gap_ns = now_ns.saturating_sub(read(&self.idle_since_ns) - 1);
        write(&self.idle_ns, read(&self.idle_ns) + gap_ns);
        write(&self.idle_since_ns, 0);
    }

    fn count_in_pool(&self, time_ns: u64) {
        write(&self.in_pool_ns, read(&self.in_pool_ns) + time_ns);
    }
}

/// Reads a meter.
#[inline]
fn read(meter: &AtomicU64) -> u64 {
    // Relaxed: a statistic; what is counted late is counted in the next turn.
    meter.load(Relaxed)
}

/// Writes a meter, which one worker alone does.
fn write(meter: &AtomicU64, value: u64) {
    // Relaxed: as above.
    meter.store(value, Relaxed);
}

impl Judge {
    fn new() -> Self {
        let [rest_turns, _] = REST_TURNS;
        Self {
            turn_end_ns: nanoseconds(TURN),
            turn_start_ns: 0,
            lost_ns: 0,
            phase: Phase::Rest(0),
            losses: [0.0; CANDIDATES.len()],
            turns: [0; CANDIDATES.len()],
            chosen: 0,
            rest_turns,
            moves: 0,
        }
    }

    fn begin_turn(&mut self, now_ns: u64, lost_ns: u64) {
        self.turn_start_ns = now_ns;
        self.turn_end_ns = now_ns + nanoseconds(TURN);
        self.lost_ns = lost_ns;
    }

    /// Takes note of the loss in the turn that ends, and returns the candidate for the next one.
    fn end_turn(&mut self, loss: f64) -> usize {
        match self.phase {
            Phase::Rest(left) => {
                self.turns[self.chosen] += 1;
                // A mean over the last turns or so.
                self.losses[self.chosen] += (loss - self.losses[self.chosen]) / 4.0;
                self.phase = if left > 0 {
                    Phase::Rest(left - 1)
                } else if self.losses[self.chosen] < LOSS_FINE {
                    Phase::Rest(0)
                } else {
                    Phase::Trial(0)
                };
            }
            Phase::Trial(pool) => {
                self.turns[pool] += 1;
                self.losses[pool] = loss;
                self.phase = Phase::Trial(pool + 1);
            }
        }
        if self.phase == Phase::Trial(CANDIDATES.len()) {
            self.choose();
        }
        match self.phase {
            Phase::Rest(_) => self.chosen,
            Phase::Trial(pool) => pool,
        }
    }

    fn choose(&mut self) {
        let (before, loss_before) = (self.chosen, self.losses[self.chosen]);
        let best = (0..CANDIDATES.len())
            .min_by(|&a, &b| self.losses[a].total_cmp(&self.losses[b]))
            .expect("there are candidates");
        let loss = self.losses[best];
        let [rest_min, rest_max] = REST_TURNS;
        if loss < 0.8 * loss_before && loss + LOSS_MARGIN < loss_before {
            self.chosen = best;
            self.moves += 1;
            self.rest_turns = rest_min;
        } else {
            self.chosen = before;
            self.rest_turns = (2 * self.rest_turns).min(rest_max);
        }
        self.phase = Phase::Rest(self.rest_turns);
    }

    fn tell(&self) -> Choice {
        let all: u64 = self.turns.iter().sum();
        let mut choice = Choice::new(CANDIDATES[self.chosen].name(), self.moves);
        for ((kind, turns), loss) in CANDIDATES.iter().zip(self.turns).zip(self.losses) {
            if turns > 0 {
                choice.add(kind.name(), turns as f64 / all as f64, loss);
            }
        }
        choice
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).expect("turns are short")
}

impl AutoSeat {
    fn meter(&self) -> &Meter {
        &self.shared.meters[self.worker_index]
    }

    /// Times one call in many.
    #[inline]
    fn metered<R>(&self, call: impl FnOnce() -> R) -> R {
        let calls = self.calls.get().wrapping_add(1);
        self.calls.set(calls);
        if calls.is_multiple_of(CALLS_PER_SAMPLE) {
            self.metered_slow(calls, call)
        } else {
            call()
        }
    }

    #[cold]
    fn metered_slow<R>(&self, calls: u32, call: impl FnOnce() -> R) -> R {
        let start_ns = self.shared.age_ns();
        let result = call();
        let now_ns = self.shared.age_ns();
        let time_ns = now_ns.saturating_sub(start_ns);
        self.meter()
            .count_in_pool(time_ns * u64::from(CALLS_PER_SAMPLE));
        if calls.is_multiple_of(CALLS_PER_SAMPLE * SAMPLES_PER_LOOK) {
            self.shared.look_at_turn(now_ns);
        }
        result
    }

    /// Looks where tasks were put earlier.
    #[cold]
    fn get_elsewhere(&self, current: usize, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        self.shared
            .used()
            .filter(|&pool| pool != current)
            .find_map(|pool| self.seats[pool].get(wanted, look))
    }

    /// Counts the time without work.
    #[inline]
    fn count_idle(&self, found: bool) {
        let meter = self.meter();
        if found == meter.is_idle() {
            self.count_idle_slow(found);
        }
    }

    #[cold]
    fn count_idle_slow(&self, found: bool) {
        let now_ns = self.shared.age_ns();
        if found {
            self.meter().end_idle(now_ns);
        } else {
            self.meter().begin_idle(now_ns);
        }
    }
}

impl Seat for AutoSeat {
    fn put(&self, task: Task) -> Put {
        self.metered(|| self.seats[self.shared.current()].put(task))
    }

    fn share(&self, task: Task) {
        self.metered(|| self.seats[self.shared.current()].share(task));
    }

    fn share_all(&self) -> bool {
        let used = self.shared.used();
        used.fold(false, |had, pool| self.seats[pool].share_all() | had)
    }

    /// Only the first candidate has positions; the others are searched as a whole.
    fn mark(&self) -> Mark {
        self.seats[0].mark()
    }

    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        let current = self.shared.current();
        let found = if self.meter().is_idle() {
            self.seats[current].get(wanted, look)
        } else {
            self.metered(|| self.seats[current].get(wanted, look))
        };
        let found = found.or_else(|| self.get_elsewhere(current, wanted, look));
        self.count_idle(found.is_some());
        found
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
