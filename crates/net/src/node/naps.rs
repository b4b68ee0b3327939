//! What comes from other machines by MPI, of which nothing tells the listening thread: it looks, and naps.
//!
//! A nap is an eighth of the silence before it: of the time since something has come, or somebody went to sleep. So what comes is found late by that much
//! of the time that it took, by twenty milliseconds at most, and a silent node costs next to nothing. A larger part would not do: where two nodes answer each other,
//! the one's delay is a part of the other's silence, and with naps as long as the silence each made the other's longer, up to the longest.

use std::num::NonZeroU64;
use std::time::Duration;

use raddle_sync::prim::Instant;
use rustix::thread::set_current_timer_slack;

/// The shortest nap.
const NAP_MIN: Duration = Duration::from_micros(20);
/// The longest.
const NAP_MAX: Duration = Duration::from_millis(20);
/// A nap in a silence.
const SILENCE_PER_NAP: u32 = 8;
/// By how much the system may let a nap take longer: 50 µs are usual.
const SLACK_NS: NonZeroU64 = NonZeroU64::new(1_000).expect("it is not zero");

/// How the listening thread hears of what nothing tells.
#[derive(Debug)]
pub(super) struct Naps {
    /// The silence has lasted since then.
    since: Instant,
}

impl Naps {
    pub(super) fn new() -> Self {
        // Naps are longer where the system refuses that.
        let _ = set_current_timer_slack(Some(SLACK_NS));
        Self {
            since: Instant::now(),
        }
    }

    /// How long to nap, after a look at which something `has_come` or not.
    pub(super) fn next(&mut self, has_come: bool) -> Duration {
        if has_come {
            self.begin_anew();
        }
        (self.since.elapsed() / SILENCE_PER_NAP).clamp(NAP_MIN, NAP_MAX)
    }

    /// The silence is over.
    pub(super) fn begin_anew(&mut self) {
        self.since = Instant::now();
    }
}
