//! Where the operations of a program run: computed from what they exchange and from the machine, looked at, applied.
//!
//! # Source
//! `orwl_affinity_compute` and `orwl_affinity_set` of Gustedt, Jeannot, Mansouri, Inria RR-8993, 2016, section 4.2.

use std::fmt;

use raddle_runtime::Runtime;
use raddle_topology::{CpuId, Matrix, PlaceError, Placement, Strategy, format};
use serde::Serialize;

use crate::ground::Ground;
use crate::operation::labels_of;
use crate::program::{Planned, Program};

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
    #[serde(rename = "cost_hop_bytes")]
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
    /// Where a worker is not bound, operations are shared out among all of them as if they were equally far from each other.
    #[must_use]
    pub fn compute_placement(&self, runtime: &Runtime) -> ProgramPlacement {
        self.place_with(runtime, Strategy::default())
    }

    /// As [`compute_placement`](Self::compute_placement), in another way.
    #[must_use]
    pub fn place_with(&self, runtime: &Runtime, strategy: Strategy) -> ProgramPlacement {
        let placed = Ground::of(runtime).map(|ground| {
            let operations = self.operations.iter();
            let together = labels_of(operations.map(|planned| &*planned.operation));
            let placement = ground.place(&self.dependencies(), strategy, self.loads(), together);
            placement.map(|placement| (ground, placement))
        });
        match placed {
            Some(Ok((ground, placement))) => {
                let places = placement.cpus.iter().map(|&cpu| ground.at(cpu)).collect();
                let reason = format!("{}{}", ground.caveat(), placement.reason);
                self.placement(places, placement.cost, reason)
            }
            Some(Err(error)) => self.in_turns(runtime.worker_count(), &error.to_string()),
            None => self.in_turns(runtime.worker_count(), "the machine cannot be asked"),
        }
    }

    /// Deals operations out to workers that may be anywhere.
    fn in_turns(&self, worker_count: usize, why: &str) -> ProgramPlacement {
        let places = (0..self.operations.len()).map(|index| (index % worker_count, None));
        let reason = format!("in turns, since nothing better is known: {why}");
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

    /// How much work each operation is: what it says, or else the bytes that it goes through.
    fn loads(&self) -> Vec<f64> {
        let load_of = |planned: &Planned| planned.load.unwrap_or_else(|| planned.operation.load());
        self.operations.iter().map(load_of).collect()
    }
}

impl ProgramPlacement {
    /// Draws what operations exchange, and the machine with every one in its place, as [`format::placement_svg`] does.
    ///
    /// `matrix` is what [`Program::dependencies`] returned. Where a worker is not bound, the machine is one of workers that are equally far
    /// from each other.
    ///
    /// # Errors
    /// [`PlaceError`] when the matrix is that of another program, the runtime has fewer workers than the places name, or the machine cannot be asked.
    pub fn svg(&self, runtime: &Runtime, matrix: &Matrix) -> Result<String, PlaceError> {
        let (ground, placed) = self.seated(runtime, matrix)?;
        Ok(format::placement_svg(&ground.topology, matrix, &placed))
    }

    /// The hop-bytes of a turn as the places are now, which may have been changed since they were computed; `matrix` as for [`svg`](Self::svg).
    ///
    /// # Errors
    /// As [`svg`](Self::svg).
    pub fn cost_on(&self, runtime: &Runtime, matrix: &Matrix) -> Result<f64, PlaceError> {
        Ok(self.seated(runtime, matrix)?.1.cost)
    }

    fn seated(
        &self,
        runtime: &Runtime,
        matrix: &Matrix,
    ) -> Result<(Ground, Placement), PlaceError> {
        let ground = Ground::of(runtime).ok_or(PlaceError::EmptyTopology)?;
        let cpus = ground.cpus_of(&self.places)?;
        let placed = Placement::seated(matrix, &ground.topology, cpus, &self.reason)?;
        Ok((ground, placed))
    }
}

impl fmt::Display for ProgramPlacement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}: {}", self.program, self.reason)?;
        let widths = self
            .places
            .iter()
            .map(|place| place.operation.chars().count());
        let width = widths.max().unwrap_or(0).max("operation".len());
        writeln!(formatter, "{:width$} | worker | cpu", "operation")?;
        writeln!(formatter, "{:-<width$}-+--------+----", "")?;
        for place in &self.places {
            let cpu = place.cpu.map_or("-".to_owned(), |cpu| cpu.to_string());
            let (operation, worker) = (&place.operation, place.worker_index);
            writeln!(formatter, "{operation:width$} | {worker:>6} | {cpu:>3}")?;
        }
        Ok(())
    }
}
