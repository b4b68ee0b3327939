//! The behaviour of workers without work.

use super::choice::choice;

/// The behaviour of a worker when there is no work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IdlePolicy {
    /// Spins for as long as recent gaps between tasks make it worthwhile, at most for the recent
    /// cost of a wake-up. Then sleeps. Uses no CPU while idle.
    #[default]
    Adaptive,
    /// Never sleeps. Reacts fastest, and occupies one core per worker all the time.
    Spin,
    /// Sleeps at once. For machines that are shared with other programs.
    Park,
}

choice! {
    IdlePolicy is "idle policy", named by "`--idle` and `RADDLE_IDLE`":
    Adaptive "adaptive", Spin "spin", Park "park";
    expected "adaptive, spin or park", else UnknownIdlePolicy
}
