//! The ways to wait, by name: to measure them, and to choose one for good.

use std::fmt;
use std::time::Duration;

use super::Monitor;

/// A way to wait in a [`WaitCell`](super::WaitCell).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// From one to the next, as the wait goes on.
    #[default]
    Auto,
    /// Looks again and again.
    Spin,
    /// Lets the processor watch the word.
    Monitor,
    /// Looks ever more seldom, with pauses between.
    Pause,
    /// Sleeps in the kernel at once.
    Futex,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::Spin,
        Self::Monitor,
        Self::Pause,
        Self::Futex,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Spin => "spin",
            Self::Monitor => "monitor",
            Self::Pause => "pause",
            Self::Futex => "futex",
        }
    }

    /// How long to go without the kernel where the budget says `spin`.
    pub const fn limit(self, spin: Duration) -> Duration {
        match self {
            Self::Auto => spin,
            Self::Spin | Self::Monitor | Self::Pause => Duration::MAX,
            Self::Futex => Duration::ZERO,
        }
    }

    /// The processor's monitored wait, where there is one and this way uses it.
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
