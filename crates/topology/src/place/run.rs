//! A call of [`place`](super::place()) from its arguments to its result.

use std::collections::HashMap;

use super::assignment::Loads;
use super::control::{self, Mode};
use super::distance::Distances;
use super::options::{PlaceOptions, Strategy};
use super::solve::solve;
use super::target::{Core, Target, usable_cores};
use super::traffic::Traffic;
use super::{Placement, options};
use crate::cpu_set::CpuId;
use crate::error::PlaceError;
use crate::matrix::Matrix;
use crate::topology::Topology;

/// One call, with the data that all of its steps need.
struct PlaceCall<'call> {
    matrix: &'call Matrix,
    topology: &'call Topology,
    options: &'call PlaceOptions,
    distances: Distances,
    /// The usable CPUs of each usable core.
    cores: Vec<Core>,
    /// The CPUs of `cores` that parties may have.
    party_cores: Vec<Core>,
    mode: Mode,
}

/// The CPUs of the parties and control threads.
struct Found {
    cpus: Vec<CpuId>,
    controls: Vec<CpuId>,
    cost: f64,
    /// A phrase that says how they were found.
    origin: &'static str,
}

/// Places the parties of a matrix, ignoring labels of parties that stay together.
pub(super) fn run(
    matrix: &Matrix,
    topology: &Topology,
    options: &PlaceOptions,
) -> Result<Placement, PlaceError> {
    options::check(matrix, topology, options)?;
    let cores = usable_cores(topology, options.cpus.as_ref());
    if cores.is_empty() {
        return Err(PlaceError::NoCpus {
            existing: topology.cpus().iter().map(|cpu| cpu.id).collect(),
            allowed: topology.allowed_set(),
            chosen: options.cpus.clone(),
        });
    }
    let mode = control::mode(options.control, &cores, matrix.order());
    let mut party_cores = cores.clone();
    if mode == Mode::Sibling {
        party_cores.iter_mut().for_each(|core| core.truncate(1));
    }
    let cpu_count: usize = party_cores.iter().map(Vec::len).sum();
    if !options.share && matrix.order() > cpu_count {
        return Err(PlaceError::TooFewCpus {
            parties: matrix.order(),
            cpus: cpu_count,
        });
    }
    let run = PlaceCall {
        matrix,
        topology,
        options,
        distances: Distances::new(topology),
        cores,
        party_cores,
        mode,
    };
    let found = match mode {
        Mode::Spare(count) => run.with_spare_cores(count)?,
        Mode::System | Mode::Sibling => run.solve(matrix)?,
    };
    Ok(run.placement(found))
}

impl PlaceCall<'_> {
    /// Places the parties of a matrix, and the control threads that may follow the parties in it.
    fn solve(&self, matrix: &Matrix) -> Result<Found, PlaceError> {
        let target = Target::new(
            self.topology,
            &self.distances,
            &self.party_cores,
            matrix.order(),
        );
        let traffic = Traffic::new(matrix);
        let is_shared = matrix.order() > target.place_count();
        let loads = self
            .options
            .loads
            .as_ref()
            .filter(|_| is_shared)
            .map(|work| Loads::new(work, target.place_count()));
        let solution = solve(self.options.strategy, &traffic, &target, loads.as_ref())?;
        let mut cpus: Vec<CpuId> = solution
            .places
            .iter()
            .map(|&place| target.cpus[place as usize])
            .collect();
        let controls = cpus.split_off(self.matrix.order());
        Ok(Found {
            cost: self.distances.cost(self.matrix, &cpus)?,
            cpus,
            controls,
            origin: solution.origin,
        })
    }

    /// Places parties and control threads together, unless that would raise the cost of the
    /// parties.
    ///
    /// In that case, and for the other strategies, control threads are placed after the parties.
    fn with_spare_cores(&self, count: usize) -> Result<Found, PlaceError> {
        let strategy = self.options.strategy;
        let alone = self.solve(self.matrix)?;
        if strategy == Strategy::TreeMatch {
            let together = self.solve(&control::extended(self.matrix, count))?;
            if together.cost <= alone.cost {
                return Ok(together);
            }
        }
        let (cores, cpus) = (&self.cores, &alone.cpus);
        let controls = control::nearest_free(&self.distances, cores, cpus, cpus, count);
        Ok(Found { controls, ..alone })
    }

    /// Turns the CPUs found into the result.
    fn placement(&self, found: Found) -> Placement {
        let parties = found.cpus.len();
        let control = match self.mode {
            Mode::System => vec![None; parties],
            Mode::Sibling => control::siblings(&self.distances, &self.cores, &found.cpus),
            Mode::Spare(_) => control::spread(&found.controls, parties),
        };
        let (used, most) = fullness(&found.cpus);
        Placement {
            reason: self.reason(&found, used, most)
                + &control::description(&self.cores, &found.cpus, &control),
            cpus: found.cpus,
            control,
            strategy: Some(self.options.strategy),
            cost: found.cost,
            parties_per_cpu: most,
        }
    }

    /// Returns the sentence that says how the placement was made.
    fn reason(&self, found: &Found, used: usize, most: usize) -> String {
        let usable: usize = self.party_cores.iter().map(Vec::len).sum();
        let parties = found.cpus.len();
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let mut reason = format!(
            "{parties} part{} on {used} of {usable} CPU{}",
            if parties == 1 { "y" } else { "ies" },
            plural(usable),
        );
        if most > 1 {
            reason += &format!(", up to {most} on one");
        }
        reason += &format!(": {}", found.origin);
        if self.options.strategy == Strategy::TreeMatch {
            reason += ", then refined by the traffic";
        }
        reason
    }
}

/// Returns the number of CPUs that have parties, and the number of parties on the fullest one.
pub(super) fn fullness(cpus: &[CpuId]) -> (usize, usize) {
    let mut counts = HashMap::<CpuId, usize>::new();
    for &cpu in cpus {
        *counts.entry(cpu).or_default() += 1;
    }
    (counts.len(), counts.into_values().max().unwrap_or(0))
}
