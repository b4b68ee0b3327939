//! The part of a wait without the kernel: looks, close at first, then a watch by the processor or pauses that grow.

use std::time::Duration;

use super::{EMPTY, Monitor, WATCHING, WaitCell, Way};
use crate::prim::{Instant, LIGHT, Relaxed, SeqCst, fence, spin_loop};

/// Looks between two readings of the clock.
const LOOKS_PER_CLOCK: u32 = if LIGHT { 1 } else { 32 };
/// Looks with one pause between them; the answer to a message comes within that many.
const LOOKS_CLOSE: u32 = if LIGHT { 1 } else { 64 };
/// Pauses between two looks, at most: a quarter of a microsecond to one, by the processor.
const PAUSES_MAX: u32 = if LIGHT { 1 } else { 16 };
/// Between two readings of the clock there are some twenty microseconds at most, unless the CPU was somebody else's.
const INTERRUPTION: Duration = Duration::from_micros(200);

/// How it went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lingered {
    /// What was waited for has come.
    pub(super) ended: bool,
    /// The CPU was taken away meanwhile.
    pub(super) interrupted: bool,
}

impl WaitCell {
    /// Waits for `limit` without the kernel, until `ended`. `done` is what a ring may tell of, and ends a watch before it begins.
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
            for _ in 0..LOOKS_PER_CLOCK {
                for _ in 0..pauses {
                    spin_loop();
                }
                if ended() {
                    lingered.ended = true;
                    return lingered;
                }
            }
            let time = start.elapsed();
            lingered.interrupted |= time - last >= INTERRUPTION;
            last = time;
            if time >= limit {
                return lingered;
            }
            looks += LOOKS_PER_CLOCK;
            if looks < LOOKS_CLOSE || way == Way::Spin {
                continue;
            }
            if let Some(monitor) = way.monitor() {
                self.watch(monitor, start, limit, done);
                lingered.ended = ended();
                return lingered;
            }
            pauses = (2 * pauses).min(PAUSES_MAX);
        }
    }

    /// Has the processor watch the word until `done`, a token comes, or `limit` has passed since `start`.
    #[cold]
    fn watch(&self, monitor: Monitor, start: Instant, limit: Duration, done: impl Fn() -> bool) {
        let word = self.futex.word();
        // Relaxed, here and below: the state publishes nothing by itself; failure means a token.
        let _ = word.compare_exchange(EMPTY, WATCHING, Relaxed, Relaxed);
        // ORDERING(W2): the state is out before the looks.
        fence(SeqCst);
        while !done() && word.load(Relaxed) == WATCHING && start.elapsed() < limit {
            monitor.watch(word, WATCHING);
        }
        let _ = word.compare_exchange(WATCHING, EMPTY, Relaxed, Relaxed);
    }
}
