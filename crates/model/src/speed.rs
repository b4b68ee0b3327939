//! The speed of threads that share a core.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/speed.md"))]

use crate::error::{DomainError, above_zero};
use crate::units::Speed;

/// How fast each thread of a core gets on, by how many run.
#[derive(Clone, Debug, PartialEq)]
pub enum SpeedCurve {
    /// As was measured, from one thread on; no more threads run than there are values.
    Measured(Vec<Speed>),
    /// `aggregate (1 − exp(−n / saturation))` for all of them together.
    Fitted(Fit),
}

/// A saturating curve for the speed of all threads together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// What very many threads get done, over what one does alone.
    pub aggregate: f64,
    /// After how many threads a share of 1 − 1/e of that is reached.
    pub saturation: f64,
}

impl SpeedCurve {
    /// A curve of measured values; `speeds[n - 1]` is that of each of `n` threads.
    ///
    /// # Errors
    /// [`DomainError`] where there is none, or one is not a finite number above 0.
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

    /// A fitted curve.
    ///
    /// # Errors
    /// [`DomainError`] where one of the two is not a finite number above 0.
    pub fn fitted(aggregate: f64, saturation: f64) -> Result<Self, DomainError> {
        Ok(Self::Fitted(Fit {
            aggregate: above_zero("core.aggregate", aggregate)?,
            saturation: above_zero("core.saturation", saturation)?,
        }))
    }

    /// The speed of each of `threads` that run; that of a single one where there is none. Cost: constant.
    ///
    /// # Panics
    /// Where more run than the measured values tell of; see [`Self::threads_max`].
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

    /// How many threads can run at most.
    #[must_use]
    pub fn threads_max(&self) -> usize {
        match self {
            Self::Measured(speeds) => speeds.len(),
            Self::Fitted(_) => usize::MAX,
        }
    }

    /// The speeds of none up to `threads` threads: `speeds[n]` is that of each of `n`.
    ///
    /// # Errors
    /// [`DomainError`] where that is more than were measured.
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
    /// The fit by least squares to measured speeds of each of 1, 2, … threads, among the curves on which one thread has speed 1.
    ///
    /// That leaves one number, the saturation, which is found by golden-section search, since the sum of squares has one valley for speeds that only ever
    /// fall. Cost: a few hundred times the number of speeds.
    ///
    /// Where a second thread adds nothing, any small saturation fits; the search then ends at its lower end, 0.05 threads, where one thread
    /// is all that runs.
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
        // Speeds that do not fall have no end to rise to: a saturation far behind the last is a straight line.
        let saturation = least(0.05, 100.0 * speeds.len() as f64, squares);
        Ok(Self::through_one(saturation))
    }

    /// The curve of that saturation on which one thread has speed 1.
    fn through_one(saturation: f64) -> Self {
        Self {
            aggregate: -1.0 / libm::expm1(-1.0 / saturation),
            saturation,
        }
    }

    /// What so many threads get done together.
    #[must_use]
    pub fn together(self, threads: usize) -> f64 {
        -self.aggregate * libm::expm1(-(threads as f64) / self.saturation)
    }
}

/// Where a function with one valley is least between two numbers above 0, by golden sections of their ratio (Kiefer 1953).
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
