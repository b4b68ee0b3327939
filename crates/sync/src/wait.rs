//! The wait cell: where one thread waits, and what any other thread wakes it with.
//!
//! One thread owns the cell and waits in it; anybody may notify. A notification is a token: it is kept until
//! the owner takes it, and two that nobody took are one. The owner therefore checks its condition in a loop
//! around [`WaitCell::wait`]; a token too many costs it one look.
//!
//! The owner first spins, since a thread in the kernel takes 5 to 50 µs to run again, then sleeps on a futex.
//! How long it spins is learnt from the gaps it saw ([`SpinBudget`]): spinning as long as a wake-up costs loses
//! at most a factor of two against knowing the future (Karlin et al. 1990), and where gaps are long, hardly
//! any spinning is left. A monitored wait (UMWAIT, MWAITX, WFE) belongs between the two phases.
//!
//! # States
//! ```text
//!            notify: swap                     wait: CAS
//!  EMPTY ───────────────────► NOTIFIED ──────────────────► EMPTY
//!    │ wait: CAS                  ▲
//!    ▼                            │ notify: swap, then futex wake
//!  ASLEEP ────────────────────────┘
//! ```
//! # Memory ordering
//! | label | release side                    | acquire side                       | what it publishes              |
//! |-------|---------------------------------|------------------------------------|--------------------------------|
//! | W1    | `notify` swaps in `NOTIFIED`    | owner takes the token (CAS)        | all that the notifier did      |
//! # Invariants
//! 1. Only the owner moves the word to `ASLEEP` or `EMPTY`.
//! 2. A notifier that finds `ASLEEP` wakes the futex after its swap, so the owner, which compares the word
//!    and sleeps in one step, either sees `NOTIFIED` or is woken: no wake-up is lost.
//! # Source
//! The token is the parker of most thread libraries; the spin limit is ski rental: Karlin, Manasse, McGeoch,
//! Owicki: Competitive randomized algorithms for nonuniform problems. SODA 1990.

mod budget;

use std::time::Duration;

use crate::prim::{Acquire, Futex, Instant, LIGHT, Relaxed, Release, spin_loop};

pub use budget::SpinBudget;

const EMPTY: u32 = 0;
const NOTIFIED: u32 = 1;
const ASLEEP: u32 = 2;
/// Looks at the word between two readings of the clock.
const LOOKS_PER_CLOCK: u32 = if LIGHT { 1 } else { 32 };

/// A place where one thread waits for a token that any thread can leave.
#[derive(Debug)]
pub struct WaitCell {
    futex: Futex,
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

impl Default for WaitCell {
    fn default() -> Self {
        Self::new()
    }
}

impl WaitCell {
    crate::const_fn! {
        /// A cell without a token.
        pub const fn new() -> Self {
            Self {
                futex: Futex::new(EMPTY),
            }
        }
    }

    /// Leaves a token and wakes the owner. Costs one exchange where the owner is awake.
    pub fn notify(&self) -> Notified {
        // ORDERING(W1): Release, so that the owner sees all that led to the token.
        if self.futex.word().swap(NOTIFIED, Release) == ASLEEP {
            self.futex.wake_one();
            return Notified::Sleeper;
        }
        Notified::Awake
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
    pub fn wait(&self, spin: Duration) {
        if !self.spin_for(spin) {
            self.sleep(None);
        }
    }

    /// Waits for the token for at most `timeout`, without spinning; true when it came.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        self.try_take() || self.sleep(Some(timeout))
    }

    /// Spins until a token comes or `spin` is over; true when it came.
    fn spin_for(&self, spin: Duration) -> bool {
        if self.try_take() {
            return true;
        }
        if spin.is_zero() {
            return false;
        }
        let start = Instant::now();
        loop {
            for _ in 0..LOOKS_PER_CLOCK {
                if self.try_take() {
                    return true;
                }
                spin_loop();
            }
            if start.elapsed() >= spin {
                return false;
            }
        }
    }

    /// Sleeps in the kernel until a token comes, or once for `timeout`; true when it came.
    pub fn sleep(&self, timeout: Option<Duration>) -> bool {
        let word = self.futex.word();
        // Relaxed: going to sleep publishes nothing; failure means a token, which is taken below.
        if word
            .compare_exchange(EMPTY, ASLEEP, Relaxed, Relaxed)
            .is_err()
        {
            return self.try_take();
        }
        loop {
            self.futex.wait(ASLEEP, timeout);
            if self.try_take() {
                return true;
            }
            if timeout.is_some() {
                // Relaxed: as above. On failure the token came after the time was up.
                return word
                    .compare_exchange(ASLEEP, EMPTY, Relaxed, Relaxed)
                    .is_err()
                    && self.try_take();
            }
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
