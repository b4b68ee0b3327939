//! A node in the mean: how fast its threads are depends on how long they wait, and how long they wait on how fast they are.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/node.md"))]

mod links;

use crate::chain::{LikeThreads, Occupancy, RenderersAndHandler};
use crate::error::{DomainError, ModelError, above_zero, from_zero};
use crate::units::{Nanoseconds, Rate, Speed};

pub use self::links::Links;

/// How far the last step may move the cycle of a renderer.
const TOLERANCE: Nanoseconds = Nanoseconds(1e-9);
/// Steps below this share of a cycle that become no smaller are made of rounding.
const ROUNDING: f64 = 1e-11;
const STEPS_MAX: u32 = 10_000;

/// A node whose renderers miss, and whose handler serves the misses of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Renderers, `N_r`.
    pub renderers: u32,
    /// What a renderer works for each miss, as the time that it takes a thread alone, `T_r`.
    pub render: Nanoseconds,
    /// What the handler works for each miss, `T_h`.
    pub handle: Nanoseconds,
    /// What each miss occupies the ports of the network interface, `b`.
    pub port: Nanoseconds,
    /// What a miss takes on its way there and back, `l`.
    pub round_trip: Nanoseconds,
    /// What else the handler serves, each as long as a miss, and without bytes.
    pub others: Rate,
    /// Who looks for messages all the time, instead of sleeping.
    pub waits: Waits,
    /// What messages wait for.
    pub queues: Queues,
}

/// What messages wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Queues {
    /// One open queue at each handler, served as slowly as handler or bytes allow: the study's.
    #[default]
    Open,
    /// Handlers and links, each for itself, and nobody asks while he waits.
    Links(Links),
}

/// How threads wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Waits {
    /// All sleep until they are notified.
    #[default]
    Notified,
    /// The handler looks for messages all the time, and renderers sleep.
    HandlerPolls,
    /// Nobody ever sleeps.
    AllPoll,
}

impl Waits {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Notified, Self::HandlerPolls, Self::AllPoll];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Notified => "notified",
            Self::HandlerPolls => "handler-polls",
            Self::AllPoll => "all-poll",
        }
    }
}

/// What a node does in the mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Which threads run in which share of time, and at which speeds.
    pub occupancy: Occupancy,
    /// What a renderer works for each miss at its speed, `t_R`.
    pub render: Nanoseconds,
    /// What the handler works for each miss at its speed, `t_H`.
    pub handle: Nanoseconds,
    /// What limits the handler: its own work, longer for what others leave of it, or, in the study's queue, the ports, `m`.
    pub service: Nanoseconds,
    /// How long a renderer waits for a miss, `T_c`.
    pub miss: Nanoseconds,
    /// How long the handler waits for the next one, `T_m`.
    pub idle: Nanoseconds,
    /// From one miss of a renderer to its next, `X`.
    pub cycle: Nanoseconds,
    /// Misses that come to a handler, `λ`.
    pub arrivals: Rate,
    /// Steps to the fixed point.
    pub steps: u32,
}

impl Node {
    /// Solves chain and queue together. `speeds[n]` is the speed of each of `n` threads, for 0 up to all renderers and the handler.
    /// Cost: ten to a hundred times the renderers.
    ///
    /// # Errors
    /// [`DomainError`] where a quantity is outside its range, or the other requests alone are more than the handler serves;
    /// [`ModelError::NoFixedPoint`].
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

    /// What a miss takes on its way there and back, bytes included, `l`: of the queues that are asked about.
    #[must_use]
    pub fn way(&self) -> Nanoseconds {
        match &self.queues {
            Queues::Open => self.round_trip,
            Queues::Links(links) => links.latency + links.request + links.response,
        }
    }

    /// The cycle at given speeds.
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
        // What the others leave of the handler.
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

    /// The larger root of the study's equation.
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
            // Beside a handler that always runs each renderer is as fast as with one thread more.
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

/// A solution at given speeds.
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
