//! A plan: which worker runs on which CPU, and why.
//!
//! A plan is made before any thread exists, so it can be shown, compared and refused. It promises that
//! every CPU in it may be used, and that none is used a second time before all were used once (an explicit list
//! is taken as it stands).

mod order;
mod reason;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;

use crate::affinity::Affinity;
use crate::cpu_set::CpuId;
use crate::error::PlanError;
use crate::topology::Topology;

/// Which worker runs where.
///
/// Prints as a table with the columns worker, cpu and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// One entry per worker, in the order of `worker_index`.
    pub entries: Vec<PlanEntry>,
}

/// Where one worker runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanEntry {
    /// The worker, from 0.
    pub worker_index: usize,
    /// The CPU that it is bound to; `None` where it is not bound.
    pub cpu: Option<CpuId>,
    /// Why it is that one, for a person.
    pub reason: String,
}

impl Plan {
    /// Iterates over the CPUs that workers are bound to, in the order of the workers.
    pub fn cpus(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.entries.iter().filter_map(|entry| entry.cpu)
    }
}

/// Decides where each of `worker_count` workers runs.
///
/// With more workers than CPUs the order begins again, and the reason says which CPU is shared with whom. Cost: O(n
/// log n) for n CPUs, and for the reasons O(w · d) set operations for w workers and a tree d deep.
///
/// # Errors
/// [`PlanError::NoWorkers`], [`PlanError::NoCpus`], and for an explicit list [`PlanError::EmptyList`],
/// [`PlanError::UnknownCpu`] and [`PlanError::NotAllowed`], which name the CPU and those that may be used.
///
/// # Examples
/// ```
/// use raddle_topology::{Affinity, CpuId, Topology, plan};
/// let topology = Topology::synthetic("package:2 core:2 pu:2")?;
/// let cpus = |affinity| plan(&topology, &affinity, 4).map(|plan| plan.cpus().collect::<Vec<_>>());
/// assert_eq!(cpus(Affinity::Compact)?, [0, 1, 2, 3].map(CpuId));
/// assert_eq!(cpus(Affinity::Scatter)?, [0, 4, 2, 6].map(CpuId));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(
    topology: &Topology,
    affinity: &Affinity,
    worker_count: usize,
) -> Result<Plan, PlanError> {
    if worker_count == 0 {
        return Err(PlanError::NoWorkers);
    }
    let order = match affinity {
        Affinity::None => return Ok(unbound(worker_count)),
        Affinity::Compact => order::compact(topology),
        Affinity::Scatter => order::scatter(topology),
        Affinity::Explicit(list) => {
            check_list(topology, list)?;
            list.clone()
        }
    };
    if order.is_empty() {
        return Err(PlanError::NoCpus);
    }
    let cpus: Vec<_> = order.iter().copied().cycle().take(worker_count).collect();
    let reasons = reason::reasons(topology, affinity, &cpus);
    let entries = cpus
        .into_iter()
        .zip(reasons)
        .enumerate()
        .map(|(worker_index, (cpu, reason))| PlanEntry {
            worker_index,
            cpu: Some(cpu),
            reason,
        });
    Ok(Plan {
        entries: entries.collect(),
    })
}

fn unbound(worker_count: usize) -> Plan {
    let entries = (0..worker_count).map(|worker_index| PlanEntry {
        worker_index,
        cpu: None,
        reason: "not bound: the affinity is none, so the operating system chooses".to_owned(),
    });
    Plan {
        entries: entries.collect(),
    }
}

fn check_list(topology: &Topology, list: &[CpuId]) -> Result<(), PlanError> {
    if list.is_empty() {
        return Err(PlanError::EmptyList);
    }
    for &cpu in list {
        match topology.cpu(cpu) {
            Some(known) if known.allowed => {}
            Some(_) => {
                return Err(PlanError::NotAllowed {
                    cpu,
                    allowed: topology.allowed_set(),
                });
            }
            None => {
                return Err(PlanError::UnknownCpu {
                    cpu,
                    allowed: topology.allowed_set(),
                });
            }
        }
    }
    Ok(())
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpu_text = |entry: &PlanEntry| entry.cpu.map_or("-".to_owned(), |cpu| cpu.to_string());
        let width = self
            .entries
            .iter()
            .map(|entry| cpu_text(entry).len())
            .fold("cpu".len(), usize::max);
        writeln!(formatter, "worker | {:>width$} | why", "cpu")?;
        writeln!(formatter, "-------+-{:-<width$}-+----", "")?;
        for entry in &self.entries {
            let (worker, cpu) = (entry.worker_index, cpu_text(entry));
            writeln!(formatter, "{worker:>6} | {cpu:>width$} | {}", entry.reason)?;
        }
        Ok(())
    }
}
