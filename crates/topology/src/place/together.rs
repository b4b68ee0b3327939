//! Placement of parties that stay together: as one party, with their common traffic and work.

use std::collections::HashMap;

use super::{Placement, Strategy, cost, options, run};
use crate::error::PlaceError;
use crate::matrix::Matrix;
use crate::place::PlaceOptions;
use crate::topology::Topology;

/// Places parties so that those with the same label share a CPU.
pub(super) fn place(
    matrix: &Matrix,
    topology: &Topology,
    wanted: &PlaceOptions,
    labels: &[usize],
) -> Result<Placement, PlaceError> {
    // The maximum of the exact strategy applies to the teams, not to the parties.
    let parties = wanted.clone().strategy(Strategy::default());
    options::check(matrix, topology, &parties)?;
    if labels.len() != matrix.order() {
        return Err(PlaceError::Together {
            found: labels.len(),
            parties: matrix.order(),
        });
    }
    // Number the labels. Each label is a team, which is placed like one party.
    let mut numbers = HashMap::new();
    let teams: Vec<usize> = labels
        .iter()
        .map(|label| {
            let next = numbers.len();
            *numbers.entry(*label).or_insert(next)
        })
        .collect();
    let mut joined = Matrix::new(numbers.len());
    for (from, to, bytes) in matrix.entries() {
        if teams[from] != teams[to] {
            joined.add(teams[from], teams[to], bytes);
        }
    }
    let mut loads = vec![0.0; numbers.len()];
    for (party, &team) in teams.iter().enumerate() {
        loads[team] += wanted.loads.as_ref().map_or(1.0, |loads| loads[party]);
    }
    let wanted = PlaceOptions {
        together: None,
        loads: Some(loads),
        ..wanted.clone()
    };
    let placed = run::run(&joined, topology, &wanted)?;
    let cpus: Vec<_> = teams.iter().map(|&team| placed.cpus[team]).collect();
    Ok(Placement {
        cost: cost(matrix, topology, &cpus)?,
        parties_per_cpu: run::fullness(&cpus).1,
        control: teams.iter().map(|&team| placed.control[team]).collect(),
        reason: match joined.order() {
            teams if teams == cpus.len() => placed.reason,
            teams => format!(
                "{} parties as {teams}, because some stay together: {}",
                cpus.len(),
                placed.reason
            ),
        },
        cpus,
        ..placed
    })
}
