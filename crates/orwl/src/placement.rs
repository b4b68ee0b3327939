//! Where the operations of a program run: computed from what they exchange and from the machine, looked at, applied.
//!
//! # Source
//! `orwl_affinity_compute` and `orwl_affinity_set` of Gustedt, Jeannot, Mansouri, Inria RR-8993, 2016, section 4.2.

use std::collections::HashMap;
use std::fmt;

use raddle_runtime::Runtime;
use raddle_sync::fifo::Access;
use raddle_sync::prim::Relaxed;
use raddle_topology::{CpuId, CpuSet, Matrix, PlaceOptions, Strategy, Topology, place};
use serde::Serialize;

use crate::program::Program;

/// Where every operation of a program runs.
///
/// Prints as a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProgramPlacement {
    /// The program.
    pub program: String,
    /// One for each operation, in the order of declaration.
    pub places: Vec<OperationPlace>,
    /// Hop-bytes of a turn; see [`raddle_topology::cost`].
    pub cost: f64,
    /// How it was made and why, for a person.
    pub reason: String,
}

/// Where an operation runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OperationPlace {
    /// Its full name.
    pub operation: String,
    /// The worker that runs it, if it is a future.
    pub worker_index: usize,
    /// The CPU that its thread, or that worker, is bound to; `None` where the system chooses.
    pub cpu: Option<CpuId>,
}

impl Program {
    /// Decides where every operation runs, as [`run_on`](Self::run_on) does itself: on the CPUs that the workers of the runtime are bound
    /// to, those close together that exchange much.
    ///
    /// Where no worker is bound, operations are shared out among the workers all the same, and no thread is bound.
    #[must_use]
    pub fn compute_placement(&self, runtime: &Runtime) -> ProgramPlacement {
        self.place_with(runtime, Strategy::default())
    }

    /// As [`compute_placement`](Self::compute_placement), in another way.
    #[must_use]
    pub fn place_with(&self, runtime: &Runtime, strategy: Strategy) -> ProgramPlacement {
        let plan = runtime.plan();
        let workers: HashMap<CpuId, usize> = plan
            .entries
            .iter()
            .rev()
            .filter_map(|entry| Some((entry.cpu?, entry.worker_index)))
            .collect();
        let machine = Topology::this_machine()
            .ok()
            .filter(|_| !workers.is_empty());
        let options = PlaceOptions::new().strategy(strategy).loads(self.loads());
        let matrix = self.dependencies();
        let placed = match machine {
            Some(machine) => {
                let cpus: CpuSet = workers.keys().copied().collect();
                place(&matrix, machine, &options.cpus(cpus))
                    .map(|placement| (placement, &workers))
                    .ok()
            }
            None => None,
        };
        if let Some((placement, workers)) = placed {
            let place_of = |cpu: CpuId| (workers.get(&cpu).copied().unwrap_or(0), Some(cpu));
            let places: Vec<_> = placement.cpus.iter().map(|&cpu| place_of(cpu)).collect();
            return self.placement(places, placement.cost, placement.reason);
        }
        self.place_unbound(
            &matrix,
            runtime.worker_count(),
            options_for_equals(strategy, self.loads()),
        )
    }

    /// Shares operations out among workers that may be anywhere: all are equally far from each other.
    fn place_unbound(
        &self,
        matrix: &Matrix,
        worker_count: usize,
        options: PlaceOptions,
    ) -> ProgramPlacement {
        let equals = Topology::synthetic(&format!("core:{worker_count} pu:1"));
        let placed = equals
            .ok()
            .and_then(|equals| place(matrix, &equals, &options).ok());
        let Some(placement) = placed else {
            let places = (0..self.operations.len()).map(|index| (index % worker_count, None));
            let reason = "in turns: there is nothing to go by".to_owned();
            return self.placement(places.collect(), 0.0, reason);
        };
        let places = placement
            .cpus
            .iter()
            .map(|cpu| (cpu.index() % worker_count, None));
        let reason = format!(
            "workers are not bound, and equally far from each other: {}",
            placement.reason
        );
        self.placement(places.collect(), placement.cost, reason)
    }

    fn placement(
        &self,
        places: Vec<(usize, Option<CpuId>)>,
        cost: f64,
        reason: String,
    ) -> ProgramPlacement {
        let places = self
            .operations
            .iter()
            .zip(places)
            .map(|(planned, (worker_index, cpu))| OperationPlace {
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

    /// How much work each operation is: what it says, or else the bytes that it writes.
    fn loads(&self) -> Vec<f64> {
        let load_of = |planned: &crate::program::Planned| {
            planned.load.unwrap_or_else(|| {
                let links = planned.operation.links().iter();
                let written = links.filter(|link| link.access == Access::Write);
                // Relaxed: an estimate.
                1.0 + written
                    .map(|link| link.bytes.load(Relaxed) as f64)
                    .sum::<f64>()
            })
        };
        self.operations.iter().map(load_of).collect()
    }
}

fn options_for_equals(strategy: Strategy, loads: Vec<f64>) -> PlaceOptions {
    PlaceOptions::new().strategy(strategy).loads(loads)
}

impl fmt::Display for ProgramPlacement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}: {}", self.program, self.reason)?;
        let width = self
            .places
            .iter()
            .map(|place| place.operation.chars().count());
        let width = width.max().unwrap_or(0).max("operation".len());
        writeln!(formatter, "{:width$} | worker | cpu", "operation")?;
        writeln!(formatter, "{:-<width$}-+--------+----", "")?;
        for place in &self.places {
            let cpu = place.cpu.map_or("-".to_owned(), |cpu| cpu.to_string());
            writeln!(
                formatter,
                "{:width$} | {:>6} | {cpu:>3}",
                place.operation, place.worker_index
            )?;
        }
        Ok(())
    }
}
