//! The placement of a declared program: its dependencies, and where its operations run.

use raddle_runtime::Runtime;
use raddle_topology::{CpuId, Matrix, Strategy};

use super::{Planned, Program};
use crate::dependencies::dependencies_of;
use crate::operation::labels_of;
use crate::placement::{OperationPlace, ProgramPlacement};
use crate::worker_places::WorkerPlaces;

impl Program {
    /// Returns the number of bytes that tasks exchange in a turn, computed from their declarations.
    ///
    /// The matrix has one party for each operation, with its name, in the order of declaration.
    /// A handle that is used once counts as if it were used in each turn, since the number of turns
    /// is not known.
    ///
    /// Cost: linear in the handles, and for each location in its readers and writers.
    #[must_use]
    pub fn dependencies(&self) -> Matrix {
        let operations = self.operations.iter();
        dependencies_of(operations.map(|planned| &*planned.operation), |_| 1.0)
    }

    /// Computes where every operation runs, in the way that [`run_on`](Self::run_on) does by
    /// default.
    ///
    /// The candidates are the CPUs that the workers of the runtime are bound to. Operations that
    /// exchange many bytes are placed close together. If a worker is not bound, operations are
    /// distributed over all workers as if all of these were equally far from each other.
    #[must_use]
    pub fn compute_placement(&self, runtime: &Runtime) -> ProgramPlacement {
        self.place_with(runtime, Strategy::default())
    }

    /// Computes a placement as [`compute_placement`](Self::compute_placement) does, with
    /// `strategy`.
    #[must_use]
    pub fn place_with(&self, runtime: &Runtime, strategy: Strategy) -> ProgramPlacement {
        let placed = WorkerPlaces::of(runtime).map(|worker_places| {
            let operations = self.operations.iter();
            let together = labels_of(operations.map(|planned| &*planned.operation));
            let placement =
                worker_places.place(&self.dependencies(), strategy, self.loads(), together);
            placement.map(|placement| (worker_places, placement))
        });
        match placed {
            Some(Ok((worker_places, placement))) => {
                let places = placement
                    .cpus
                    .iter()
                    .map(|&cpu| worker_places.at(cpu))
                    .collect();
                let reason = format!("{}{}", worker_places.caveat(), placement.reason);
                self.placement(places, placement.cost, reason)
            }
            Some(Err(error)) => self.round_robin(runtime.worker_count(), &error.to_string()),
            None => self.round_robin(
                runtime.worker_count(),
                "the topology of the machine is not available",
            ),
        }
    }

    /// Assigns operations to workers round-robin, since the CPUs of the workers are not known.
    fn round_robin(&self, worker_count: usize, why: &str) -> ProgramPlacement {
        let places = (0..self.operations.len()).map(|index| (index % worker_count, None));
        let reason = format!("round-robin, since no better placement is known: {why}");
        self.placement(places.collect(), 0.0, reason)
    }

    fn placement(
        &self,
        places: Vec<(usize, Option<CpuId>)>,
        cost: f64,
        reason: String,
    ) -> ProgramPlacement {
        let places = self.operations.iter().zip(places);
        let places = places.map(|(planned, (worker_index, cpu))| OperationPlace {
            operation: planned.operation.name.to_string(),
            worker_index,
            cpu,
        });
        ProgramPlacement {
            program: self.name().to_owned(),
            places: places.collect(),
            cost,
            reason,
        }
    }

    /// Returns the work of each operation: its declared load, or else the number of bytes that it
    /// uses.
    fn loads(&self) -> Vec<f64> {
        let load_of = |planned: &Planned| planned.load.unwrap_or_else(|| planned.operation.load());
        self.operations.iter().map(load_of).collect()
    }
}
