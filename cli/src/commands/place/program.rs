//! A program that is placed instead of a matrix: its sketch, and its predicted run time.

use std::num::NonZeroUsize;

use raddle::orwl::{MachineSpeed, Mapping, Simulated, Sketch};
use raddle_numerics::lk23::{Lk23, Plan, Wanted};
use raddle_numerics::matmul::{self, Product};
use raddle_numerics::pipeline;
use raddle_topology::{CpuId, Topology};
use serde::Serialize;

use super::arguments::{ProgramChoice, SimulatedArguments};
use crate::error::CliError;

/// The seed that decides where wandering threads start. Its value does not matter.
const SEED: u64 = 1;

/// The speed of the machine by default, in gigabytes per second.
const SPEED: MachineSpeed = MachineSpeed {
    core: 8.0,
    node: 42.6,
    link: 6.5,
};

/// The number of turns for which a wandering thread stays on a CPU by default.
const TURNS_PER_STAY: u64 = 4;

/// A program that is placed and simulated.
pub(super) struct Simulation {
    pub(super) sketch: Sketch,
    pub(super) turns: u64,
    speed: MachineSpeed,
    turns_per_stay: u64,
}

/// The prediction for a placement.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Prediction {
    #[serde(rename = "time_s")]
    pub(super) seconds: f64,
    pub(super) remote_bytes: u64,
    pub(super) migrations: u64,
}

impl Simulation {
    /// Returns the program that `--program` selects, if there is one.
    pub(super) fn of(arguments: &SimulatedArguments) -> Result<Option<Self>, CliError> {
        let Some(program) = arguments.program else {
            return Ok(None);
        };
        let (sketch, turns) = match program {
            ProgramChoice::Lk23 => lk23(arguments)?,
            ProgramChoice::Matmul => matmul(arguments)?,
            ProgramChoice::Pipeline => {
                if let Some(gflops) = arguments.core_gflops {
                    return Err(CliError::WrongCall {
                        options: format!("--program pipeline --core-gflops {gflops}"),
                        reason: "the times of its operations were measured; \
                                 expected lk23 or matmul, or no --core-gflops"
                            .to_owned(),
                    });
                }
                let lines = or(arguments.size, 1080);
                let parts = arguments
                    .tasks
                    .map_or(pipeline::GMM_PARTS, NonZeroUsize::get);
                let sketch = pipeline::sketch(lines * (lines * 16 / 9), parts);
                (sketch, arguments.turns.unwrap_or(100))
            }
        };
        Ok(Some(Self {
            sketch,
            turns,
            speed: MachineSpeed {
                core: arguments.core_gbs.unwrap_or(SPEED.core),
                node: arguments.node_gbs.unwrap_or(SPEED.node),
                link: arguments.link_gbs.unwrap_or(SPEED.link),
            },
            turns_per_stay: arguments.stay.unwrap_or(TURNS_PER_STAY),
        }))
    }

    /// Predicts a run with each operation on its CPU.
    pub(super) fn bound(&self, topology: &Topology, cpus: &[CpuId]) -> Prediction {
        self.run(topology, &Mapping::Bound(cpus.to_vec()))
    }

    /// Predicts a run with threads that are not bound.
    pub(super) fn wandering(&self, topology: &Topology, cpus: Vec<CpuId>) -> Prediction {
        let mapping = Mapping::Wanders {
            cpus,
            turns_per_stay: self.turns_per_stay,
            seed: SEED,
        };
        self.run(topology, &mapping)
    }

    fn run(&self, topology: &Topology, mapping: &Mapping) -> Prediction {
        let simulated = self
            .sketch
            .simulate(topology, self.speed, mapping, self.turns);
        let Simulated {
            time,
            remote_bytes,
            migrations,
            ..
        } = simulated;
        Prediction {
            seconds: time.as_secs_f64(),
            remote_bytes,
            migrations,
        }
    }
}

fn or(size: Option<u32>, default: usize) -> usize {
    size.map_or(default, |size| size as usize)
}

/// Returns the program of the study: blocks as square as their number allows, one sweep in a turn.
fn lk23(arguments: &SimulatedArguments) -> Result<(Sketch, u64), CliError> {
    let size = or(arguments.size, 16_384);
    let tasks = arguments.tasks.map_or(64, NonZeroUsize::get);
    let down = (1..=tasks.isqrt())
        .rev()
        .find(|down| tasks.is_multiple_of(*down));
    let down = down.unwrap_or(1);
    let block = NonZeroUsize::new(size / down).zip(NonZeroUsize::new(size / (tasks / down)));
    let wrong = |reason: String| CliError::WrongCall {
        options: format!("--program lk23 --size {size} --tasks {tasks}"),
        reason,
    };
    let Some(block) = block else {
        return Err(wrong(format!(
            "found {tasks} blocks, {down} from top to bottom; expected a point in each"
        )));
    };
    let wanted = Wanted {
        block: Some(block),
        depth: NonZeroUsize::new(1),
        ..Wanted::default()
    };
    let turns = arguments.turns.unwrap_or(100);
    let plan = Plan::new(size, size, turns, &wanted).map_err(|error| wrong(error.to_string()))?;
    let gflops = arguments.core_gflops.unwrap_or(Lk23::CORE_GFLOPS);
    Ok((Lk23::sketch(&plan, gflops), plan.turns()))
}

fn matmul(arguments: &SimulatedArguments) -> Result<(Sketch, u64), CliError> {
    let size = or(arguments.size, 16_384);
    let tasks = arguments.tasks.map_or(64, NonZeroUsize::get);
    if tasks > size {
        return Err(CliError::WrongCall {
            options: format!("--program matmul --size {size} --tasks {tasks}"),
            reason: format!(
                "found {tasks} tasks for {size} rows; expected at most one task for each row"
            ),
        });
    }
    let input = matmul::Input {
        rows: size,
        inner: size,
        columns: size,
        seed: SEED,
    };
    let gflops = arguments.core_gflops.unwrap_or(Product::CORE_GFLOPS);
    let turns = arguments.turns.unwrap_or(tasks as u64);
    Ok((Product::sketch(&input, tasks, gflops), turns))
}
