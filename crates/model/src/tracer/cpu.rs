//! The CPU time of a frame: the work of all threads, wherever and whenever they run.
//!
//! On a machine with fewer CPUs than threads, the time of a frame depends on their turns. The work
//! does not.

use serde::Serialize;

use super::Scenario;
use crate::error::ModelError;
use crate::parameters::Parameters;
use crate::units::{self, Nanoseconds};

/// The CPU time of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CpuTime {
    /// The CPU time of all renderers: their work, the requests and the tiles, in milliseconds.
    #[serde(rename = "renderers_ms", serialize_with = "units::milliseconds")]
    pub renderers: Nanoseconds,
    /// The CPU time of all handlers: misses, assignments and scenes, in milliseconds.
    #[serde(rename = "handlers_ms", serialize_with = "units::milliseconds")]
    pub handlers: Nanoseconds,
    /// The CPU time of the supervisor, in milliseconds.
    #[serde(rename = "supervisor_ms", serialize_with = "units::milliseconds")]
    pub supervisor: Nanoseconds,
}

impl CpuTime {
    /// Computes the CPU time of a scenario, each thread alone on its core.
    ///
    /// A single node misses nothing if the misses are
    /// [those of remote bricks](crate::parameters::Tracer::remote_only).
    ///
    /// # Errors
    /// [`ModelError`] if a parameter or the scenario is outside the range in which the model holds.
    pub fn of(parameters: &Parameters, scenario: &Scenario) -> Result<Self, ModelError> {
        let tracer = &parameters.tracer;
        let on_this_core = |time: Nanoseconds| time / tracer.core_speedup;
        let tiles = tracer.tiles();
        let scenes = f64::from(scenario.nodes);
        let others = Self {
            renderers: on_this_core(tracer.tile) * tiles + on_this_core(tracer.prepare) * scenes,
            handlers: on_this_core(tracer.assignment) * tiles + on_this_core(tracer.scene) * scenes,
            supervisor: on_this_core(tracer.supervise) * tiles,
        };
        if scenario.nodes == 1 && tracer.remote_only != 0 {
            let renderers = others.renderers + on_this_core(tracer.render);
            return Ok(Self {
                renderers,
                ..others
            });
        }
        let misses = scenario.misses(parameters);
        let misses = misses.map_err(|error| parameters.located(error))?;
        let node = scenario.node(parameters, misses)?;
        let all = misses * f64::from(scenario.nodes) * f64::from(scenario.renderers);
        Ok(Self {
            renderers: others.renderers + node.render * all,
            handlers: others.handlers + node.handle * all,
            ..others
        })
    }

    /// Returns the CPU time of all threads.
    #[must_use]
    pub fn total(&self) -> Nanoseconds {
        self.renderers + self.handlers + self.supervisor
    }
}
