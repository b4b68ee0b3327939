//! The wait cell: where one thread waits, and what any other thread, of this process or another, wakes it with.
//!
//! One thread owns the cell and waits in it; anybody may wake it. It is told in one of two ways:
//!
//! - a *token* ([`notify`](WaitCell::notify)) is kept until the owner takes it, and two that nobody took are one. The owner checks
//!   its condition in a loop around [`wait`](WaitCell::wait); a token too many costs it one look;
//! - a *ring* ([`ring`](WaitCell::ring)) comes after something that the owner looks for itself
//!   ([`wait_until`](WaitCell::wait_until)). It leaves a token only where the owner has said that it does not look any more, so that it
//!   costs the others a look while the owner is awake.
//!
//! # Four ways to wait
//! The owner goes from one to the next as the wait goes on ([`Way`] picks one for good):
//!
//! 1. it *spins*, since a thread that sleeps in the kernel takes 5 to 50 µs to run again;
//! 2. it lets the processor *watch* the word and stops issuing instructions, where there is such a wait for user mode
//!    ([`Monitor`]): who shares the core has it for himself, and the write wakes;
//! 3. where there is none, it looks ever more seldom between *timed pauses*;
//! 4. it sleeps in the kernel, on a *futex*.
//!
//! How long the first three take is learnt from the gaps that were seen ([`SpinBudget`]): up to the price of a wake-up by the kernel, which is
//! learnt as well ([`wake_price`]). So waiting loses at most a factor of two against knowing the future (Karlin et al. 1990), and where gaps are
//! long, hardly any spinning is left.
//!
//! # States
//! ```text
//!                 notify: swap                    owner: CAS
//!  EMPTY ──────────────────────────► NOTIFIED ───────────────► EMPTY
//!    │ owner: CAS                     ▲  ▲
//!    ▼            notify: swap        │  │ notify: swap, then futex wake
//!  WATCHING ──────────────────────────┘  │
//!    │ owner: CAS                        │
//!    ▼                                   │
//!  ASLEEP ───────────────────────────────┘          WATCHING, ASLEEP ── owner: CAS ──► EMPTY
//! ```
//! # Memory ordering
//! | label | release side                            | acquire side                                     | what it publishes         |
//! |-------|-----------------------------------------|--------------------------------------------------|---------------------------|
//! | W1    | `notify` swaps in `NOTIFIED`            | owner takes the token (CAS)                      | all that the notifier did |
//! | W2    | news, `fence(SeqCst)`, `ring` looks     | owner's state, `fence(SeqCst)`, looks for news   | the news, or the state    |
//!
//! Of W2, no model fails without the fence before a watch: a watch ends by itself, so that a ring that it misses makes it late and is not lost.
//! # Invariants
//! 1. Only the owner moves the word to `WATCHING`, `ASLEEP` or `EMPTY`.
//! 2. A notifier that finds `ASLEEP` wakes the futex after its swap, so the owner, which compares the word
//!    and sleeps in one step, either sees `NOTIFIED` or is woken: no wake-up is lost.
//! 3. The owner looks for news between saying `WATCHING` or `ASLEEP` and waiting.
//! # No wake-up is lost
//! By a token: it stays in the word until it is taken, and from every state the swap leads to `NOTIFIED`, which ends each kind of wait (a watched
//! word by the write, or at the latest with the time that the processor watches; a futex by invariant 2). By a ring: order the two
//! fences of W2. If the owner's comes first, `ring` sees `WATCHING` or `ASLEEP` (or an earlier token) and leaves a token; if it comes second, the owner
//! sees the news before it waits (invariant 3).
//! # Misuse
//! A cell has one owner, which alone waits and takes tokens. If two threads do, each may take the
//! token that was meant for the other. The second to go to sleep panics. No other memory is touched.
//! # Source
//! The token is the parker of most thread libraries; the spin limit is ski rental: Karlin, Manasse, McGeoch,
//! Owicki: Competitive randomized algorithms for nonuniform problems. SODA 1990. A word that the network, too, may wake a thread by, without the
//! kernel: Parker, Efficient user-level event notification, section 3.2.

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
const WATCHING: u32 = 2;
const ASLEEP: u32 = 3;

/// A place where one thread waits, and where any thread can wake it.
#[derive(Debug)]
#[repr(C)]
pub struct WaitCell {
    futex: Futex,
    /// When the owner was last woken from sleep: from what the price of a wake-up is learnt.
    woken_at: AtomicU32,
}

/// What a notification met.
#[must_use = "whether somebody slept there decides what the wake-up cost"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notified {
    /// The owner slept in the kernel and was woken.
    Sleeper,
    /// The owner was awake, or had a token already.
    Awake,
}

/// How a wait went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// The CPU was the owner's while it looked.
    Undisturbed,
    /// The CPU was taken from the owner while it looked: it is wanted by others, perhaps by whoever is waited for.
    Interrupted,
}

impl Default for WaitCell {
    fn default() -> Self {
        Self::new()
    }
}

impl WaitCell {
    crate::const_fn! {
        /// A cell without a token, for the threads of one process.
        pub const fn new() -> Self {
            Self {
                futex: Futex::new(EMPTY),
                woken_at: AtomicU32::new(0),
            }
        }
    }

    crate::const_fn! {
        /// A cell without a token, in memory that several processes share.
        pub const fn new_shared() -> Self {
            Self {
                futex: Futex::new_shared(EMPTY),
                woken_at: AtomicU32::new(0),
            }
        }
    }

    /// Leaves a token and wakes the owner. Costs one exchange where the owner is awake.
    pub fn notify(&self) -> Notified {
        let word = self.futex.word();
        // Relaxed: a look that only decides whether the time is noted, which is Relaxed too: a wrong time is a wrong sample.
        if word.load(Relaxed) == ASLEEP {
            self.woken_at.store(low_half(clock_ns()), Relaxed);
        }
        // ORDERING(W1): Release, so that the owner sees all that led to the token.
        if word.swap(NOTIFIED, Release) == ASLEEP {
            self.futex.wake_one();
            return Notified::Sleeper;
        }
        Notified::Awake
    }

    /// Wakes the owner if it has stopped to look for what the caller has just done. Costs a fence and a look where it is awake.
    #[inline]
    pub fn ring(&self) -> Notified {
        // ORDERING(W2): the news is out before the look at the state.
        fence(SeqCst);
        self.ring_after_fence()
    }

    /// As [`ring`](Self::ring), for who has put a fence SeqCst after what the owner looks for.
    #[inline]
    pub fn ring_after_fence(&self) -> Notified {
        // Relaxed: ordered by the fence.
        match self.futex.word().load(Relaxed) {
            WATCHING | ASLEEP => self.notify(),
            _ => Notified::Awake,
        }
    }

    /// Takes the token if there is one. For the owner alone.
    #[inline]
    pub fn try_take(&self) -> bool {
        // Relaxed: a look that decides nothing; the CAS below does.
        self.futex.word().load(Relaxed) == NOTIFIED
            // ORDERING(W1): Acquire, to see all that led to the token.
            && self.futex.word().compare_exchange(NOTIFIED, EMPTY, Acquire, Relaxed).is_ok()
    }

    /// Waits for the token and takes it: spins for `spin`, then sleeps. For the owner alone.
    ///
    /// # Panics
    /// Here, and in all functions that sleep, if another thread sleeps in this cell.
    pub fn wait(&self, spin: Duration) {
        self.wait_by(Way::Auto, spin);
    }

    /// Waits for the token and takes it: spins for `spin`, then sleeps for at most `timeout`, if there is one. Returns true when the
    /// token came. For the owner alone.
    pub fn wait_for(&self, spin: Duration, timeout: Option<Duration>) -> bool {
        let lingered = self.linger(
            Way::Auto,
            Way::Auto.limit(spin),
            || self.try_take(),
            || false,
        );
        lingered.ended || self.sleep(timeout)
    }

    /// As [`wait`](Self::wait), in one way: sleeps only in the ways that do.
    ///
    /// Where the processor has no monitored wait, [`Way::Monitor`] is [`Way::Pause`].
    pub fn wait_by(&self, way: Way, spin: Duration) {
        let lingered = self.linger(way, way.limit(spin), || self.try_take(), || false);
        if !lingered.ended {
            self.sleep(None);
        }
    }

    /// Waits until `done`, of which the owner is told by [`ring`](Self::ring) (or `notify`) after it has become true.
    ///
    /// `done` is asked again and again, at least once after the state has been published, and must see what was written before the ring
    /// once a fence SeqCst stands on both sides: loads of atomics will do, be they Relaxed.
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

    /// Waits for the token for at most `timeout`, without spinning; true when it came.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        self.try_take() || self.sleep(Some(timeout))
    }

    /// Sleeps in the kernel until a token comes, or once for `timeout`; true when it came.
    pub fn sleep(&self, timeout: Option<Duration>) -> bool {
        self.sleep_unless(timeout, || false)
    }

    /// Sleeps until a token comes, unless `done`; true when it came. What `done` says after that is for the caller to ask.
    fn sleep_unless(&self, timeout: Option<Duration>, done: impl Fn() -> bool) -> bool {
        let word = self.futex.word();
        // Relaxed: going to sleep publishes nothing; failure means a token, which is taken below.
        if let Err(state) = word.compare_exchange(EMPTY, ASLEEP, Relaxed, Relaxed) {
            assert_ne!(state, ASLEEP, "two threads wait in one cell");
            return self.try_take();
        }
        // ORDERING(W2): the state is out before the last look.
        fence(SeqCst);
        if done() {
            return self.get_up();
        }
        loop {
            self.futex.wait(ASLEEP, timeout);
            if self.try_take() {
                self.learn_price();
                return true;
            }
            if timeout.is_some() {
                return self.get_up();
            }
        }
    }

    /// Is awake again without having been woken; true when a token came all the same.
    fn get_up(&self) -> bool {
        // Relaxed: as in `sleep_unless`. On failure a token came meanwhile.
        self.futex
            .word()
            .compare_exchange(ASLEEP, EMPTY, Relaxed, Relaxed)
            .is_err()
            && self.try_take()
    }

    /// The owner has just been woken from sleep.
    fn learn_price(&self) {
        // Relaxed: a wrong time is a wrong sample.
        let woken_at = self.woken_at.load(Relaxed);
        price::observe(low_half(clock_ns()).wrapping_sub(woken_at));
    }
}

/// Of a time in nanoseconds, what is enough to tell times less than four seconds apart.
fn low_half(ns: u64) -> u32 {
    (ns & u64::from(u32::MAX)) as u32
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
