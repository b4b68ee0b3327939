//! What a worker does when there is no work.

use std::fmt;
use std::str::FromStr;

/// What a worker does when there is no work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdlePolicy {
    /// Spins as long as the gaps of late make it pay, at most 60 µs, then sleeps. Uses no CPU while idle.
    #[default]
    Adaptive,
    /// Never sleeps: the quickest answer, and a core per worker all the time.
    Spin,
    /// Sleeps at once: for machines shared with others.
    Park,
}

impl IdlePolicy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Adaptive, Self::Spin, Self::Park];

    /// The name that `--idle` and `RADDLE_IDLE` take.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Spin => "spin",
            Self::Park => "park",
        }
    }
}

impl fmt::Display for IdlePolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// No idle policy has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no idle policy named {found:?}; expected adaptive, spin or park")]
pub struct UnknownIdlePolicy {
    /// What was asked for.
    pub found: String,
}

impl FromStr for IdlePolicy {
    type Err = UnknownIdlePolicy;

    fn from_str(name: &str) -> Result<Self, UnknownIdlePolicy> {
        Self::ALL
            .into_iter()
            .find(|policy| policy.name() == name)
            .ok_or_else(|| UnknownIdlePolicy {
                found: name.to_owned(),
            })
    }
}
