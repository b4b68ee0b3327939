//! The placement of a program: where each of its operations runs, as a table, a drawing and a cost.
//!
//! # Source
//! `orwl_affinity_compute` and `orwl_affinity_set` of Gustedt, Jeannot, Mansouri, Inria RR-8993,
//! 2016, section 4.2.

use std::fmt;

use raddle_runtime::Runtime;
use raddle_topology::{CpuId, Matrix, PlaceError, Placement, format};
use serde::Serialize;

use crate::worker_places::WorkerPlaces;

/// The place of every operation of a program.
///
/// Prints as a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProgramPlacement {
    /// The name of the program.
    pub program: String,
    /// The place of each operation, in the order of declaration.
    pub places: Vec<OperationPlace>,
    /// The hop-bytes of a turn; see [`raddle_topology::cost`].
    #[serde(rename = "cost_hop_bytes")]
    pub cost: f64,
    /// A readable explanation of how the placement was computed, and why.
    pub reason: String,
}

/// The place where an operation runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OperationPlace {
    /// The full name of the operation.
    pub operation: String,
    /// The worker that runs the operation, if it is a future.
    pub worker_index: usize,
    /// The CPU that the operation's thread, or that worker, is bound to.
    ///
    /// `None` if the system chooses the CPU.
    pub cpu: Option<CpuId>,
}

impl ProgramPlacement {
    /// Draws the bytes that operations exchange, and the machine with each operation in its place.
    ///
    /// The drawing is made by [`format::placement_svg`].
    ///
    /// `matrix` is what [`Program::dependencies`](crate::Program::dependencies) returned. If a
    /// worker is not bound, the drawing shows workers that are equally far from each other.
    ///
    /// # Errors
    /// [`PlaceError`] if the matrix belongs to another program, if the runtime has fewer workers
    /// than the places name, or if the topology of the machine is not available.
    pub fn svg(&self, runtime: &Runtime, matrix: &Matrix) -> Result<String, PlaceError> {
        let (worker_places, placed) = self.at_places(runtime, matrix)?;
        Ok(format::placement_svg(
            &worker_places.topology,
            matrix,
            &placed,
        ))
    }

    /// Computes the hop-bytes of a turn for the present places.
    ///
    /// The places may have been changed since they were computed. `matrix` is as for
    /// [`svg`](Self::svg).
    ///
    /// # Errors
    /// Those of [`svg`](Self::svg).
    pub fn cost_on(&self, runtime: &Runtime, matrix: &Matrix) -> Result<f64, PlaceError> {
        Ok(self.at_places(runtime, matrix)?.1.cost)
    }

    /// Returns the worker of each operation, and the CPU that it is bound to.
    pub(crate) fn worker_cpus(&self) -> impl Iterator<Item = (usize, Option<CpuId>)> + '_ {
        let places = self.places.iter();
        places.map(|place| (place.worker_index, place.cpu))
    }

    fn at_places(
        &self,
        runtime: &Runtime,
        matrix: &Matrix,
    ) -> Result<(WorkerPlaces, Placement), PlaceError> {
        let worker_places = WorkerPlaces::of(runtime).ok_or(PlaceError::EmptyTopology)?;
        let cpus = worker_places.cpus_of(self.worker_cpus())?;
        let placed = Placement::at(matrix, &worker_places.topology, cpus, &self.reason)?;
        Ok((worker_places, placed))
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
