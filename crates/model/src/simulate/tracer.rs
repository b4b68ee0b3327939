//! The distributed ray tracer: renderers compute and miss at random, and handlers serve the misses
//! of other nodes.
//!
//! It is the program for which [`predict`](crate::predict) has equations, with the same
//! [`Scenario`] and parameters, and it measures the predicted quantities. Here, however, requests
//! and answers are messages, handlers have queues, and links are busy. In a frame a renderer misses
//! as often as the miss model says. Between two misses it computes for a random time. The brick's
//! home is a random other node. The handler serves a request with the request's share of the work,
//! and an answer with the rest. The next frame begins when all renderers of all nodes have
//! completed the frame.
//!
//! # Source
//! Parker 2013, chapters 5 to 7.

mod client;
mod supervised;
#[cfg(test)]
pub(in crate::simulate) mod tests;

use serde::Serialize;

pub use self::supervised::Supervised;

use self::client::Tracers;
use super::timeline::Timeline;
use super::{Counts, Layout, Simulation};
use crate::error::{DomainError, ModelError, above_zero};
use crate::parameters::Parameters;
use crate::tracer::{Answers, Scenario};
use crate::units::{self, Nanoseconds, Rate};

/// The maximum number of misses. More take days.
const MISSES_MAX: f64 = 1e10;

/// A simulation of the ray tracer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tracer {
    /// The numbers of nodes and renderers, and the differences from the parameters.
    pub scenario: Scenario,
    /// The number of frames.
    pub frames: u32,
    /// The distribution of work.
    pub work: Work,
    /// If true, data is put into the cache.
    pub injects: bool,
    /// If true, all renderers wait for the last one at the end of a frame. Otherwise the run ends
    /// when the first renderer has completed its frames. Then no renderer ever waits for the last
    /// one, as in the model.
    pub meets: bool,
    /// If present, a supervisor assigns tiles. Then renderers wait for tiles instead of each other.
    pub supervised: Option<Supervised>,
    /// The seed of the random numbers.
    pub seed: u64,
}

/// The distribution of work around its mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Work {
    /// Exponential, as in the model.
    #[default]
    Exponential,
    /// Constant.
    Constant,
}

impl Work {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::Exponential, Self::Constant];

    /// Returns the name of this variant, as options and files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exponential => "exponential",
            Self::Constant => "constant",
        }
    }
}

/// The result of a simulation: the quantities of [`Prediction`](crate::Prediction), under the same
/// names.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// The number of nodes.
    pub nodes: u32,
    /// The number of renderers on each node.
    pub renderers: u32,
    /// The time of a frame without waiting for others, misses times cycle, in milliseconds.
    #[serde(rename = "mean_frame_ms", serialize_with = "units::milliseconds")]
    pub mean_frame: Nanoseconds,
    /// The time of a frame until the last renderer has completed it, in milliseconds.
    #[serde(rename = "frame_ms", serialize_with = "units::milliseconds")]
    pub frame: Nanoseconds,
    /// The number of misses of one renderer in one frame.
    pub misses: f64,
    /// The mean speed of a renderer that runs.
    pub renderer_speed: f64,
    /// The mean speed of a handler that runs.
    pub handler_speed: f64,
    /// The time that a renderer waits for a miss, from the end of its call that sends.
    #[serde(rename = "miss_wait_ns")]
    pub miss: Nanoseconds,
    /// The time from one miss of a renderer to its next.
    #[serde(rename = "cycle_ns")]
    pub cycle: Nanoseconds,
    /// The rate of misses that arrive at a handler.
    #[serde(rename = "arrivals_per_us", serialize_with = "units::per_microsecond")]
    pub arrivals: Rate,
    /// The shares of time in which `i` renderers run and the handler does not.
    #[serde(rename = "without_handler_shares")]
    pub without_handler: Vec<f64>,
    /// The shares of time in which `i` renderers and the handler run.
    #[serde(rename = "with_handler_shares")]
    pub with_handler: Vec<f64>,
    /// The share of time in which a link into the network is busy.
    #[serde(rename = "link_out_share")]
    pub link_out: f64,
    /// The share of time in which a link out of the network is busy.
    #[serde(rename = "link_in_share")]
    pub link_in: f64,
    /// The supervisor, if there is one.
    pub supervisor: Option<FoundSupervisor>,
    /// The simulated time, in milliseconds.
    #[serde(rename = "simulated_ms", serialize_with = "units::milliseconds")]
    pub simulated: Nanoseconds,
    /// The total number of misses.
    #[serde(skip)]
    pub miss_count: u64,
    /// The event counters.
    #[serde(skip)]
    pub counts: Counts,
}

/// The work of a simulated supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FoundSupervisor {
    /// The number of tiles of a frame.
    pub tiles: u32,
    /// The share of time in which its link is busy with tiles.
    #[serde(rename = "link_share")]
    pub link: f64,
    /// The share of time in which it works.
    #[serde(rename = "work_share")]
    pub work: f64,
    /// The share of time in which renderers wait for tiles.
    #[serde(rename = "imbalance_share")]
    pub imbalance: f64,
}

impl Tracer {
    /// Creates a simulation of `frames` frames of a scenario.
    #[must_use]
    pub const fn new(scenario: Scenario, frames: u32, seed: u64) -> Self {
        Self {
            scenario,
            frames,
            work: Work::Exponential,
            injects: true,
            meets: true,
            supervised: None,
            seed,
        }
    }

    /// Runs the simulation. `progress` receives the completed share.
    ///
    /// # Errors
    /// [`ModelError`] if a parameter or the scenario is outside the range in which the program
    /// makes sense.
    pub fn run<T: Timeline>(
        &self,
        parameters: &Parameters,
        timeline: T,
        mut progress: impl FnMut(f64),
    ) -> Result<(Found, T), ModelError> {
        let mut simulation = self.begin(parameters, timeline)?;
        simulation.finish(|client| progress(client.done()))?;
        let time = simulation.now().nanoseconds();
        let (client, counts, timeline) = simulation.into_parts();
        Ok((self.found(&client, counts, time), timeline))
    }

    fn begin<T: Timeline>(
        &self,
        parameters: &Parameters,
        timeline: T,
    ) -> Result<Simulation<Tracers, T>, ModelError> {
        let scenario = &self.scenario;
        above_zero("frames", f64::from(self.frames))?;
        if scenario.nodes < 2 {
            let expected = "2 or more, so that bricks have other homes";
            return Err(DomainError::new("nodes", f64::from(scenario.nodes), expected).into());
        }
        let threads = scenario.renderers.saturating_add(1);
        above_zero("renderers", f64::from(scenario.renderers))?;
        // The supervisor is a node after the others.
        let nodes = scenario.nodes + u32::from(self.supervised.is_some());
        let mut layout = Layout::checked(nodes, threads, parameters)?;
        let misses = scenario.misses(parameters);
        let misses = misses.map_err(|error| parameters.located(error))?;
        let renderers = f64::from(scenario.nodes) * f64::from(scenario.renderers);
        let all = misses * renderers * f64::from(self.frames);
        if misses > f64::from(u32::MAX) || all > MISSES_MAX {
            let expected = format!("up to {MISSES_MAX:e} in all; more take too long");
            return Err(DomainError::new("misses to simulate", all, expected).into());
        }
        if parameters.tracer.other_requests.0 > 0.0 {
            // A handler with more other requests than it can serve never gets to its own work, so
            // the prediction checks the load.
            crate::predict(parameters, scenario)?;
        }
        let parameters = scenario.slowed(parameters)?;
        for connection in &mut layout.connections {
            connection.injects = self.injects;
            connection.segment = client::CACHE;
        }
        layout.bypasses_cache = !self.injects;
        let client = Tracers::new(self, &parameters, misses)?;
        Simulation::new(&parameters, layout, client, timeline)
    }

    fn found(&self, client: &Tracers, counts: Counts, time: Nanoseconds) -> Found {
        let scenario = &self.scenario;
        // The supervisor's node is one of them.
        let nodes = f64::from(scenario.nodes + u32::from(self.supervised.is_some()));
        let all = (client.misses as f64).max(1.0);
        let cycle = (client.rendering + client.waited) / all;
        let occupied: Nanoseconds = counts
            .without_handler
            .iter()
            .chain(&counts.with_handler)
            .copied()
            .sum();
        let shares = |times: &[Nanoseconds]| times.iter().map(|&time| time / occupied).collect();
        Found {
            nodes: scenario.nodes,
            renderers: scenario.renderers,
            mean_frame: cycle * client.misses_per_frame,
            frame: match self.meets || self.supervised.is_some() {
                true => time / f64::from(self.frames),
                false => cycle * client.misses_per_frame,
            },
            misses: client.misses_per_frame,
            renderer_speed: client.rendered / client.rendering,
            // A handler without work has no speed; 1 is as good as any.
            handler_speed: match client.handling.0 > 0.0 {
                true => client.handled / client.handling,
                false => 1.0,
            },
            miss: client.waited / all,
            cycle,
            arrivals: Rate(f64::from(scenario.renderers) / cycle.0),
            without_handler: shares(&counts.without_handler),
            with_handler: shares(&counts.with_handler),
            link_out: counts.out_busy / (time * nodes),
            link_in: counts.in_busy / (time * nodes),
            supervisor: client.supervisor(time),
            simulated: time,
            miss_count: client.misses,
            counts,
        }
    }
}

impl Found {
    /// Returns the share of time in which the handler runs.
    #[must_use]
    pub fn handler_share(&self) -> f64 {
        self.with_handler.iter().sum()
    }
}

impl Answers {
    /// Returns whether answers go directly to the renderer.
    const fn are_direct(self) -> bool {
        !matches!(self, Self::ToHandler)
    }
}
