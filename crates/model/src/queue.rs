//! The wait of a message behind earlier ones: the queues M/M/1/B and M/M/1.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/queue.md"))]

use crate::error::{DomainError, above_zero};
use crate::units::{Nanoseconds, Rate};

/// If ρ is closer to 1 than this, sums are computed term by term, since the closed forms lose
/// digits.
const NEAR_ONE: f64 = 1e-4;

/// A queue with one server and a bounded capacity, M/M/1/B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedQueue {
    arrivals: Rate,
    service: Nanoseconds,
    places: u32,
}

impl BoundedQueue {
    /// Creates a queue from the arrival rate, the mean service time and the capacity.
    ///
    /// `places` is the number of jobs in the queue at most, including the job in service. There is
    /// a steady state for any load.
    ///
    /// # Errors
    /// [`DomainError`] if one of the three is not a finite number above 0.
    pub fn new(arrivals: Rate, service: Nanoseconds, places: u32) -> Result<Self, DomainError> {
        above_zero("arrivals", arrivals.0)?;
        above_zero("service", service.0)?;
        above_zero("places", f64::from(places))?;
        Ok(Self {
            arrivals,
            service,
            places,
        })
    }

    /// Returns the load ρ: the arrival rate times the service time.
    #[must_use]
    pub fn load(self) -> f64 {
        self.arrivals * self.service
    }

    /// Returns the share of time in which `jobs` jobs are in the queue.
    ///
    /// It is also the share of arrivals that find that many jobs. The cost is constant, but linear
    /// in the capacity for a load near 1.
    #[must_use]
    pub fn probability(self, jobs: u32) -> f64 {
        if jobs > self.places {
            return 0.0;
        }
        let load = self.load();
        // For loads above 1 the states are counted from the full end, so that no power overflows.
        let (ratio, jobs) = match load {
            ..=1.0 => (load, jobs),
            _ => (1.0 / load, self.places - jobs),
        };
        power(ratio, jobs) / self.geometric(ratio)
    }

    /// Returns the share of arrivals that find the queue full, `p_B`.
    #[must_use]
    pub fn refused(self) -> f64 {
        self.probability(self.places)
    }

    /// Returns the mean number of jobs in the queue, `E[n]`.
    #[must_use]
    pub fn jobs(self) -> f64 {
        let load = self.load();
        let (ratio, is_upside_down) = match load {
            ..=1.0 => (load, false),
            _ => (1.0 / load, true),
        };
        let places = f64::from(self.places);
        let mean = if 1.0 - ratio < NEAR_ONE {
            let weighted: f64 = (0..=self.places)
                .map(|jobs| f64::from(jobs) * power(ratio, jobs))
                .sum();
            weighted / self.geometric(ratio)
        } else {
            let last = power(ratio, self.places) * ratio;
            ratio / (1.0 - ratio) - (places + 1.0) * last / (1.0 - last)
        };
        if is_upside_down { places - mean } else { mean }
    }

    /// Returns the mean time from arrival to completion of the admitted jobs, `E[r]` (Little's
    /// law).
    #[must_use]
    pub fn response(self) -> Nanoseconds {
        let admitted = self.arrivals * (1.0 - self.refused());
        Nanoseconds(self.jobs() / admitted.0)
    }

    /// Returns 1 + ρ + … + ρ^B.
    fn geometric(self, ratio: f64) -> f64 {
        if 1.0 - ratio < NEAR_ONE {
            return (0..=self.places).map(|jobs| power(ratio, jobs)).sum();
        }
        (1.0 - power(ratio, self.places) * ratio) / (1.0 - ratio)
    }
}

/// A queue with one server and unlimited capacity, M/M/1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    arrivals: Rate,
    service: Nanoseconds,
}

impl Queue {
    /// Creates a queue from the arrival rate and the mean service time.
    ///
    /// # Errors
    /// [`DomainError`] if one of the two is not a finite number above 0, or jobs arrive at least as
    /// fast as they are served: there is no steady state then.
    pub fn new(arrivals: Rate, service: Nanoseconds) -> Result<Self, DomainError> {
        above_zero("arrivals", arrivals.0)?;
        above_zero("service", service.0)?;
        let load = arrivals * service;
        if load >= 1.0 {
            let expected = "below 1, or the queue grows without bound";
            return Err(DomainError::new("load of the queue", load, expected));
        }
        Ok(Self { arrivals, service })
    }

    /// Returns the mean time from a job's arrival to its completion, `1 / (μ − λ)`.
    #[must_use]
    pub fn response(self) -> Nanoseconds {
        (self.service.rate() - self.arrivals).interval()
    }
}

fn power(base: f64, exponent: u32) -> f64 {
    libm::pow(base, f64::from(exponent))
}

#[cfg(test)]
mod tests;
