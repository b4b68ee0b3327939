//! What a worker does when there is no work.

use super::choice::choice;

/// What a worker does when there is no work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdlePolicy {
    /// Spins as long as the gaps of late make it pay, at most what a wake-up has cost lately, then sleeps. Uses no CPU while idle.
    #[default]
    Adaptive,
    /// Never sleeps: the quickest answer, and a core per worker all the time.
    Spin,
    /// Sleeps at once: for machines shared with others.
    Park,
}

choice! {
    IdlePolicy is "idle policy", named by "`--idle` and `RADDLE_IDLE`":
    Adaptive "adaptive", Spin "spin", Park "park";
    expected "adaptive, spin or park", else UnknownIdlePolicy
}
