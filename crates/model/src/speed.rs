//! The speed of threads that share a core.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/speed.md"))]

use crate::error::{DomainError, above_zero};
use crate::units::Speed;

/// The speed of each thread of a core as a function of the number of running threads.
#[derive(Clone, Debug, PartialEq)]
pub enum SpeedCurve {
    /// Measured values, from one thread on. At most as many threads as values can run.
    Measured(Vec<Speed>),
    /// The speed of all threads together is `aggregate (1 − exp(−n / saturation))`.
    Fitted(Fit),
}

/// A saturating curve for the speed of all threads together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The limit of the total speed for many threads, relative to one thread alone.
    pub aggregate: f64,
    /// The number of threads at which a share of 1 − 1/e of that limit is reached.
    pub saturation: f64,
}

impl SpeedCurve {
    /// Creates a curve of measured values. `speeds[n - 1]` is the speed of each of `n` threads.
    ///
    /// # Errors
    /// [`DomainError`] if `speeds` is empty or a value is not a finite number above 0.
    pub fn measured(speeds: &[f64]) -> Result<Self, DomainError> {
        if speeds.is_empty() {
            return Err(DomainError::new("core.speeds", 0.0, "one value or more"));
        }
        let checked: Result<Vec<_>, _> = speeds
            .iter()
            .map(|&speed| above_zero("core.speeds", speed).map(Speed))
            .collect();
        checked.map(Self::Measured)
    }

    /// Creates a fitted curve.
    ///
    /// # Errors
    /// [`DomainError`] if one of the two is not a finite number above 0.
    pub fn fitted(aggregate: f64, saturation: f64) -> Result<Self, DomainError> {
        Ok(Self::Fitted(Fit {
            aggregate: above_zero("core.aggregate", aggregate)?,
            saturation: above_zero("core.saturation", saturation)?,
        }))
    }

    /// Returns the speed of each of `threads` running threads, in constant time.
    ///
    /// For 0 threads this is the speed of a single one.
    ///
    /// # Panics
    /// If more threads run than there are measured values; see [`Self::threads_max`].
    #[must_use]
    pub fn of(&self, threads: usize) -> Speed {
        match self {
            Self::Measured(speeds) => match threads {
                0 => speeds[0],
                _ => speeds[threads - 1],
            },
            Self::Fitted(_) if threads == 0 => Speed::ALONE,
            Self::Fitted(fit) => Speed(fit.together(threads) / threads as f64),
        }
    }

    /// Returns the maximum number of threads that can run.
    #[must_use]
    pub fn threads_max(&self) -> usize {
        match self {
            Self::Measured(speeds) => speeds.len(),
            Self::Fitted(_) => usize::MAX,
        }
    }

    /// Returns the speeds for 0 to `threads` threads: `speeds[n]` is the speed of each of `n`.
    ///
    /// # Errors
    /// [`DomainError`] if `threads` exceeds the number of measured values.
    pub fn up_to(&self, threads: usize) -> Result<Vec<Speed>, DomainError> {
        if threads > self.threads_max() {
            let expected =
                format!("a speed for each of {threads} threads, or `curve = \"fitted\"`");
            return Err(DomainError::new(
                "core.speeds",
                self.threads_max() as f64,
                expected,
            ));
        }
        Ok((0..=threads).map(|count| self.of(count)).collect())
    }
}

impl Fit {
    /// Fits a curve to the measured speeds of 1, 2, … threads by least squares, among the curves on
    /// which one thread has speed 1.
    ///
    /// This leaves one unknown, the saturation. Golden-section search finds it, because the sum of
    /// squares has a single minimum for decreasing speeds. The cost is a few hundred evaluations
    /// per speed.
    ///
    /// If a second thread adds nothing, any small saturation fits. The search then ends at its
    /// lower bound, 0.05 threads, where the total speed is that of one thread.
    ///
    /// # Errors
    /// [`DomainError`] for fewer than two speeds, or one that is not a finite number above 0.
    pub fn of(speeds: &[f64]) -> Result<Self, DomainError> {
        if speeds.len() < 2 {
            return Err(DomainError::new(
                "core.speeds",
                speeds.len() as f64,
                "two values or more, to fit a curve to",
            ));
        }
        for &speed in speeds {
            above_zero("core.speeds", speed)?;
        }
        let squares = |saturation: f64| -> f64 {
            let fit = Self::through_one(saturation);
            let residue = |(index, speed): (usize, &f64)| {
                let threads = index + 1;
                (fit.together(threads) - threads as f64 * speed).powi(2)
            };
            speeds.iter().enumerate().map(residue).sum()
        };
        // If the speeds do not fall, the total has no limit: a saturation far beyond the last
        // value gives a straight line.
        let saturation = least(0.05, 100.0 * speeds.len() as f64, squares);
        Ok(Self::through_one(saturation))
    }

    /// Returns the curve of the given saturation on which one thread has speed 1.
    fn through_one(saturation: f64) -> Self {
        Self {
            aggregate: -1.0 / libm::expm1(-1.0 / saturation),
            saturation,
        }
    }

    /// Returns the total speed of `threads` threads.
    #[must_use]
    pub fn together(self, threads: usize) -> f64 {
        -self.aggregate * libm::expm1(-(threads as f64) / self.saturation)
    }
}

/// Finds the minimum of a function with one valley between two positive bounds, by golden
/// sections of their ratio (Kiefer 1953).
fn least(low: f64, high: f64, of: impl Fn(f64) -> f64) -> f64 {
    const SECTION: f64 = 0.618_033_988_749_895;
    let (mut low, mut high) = (low.ln(), high.ln());
    for _ in 0..100 {
        let width = SECTION * (high - low);
        let (left, right) = (high - width, low + width);
        if of(left.exp()) <= of(right.exp()) {
            high = right;
        } else {
            low = left;
        }
    }
    low.midpoint(high).exp()
}

#[cfg(test)]
mod tests;
