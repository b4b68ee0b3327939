//! Plans of the CPUs on which workers run.
//!
//! A plan is made before any thread exists, so it can be shown, compared and rejected. Every CPU in
//! it may be used by this process. No CPU is used twice before all were used once, except in an
//! explicit list, which is taken literally. With [`Affinity::Auto`] no CPU is used twice at all,
//! not even by another process.
//!
//! A request for particular CPUs is obeyed even if other processes have claimed them. It claims
//! those of them that are free.

mod near;
mod order;
mod reason;
mod summary;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;

use crate::affinity::Affinity;
use crate::claims::Others;
use crate::cpu_set::{CpuId, CpuSet};
use crate::error::PlanError;
use crate::topology::Topology;

/// The CPU of each worker.
///
/// It is displayed as the summary and a table with the columns worker, cpu and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// A one-line summary of the placement, for `--show-binding`.
    pub summary: String,
    /// One entry per worker, in the order of `worker_index`.
    pub entries: Vec<PlanEntry>,
}

/// The CPU of one worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanEntry {
    /// The index of the worker, from 0.
    pub worker_index: usize,
    /// The CPU to which it is bound. `None` if it is not bound.
    pub cpu: Option<CpuId>,
    /// The reason for this CPU, as a phrase for the user.
    pub reason: String,
}

impl Plan {
    /// Returns an iterator over the CPUs to which workers are bound, in the order of the workers.
    pub fn cpus(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.entries.iter().filter_map(|entry| entry.cpu)
    }

    /// Describes workers that were placed elsewhere. `rule` names the rule that placed them, as in
    /// `placed by traffic: …`.
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::{CpuId, Others, Plan, Topology};
    /// let topology = Topology::synthetic("package:1 core:4 pu:1")?;
    /// let plan = Plan::of(&topology, "traffic", &[Some(CpuId(3)), None], &Others::none());
    /// assert!(plan.summary.starts_with("placed by traffic: 1 worker on CPU 3 "));
    /// assert_eq!(plan.entries[1].cpu, None);
    /// # Ok::<(), raddle_topology::TopologyError>(())
    /// ```
    #[must_use]
    pub fn of(topology: &Topology, rule: &str, cpus: &[Option<CpuId>], others: &Others) -> Self {
        Self {
            summary: summary::placed_by(topology, rule, cpus, others),
            entries: entries(cpus, reason::reasons(topology, &Affinity::Auto, cpus, 0)),
        }
    }

    /// Returns true if two workers are bound to the same CPU.
    #[must_use]
    pub fn shares_a_cpu(&self) -> bool {
        let distinct: CpuSet = self.cpus().collect();
        distinct.len() < self.cpus().count()
    }
}

/// Plans where each of `worker_count` workers runs, as if no other process used the machine.
///
/// If there are more workers than CPUs, the order starts again, and the reasons name the workers
/// that share a CPU. With [`Affinity::Auto`] the surplus workers are not bound. The run time is O(n
/// log n) for n CPUs, and the reasons take O(w · d) set operations for w workers and a tree of
/// depth d.
///
/// # Errors
/// Returns [`PlanError::NoWorkers`] or [`PlanError::NoCpus`]. For an explicit list it may also
/// return [`PlanError::EmptyList`], [`PlanError::UnknownCpu`] or [`PlanError::NotAllowed`]; the
/// last two name the CPU and those that may be used.
///
/// # Examples
/// ```
/// use raddle_topology::{Affinity, CpuId, Topology, plan};
/// let topology = Topology::synthetic("package:2 core:2 pu:2")?;
/// let cpus = |affinity| plan(&topology, &affinity, 4).map(|plan| plan.cpus().collect::<Vec<_>>());
/// assert_eq!(cpus(Affinity::Compact)?, [0, 1, 2, 3].map(CpuId));
/// assert_eq!(cpus(Affinity::Scatter)?, [0, 4, 2, 6].map(CpuId));
/// assert_eq!(cpus(Affinity::Auto)?, [0, 2, 4, 6].map(CpuId));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan(
    topology: &Topology,
    affinity: &Affinity,
    worker_count: usize,
) -> Result<Plan, PlanError> {
    plan_beside(topology, affinity, worker_count, &Others::none())
}

/// Plans as [`plan()`] does, but beside other users that have claimed CPUs.
///
/// [`Affinity::Auto`] does not use their CPUs, and the summary names them.
///
/// # Errors
/// Those of [`plan()`].
///
/// # Examples
/// ```
/// use raddle_topology::{Affinity, CpuId, Others, Topology, plan_beside};
/// let topology = Topology::synthetic("package:1 core:4 pu:1")?;
/// let mut others = Others::none();
/// others.processes.insert(CpuId(1));
/// others.processes.insert(CpuId(3));
/// assert_eq!(
///     plan_beside(&topology, &Affinity::Auto, 2, &others)?.summary,
///     "placed by auto: 2 workers on CPUs 0,2 (one per core of package 0); \
///      CPUs 1,3 are used by another Raddle process"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn plan_beside(
    topology: &Topology,
    affinity: &Affinity,
    worker_count: usize,
    others: &Others,
) -> Result<Plan, PlanError> {
    if worker_count == 0 {
        return Err(PlanError::NoWorkers);
    }
    let order = match affinity {
        Affinity::None => Vec::new(),
        Affinity::Auto | Affinity::Compact => order::compact(topology),
        Affinity::Scatter => order::scatter(topology),
        Affinity::Explicit(list) => {
            check_list(topology, list)?;
            list.clone()
        }
    };
    if order.is_empty() && *affinity != Affinity::None {
        return Err(PlanError::NoCpus);
    }
    let mut cpus: Vec<Option<CpuId>> = match affinity {
        Affinity::Auto if is_shared_unseen(topology, others) => Vec::new(),
        Affinity::Auto => near::near(topology, others, worker_count)
            .into_iter()
            .map(Some)
            .collect(),
        _ => order
            .iter()
            .copied()
            .map(Some)
            .cycle()
            .skip(others.before % order.len().max(1))
            .take(worker_count)
            .collect(),
    };
    cpus.resize(worker_count, None);
    let mut plan = describe(topology, affinity, &cpus, others);
    if *affinity == Affinity::Auto && is_shared_unseen(topology, others) {
        plan.summary = summary::unseen(topology, worker_count);
    }
    Ok(plan)
}

/// Describes workers that were placed by `affinity`.
fn describe(
    topology: &Topology,
    affinity: &Affinity,
    cpus: &[Option<CpuId>],
    others: &Others,
) -> Plan {
    Plan {
        summary: summary::summary(topology, affinity, cpus, others),
        entries: entries(
            cpus,
            reason::reasons(topology, affinity, cpus, others.before),
        ),
    }
}

/// Combines CPUs and reasons into entries.
fn entries(cpus: &[Option<CpuId>], reasons: Vec<String>) -> Vec<PlanEntry> {
    let entries = cpus.iter().zip(reasons).enumerate();
    entries
        .map(|(worker_index, (&cpu, reason))| PlanEntry {
            worker_index,
            cpu,
            reason,
        })
        .collect()
}

/// Returns true if a quota shares the CPUs with processes that have no visible claims.
///
/// All of these processes would bind to the same CPUs.
fn is_shared_unseen(topology: &Topology, others: &Others) -> bool {
    !others.sees_all_processes && topology.worker_count_default() < topology.allowed_cpus().count()
}

/// Checks that this process may use all CPUs of an explicit list.
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

impl Plan {
    /// Returns the plan in which no worker is bound ([`Affinity::None`]), without a machine.
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::{Affinity, Plan, Topology, plan};
    /// let topology = Topology::synthetic("package:2 core:2 pu:2")?;
    /// assert_eq!(Plan::unbound(3), plan(&topology, &Affinity::None, 3)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn unbound(worker_count: usize) -> Self {
        let reason = reason::unbound(&Affinity::None).to_owned();
        Self {
            summary: summary::unbound_only("none", worker_count),
            entries: entries(&vec![None; worker_count], vec![reason; worker_count]),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpu_text = |entry: &PlanEntry| entry.cpu.map_or("-".to_owned(), |cpu| cpu.to_string());
        let width = self
            .entries
            .iter()
            .map(|entry| cpu_text(entry).len())
            .fold("cpu".len(), usize::max);
        writeln!(formatter, "{}\n", self.summary)?;
        writeln!(formatter, "worker | {:>width$} | why", "cpu")?;
        writeln!(formatter, "-------+-{:-<width$}-+----", "")?;
        for entry in &self.entries {
            let (worker, cpu) = (entry.worker_index, cpu_text(entry));
            writeln!(formatter, "{worker:>6} | {cpu:>width$} | {}", entry.reason)?;
        }
        Ok(())
    }
}
