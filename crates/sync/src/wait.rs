//! The wait cell: one thread waits in it, and any other thread, of this process or another, wakes
//! it.
//!
//! One thread owns the cell and waits in it. Any thread may wake it, in one of two ways:
//!
//! - [`notify`](WaitCell::notify) leaves a *token*, which stays until the owner takes it. Two
//!   tokens that were not taken count as one. The owner checks its condition in a loop around
//!   [`wait`](WaitCell::wait); a superfluous token costs it one check.
//! - [`ring`](WaitCell::ring) is called after a change that the owner checks for itself
//!   ([`wait_until`](WaitCell::wait_until)). A ring leaves a token only if the owner has announced
//!   that it stopped checking. While the owner is awake, a ring costs other threads only a check.
//!
//! # Four ways to wait
//! As a wait goes on, the owner moves from one way to the next. ([`Way`] selects a single one
//! instead.)
//!
//! 1. It *spins*, because a thread that sleeps in the kernel takes 5 to 50 µs to run again.
//! 2. It lets the processor *monitor* the word and stops issuing instructions, if the processor has
//!    such a *monitored wait* for user mode ([`Monitor`]). The other thread on the same core has
//!    the core to itself meanwhile, and a write to the word ends the wait.
//! 3. If there is no such wait, it checks less and less often, with *timed pauses* in between.
//! 4. It sleeps in the kernel, on a *futex*.
//!
//! The time for the first three is learnt from the gaps seen so far ([`SpinBudget`]). It is at most
//! the price of a wake-up by the kernel, which is learnt as well ([`wake_price`]). Waiting
//! therefore costs at most twice as much as with knowledge of the future (Karlin et al. 1990). If
//! gaps are long, hardly any spinning is left.
//!
//! # States
//! ```text
//!                 notify: swap                    owner: CAS
//!  EMPTY ──────────────────────────► NOTIFIED ───────────────► EMPTY
//!    │ owner: CAS                     ▲  ▲
//!    ▼            notify: swap        │  │ notify: swap, then futex wake
//!  MONITORING ────────────────────────┘  │
//!    │ owner: CAS                        │
//!    ▼                                   │
//!  ASLEEP ───────────────────────────────┘        MONITORING, ASLEEP ── owner: CAS ──► EMPTY
//! ```
//! # Memory ordering
//! | label | release side | acquire side | publishes |
//! | --- | --- | --- | --- |
//! | W1 | `notify` swaps in `NOTIFIED` | owner takes the token (CAS) | the notifier's writes |
//! | W2 | news, `fence(SeqCst)`, `ring` checks | state, `fence(SeqCst)`, checks | news or state |
//!
//! W2 lets at least one side see the other: either the owner sees the news, or the ring sees the
//! owner's state. No model fails without the W2 fence before a monitored wait. Such a wait ends by
//! itself, so a ring that misses it is late, but not lost.
//! # Invariants
//! 1. Only the owner moves the word to `MONITORING`, `ASLEEP` or `EMPTY`.
//! 2. A notifier that finds `ASLEEP` wakes the futex after its swap, so the owner, which compares
//!    the word and sleeps in one step, either sees `NOTIFIED` or is woken: no wake-up is lost.
//! 3. The owner checks for news after it has set `MONITORING` or `ASLEEP`, and before it waits.
//! # No wake-up is lost
//! *By a token:* the token stays in the word until it is taken. From every state, the swap leads to
//! `NOTIFIED`, which ends every kind of wait. A monitored wait ends because of the write, or at the
//! latest when the time limit of the processor has passed. A futex wait ends by invariant 2.
//!
//! *By a ring:* consider the order of the two fences of W2. If the owner's fence comes first,
//! `ring` sees `MONITORING` or `ASLEEP` (or an earlier token) and leaves a token. If the owner's
//! fence comes second, the owner sees the news before it waits (invariant 3).
//! # Misuse
//! A cell has one owner. Only the owner waits and takes tokens. If two threads do, each may take a
//! token that was meant for the other. The second thread that goes to sleep panics. No other memory
//! is accessed.
//! # Source
//! The token is the parker of most thread libraries. The spin limit is ski rental: Karlin, Manasse,
//! McGeoch, Owicki: Competitive randomized algorithms for nonuniform problems. SODA 1990. A word by
//! which the network too can wake a thread, without the kernel: Parker, Efficient user-level event
//! notification, section 3.2.

mod budget;
mod linger;
mod monitor;
mod price;
mod way;

use std::time::Duration;

use crate::prim::{Acquire, AtomicU32, Futex, Relaxed, Release, SeqCst, clock_ns, fence};

pub use budget::{SpinBudget, prepare_waits};
pub use monitor::Monitor;
pub use price::wake_price;
pub use way::Way;

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const MONITORING: u32 = 2;
const ASLEEP: u32 = 3;

/// A cell in which one thread waits, and by which any thread can wake it.
#[derive(Debug)]
#[repr(C)]
pub struct WaitCell {
    futex: Futex,
    /// The time when a thread last woke the owner from sleep. The price of a wake-up is learnt from
    /// it.
    woken_at: AtomicU32,
}

/// The state in which a notification found the owner.
#[must_use = "the cost of the wake-up depends on whether the owner slept"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notified {
    /// The owner slept in the kernel and was woken.
    Sleeper,
    /// The owner was awake, or there was a token already.
    Awake,
}

/// The outcome of a wait: the thread kept its CPU, or lost it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The owner kept its CPU while it spun.
    Undisturbed,
    /// The owner lost its CPU while it spun. Other threads want the CPU, perhaps even the thread
    /// that the owner waits for.
    Interrupted,
}

impl Default for WaitCell {
    fn default() -> Self {
        Self::new()
    }
}

impl WaitCell {
    crate::const_fn! {
        /// Creates a cell without a token, for the threads of one process.
        pub const fn new() -> Self {
            Self {
                futex: Futex::new(EMPTY),
                woken_at: AtomicU32::new(0),
            }
        }
    }

    crate::const_fn! {
        /// Creates a cell without a token, in memory that several processes share.
        pub const fn new_shared() -> Self {
            Self {
                futex: Futex::new_shared(EMPTY),
                woken_at: AtomicU32::new(0),
            }
        }
    }

    /// Leaves a token and wakes the owner. Costs one exchange if the owner is awake.
    pub fn notify(&self) -> Notified {
        let word = self.futex.word();
        // Relaxed: this only decides whether to store the time. The time is Relaxed too, since a
        // wrong time only gives a wrong sample.
        if word.load(Relaxed) == ASLEEP {
            self.woken_at.store(low_half(clock_ns()), Relaxed);
        }
        // ORDERING(W1): Release: the owner sees everything that led to the token.
        if word.swap(NOTIFIED, Release) == ASLEEP {
            self.futex.wake_one();
            return Notified::Sleeper;
        }
        Notified::Awake
    }

    /// Wakes the owner if it no longer checks for the caller's change itself. Costs a fence and a
    /// check if the owner is awake.
    #[inline]
    pub fn ring(&self) -> Notified {
        // ORDERING(W2): the news is visible before the state is checked.
        fence(SeqCst);
        self.ring_after_fence()
    }

    /// Does what [`ring`](Self::ring) does, for a caller that has executed a SeqCst fence after its
    /// change.
    #[inline]
    pub fn ring_after_fence(&self) -> Notified {
        // Relaxed: ordered by the caller's fence.
        match self.futex.word().load(Relaxed) {
            MONITORING | ASLEEP => self.notify(),
            _ => Notified::Awake,
        }
    }

    /// Takes the token if there is one. Only for the owner.
    #[inline]
    pub fn try_take(&self) -> bool {
        // Relaxed: a check that avoids an exchange; the CAS below decides.
        self.futex.word().load(Relaxed) == NOTIFIED
            // ORDERING(W1): Acquire: to see everything that led to the token.
            && self.futex.word().compare_exchange(NOTIFIED, EMPTY, Acquire, Relaxed).is_ok()
    }

    /// Returns true if there is a token that the owner has not taken yet. For any thread.
    pub fn is_notified(&self) -> bool {
        // Relaxed: the token may be taken at any moment.
        self.futex.word().load(Relaxed) == NOTIFIED
    }

    /// Waits for the token and takes it. Spins for `spin`, then sleeps. Only for the owner.
    ///
    /// # Panics
    /// If another thread sleeps in this cell. The same holds for all functions that sleep.
    pub fn wait(&self, spin: Duration) {
        self.wait_by(Way::Auto, spin);
    }

    /// Waits for the token and takes it. Spins for `spin`, then sleeps for at most `timeout`, if
    /// there is one. Returns true if there was a token. Only for the owner.
    pub fn wait_for(&self, spin: Duration, timeout: Option<Duration>) -> bool {
        let lingered = self.linger(
            Way::Auto,
            Way::Auto.limit(spin),
            || self.try_take(),
            || false,
        );
        lingered.ended || self.sleep(timeout)
    }

    /// Waits as [`wait`](Self::wait) does, in the given way. Sleeps only if that way does.
    ///
    /// [`Way::Monitor`] acts as [`Way::Pause`] if the processor has no monitored wait.
    pub fn wait_by(&self, way: Way, spin: Duration) {
        let lingered = self.linger(way, way.limit(spin), || self.try_take(), || false);
        if !lingered.ended {
            self.sleep(None);
        }
    }

    /// Waits until `done` returns true. A thread that makes `done` true then calls
    /// [`ring`](Self::ring) or `notify`.
    ///
    /// `done` is called repeatedly, and at least once after the owner has published its state. It
    /// must see what was written before the ring, given a SeqCst fence on both sides. Loads of
    /// atomics satisfy this, even Relaxed ones.
    pub fn wait_until(&self, way: Way, spin: Duration, done: impl Fn() -> bool) -> Waited {
        let mut waited = Waited::Undisturbed;
        loop {
            let lingered = self.linger(way, way.limit(spin), &done, &done);
            if lingered.interrupted {
                waited = Waited::Interrupted;
            }
            if lingered.ended {
                return waited;
            }
            self.sleep_unless(None, &done);
        }
    }

    /// Waits for the token for at most `timeout`, without spinning. Returns true if there was a
    /// token.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        self.try_take() || self.sleep(Some(timeout))
    }

    /// Sleeps in the kernel until there is a token, or once for `timeout`. Returns true if there
    /// was a token.
    pub fn sleep(&self, timeout: Option<Duration>) -> bool {
        self.sleep_unless(timeout, || false)
    }

    /// Sleeps until there is a token, unless `done`. Returns true if there was a token. After false
    /// the caller has to check its condition again.
    fn sleep_unless(&self, timeout: Option<Duration>, done: impl Fn() -> bool) -> bool {
        let word = self.futex.word();
        // Relaxed: going to sleep publishes nothing. A failure means that there is a token, which
        // is taken below.
        if let Err(state) = word.compare_exchange(EMPTY, ASLEEP, Relaxed, Relaxed) {
            assert_ne!(state, ASLEEP, "two threads wait in one cell");
            return self.try_take();
        }
        // ORDERING(W2): the state is visible before the last check.
        fence(SeqCst);
        if done() {
            return self.cancel_sleep();
        }
        // A futex wait may end without a token. Without a timeout, sleep again.
        loop {
            self.futex.wait(ASLEEP, timeout);
            if self.try_take() {
                self.learn_price();
                return true;
            }
            if timeout.is_some() {
                return self.cancel_sleep();
            }
        }
    }

    /// Returns the word to `EMPTY` without a wake-up. Returns true if a token arrived meanwhile.
    fn cancel_sleep(&self) -> bool {
        // Relaxed: as in `sleep_unless`. A failure means that a token arrived meanwhile.
        self.futex
            .word()
            .compare_exchange(ASLEEP, EMPTY, Relaxed, Relaxed)
            .is_err()
            && self.try_take()
    }

    /// Learns the price of a wake-up. The owner has just been woken from sleep.
    fn learn_price(&self) {
        // Relaxed: a wrong time only gives a wrong sample.
        let woken_at = self.woken_at.load(Relaxed);
        price::observe(low_half(clock_ns()).wrapping_sub(woken_at));
    }
}

/// Returns the low half of a time in nanoseconds, which distinguishes times less than 4 s apart.
fn low_half(ns: u64) -> u32 {
    (ns & u64::from(u32::MAX)) as u32
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
