//! Control threads: the first step of Algorithm 1, `extend_to_manage_control_threads`.
//!
//! | the machine | what happens |
//! |---|---|
//! | cores have several hardware threads | parties get the first of each core, their control threads the second |
//! | there are cores that no party needs | the matrix is extended by control threads, which talk a little to the parties they serve |
//! | neither | control threads are left to the operating system |
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. 2016, section 4.1.

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
    /// Beside the party, on its core.
    Sibling,
    /// So many on cores of their own.
    Spare(usize),
}

/// Finds out which of the three ways the machine allows.
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

/// The second usable hardware thread of each party's core.
pub(super) fn siblings(cores: &[Core], cpus: &[CpuId]) -> Vec<Option<CpuId>> {
    let mut sibling = std::collections::HashMap::new();
    for core in cores {
        if let [first, second, ..] = core[..] {
            sibling.insert(first, second);
        }
    }
    cpus.iter().map(|cpu| sibling.get(cpu).copied()).collect()
}

/// CPUs for `control_count` control threads, each the nearest free one to the first party that it serves.
pub(super) fn nearest_free(
    distances: &Distances,
    cores: &[Core],
    cpus: &[CpuId],
    control_count: usize,
) -> Vec<CpuId> {
    let used: CpuSet = cpus.iter().copied().collect();
    let mut free: Vec<CpuId> = cores
        .iter()
        .filter(|core| core.iter().all(|cpu| !used.contains(*cpu)))
        .map(|core| core[0])
        .collect();
    let mut controls = Vec::with_capacity(control_count);
    for control in 0..control_count {
        let served =
            (0..cpus.len()).find(|&party| server(party, cpus.len(), control_count) == control);
        let away = |free: &CpuId| {
            served
                .and_then(|party| distances.between(cpus[party], *free))
                .unwrap_or(0.0)
        };
        let nearest = (0..free.len())
            .min_by(|&left, &right| away(&free[left]).total_cmp(&away(&free[right])));
        let Some(nearest) = nearest else { break };
        controls.push(free.remove(nearest));
    }
    controls
}
