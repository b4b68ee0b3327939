//! Times, rates, sizes and speeds, each a type of its own.
//!
//! Times are fractions of nanoseconds, because they are means and solutions that are exact to
//! 10⁻⁹ ns. `Duration` counts only whole nanoseconds.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use serde::{Serialize, Serializer};

/// A time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
pub struct Nanoseconds(pub f64);

/// A frequency: the number of events per nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
pub struct Rate(pub f64);

/// A mean number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
pub struct Bytes(pub f64);

/// Bytes per nanosecond, which are gigabytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
pub struct Bandwidth(pub f64);

/// The speed of a thread, relative to its speed when it is alone on its core.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Speed(pub f64);

impl Nanoseconds {
    /// The time zero.
    pub const ZERO: Self = Self(0.0);

    /// Converts microseconds.
    #[must_use]
    pub const fn from_microseconds(microseconds: f64) -> Self {
        Self(microseconds * 1e3)
    }

    /// Converts seconds.
    #[must_use]
    pub const fn from_seconds(seconds: f64) -> Self {
        Self(seconds * 1e9)
    }

    /// Returns the time in milliseconds.
    #[must_use]
    pub const fn milliseconds(self) -> f64 {
        self.0 * 1e-6
    }

    /// Returns the rate of an event that happens once in this time.
    #[must_use]
    pub const fn rate(self) -> Rate {
        Rate(1.0 / self.0)
    }

    /// Returns the longer of the two times.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
}

impl Rate {
    /// Returns the mean time between two events at this rate.
    #[must_use]
    pub const fn interval(self) -> Nanoseconds {
        Nanoseconds(1.0 / self.0)
    }
}

impl Speed {
    /// The speed of a thread that is alone on its core.
    pub const ALONE: Self = Self(1.0);
}

impl Add for Nanoseconds {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanoseconds {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanoseconds {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Neg for Nanoseconds {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Mul<f64> for Nanoseconds {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<f64> for Nanoseconds {
    type Output = Self;

    fn div(self, divisor: f64) -> Self {
        Self(self.0 / divisor)
    }
}

impl Div for Nanoseconds {
    type Output = f64;

    fn div(self, other: Self) -> f64 {
        self.0 / other.0
    }
}

/// Computes the time that work takes at a speed.
impl Div<Speed> for Nanoseconds {
    type Output = Self;

    fn div(self, speed: Speed) -> Self {
        Self(self.0 / speed.0)
    }
}

impl Sum for Nanoseconds {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        Self(times.map(|time| time.0).sum())
    }
}

/// Computes the mean number of events in a time.
impl Mul<Nanoseconds> for Rate {
    type Output = f64;

    fn mul(self, time: Nanoseconds) -> f64 {
        self.0 * time.0
    }
}

impl Add for Rate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Rate {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul<f64> for Rate {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self(self.0 * factor)
    }
}

impl Add for Bytes {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// Computes the transfer time of bytes at a bandwidth.
impl Div<Bandwidth> for Bytes {
    type Output = Nanoseconds;

    fn div(self, bandwidth: Bandwidth) -> Nanoseconds {
        Nanoseconds(self.0 / bandwidth.0)
    }
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ns", self.0)
    }
}

/// Serialises a time in milliseconds.
pub(crate) fn milliseconds<S: Serializer>(
    time: &Nanoseconds,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.milliseconds())
}

/// Serialises a rate per microsecond.
pub(crate) fn per_microsecond<S: Serializer>(
    rate: &Rate,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(rate.0 * 1e3)
}
