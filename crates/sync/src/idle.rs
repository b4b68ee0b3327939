//! Who searches for work and who sleeps; no wake-up is lost, and no herd is woken.
//!
//! A worker is busy, searching or asleep. A producer wakes a sleeper only when no worker searches,
//! since a searcher will find the work; the last searcher to find work wakes the next sleeper if
//! there is more. So the number of workers awake follows the work, and a burst of `n` puts costs
//! the producer log `n` wake-ups at most, not `n`.
//!
//! A worker that is woken takes tens of microseconds to come. Two rules keep work from waiting for
//! one such time after the other. With them, 16 workers are up after two such times:
//!
//! - A producer that sees its work pile up wakes a sleeper although others search: with the second,
//!   fourth, eighth, … piece of work that no worker has taken yet.
//! - A worker that was woken, and finds more work than it can take, wakes two others.
//!
//! # States of one worker
//! ```text
//!           start_search                 sleep: bit set, then count down
//!   busy ─────────────────► searching ───────────────────────────────────► asleep
//!    ▲                        │  ▲                                            │
//!    └── found ───────────────┘  └──── a producer takes the bit, counts up ───┘
//! ```
//! # Memory ordering
//! | label | one side                                                        | other side                                              |
//! |-------|-----------------------------------------------------------------|---------------------------------------------------------|
//! | I1    | producer: puts work, fence(SeqCst), looks at `searching`, sleepers; or puts it, light fence, looks at sleepers; or puts it for one worker, light fence, looks at its bit; or makes an offer, light fence, looks at both | sleeper: sets its bit, counts down, heavy fence, looks for work |
//! | I2    | producer: as above                                              | finder: counts down, fence(SeqCst), looks for more work |
//! # No wake-up is lost
//! Claim: when a producer has returned from [`IdleSet::work_came`], its work will be seen by a worker that is
//! awake. Let the producer's fence be P and let it find `searching > 0`; then some worker S had counted up and not
//! down before P. S later counts down, in `found` or in `sleep`, and fences after that; that fence comes after P in
//! the single order of SeqCst fences, or else the producer would have seen the count-down. So S, which looks for
//! work after its fence, sees the work (or finds it gone, taken by a worker that is awake): in `sleep` it does not
//! sleep; in `found` it wakes another. Let the producer find `searching = 0`: then it tries to take a sleeper's
//! bit. Whoever slept before P has its bit set (it is set before the count-down that the producer saw) and one of
//! them is woken; whoever sets its bit after P fences after P, and sees the work. If there is no bit, every worker
//! is busy and looks into the pool before it sleeps. Of work for one worker alone its bit tells as much: set before the
//! producer's fence, it is seen, and the worker woken; else the worker's fence comes later, and it sees the work.
//! A producer that finds no bit behind a light fence is done for the same reason
//! ([`IdleSet::work_came_near`]): whoever sets a bit after that looks behind a heavy fence.
//! # Invariants
//! 1. `searching` counts the workers that search, and those whose bit was taken but that do not run yet. It may fall
//!    short of them for a moment, even below zero, and never says more.
//! 2. Who takes a bit counts up for its owner and notifies it; the owner wakes as a searcher.
//!
//! The count falls short while somebody has taken a bit and not yet counted up: the owner of the bit may see it gone,
//! search, and count down first. Too low a count costs a wake-up. A count without sign would say then that very many search,
//! and the work that comes meanwhile would be nobody's (the seeded schedules of the runtime found that).
//! # Several processes
//! The set may lie in memory that processes share ([`create`](IdleSet::create)): then who has work for the workers of another process, a message,
//! wakes one of them as their own producers do, and no worker that searches already costs it anything but a look. A process that is killed
//! between taking a bit and waking its owner leaves that owner asleep: who hears of its end notifies all cells. It may leave the count wrong by one, too:
//! short, which costs wake-ups, or, killed between counting up and notifying, right, since its owner wakes by that notice and counts down.
//! # Misuse
//! The set is words and wait cells, and its functions touch no other memory. A worker index that is too large panics.
//! Calls for a worker out of order, or by two threads for one worker, make the count wrong, and work
//! may wait for a worker that sleeps. To sleep twice for one worker panics.
//! # Source
//! The throttling by a count of searchers is that of the Go scheduler (Vyukov, 2012) and of tokio.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::bits::AtomicBits;
use crate::placed::Placed;
use crate::prim::{AtomicIsize, Relaxed, SeqCst, fence, heavy_fence, light_fence};
use crate::table::SyncTable;
use crate::wait::WaitCell;

/// The number of workers that a woken worker wakes in turn, if there is more work. With two, the
/// number of workers that are up doubles with each round of wake-ups.
const WAKES_PER_WOKEN: usize = 2;

/// The workers of a runtime as seen by those who have work for them. A clone is of the same workers.
#[derive(Clone, Debug)]
pub struct IdleSet {
    /// One number.
    searching: Placed<CachePadded<AtomicIsize>>,
    sleepers: AtomicBits,
    cells: SyncTable,
}

/// How a call of [`IdleSet::sleep`] ended; the caller searches again in both cases.
#[must_use = "only real sleeps count as such"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slept {
    /// Work was there already.
    Not,
    /// Another thread woke this worker.
    Woken,
    /// A look after a timeout has ended the sleep.
    TimedOut,
}

impl IdleSet {
    /// A set of `worker_count` busy workers.
    pub fn new(worker_count: usize) -> Self {
        let none = std::iter::once_with(|| CachePadded::new(AtomicIsize::new(0)));
        Self {
            searching: Placed::new(none),
            sleepers: AtomicBits::new(worker_count),
            cells: SyncTable::new(worker_count),
        }
    }

    /// The bytes that a set of so many workers takes where several processes share it; it begins at a multiple of [`ALIGN`](Self::ALIGN).
    pub const fn bytes(worker_count: usize) -> usize {
        Self::cells_at(worker_count)
            .checked_add(SyncTable::bytes(worker_count))
            .expect("a set is smaller than memory")
    }

    /// What the address of a set is a multiple of.
    pub const ALIGN: usize = SyncTable::ALIGN;

    /// Where the bits begin, behind the count.
    const BITS_AT: usize = size_of::<CachePadded<AtomicIsize>>();

    const fn cells_at(worker_count: usize) -> usize {
        (Self::BITS_AT + AtomicBits::bytes(worker_count)).next_multiple_of(Self::ALIGN)
    }

    /// Makes a set of `worker_count` busy workers at `address`, for other processes to [attach](Self::attach) to.
    ///
    /// # Safety
    /// [`bytes`](Self::bytes) from `address` on are zeros, aligned, live as long as `memory` does, and nobody uses them yet.
    pub unsafe fn create(
        address: NonNull<u8>,
        worker_count: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        // SAFETY: within the bytes that the caller has given.
        let cells = unsafe { address.add(Self::cells_at(worker_count)) };
        // SAFETY: aligned by the layout, and else as the caller says.
        let cells = unsafe { SyncTable::create(cells, worker_count, Arc::clone(&memory)) };
        drop(cells);
        // SAFETY: as the caller says; zeros are a count and bits.
        unsafe { Self::attach(address, worker_count, memory) }
    }

    /// The set that another process has made at what is `address` here.
    ///
    /// # Safety
    /// A set of `worker_count` workers made by [`create`](Self::create) begins at `address` and lives as long as `memory` does; all who use it
    /// use it as such.
    pub unsafe fn attach(
        address: NonNull<u8>,
        worker_count: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        let keep = || Arc::clone(&memory);
        // SAFETY: as the caller says.
        let searching = unsafe { Placed::attach(address, 1, keep()) };
        // SAFETY: within the set, by the layout.
        let bits = unsafe { address.add(Self::BITS_AT) };
        // SAFETY: as the caller says, and aligned by the layout.
        let sleepers = unsafe { AtomicBits::attach(bits, worker_count, keep()) };
        // SAFETY: within the set, by the layout.
        let cells = unsafe { address.add(Self::cells_at(worker_count)) };
        // SAFETY: as the caller says, and aligned by the layout.
        let cells = unsafe { SyncTable::attach(cells, worker_count, keep()) };
        Self {
            searching,
            sleepers,
            cells,
        }
    }

    /// How many workers it is of.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// True of the set of no workers.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    #[inline]
    fn count(&self) -> &AtomicIsize {
        &self.searching[0]
    }

    /// Wakes all workers that sleep, whoever has taken their bits: they look again. For after the end of a process that may have taken one.
    pub fn notify_all(&self) {
        for worker_index in self.cells.indices() {
            let _ = self.cells.cell(worker_index).notify();
        }
    }

    /// The wait cell of a worker: its only place to wait, whatever for.
    #[inline]
    pub fn cell(&self, worker_index: usize) -> &WaitCell {
        self.cells.cell(worker_index)
    }

    /// How many workers look for work, or are about to.
    #[inline]
    pub fn searching(&self) -> usize {
        // Relaxed: a hint. The count may fall below zero (invariant 1).
        usize::try_from(self.count().load(Relaxed)).unwrap_or(0)
    }

    /// True when some worker is looking for work, or about to.
    #[inline]
    pub fn anyone_searches(&self) -> bool {
        self.searching() > 0
    }

    /// True when some worker sleeps.
    #[inline]
    pub fn anyone_sleeps(&self) -> bool {
        !self.sleepers.is_empty()
    }

    /// Makes sure that work which the caller has just put somewhere will be found; returns the worker it woke.
    ///
    /// `near` is where to begin looking for a sleeper. Cost: a fence and two loads; a futex wake when nobody searches.
    #[inline]
    pub fn work_came(&self, near: usize) -> Option<usize> {
        // ORDERING(I1, I2): the work is put before the count and the bits are looked at.
        fence(SeqCst);
        // Relaxed: ordered by the fence.
        if self.count().load(Relaxed) > 0 || self.sleepers.is_empty() {
            return None;
        }
        self.wake_one(near)
    }

    /// As [`work_came`](Self::work_came), for a producer that counts: with what it has just put,
    /// `waiting` pieces of work have not been taken. If that is 2, 4, 8, …, it wakes a worker
    /// although others search.
    pub fn work_piled_up(&self, near: usize, waiting: usize) -> Option<usize> {
        if waiting < 2 || !waiting.is_power_of_two() {
            return self.work_came(near);
        }
        // ORDERING(I1, I2): the work is put before the bits are looked at.
        fence(SeqCst);
        if self.sleepers.is_empty() {
            return None;
        }
        self.wake_one(near)
    }

    /// As [`work_came`](Self::work_came), for a producer in the process of all workers of the set.
    /// Cost: a light fence and a look where nobody sleeps.
    #[inline]
    pub fn work_came_near(&self, near: usize) -> Option<usize> {
        // ORDERING(I1): the work is put before the bits are looked at.
        light_fence();
        if self.sleepers.is_empty() {
            return None;
        }
        self.work_came(near)
    }

    /// As [`work_came_near`](Self::work_came_near), for a producer that is about to put more.
    /// Wakes a worker although others search.
    pub fn wake_for_work_near(&self, near: usize) -> Option<usize> {
        // ORDERING(I1): the work is put before the bits are looked at.
        light_fence();
        if self.sleepers.is_empty() {
            return None;
        }
        self.wake_one(near)
    }

    /// As [`work_came`](Self::work_came), for work that only `worker_index` can do, and looks for before it sleeps; true when it was
    /// woken.
    #[inline]
    pub fn work_came_for(&self, worker_index: usize) -> bool {
        // ORDERING(I1): the work is put before the bit is looked at.
        light_fence();
        self.sleepers.contains(worker_index) && self.wake(worker_index)
    }

    /// Returns true if some worker sleeps and none searches: then no worker looks for what the caller has just made visible.
    ///
    /// For what a worker looks for before it sleeps, but is not worth a wake-up each time. Cost: a light fence and two loads.
    #[inline]
    pub fn only_sleepers(&self) -> bool {
        // ORDERING(I1): made visible before the bits and the count are looked at.
        light_fence();
        self.anyone_sleeps() && !self.anyone_searches()
    }

    #[cold]
    fn wake(&self, worker_index: usize) -> bool {
        let is_taken = self.sleepers.remove(worker_index);
        if is_taken {
            self.run_again(worker_index);
        }
        is_taken
    }

    /// A busy worker has run out of work and begins to search.
    pub fn start_search(&self) {
        // Relaxed, here and wherever the count changes: the fences order it.
        self.count().fetch_add(1, Relaxed);
    }

    /// A searching worker has found work. Wakes others while `has_work`: one if this was the last
    /// searcher, or two if this one has slept during its search. Returns how many it woke.
    ///
    /// `has_work` is asked only while some worker sleeps: one that goes to sleep later looks for
    /// work itself (I1).
    pub fn found(
        &self,
        worker_index: usize,
        has_slept: bool,
        has_work: impl Fn() -> bool,
    ) -> usize {
        // Relaxed: as in `start_search`.
        let is_last = self.count().fetch_sub(1, Relaxed) <= 1;
        let wakes_max = match has_slept {
            true => WAKES_PER_WOKEN,
            false => usize::from(is_last),
        };
        if wakes_max == 0 {
            return 0;
        }
        // ORDERING(I2): counted down before looking for more.
        fence(SeqCst);
        (0..wakes_max)
            .take_while(|_| !self.sleepers.is_empty() && has_work())
            .filter_map(|_| self.wake_one(worker_index))
            .count()
    }

    /// A searching worker goes to sleep unless `has_work`; it comes back searching.
    ///
    /// `before_sleep` runs when the decision to sleep has been taken and the worker can already be
    /// woken. For `watch` it then waits without the kernel, and after that in the kernel.
    ///
    /// If there is a `timeout`, the worker calls `look` when it is over. It counts as asleep during
    /// the look. `look` returns the next timeout, or `None` if the worker shall search.
    ///
    /// # Panics
    /// If another thread sleeps for this worker.
    pub fn sleep(
        &self,
        worker_index: usize,
        mut watch: Duration,
        mut timeout: Option<Duration>,
        mut look: impl FnMut() -> Option<Duration>,
        has_work: impl Fn() -> bool,
        before_sleep: impl FnOnce(),
    ) -> Slept {
        let is_first = self.sleepers.insert(worker_index);
        assert!(is_first, "worker {worker_index} sleeps already");
        // Relaxed: as in `start_search`.
        self.count().fetch_sub(1, Relaxed);
        // ORDERING(I1): bit and count are out before looking for work.
        heavy_fence();
        if has_work() && self.rise(worker_index) {
            return Slept::Not;
        }
        before_sleep();
        // A token may be an old one, left for another wait of this worker, or tell of the end of a process: the bit tells, and there may be work.
        while self.sleepers.contains(worker_index) {
            let is_told = self.cells.cell(worker_index).wait_for(watch, timeout);
            watch = Duration::ZERO;
            if !self.sleepers.contains(worker_index) {
                break;
            }
            if !is_told && timeout.is_some() {
                timeout = look();
                if timeout.is_none() && self.rise(worker_index) {
                    return Slept::TimedOut;
                }
            } else if has_work() && self.rise(worker_index) {
                return Slept::Woken;
            }
        }
        Slept::Woken
    }

    /// A worker that lies down takes its own bit again; false when another was quicker, who counts it as a searcher.
    fn rise(&self, worker_index: usize) -> bool {
        let is_taken = self.sleepers.remove(worker_index);
        if is_taken {
            // Relaxed: as in `start_search`.
            self.count().fetch_add(1, Relaxed);
        }
        is_taken
    }

    /// Wakes every sleeper, for instance because the runtime ends.
    pub fn wake_all(&self) {
        // ORDERING(I1): what the sleepers shall see is out before their bits are looked at.
        fence(SeqCst);
        while self.wake_one(0).is_some() {}
    }

    /// Wakes one sleeper, if there is one, and returns which.
    #[cold]
    pub fn wake_one(&self, near: usize) -> Option<usize> {
        let worker_index = self.sleepers.take_any(near % self.cells.len())?;
        self.run_again(worker_index);
        Some(worker_index)
    }

    /// Wakes a worker whose bit the caller has taken (invariant 2).
    fn run_again(&self, worker_index: usize) {
        // Relaxed: as in `start_search`.
        self.count().fetch_add(1, Relaxed);
        let _ = self.cells.cell(worker_index).notify();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
