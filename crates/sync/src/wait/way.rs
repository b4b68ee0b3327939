//! The ways to wait, by name, so that each can be measured and selected.

use std::fmt;
use std::time::Duration;

use super::Monitor;

/// A way to wait in a [`WaitCell`](super::WaitCell).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// Moves from one way to the next as the wait goes on.
    #[default]
    Auto,
    /// Checks again and again.
    Spin,
    /// Lets the processor monitor the word.
    Monitor,
    /// Checks less and less often, with pauses in between.
    Pause,
    /// Sleeps in the kernel at once.
    Futex,
}

impl Way {
    /// All ways.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::Spin,
        Self::Monitor,
        Self::Pause,
        Self::Futex,
    ];

    /// Returns the name of the way.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Spin => "spin",
            Self::Monitor => "monitor",
            Self::Pause => "pause",
            Self::Futex => "futex",
        }
    }

    /// Returns the time to wait without the kernel if the spin budget is `spin`.
    pub const fn limit(self, spin: Duration) -> Duration {
        match self {
            Self::Auto => spin,
            Self::Spin | Self::Monitor | Self::Pause => Duration::MAX,
            Self::Futex => Duration::ZERO,
        }
    }

    /// Returns the monitored wait of the processor, if there is one and this way uses it.
    pub(super) fn monitor(self) -> Option<Monitor> {
        match self {
            Self::Auto | Self::Monitor => Monitor::detect(),
            Self::Spin | Self::Pause | Self::Futex => None,
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
