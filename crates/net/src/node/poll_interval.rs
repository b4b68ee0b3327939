//! The pauses of the listening thread between two polls of a transport that does not notify it of
//! arrivals.
//!
//! A pause is an eighth of the silence before it. The *silence* is the time since something has
//! arrived or a thread went to sleep. So the delay of an arrival is at most an eighth of the time
//! that the arrival took, and at most twenty milliseconds, while a silent node costs next to
//! nothing. A larger part is not suitable: if two nodes answer each other, the delay of one is part
//! of the silence of the other. If a pause were as long as the silence, each node would make the
//! silence of the other longer, up to the longest pause.

use std::num::NonZeroU64;
use std::time::Duration;

use raddle_sync::clock::Instant;
use rustix::thread::set_current_timer_slack;

/// The shortest pause.
const PAUSE_MIN: Duration = Duration::from_micros(20);
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(20);
/// The length of a silence divided by the length of the pause after it.
const SILENCE_PER_PAUSE: u32 = 8;
/// The time by which the system may prolong a pause. The default is 50 µs.
const SLACK_NS: NonZeroU64 = NonZeroU64::new(1_000).expect("it is not zero");

/// The lengths of the pauses between polls.
#[derive(Debug)]
pub(super) struct PollInterval {
    /// The time at which the silence began.
    since: Instant,
}

impl PollInterval {
    /// Starts a silence. Also makes the pauses of the calling thread more precise.
    pub(super) fn new() -> Self {
        // If the system refuses this, pauses are longer.
        let _ = set_current_timer_slack(Some(SLACK_NS));
        Self {
            since: Instant::now(),
        }
    }

    /// Returns the length of the next pause. `has_arrived` says whether the last poll has found
    /// something.
    pub(super) fn next(&mut self, has_arrived: bool) -> Duration {
        if has_arrived {
            self.restart();
        }
        (self.since.elapsed() / SILENCE_PER_PAUSE).clamp(PAUSE_MIN, PAUSE_MAX)
    }

    /// Resets the interval, because a message arrived.
    pub(super) fn restart(&mut self) {
        self.since = Instant::now();
    }
}
