//! Control threads: the first step of Algorithm 1, `extend_to_manage_control_threads`.
//!
//! | what there is | what happens |
//! |---|---|
//! | a core with several hardware threads | a party gets the first, its control thread the second |
//! | cores that no party needs, where no core has several | the matrix is extended by control threads, which talk a little to the parties they serve |
//! | such cores, where only some cores have several | parties on the others have their control threads on the nearest of them |
//! | neither | control threads are left to the operating system |
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. 2016, section 4.1.

use std::collections::HashMap;

use super::distance::Distances;
use super::options::Control;
use super::target::Core;
use crate::cpu_set::{CpuId, CpuSet};
use crate::matrix::Matrix;

/// What a control thread exchanges with a party, as a part of what the party exchanges with all others.
const CONTROL_SHARE: f64 = 1.0 / 64.0;

/// How control threads are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Not at all.
    System,
    /// Beside the party, on its core; on cores of their own for parties whose cores have one hardware thread.
    Sibling,
    /// So many on cores of their own.
    Spare(usize),
}

/// Finds out which of the three ways the usable cores allow.
pub(super) fn mode(control: Control, cores: &[Core], party_count: usize) -> Mode {
    let spare = cores.len().saturating_sub(party_count);
    match control {
        Control::System => Mode::System,
        Control::Reserved if cores.iter().any(|core| core.len() > 1) => Mode::Sibling,
        Control::Reserved if spare > 0 => Mode::Spare(spare.min(party_count)),
        Control::Reserved => Mode::System,
    }
}

/// The control thread that serves a party.
const fn server(party: usize, party_count: usize, control_count: usize) -> usize {
    party * control_count / party_count
}

/// Adds control threads behind the parties of a matrix.
pub(super) fn extended(matrix: &Matrix, control_count: usize) -> Matrix {
    let party_count = matrix.order();
    let mut volumes = vec![0.0; party_count];
    let mut extended = Matrix::new(party_count + control_count);
    for (from, to, bytes) in matrix.entries() {
        extended.add(from, to, bytes);
        volumes[from] += bytes;
        volumes[to] += bytes;
    }
    // A party that is silent still wants its control thread near.
    let quietest = volumes
        .iter()
        .copied()
        .filter(|volume| *volume > 0.0)
        .fold(f64::INFINITY, f64::min);
    let silent = if quietest.is_finite() { quietest } else { 1.0 };
    for (party, &volume) in volumes.iter().enumerate() {
        let control = party_count + server(party, party_count, control_count);
        let volume = if volume > 0.0 { volume } else { silent };
        extended.add(party, control, volume * CONTROL_SHARE);
    }
    extended
}

/// The control CPU of each party, from the CPUs of the control threads.
pub(super) fn spread(controls: &[CpuId], party_count: usize) -> Vec<Option<CpuId>> {
    (0..party_count)
        .map(|party| {
            controls
                .get(server(party, party_count, controls.len().max(1)))
                .copied()
        })
        .collect()
}

/// The second usable hardware thread of each party's core; where that has one only, the nearest core without a party.
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

/// CPUs for control threads that serve parties on the CPUs `served`, each the nearest to the first one that it serves of those whose cores have no party.
/// So many control threads as are wanted, if there are such cores.
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

/// Says where control threads are, behind the sentence about the parties.
pub(super) fn told(cores: &[Core], cpus: &[CpuId], control: &[Option<CpuId>]) -> String {
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
                .map(|(count, place)| format!("of {count} {place}"))
                .collect();
            format!("; control threads {}", kinds.join(", "))
        }
    }
}
