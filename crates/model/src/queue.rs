//! What a message waits where others came before it: the queues M/M/1/B and M/M/1.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/queue.md"))]

use crate::error::{DomainError, above_zero};
use crate::units::{Nanoseconds, Rate};

/// Below this distance of ρ from 1 the sums are taken term by term, since the closed forms lose digits there.
const NEAR_ONE: f64 = 1e-4;

/// A queue with one server and room for a bounded number of jobs, M/M/1/B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedQueue {
    arrivals: Rate,
    service: Nanoseconds,
    places: u32,
}

impl BoundedQueue {
    /// Jobs that arrive at a rate, take the server a time each, on average, and find room for `places` of them, the one in service
    /// included. There is a steady state for any load.
    ///
    /// # Errors
    /// [`DomainError`] where one of the three is not a finite number above 0.
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

    /// Arrivals times service, ρ.
    #[must_use]
    pub fn load(self) -> f64 {
        self.arrivals * self.service
    }

    /// The share of time in which `jobs` of them are there, and with that the share of arrivals that find so many. Cost: constant,
    /// and linear in the places for a load near 1.
    #[must_use]
    pub fn probability(self, jobs: u32) -> f64 {
        if jobs > self.places {
            return 0.0;
        }
        let load = self.load();
        // For loads above 1 counted from the other end, so that no power overflows.
        let (ratio, jobs) = match load {
            ..=1.0 => (load, jobs),
            _ => (1.0 / load, self.places - jobs),
        };
        power(ratio, jobs) / self.geometric(ratio)
    }

    /// The share of arrivals that find no room, `p_B`.
    #[must_use]
    pub fn refused(self) -> f64 {
        self.probability(self.places)
    }

    /// The mean number of jobs that are there, `E[n]`.
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

    /// The mean time from a job's arrival to its end, of those that find room, `E[r]` (Little's law).
    #[must_use]
    pub fn response(self) -> Nanoseconds {
        let admitted = self.arrivals * (1.0 - self.refused());
        Nanoseconds(self.jobs() / admitted.0)
    }

    /// 1 + ρ + … + ρ^B.
    fn geometric(self, ratio: f64) -> f64 {
        if 1.0 - ratio < NEAR_ONE {
            return (0..=self.places).map(|jobs| power(ratio, jobs)).sum();
        }
        (1.0 - power(ratio, self.places) * ratio) / (1.0 - ratio)
    }
}

/// A queue with one server and room for all jobs, M/M/1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    arrivals: Rate,
    service: Nanoseconds,
}

impl Queue {
    /// Jobs that arrive at a rate and take the server a time each, on average.
    ///
    /// # Errors
    /// [`DomainError`] where one of the two is not a finite number above 0, or jobs arrive as fast as they are served or faster: there is
    /// no steady state then.
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

    /// The mean time from a job's arrival to its end, `1 / (μ − λ)`.
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
