//! The set of idle workers: searching and sleeping workers, and the rules that wake them.
//!
//! No wake-up is lost, and no thundering herd is woken.
//!
//! A worker is busy, searching or asleep. A producer wakes a sleeper only when no worker searches,
//! since a searcher will find the work; the last searcher to find work wakes the next sleeper if
//! there is more. So the number of workers awake follows the work, and a burst of `n` puts costs
//! the producer log `n` wake-ups at most, not `n`.
//!
//! A woken worker takes tens of microseconds to start running. Two rules keep work from waiting for
//! several such delays in a row. With them, 16 workers are awake after two such delays:
//!
//! - A producer that sees its work pile up wakes a sleeper although other workers search: with the
//!   second, fourth, eighth, … piece of work that no worker has taken yet.
//! - A worker that was woken and finds more work than it can take wakes two others.
//!
//! # States of one worker
//! ```text
//!           start_search                 sleep: bit set, then count down
//!   busy ─────────────────► searching ───────────────────────────────────► asleep
//!    ▲                        │  ▲                                            │
//!    └── found ───────────────┘  └──── a producer takes the bit, counts up ───┘
//! ```
//! # Memory ordering
//! Each label pairs a fence on one side with a fence on the other side.
//!
//! - **I1**, the sleeper's side: it sets its bit, decrements the count, executes a heavy fence, and
//!   checks for work. The producer's side is one of:
//!   - put work, `fence(SeqCst)`, check `searching` and the sleepers' bits;
//!   - put work, light fence, check the sleepers' bits;
//!   - put work for one worker, light fence, check the bit of that worker;
//!   - make an offer, light fence, check `searching` and the sleepers' bits.
//! - **I2**, the finder's side: it decrements the count, executes `fence(SeqCst)`, and checks for
//!   more work. The producer's side is as above.
//! - **I3**, a sleeper with a timeout: it does as in I1, but with `fence(SeqCst)`, because a heavy
//!   fence costs a system call and interrupts the other threads. Then it and a producer with a
//!   light fence may miss each other. When the timeout has passed, the sleeper executes the heavy
//!   fence and checks again before it sleeps any longer. So a short sleep costs no heavy fence, and
//!   in that rare case the work waits until the timeout at most.
//! # No wake-up is lost
//! Claim: when a producer has returned from [`IdleSet::work_came`], a worker that is awake will see
//! its work. Let P be the producer's fence.
//!
//! - *The producer finds `searching > 0`.* Some worker S had then incremented the count and not
//!   decremented it before P. S decrements it later, in `found` or in `sleep`, and then executes a
//!   fence. That fence comes after P in the single order of SeqCst fences, because otherwise the
//!   producer would have seen the decrement. S looks for work after its fence, so it sees the work,
//!   or finds that a worker that is awake has taken it. In `sleep`, S then does not sleep; in
//!   `found`, it wakes another worker.
//! - *The producer finds `searching = 0`.* It then tries to take a sleeper's bit. A worker that
//!   slept before P has its bit set, because it set the bit before the decrement that the producer
//!   saw; one of these workers is woken. A worker that sets its bit after P executes its fence
//!   after P, and sees the work. If no bit is set, every worker is busy, and checks the pool before
//!   it sleeps.
//! - *Work for one worker alone.* The worker's own bit decides in the same way. If the bit was set
//!   before the producer's fence, the producer sees it and wakes the worker. Otherwise the worker's
//!   fence comes later, and the worker sees the work.
//! - *A producer that finds no bit after a light fence* ([`IdleSet::work_came_near`]) may return
//!   for the same reason: a worker that sets its bit later looks for work after a heavy fence,
//!   which comes after the timeout if it has one.
//! # Invariants
//! 1. `searching` counts the workers that search, and the workers that do not run yet although
//!    their bit was taken. For a moment it may be lower than this number, even below zero. It is
//!    never higher.
//! 2. A thread that takes a bit increments the count for the owner of the bit and notifies it. The
//!    owner wakes as a searcher.
//!
//! The count is too low between the moment when a thread takes a bit and the moment when it
//! increments the count: the owner of the bit may see that the bit is gone, search, and decrement
//! first. A count that is too low costs a superfluous wake-up. The count is signed because an
//! unsigned count would wrap around to a huge number of searchers, and no worker would be woken for
//! the work that arrives meanwhile (the seeded schedules of the runtime found that).
//! # Several processes
//! The set may be in memory that processes share ([`create`](IdleSet::create)). A process that has
//! a message for the workers of another process then wakes one of them as their own producers do.
//! If a worker already searches, this costs only a check.
//!
//! A process that is killed between taking a bit and waking its owner leaves that owner asleep. A
//! process that is notified of its end therefore notifies all cells ([`IdleSet::notify_all`]). The
//! killed process may also leave the count wrong:
//!
//! - If it was killed before it incremented the count, the count is too low by one, which costs
//!   wake-ups.
//! - If it was killed between incrementing and notifying, the count is right in the end, because
//!   the owner wakes by `notify_all` and decrements it.
//! # Misuse
//! The set consists of words and wait cells, and its functions access no other memory. A worker
//! index that is too large panics. Calls for one worker in the wrong order, or by two threads, make
//! the count wrong, and work may wait for a worker that sleeps. Sleeping twice for one worker
//! panics.
//! # Source
//! The Go scheduler (Vyukov, 2012) and tokio limit wake-ups by a count of searchers in this way.

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

/// The workers of a runtime, as seen by the threads that have work for them. A clone refers to the
/// same workers.
#[derive(Clone, Debug)]
pub struct IdleSet {
    /// A single element: the count of searching workers (invariant 1).
    searching: Placed<CachePadded<AtomicIsize>>,
    sleepers: AtomicBits,
    cells: SyncTable,
}

/// The outcome of [`IdleSet::sleep`]. The worker searches again in every case.
#[must_use = "only real sleeps count as such"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slept {
    /// The worker did not sleep, because there was work already.
    Not,
    /// Another thread woke this worker.
    Woken,
    /// The timeout passed, and `look` asked the worker to search.
    TimedOut,
}

impl IdleSet {
    /// Creates a set of `worker_count` busy workers.
    pub fn new(worker_count: usize) -> Self {
        let none = std::iter::once_with(|| CachePadded::new(AtomicIsize::new(0)));
        Self {
            searching: Placed::new(none),
            sleepers: AtomicBits::new(worker_count),
            cells: SyncTable::new(worker_count),
        }
    }

    /// Returns the size in bytes of a set of `worker_count` workers in memory that processes share.
    /// The address of the set must be a multiple of [`ALIGN`](Self::ALIGN).
    pub const fn bytes(worker_count: usize) -> usize {
        Self::cells_at(worker_count)
            .checked_add(SyncTable::bytes(worker_count))
            .expect("a set is smaller than memory")
    }

    /// The alignment of a set in shared memory, in bytes.
    pub const ALIGN: usize = SyncTable::ALIGN;

    /// The offset of the bits, which follow the count.
    const BITS_AT: usize = size_of::<CachePadded<AtomicIsize>>();

    const fn cells_at(worker_count: usize) -> usize {
        (Self::BITS_AT + AtomicBits::bytes(worker_count)).next_multiple_of(Self::ALIGN)
    }

    /// Creates a set of `worker_count` busy workers at `address`, to which other processes
    /// [attach](Self::attach).
    ///
    /// # Safety
    /// The [`bytes`](Self::bytes) from `address` on are zeros, aligned, unused so far, and live as
    /// long as `memory`.
    pub unsafe fn create(
        address: NonNull<u8>,
        worker_count: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        // SAFETY: within the bytes that the caller provides.
        let cells = unsafe { address.add(Self::cells_at(worker_count)) };
        // SAFETY: aligned by the layout; the rest by the contract of this function.
        let cells = unsafe { SyncTable::create(cells, worker_count, Arc::clone(&memory)) };
        drop(cells);
        // SAFETY: by the contract of this function; zeros are a valid count and valid bits.
        unsafe { Self::attach(address, worker_count, memory) }
    }

    /// Uses the set that another process has created in memory that this process sees at `address`.
    ///
    /// # Safety
    /// A set of `worker_count` workers, made by [`create`](Self::create), begins at `address` and
    /// lives as long as `memory`. All users access it only as such a set.
    pub unsafe fn attach(
        address: NonNull<u8>,
        worker_count: usize,
        memory: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        let keep = || Arc::clone(&memory);
        // SAFETY: by the contract of this function.
        let searching = unsafe { Placed::attach(address, 1, keep()) };
        // SAFETY: within the set, by the layout.
        let bits = unsafe { address.add(Self::BITS_AT) };
        // SAFETY: by the contract of this function, and aligned by the layout.
        let sleepers = unsafe { AtomicBits::attach(bits, worker_count, keep()) };
        // SAFETY: within the set, by the layout.
        let cells = unsafe { address.add(Self::cells_at(worker_count)) };
        // SAFETY: by the contract of this function, and aligned by the layout.
        let cells = unsafe { SyncTable::attach(cells, worker_count, keep()) };
        Self {
            searching,
            sleepers,
            cells,
        }
    }

    /// Returns the number of workers.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns true if the set has no workers.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    #[inline]
    fn count(&self) -> &AtomicIsize {
        &self.searching[0]
    }

    /// Notifies every worker, no matter which thread has taken its bit, so that each sleeper checks
    /// again. Call it after the end of a process that may have taken a bit.
    pub fn notify_all(&self) {
        for worker_index in self.cells.indices() {
            let _ = self.cells.cell(worker_index).notify();
        }
    }

    /// Returns the wait cell of a worker. The worker waits only there, for anything it waits for.
    #[inline]
    pub fn cell(&self, worker_index: usize) -> &WaitCell {
        self.cells.cell(worker_index)
    }

    /// Returns the number of workers that search for work, or are about to.
    #[inline]
    pub fn searching(&self) -> usize {
        // Relaxed: a hint. The count may fall below zero (invariant 1).
        usize::try_from(self.count().load(Relaxed)).unwrap_or(0)
    }

    /// Returns true if a worker searches for work, or is about to.
    #[inline]
    pub fn anyone_searches(&self) -> bool {
        self.searching() > 0
    }

    /// Returns true if a worker sleeps.
    #[inline]
    pub fn anyone_sleeps(&self) -> bool {
        !self.sleepers.is_empty()
    }

    /// Returns the number of workers that sleep and have not been woken: an estimate.
    pub fn sleeping(&self) -> usize {
        self.sleepers.len()
    }

    /// Ensures that a worker finds the work that the caller has just put somewhere. Returns the
    /// index of the worker that it woke.
    ///
    /// The search for a sleeper starts at `near`. Costs a fence and two loads, and a futex wake if
    /// no worker searches.
    #[inline]
    pub fn work_came(&self, near: usize) -> Option<usize> {
        // ORDERING(I1, I2): the work is visible before the count and the bits are checked.
        fence(SeqCst);
        // Relaxed: ordered by the fence.
        if self.count().load(Relaxed) > 0 || self.sleepers.is_empty() {
            return None;
        }
        self.wake_one(near)
    }

    /// Does what [`work_came`](Self::work_came) does, for a producer that counts its work:
    /// `waiting` pieces, including the one just put, have not been taken. If that is 2, 4, 8, …,
    /// wakes a worker although others search.
    ///
    /// Calls `before_wake` with the worker that is to be woken, before it is woken.
    pub fn work_piled_up(
        &self,
        near: usize,
        waiting: usize,
        before_wake: impl FnOnce(usize),
    ) -> Option<usize> {
        let is_pile = waiting >= 2 && waiting.is_power_of_two();
        // ORDERING(I1, I2): the work is visible before the count and the bits are checked.
        fence(SeqCst);
        // Relaxed: ordered by the fence.
        let is_searched = self.count().load(Relaxed) > 0;
        if (is_searched && !is_pile) || self.sleepers.is_empty() {
            return None;
        }
        self.wake_one_after(near, before_wake)
    }

    /// Does what [`work_came`](Self::work_came) does, for a producer in the same process as all
    /// workers of the set. Costs a light fence and a check if no worker sleeps.
    #[inline]
    pub fn work_came_near(&self, near: usize) -> Option<usize> {
        // ORDERING(I1): the work is visible before the bits are checked.
        light_fence();
        if self.sleepers.is_empty() {
            return None;
        }
        self.work_came(near)
    }

    /// Wakes a worker, although others search, for a producer that is about to put more work. Costs
    /// the same as [`work_came_near`](Self::work_came_near) if no worker sleeps.
    pub fn wake_for_work_near(&self, near: usize) -> Option<usize> {
        // ORDERING(I1): the work is visible before the bits are checked.
        light_fence();
        if self.sleepers.is_empty() {
            return None;
        }
        self.wake_one(near)
    }

    /// Wakes `worker_index`, if it sleeps, for work that only this worker can do and that it checks
    /// for before it sleeps. Returns true if this call woke it.
    #[inline]
    pub fn work_came_for(&self, worker_index: usize) -> bool {
        // ORDERING(I1): the work is visible before the bit is checked.
        light_fence();
        self.sleepers.contains(worker_index) && self.wake(worker_index)
    }

    /// Returns true if some worker sleeps and none searches, so that no worker is looking for the
    /// work that the caller has just made visible.
    ///
    /// For work that a worker checks for before it sleeps, but that does not justify a wake-up each
    /// time. Costs a light fence and two loads.
    #[inline]
    pub fn only_sleepers(&self) -> bool {
        // ORDERING(I1): the work is visible before the bits and the count are checked.
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

    /// Records that a busy worker has run out of work and begins to search.
    pub fn start_search(&self) {
        // Relaxed, here and for every change of the count: the fences order it.
        self.count().fetch_add(1, Relaxed);
    }

    /// Records that a searching worker has found work, and wakes others while `has_work`. Returns
    /// the number of workers that it woke.
    ///
    /// Wakes at most two workers if the caller has slept during its search (`has_slept`), and
    /// otherwise at most one, if the caller was the last searcher. `has_work` is called only while
    /// some worker sleeps: a worker that goes to sleep later checks for work itself (I1).
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
        // ORDERING(I2): the count is decremented before the check for more work.
        fence(SeqCst);
        (0..wakes_max)
            .take_while(|_| !self.sleepers.is_empty() && has_work())
            .filter_map(|_| self.wake_one(worker_index))
            .count()
    }

    /// Puts a searching worker to sleep unless `has_work`. The worker is a searcher again when the
    /// call returns.
    ///
    /// `before_sleep` runs once the worker has decided to sleep and can already be woken. The
    /// worker then waits for `monitored` without the kernel, and after that in the kernel.
    ///
    /// If there is a `timeout`, the worker calls `look` when it has passed. The worker counts as
    /// asleep meanwhile. `look` returns the next timeout, or `None` if the worker is to search. A
    /// sleep that ends before the timeout costs no heavy fence (I3).
    ///
    /// # Panics
    /// If another thread already sleeps for this worker.
    pub fn sleep(
        &self,
        worker_index: usize,
        mut monitored: Duration,
        mut timeout: Option<Duration>,
        mut look: impl FnMut() -> Option<Duration>,
        has_work: impl Fn() -> bool,
        before_sleep: impl FnOnce(),
    ) -> Slept {
        let is_first = self.sleepers.insert(worker_index);
        assert!(is_first, "worker {worker_index} sleeps already");
        // Relaxed: as in `start_search`.
        self.count().fetch_sub(1, Relaxed);
        // ORDERING(I1, I3): the bit and the count are visible before the check for work.
        let mut is_heavy = timeout.is_none();
        match is_heavy {
            true => heavy_fence(),
            false => fence(SeqCst),
        }
        if has_work() && self.take_own_bit(worker_index) {
            return Slept::Not;
        }
        before_sleep();
        // A token alone proves nothing: it may be left over from another wait of this worker, or
        // report the end of a process. Only the missing bit means that another thread woke this
        // worker. After any other token there may be work, so the worker checks.
        while self.sleepers.contains(worker_index) {
            let is_notified = self.cells.cell(worker_index).wait_for(monitored, timeout);
            monitored = Duration::ZERO;
            if !self.sleepers.contains(worker_index) {
                break;
            }
            if !is_notified && timeout.is_some() {
                if !is_heavy {
                    // ORDERING(I3): as I1, now also for producers with a light fence.
                    heavy_fence();
                    is_heavy = true;
                    if has_work() && self.take_own_bit(worker_index) {
                        return Slept::TimedOut;
                    }
                }
                timeout = look();
                if timeout.is_none() && self.take_own_bit(worker_index) {
                    return Slept::TimedOut;
                }
            } else if has_work() && self.take_own_bit(worker_index) {
                return Slept::Woken;
            }
        }
        Slept::Woken
    }

    /// Takes back the bit of the calling worker, which then counts as a searcher again. Returns
    /// false if another thread took the bit first and counts the worker as a searcher.
    fn take_own_bit(&self, worker_index: usize) -> bool {
        let is_taken = self.sleepers.remove(worker_index);
        if is_taken {
            // Relaxed: as in `start_search`.
            self.count().fetch_add(1, Relaxed);
        }
        is_taken
    }

    /// Wakes every sleeper, for example because the runtime ends.
    pub fn wake_all(&self) {
        // ORDERING(I1): the caller's news are visible before the sleepers' bits are checked.
        fence(SeqCst);
        while self.wake_one(0).is_some() {}
    }

    /// Wakes one sleeper, if there is one, and returns its index. The search starts at `near`.
    #[cold]
    pub fn wake_one(&self, near: usize) -> Option<usize> {
        self.wake_one_after(near, |_| ())
    }

    fn wake_one_after(&self, near: usize, before_wake: impl FnOnce(usize)) -> Option<usize> {
        let worker_index = self.sleepers.take_any(near % self.cells.len())?;
        before_wake(worker_index);
        self.run_again(worker_index);
        Some(worker_index)
    }

    /// Wakes a worker after the caller has taken its bit (invariant 2).
    fn run_again(&self, worker_index: usize) {
        // Relaxed: as in `start_search`.
        self.count().fetch_add(1, Relaxed);
        let _ = self.cells.cell(worker_index).notify();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
