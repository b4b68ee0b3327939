//! The naps of the listening thread between two polls of a transport that does not notify it of
//! arrivals.
//!
//! A nap is an eighth of the silence before it, that is, of the time since something has arrived or
//! a thread went to sleep. So what arrives is noticed late by an eighth of the time that it took,
//! and by at most twenty milliseconds, while a silent node costs next to nothing. A larger part
//! would not do: if two nodes answer each other, the delay of one is part of the silence of the
//! other. With naps as long as the silence, each would make the other's silence longer, up to the
//! longest nap.

use std::num::NonZeroU64;
use std::time::Duration;

use raddle_sync::prim::Instant;
use rustix::thread::set_current_timer_slack;

/// The shortest nap.
const NAP_MIN: Duration = Duration::from_micros(20);
/// The longest nap.
const NAP_MAX: Duration = Duration::from_millis(20);
/// The length of a silence divided by the length of the nap after it.
const SILENCE_PER_NAP: u32 = 8;
/// By how much the system may prolong a nap. The default is 50 µs.
const SLACK_NS: NonZeroU64 = NonZeroU64::new(1_000).expect("it is not zero");

/// The lengths of the naps between polls.
#[derive(Debug)]
pub(super) struct PollInterval {
    /// The time at which the silence began.
    since: Instant,
}

impl PollInterval {
    /// Starts a silence. Also makes the naps of the calling thread more precise.
    pub(super) fn new() -> Self {
        // If the system refuses this, naps are longer.
        let _ = set_current_timer_slack(Some(SLACK_NS));
        Self {
            since: Instant::now(),
        }
    }

    /// Returns the length of the next nap, after a poll that found something or not.
    pub(super) fn next(&mut self, has_arrived: bool) -> Duration {
        if has_arrived {
            self.restart();
        }
        (self.since.elapsed() / SILENCE_PER_NAP).clamp(NAP_MIN, NAP_MAX)
    }

    /// Ends the silence.
    pub(super) fn restart(&mut self) {
        self.since = Instant::now();
    }
}
