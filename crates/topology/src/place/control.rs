//! Placement of control threads, the step `extend_to_manage_control_threads` of Algorithm 1.
//!
//! - If a core has several hardware threads, its party gets the first and the control thread of the
//!   party gets the second.
//! - If no core has several and some cores need no party, the matrix is extended by control
//!   threads, which exchange a little with the parties that they serve and get those cores.
//! - If only some cores have several and some cores need no party, parties on cores with one
//!   hardware thread have their control threads on the nearest core without a party.
//! - Otherwise control threads are left to the operating system.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. 2016,
//! section 4.1.

use std::collections::HashMap;

use super::distance::Distances;
use super::options::Control;
use super::target::Core;
use crate::cpu_set::{CpuId, CpuSet};
use crate::matrix::Matrix;

/// The traffic of a control thread with a party, relative to the party's traffic with all others.
const CONTROL_SHARE: f64 = 1.0 / 64.0;

/// The way in which control threads are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// They are left to the operating system.
    System,
    /// On the core of the party, or on separate cores for parties on cores with one hardware
    /// thread.
    Sibling,
    /// This number of control threads, on separate cores.
    Spare(usize),
}

/// Returns the way that the usable cores allow.
pub(super) fn mode(control: Control, cores: &[Core], party_count: usize) -> Mode {
    let spare = cores.len().saturating_sub(party_count);
    match control {
        Control::System => Mode::System,
        Control::Reserved if cores.iter().any(|core| core.len() > 1) => Mode::Sibling,
        Control::Reserved if spare > 0 => Mode::Spare(spare.min(party_count)),
        Control::Reserved => Mode::System,
    }
}

/// Returns the index of the control thread that serves a party.
const fn server(party: usize, party_count: usize, control_count: usize) -> usize {
    party * control_count / party_count
}

/// Returns the matrix with control threads added behind its parties.
pub(super) fn extended(matrix: &Matrix, control_count: usize) -> Matrix {
    let party_count = matrix.order();
    let mut volumes = vec![0.0; party_count];
    let mut extended = Matrix::new(party_count + control_count);
    for (from, to, bytes) in matrix.entries() {
        extended.add(from, to, bytes);
        volumes[from] += bytes;
        volumes[to] += bytes;
    }
    // A party without traffic still needs its control thread near, so it is treated like the party
    // with the least traffic.
    let quietest = volumes
        .iter()
        .copied()
        .filter(|volume| *volume > 0.0)
        .fold(f64::INFINITY, f64::min);
    let default_volume = if quietest.is_finite() { quietest } else { 1.0 };
    for (party, &volume) in volumes.iter().enumerate() {
        let control = party_count + server(party, party_count, control_count);
        let volume = if volume > 0.0 { volume } else { default_volume };
        extended.add(party, control, volume * CONTROL_SHARE);
    }
    extended
}

/// Returns the control CPU of each party, given the CPUs of the control threads.
pub(super) fn spread(controls: &[CpuId], party_count: usize) -> Vec<Option<CpuId>> {
    (0..party_count)
        .map(|party| {
            controls
                .get(server(party, party_count, controls.len().max(1)))
                .copied()
        })
        .collect()
}

/// Returns, for each party, the second usable hardware thread of its core, or else the nearest core
/// without a party.
pub(super) fn siblings(
    distances: &Distances,
    cores: &[Core],
    cpus: &[CpuId],
) -> Vec<Option<CpuId>> {
    let mut sibling = HashMap::new();
    for core in cores {
        if let [first, second, ..] = core[..] {
            sibling.insert(first, second);
        }
    }
    let mut control: Vec<_> = cpus.iter().map(|cpu| sibling.get(cpu).copied()).collect();
    let alone: Vec<usize> = (0..cpus.len())
        .filter(|&party| control[party].is_none())
        .collect();
    let served: Vec<CpuId> = alone.iter().map(|&party| cpus[party]).collect();
    let spare = nearest_free(distances, cores, cpus, &served, served.len());
    for (&party, spare) in alone.iter().zip(spread(&spare, alone.len())) {
        control[party] = spare;
    }
    control
}

/// Returns CPUs for control threads that serve parties on the CPUs `served`.
///
/// Each of them is on a core without a party. It is the one nearest to the first party that the
/// control thread serves. There are `control_max` of them, or fewer if there are not enough such
/// cores.
pub(super) fn nearest_free(
    distances: &Distances,
    cores: &[Core],
    cpus: &[CpuId],
    served: &[CpuId],
    control_max: usize,
) -> Vec<CpuId> {
    let used: CpuSet = cpus.iter().copied().collect();
    let mut free: Vec<CpuId> = cores
        .iter()
        .filter(|core| core.iter().all(|cpu| !used.contains(*cpu)))
        .map(|core| core[0])
        .collect();
    let control_count = control_max.min(free.len());
    let mut controls = Vec::with_capacity(control_count);
    for control in 0..control_count {
        let first =
            (0..served.len()).find(|&party| server(party, served.len(), control_count) == control);
        let away = |free: &CpuId| {
            first
                .and_then(|party| distances.between(served[party], *free))
                .unwrap_or(0.0)
        };
        let nearest = (0..free.len())
            .min_by(|&left, &right| away(&free[left]).total_cmp(&away(&free[right])));
        let Some(nearest) = nearest else { break };
        controls.push(free.remove(nearest));
    }
    controls
}

/// Describes where control threads are, to follow the sentence about the parties.
pub(super) fn description(cores: &[Core], cpus: &[CpuId], control: &[Option<CpuId>]) -> String {
    let core_of: HashMap<CpuId, usize> = cores
        .iter()
        .zip(0..)
        .flat_map(|(core, index)| core.iter().map(move |&cpu| (cpu, index)))
        .collect();
    let (mut beside, mut apart, mut nowhere) = (0, 0, 0);
    for (cpu, control) in cpus.iter().zip(control) {
        match control {
            Some(control) if core_of.get(control) == core_of.get(cpu) => beside += 1,
            Some(_) => apart += 1,
            None => nowhere += 1,
        }
    }
    match (beside, apart, nowhere) {
        (0, 0, _) => String::new(),
        (_, 0, 0) => "; control threads on the other hardware threads of the cores".to_owned(),
        (0, _, 0) => "; control threads on cores that no party needs".to_owned(),
        _ => {
            let kinds = [
                (beside, "on the other hardware thread of the core"),
                (apart, "on cores that no party needs"),
                (nowhere, "left to the operating system"),
            ];
            let kinds = kinds.iter().filter(|(count, _)| *count > 0);
            let kinds: Vec<_> = kinds
                .map(|&(count, place)| {
                    let parties = if count == 1 { "party" } else { "parties" };
                    format!("of {count} {parties} {place}")
                })
                .collect();
            format!("; control threads {}", kinds.join(", "))
        }
    }
}
