//! The study's predictions: the frame time of the distributed ray tracer on any number of nodes, on
//! other machines and with changes to the program.
//!
//! A [`Scenario`] gives the numbers of nodes and renderers, and the changes: slower steps, bricks
//! of another size, answers that go elsewhere. [`predict`] converts it to a [`Node`], solves that,
//! and returns the time of a frame. [`Prediction`] contains every quantity of the study; each field
//! names its symbol there. The keys of its JSON are plain words that end in their units.
//!
//! # Source
//! M. A. Parker: *Efficient user-level event notification*, University of Utah, 2013, chapters 7
//! and 8.

mod applied;
mod cpu;
mod scenario;
mod supervisor;

use serde::Serialize;

pub use self::cpu::CpuTime;
pub use self::scenario::{Answers, Delay, QueueModel, Scenario, Sends, Slower};
pub use self::supervisor::Supervisor;

use crate::error::{DomainError, ModelError};
use crate::extreme::expected_largest;
use crate::node::{Node, Solution};
use crate::parameters::Parameters;
use crate::queue::BoundedQueue;
use crate::units::{self, Nanoseconds, Rate, Speed};

/// The result of [`predict`]. Times of single misses are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Prediction {
    /// The number of worker nodes, `N_n`.
    pub nodes: u32,
    /// The number of renderers on each node, `N_r`.
    pub renderers: u32,
    /// The time of a frame without waiting for the last node, `N_M X`, in milliseconds.
    #[serde(rename = "mean_frame_ms", serialize_with = "units::milliseconds")]
    pub mean_frame: Nanoseconds,
    /// The time of a frame including that wait, `T_F`, in milliseconds.
    #[serde(rename = "frame_ms", serialize_with = "units::milliseconds")]
    pub frame: Nanoseconds,
    /// The number of misses of one renderer in one frame, `N_M`.
    pub misses: f64,
    /// The work of a renderer per miss, alone on its core, `T_r`.
    #[serde(rename = "render_ns")]
    pub render: Nanoseconds,
    /// The work of a handler per miss, alone on its core, `T_h`.
    #[serde(rename = "handle_ns")]
    pub handle: Nanoseconds,
    /// The mean speed of a renderer that runs, `S_r`.
    pub renderer_speed: Speed,
    /// The mean speed of a handler that runs, `S_h`.
    pub handler_speed: Speed,
    /// The time that a renderer works per miss at its mean speed, `T_r / S_r`.
    #[serde(rename = "render_shared_ns")]
    pub render_shared: Nanoseconds,
    /// The time that a handler works per miss at its mean speed, `T_h / S_h`.
    #[serde(rename = "handle_shared_ns")]
    pub handle_shared: Nanoseconds,
    /// The time that a renderer waits for a miss, `T_c`.
    #[serde(rename = "miss_wait_ns")]
    pub miss: Nanoseconds,
    /// The time that a handler waits for the next miss, `T_m`.
    #[serde(rename = "handler_idle_ns")]
    pub idle: Nanoseconds,
    /// The time from one miss of a renderer to its next, `X`.
    #[serde(rename = "cycle_ns")]
    pub cycle: Nanoseconds,
    /// The transfer time of the bytes of request and response, `b`.
    #[serde(rename = "transfer_ns")]
    pub port: Nanoseconds,
    /// The latency of a miss there and back, including those bytes, `l`.
    #[serde(rename = "round_trip_ns")]
    pub round_trip: Nanoseconds,
    /// The service time of a handler's queue, the longer of its work and the bytes, `m`.
    #[serde(rename = "service_ns")]
    pub service: Nanoseconds,
    /// The rate of misses that arrive at a handler, `λ`.
    #[serde(rename = "arrivals_per_us", serialize_with = "units::per_microsecond")]
    pub arrivals: Rate,
    /// The load of the handler's queue, `ρ = λ m`.
    pub queue_load: f64,
    /// The load of a link, `λ b`.
    pub link_load: f64,
    /// The handler's queue with capacity for a request of each renderer, M/M/1/B.
    pub queue: QueueOf,
    /// The CPU time of a frame.
    pub cpu: CpuTime,
    /// The load of the supervisor's link, which the times above do not consider.
    pub supervisor: Supervisor,
    /// The expected largest of as many normal draws as there are nodes, `I_n`.
    pub largest_expected: f64,
    /// The share of a frame in which nodes wait for the last one.
    #[serde(rename = "imbalance_share")]
    pub imbalance: f64,
    /// The shares of time in which `i` renderers run and the handler does not, `p_i`.
    #[serde(rename = "without_handler_shares")]
    pub without_handler: Vec<f64>,
    /// The shares of time in which `i` renderers and the handler run, `p_ic`.
    #[serde(rename = "with_handler_shares")]
    pub with_handler: Vec<f64>,
    /// The number of steps until the fixed point was reached.
    pub steps: u32,
}

/// A queue of messages with a bounded capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QueueOf {
    /// The capacity, `B = N_n N_r`.
    pub capacity: u32,
    /// The share of messages that find the queue full, `p_B`.
    pub refused_share: f64,
    /// The mean number of messages in the queue, `E[n]`.
    pub messages_mean: f64,
    /// The mean time of a message in the queue, `E[r]`.
    #[serde(rename = "response_ns")]
    pub response: Nanoseconds,
}

/// Predicts the time of a frame and its parts. Takes some tens of microseconds.
///
/// # Errors
/// [`ModelError`] if a parameter or the scenario is outside the range in which the model holds.
pub fn predict(parameters: &Parameters, scenario: &Scenario) -> Result<Prediction, ModelError> {
    let speeds = speeds(parameters, scenario)?;
    let misses = scenario
        .misses(parameters)
        .map_err(|error| parameters.located(error))?;
    let node = scenario.node(parameters, misses)?;
    let solution = node.solve(&speeds).map_err(|error| match error {
        ModelError::Domain(error) => parameters.located(named(error)),
        other => other,
    })?;
    Prediction::of(parameters, scenario, misses, &node, solution)
}

impl Prediction {
    fn of(
        parameters: &Parameters,
        scenario: &Scenario,
        misses: f64,
        node: &Node,
        solution: Solution,
    ) -> Result<Self, ModelError> {
        let mean_frame = solution.cycle * misses;
        let largest_expected = expected_largest(scenario.nodes)?;
        let imbalance = imbalance(parameters, largest_expected)?;
        let places = scenario.nodes.saturating_mul(scenario.renderers);
        let queue = BoundedQueue::new(solution.arrivals, solution.service, places)?;
        Ok(Self {
            nodes: scenario.nodes,
            renderers: scenario.renderers,
            mean_frame,
            frame: mean_frame / (1.0 - imbalance),
            misses,
            render: node.render,
            handle: node.handle,
            renderer_speed: solution.occupancy.renderer_speed,
            handler_speed: solution.occupancy.handler_speed,
            render_shared: solution.render,
            handle_shared: solution.handle,
            miss: solution.miss,
            idle: solution.idle,
            cycle: solution.cycle,
            port: node.port,
            round_trip: node.way(),
            service: solution.service,
            arrivals: solution.arrivals,
            queue_load: queue.load(),
            link_load: solution.arrivals * node.port,
            queue: QueueOf {
                capacity: places,
                refused_share: queue.refused(),
                messages_mean: queue.jobs(),
                response: queue.response(),
            },
            cpu: CpuTime::of(parameters, scenario)?,
            supervisor: Supervisor::of(parameters, mean_frame / (1.0 - imbalance)),
            largest_expected,
            imbalance,
            without_handler: solution.occupancy.without_handler,
            with_handler: solution.occupancy.with_handler,
            steps: solution.steps,
        })
    }
}

/// Replaces a quantity of a node in an error by the parameter that mainly determines it.
fn named(error: DomainError) -> DomainError {
    let (key, made) = match error.quantity {
        "T_r" => ("tracer.render_s", "the work of a renderer for each miss"),
        "T_h" => ("tracer.handle_ns", "the work of a handler for each miss"),
        _ => return error,
    };
    let expected = format!("more, so that {made} is above 0");
    DomainError::new(key, error.found, expected)
}

/// Computes the share of a frame in which nodes wait for the last of them.
fn imbalance(parameters: &Parameters, largest: f64) -> Result<f64, ModelError> {
    let tracer = &parameters.tracer;
    let measured = expected_largest(tracer.imbalance_nodes)?;
    let share = tracer.imbalance * largest / measured;
    if share < 1.0 {
        return Ok(share);
    }
    let expected = format!("below {:.6} on so many nodes", measured / largest);
    Err(parameters.located(DomainError::new(
        "tracer.imbalance",
        tracer.imbalance,
        expected,
    )))
}

/// Returns the speeds that a scenario needs.
fn speeds(parameters: &Parameters, scenario: &Scenario) -> Result<Vec<Speed>, ModelError> {
    let contexts = parameters.core.contexts;
    if scenario.renderers >= contexts {
        let expected = format!(
            "{} or more, for {} renderers and a handler",
            scenario.renderers.saturating_add(1),
            scenario.renderers
        );
        let error = DomainError::new("core.contexts", f64::from(contexts), expected);
        return Err(parameters.located(error));
    }
    let speeds = parameters.speeds()?.up_to(scenario.renderers as usize + 1);
    speeds.map_err(|error| parameters.located(error))
}

#[cfg(test)]
mod tests;
