//! Short timeouts that end on time.
//!
//! Linux adds up to 50 µs to each timeout of a thread, so that several timeouts can end together
//! (`PR_SET_TIMERSLACK`, prctl(2)). A sleep of 20 µs then takes 70 µs.

use std::num::NonZeroU64;
use std::time::Duration;

use rustix::thread::{current_timer_slack, set_current_timer_slack};

/// Timeouts shorter than this end on time. For longer ones, 50 µs do not matter.
const SHORT_MAX: Duration = Duration::from_millis(1);

/// A guard: the timeouts of this thread end on time while it exists.
///
/// Dropping it restores the former setting, because threads and processes that this thread starts
/// inherit the setting. Costs three system calls, together less than a microsecond.
pub(super) struct FineTimer {
    slack_before_ns: Option<NonZeroU64>,
}

impl FineTimer {
    /// Creates the guard for a short timeout. Returns `None` for a long one.
    pub(super) fn for_timeout(timeout: Duration) -> Option<Self> {
        // Miri does not know these calls.
        if timeout >= SHORT_MAX || cfg!(miri) {
            return None;
        }
        let slack_before_ns = NonZeroU64::new(current_timer_slack().ok()?);
        // If the system refuses this, the timeout takes longer, which is no error.
        let _ = set_current_timer_slack(Some(NonZeroU64::MIN));
        Some(Self { slack_before_ns })
    }
}

impl Drop for FineTimer {
    fn drop(&mut self) {
        let _ = set_current_timer_slack(self.slack_before_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_own_setting() {
        let own_ns = 123_456;
        set_current_timer_slack(NonZeroU64::new(own_ns)).expect("Linux allows a thread to set it");
        let short = FineTimer::for_timeout(Duration::from_micros(20));
        assert_eq!(current_timer_slack().ok(), Some(1));
        drop(short);
        assert_eq!(current_timer_slack().ok(), Some(own_ns));
        assert!(FineTimer::for_timeout(SHORT_MAX).is_none());
    }
}
