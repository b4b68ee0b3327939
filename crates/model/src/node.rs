//! The mean behaviour of a node: the speed of its threads and the time that they wait determine
//! each other.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/node.md"))]

mod links;

use crate::chain::{LikeThreads, Occupancy, RenderersAndHandler};
use crate::error::{DomainError, ModelError, above_zero, from_zero};
use crate::units::{Nanoseconds, Rate, Speed};

pub use self::links::Links;

/// The iteration has converged when a step changes the cycle of a renderer by at most this time.
const TOLERANCE: Nanoseconds = Nanoseconds(1e-9);
/// A step below this fraction of the cycle that does not shrink any more is rounding error.
const ROUNDING: f64 = 1e-11;
const STEPS_MAX: u32 = 10_000;

/// A node: its renderers miss in their cache, and its handler serves the misses of other nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// The number of renderers, `N_r`.
    pub renderers: u32,
    /// The work of a renderer per miss, `T_r`: the time that it takes a thread alone on its core.
    pub render: Nanoseconds,
    /// The work of the handler per miss, `T_h`.
    pub handle: Nanoseconds,
    /// The time for which a miss occupies the ports of the network interface, `b`.
    pub port: Nanoseconds,
    /// The latency of a miss, there and back, `l`.
    pub round_trip: Nanoseconds,
    /// The rate of other requests to the handler, each as long as a miss and without bytes.
    pub others: Rate,
    /// The threads that poll for messages instead of sleeping.
    pub waits: Waits,
    /// The queues in which messages wait.
    pub queues: Queues,
}

/// The queues in which messages wait.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Queues {
    /// The study's model: one open queue at each handler. Its service time is the longer of the
    /// handler's work and the transfer of the bytes.
    #[default]
    Open,
    /// A queue at each handler and at each link. A renderer that waits sends no requests.
    Links(Links),
}

/// The threads that sleep while they wait, and those that poll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Waits {
    /// All threads sleep until they are notified.
    #[default]
    Notified,
    /// The handler polls for messages, and renderers sleep.
    HandlerPolls,
    /// All threads poll; no thread ever sleeps.
    AllPoll,
}

impl Waits {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Notified, Self::HandlerPolls, Self::AllPoll];

    /// Returns the name of this variant, as options and files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Notified => "notified",
            Self::HandlerPolls => "handler-polls",
            Self::AllPoll => "all-poll",
        }
    }
}

/// The mean behaviour of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The share of time in which each set of threads runs, and the mean speeds.
    pub occupancy: Occupancy,
    /// The time that a renderer works per miss, at its mean speed, `t_R`.
    pub render: Nanoseconds,
    /// The time that the handler works per miss, at its mean speed, `t_H`.
    pub handle: Nanoseconds,
    /// The service time of the handler's queue, `m`. It is the handler's work, lengthened by other
    /// requests. In the study's queue it is the time of the ports if that is longer.
    pub service: Nanoseconds,
    /// The time that a renderer waits for a miss, `T_c`.
    pub miss: Nanoseconds,
    /// The time that the handler waits for the next miss, `T_m`.
    pub idle: Nanoseconds,
    /// The time from one miss of a renderer to its next, `X`.
    pub cycle: Nanoseconds,
    /// The rate of misses that arrive at a handler, `λ`.
    pub arrivals: Rate,
    /// The number of steps until the fixed point was reached.
    pub steps: u32,
}

impl Node {
    /// Solves the chain and the queue together.
    ///
    /// `speeds[n]` is the speed of each of `n` running threads, for `n` from 0 to all renderers and
    /// the handler. Takes time proportional to ten to a hundred times the number of renderers.
    ///
    /// # Errors
    /// [`DomainError`] if a quantity is outside its range or the other requests alone exceed what
    /// the handler can serve; [`ModelError::NoFixedPoint`] if the iteration does not converge.
    pub fn solve(self, speeds: &[Speed]) -> Result<Solution, ModelError> {
        above_zero("renderers", f64::from(self.renderers))?;
        above_zero("T_r", self.render.0)?;
        above_zero("T_h", self.handle.0)?;
        from_zero("l", self.round_trip.0)?;
        from_zero("b", self.port.0)?;
        if let Queues::Links(links) = self.queues
            && links.nodes < 2
        {
            let expected = "2 or more, so that a brick has another home";
            return Err(DomainError::new("nodes", f64::from(links.nodes), expected).into());
        }
        from_zero("tracer.other_requests_per_us", self.others.0 * 1e3)?;
        let mut at = (Speed::ALONE, Speed::ALONE);
        let mut last = f64::INFINITY;
        let mut moved = f64::INFINITY;
        for step in 1..=STEPS_MAX {
            let queue = self.queue(at)?;
            let occupancy = self.occupancy(&queue, speeds)?;
            let before = moved;
            moved = (queue.cycle.0 - last).abs();
            let is_rounding = moved >= before && moved <= queue.cycle.0 * ROUNDING;
            if moved <= TOLERANCE.0 || is_rounding {
                return Ok(queue.with(occupancy, step));
            }
            last = queue.cycle.0;
            at = (occupancy.renderer_speed, occupancy.handler_speed);
        }
        Err(ModelError::NoFixedPoint {
            steps: STEPS_MAX,
            moved,
            tolerance: TOLERANCE.0,
        })
    }

    /// Returns the time that a miss takes there and back, including its bytes, `l`, in the model of
    /// [`Self::queues`].
    #[must_use]
    pub fn way(&self) -> Nanoseconds {
        match &self.queues {
            Queues::Open => self.round_trip,
            Queues::Links(links) => links.latency + links.request + links.response,
        }
    }

    /// Computes the cycle at the given speeds of renderers and handler.
    fn queue(&self, (renderer, handler): (Speed, Speed)) -> Result<Queued, DomainError> {
        let render = self.render / renderer;
        let handle = self.handle / handler;
        let load = self.others * handle;
        if load >= 1.0 {
            let expected = format!(
                "below {:.6}, or the handler's queue grows without bound",
                1e3 / handle.0
            );
            return Err(DomainError::new(
                "tracer.other_requests_per_us",
                self.others.0 * 1e3,
                expected,
            ));
        }
        // Other requests take a share of the handler, so a miss takes correspondingly longer.
        let left = handle / (1.0 - load);
        let service = match self.queues {
            Queues::Open => left.max(self.port),
            Queues::Links(_) => left,
        };
        let count = f64::from(self.renderers);
        let cycle = match &self.queues {
            Queues::Open => self.open_cycle(render, service),
            Queues::Links(links) => links.cycle(count, render, left),
        };
        let arrivals = Rate(count / cycle.0);
        Ok(Queued {
            render,
            handle,
            service,
            cycle,
            arrivals,
            miss: cycle - render,
            idle: (arrivals + self.others).interval() - handle,
        })
    }

    /// Returns the larger root of the study's quadratic equation for the cycle.
    fn open_cycle(&self, render: Nanoseconds, service: Nanoseconds) -> Nanoseconds {
        let alone = render + self.round_trip;
        let shared = service * (f64::from(self.renderers) + 1.0);
        let square = 4.0_f64.mul_add(service.0 * alone.0, (alone - shared).0.powi(2));
        Nanoseconds(0.5 * ((alone + shared).0 + square.sqrt()))
    }

    fn occupancy(&self, queue: &Queued, speeds: &[Speed]) -> Result<Occupancy, DomainError> {
        let renderers = self.renderers as usize;
        let all = renderers + 1;
        if speeds.len() <= all {
            let expected = format!("a speed for each number of threads from 0 to {all}");
            return Err(DomainError::new(
                "core.speeds",
                speeds.len() as f64,
                expected,
            ));
        }
        match self.waits {
            Waits::Notified => RenderersAndHandler {
                renderers,
                render: self.render,
                miss: queue.miss,
                handle: self.handle,
                idle: queue.idle,
            }
            .solve(speeds),
            // The handler always runs, so the speed of the renderers is that of one thread more.
            Waits::HandlerPolls => {
                let beside = &speeds[1..];
                let threads = LikeThreads {
                    threads: renderers,
                    work: self.render,
                    wait: queue.miss,
                };
                let shares = threads.probabilities(beside)?;
                let none = vec![0.0; shares.len()];
                Ok(Occupancy::of(none, shares, speeds))
            }
            Waits::AllPoll => {
                let mut shares = vec![0.0; all];
                let none = shares.clone();
                shares[renderers] = 1.0;
                Ok(Occupancy::of(none, shares, speeds))
            }
        }
    }
}

/// The cycle and its parts at given speeds.
struct Queued {
    render: Nanoseconds,
    handle: Nanoseconds,
    service: Nanoseconds,
    cycle: Nanoseconds,
    miss: Nanoseconds,
    idle: Nanoseconds,
    arrivals: Rate,
}

impl Queued {
    fn with(self, occupancy: Occupancy, steps: u32) -> Solution {
        Solution {
            occupancy,
            render: self.render,
            handle: self.handle,
            service: self.service,
            miss: self.miss,
            idle: self.idle,
            cycle: self.cycle,
            arrivals: self.arrivals,
            steps,
        }
    }
}

#[cfg(test)]
mod tests;
