//! Points in simulated time, in whole picoseconds. Sums of them are exact, so that two runs with
//! the same seed are identical to the last event.

use std::ops::{Add, AddAssign, Sub};

use crate::units::Nanoseconds;

/// A point in simulated time, or a duration. The longest is half a year.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// The start of the simulation.
    pub const START: Self = Self(0);

    /// The end of time. A later event never happens.
    pub const END: Self = Self(u64::MAX);

    /// Creates the moment that is `picoseconds` after the start.
    #[must_use]
    pub const fn from_picoseconds(picoseconds: u64) -> Self {
        Self(picoseconds)
    }

    /// Returns the time in picoseconds.
    #[must_use]
    pub const fn picoseconds(self) -> u64 {
        self.0
    }

    /// Returns the time in nanoseconds.
    #[must_use]
    pub const fn nanoseconds(self) -> Nanoseconds {
        Nanoseconds(self.0 as f64 * 1e-3)
    }

    /// Rounds a time up to a whole picosecond.
    pub(super) fn after(time: Nanoseconds) -> Self {
        // Casts saturate: a negative time becomes 0, and one that is too long becomes the longest.
        Self((time.0 * 1e3).ceil() as u64)
    }

    /// Rounds a time to the nearest whole picosecond.
    pub(super) fn about(time: Nanoseconds) -> Self {
        Self((time.0 * 1e3).round() as u64)
    }

    /// Returns the time since an earlier moment, or 0 if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// Returns the first of `self`, `self + period`, … that is not before `least`.
    pub(super) const fn next_at(self, least: Self, period: Self) -> Self {
        let behind = least.0.saturating_sub(self.0);
        let periods = behind.div_ceil(period.0);
        Self(self.0.saturating_add(periods.saturating_mul(period.0)))
    }
}

impl Add for Moment {
    type Output = Self;

    fn add(self, time: Self) -> Self {
        // The sum saturates: no event happens after the longest time.
        Self(self.0.saturating_add(time.0))
    }
}

impl AddAssign for Moment {
    fn add_assign(&mut self, time: Self) {
        *self = *self + time;
    }
}

impl Sub for Moment {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        self.since(earlier)
    }
}
