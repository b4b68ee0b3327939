//! Points in simulated time, in whole picoseconds: sums of them are exact, so that runs of one seed are equal to the last event.

use std::ops::{Add, AddAssign, Sub};

use crate::units::Nanoseconds;

/// A point in simulated time, or a time from one to another. The longest is half a year.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(u64);

impl Moment {
    /// The begin.
    pub const START: Self = Self(0);

    /// The end of time: what would be later never happens.
    pub const END: Self = Self(u64::MAX);

    /// So many picoseconds after the begin.
    #[must_use]
    pub const fn from_picoseconds(picoseconds: u64) -> Self {
        Self(picoseconds)
    }

    /// The same in picoseconds.
    #[must_use]
    pub const fn picoseconds(self) -> u64 {
        self.0
    }

    /// The same in nanoseconds.
    #[must_use]
    pub const fn nanoseconds(self) -> Nanoseconds {
        Nanoseconds(self.0 as f64 * 1e-3)
    }

    /// The next whole picosecond after so long a time.
    pub(super) fn after(time: Nanoseconds) -> Self {
        // Negative times are none, and times that are too long the longest: casts saturate.
        Self((time.0 * 1e3).ceil() as u64)
    }

    /// The nearest whole picosecond.
    pub(super) fn about(time: Nanoseconds) -> Self {
        Self((time.0 * 1e3).round() as u64)
    }

    /// The time since an earlier one; none since a later one.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// The first of `self`, `self + period`, … that is not before `least`.
    pub(super) const fn next_at(self, least: Self, period: Self) -> Self {
        let behind = least.0.saturating_sub(self.0);
        let periods = behind.div_ceil(period.0);
        Self(self.0.saturating_add(periods.saturating_mul(period.0)))
    }
}

impl Add for Moment {
    type Output = Self;

    fn add(self, time: Self) -> Self {
        // Beyond the longest time nothing happens any more.
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
