//! The part of a wait without the kernel: frequent checks at first, then a monitored wait
//! or growing pauses.

use std::time::Duration;

use super::{EMPTY, MONITORING, Monitor, WaitCell, Way};
use crate::clock::Instant;
use crate::prim::{LIGHT, Relaxed, SeqCst, fence, spin_loop};

/// The number of checks between two readings of the clock.
const LOOKS_PER_CLOCK: u32 = if LIGHT { 1 } else { 32 };
/// The number of checks with a single pause in between. The answer to a message usually arrives
/// within them.
const LOOKS_CLOSE: u32 = if LIGHT { 1 } else { 64 };
/// The maximum number of pauses between two checks: 0.25 to 1 µs, depending on the processor.
const PAUSES_MAX: u32 = if LIGHT { 1 } else { 16 };
/// Two readings of the clock are at most some 20 µs apart, unless the thread lost its CPU. A longer
/// interval counts as an interruption.
const INTERRUPTION: Duration = Duration::from_micros(200);

/// The outcome of [`WaitCell::linger`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Lingered {
    /// The awaited event has occurred.
    pub(super) ended: bool,
    /// The thread lost its CPU meanwhile.
    pub(super) interrupted: bool,
}

impl WaitCell {
    /// Waits without the kernel until `ended`, for at most `limit`. `done` is the condition that a
    /// ring may announce; it ends a monitored wait before it begins.
    pub(super) fn linger(
        &self,
        way: Way,
        limit: Duration,
        ended: impl Fn() -> bool,
        done: impl Fn() -> bool,
    ) -> Lingered {
        let mut lingered = Lingered {
            ended: ended(),
            interrupted: false,
        };
        if lingered.ended || limit.is_zero() {
            return lingered;
        }
        let start = Instant::now();
        let mut last = Duration::ZERO;
        let mut looks = 0;
        let mut pauses = 1;
        loop {
            // A round of checks without reading the clock, with `pauses` pauses before each.
            for _ in 0..LOOKS_PER_CLOCK {
                for _ in 0..pauses {
                    spin_loop();
                }
                if ended() {
                    lingered.ended = true;
                    return lingered;
                }
            }
            // Now read the clock once: it shows an interruption, and the end of the wait.
            let time = start.elapsed();
            lingered.interrupted |= time - last >= INTERRUPTION;
            last = time;
            if time >= limit {
                return lingered;
            }
            // The first checks are close together. After them, the processor monitors the word,
            // or the pauses grow.
            looks += LOOKS_PER_CLOCK;
            if looks < LOOKS_CLOSE || way == Way::Spin {
                continue;
            }
            if let Some(monitor) = way.monitor() {
                self.wait_monitored(monitor, start, limit, done);
                lingered.ended = ended();
                return lingered;
            }
            pauses = (2 * pauses).min(PAUSES_MAX);
        }
    }

    /// Lets the processor monitor the word until `done`, until there is a token, or until `limit`
    /// has passed since `start`.
    #[cold]
    fn wait_monitored(
        &self,
        monitor: Monitor,
        start: Instant,
        limit: Duration,
        done: impl Fn() -> bool,
    ) {
        let word = self.futex.word();
        // Relaxed, here and below: the state publishes nothing by itself; a failure means a token.
        let _ = word.compare_exchange(EMPTY, MONITORING, Relaxed, Relaxed);
        // ORDERING(W2): the state is visible before the checks.
        fence(SeqCst);
        while !done() && word.load(Relaxed) == MONITORING && start.elapsed() < limit {
            monitor.wait(word, MONITORING);
        }
        let _ = word.compare_exchange(MONITORING, EMPTY, Relaxed, Relaxed);
    }
}
