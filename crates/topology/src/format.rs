//! Output of topologies as text, SVG pictures and JSON.

mod layout;
mod placement;
mod size;
mod svg;
#[cfg(test)]
mod tests;
mod text;

pub use self::placement::placement_svg;
pub use self::svg::svg;
pub use self::text::text;
use crate::topology::{Source, Topology};

/// Returns a topology as indented JSON, with a line break at the end.
///
/// ```text
/// { "source": "this_machine" | {"synthetic": TEXT} | {"xml": PATH},
///   "hwloc_version": TEXT | null, "is_this_machine": BOOL,
///   "counts": {"cpus": N, "allowed_cpus": N, "cores": N, "packages": N, "numa_nodes": N},
///   "worker_count_default": N,
///   "limits": {"cpuset": LIST, "affinity": LIST | null, "quota": {…} | null, "notes": [TEXT]},
///   "cpus": [Cpu], "cpu_kinds": [CpuKind], "caches": [Cache], "numa_nodes": [NumaNode],
///   "numa_latencies": {"name": TEXT, "nodes": [N], "values": [N, row-major]} | null,
///   "tree": Object }
/// ```
/// The capitalised names are types of this crate, field by field. A LIST of CPUs is a text such as
/// `0-3,8`. Sizes are in bytes and times in microseconds, and unknown values are `null`.
///
/// # Examples
/// ```
/// use raddle_topology::{Topology, format};
/// let topology = Topology::synthetic("core:2 pu:1")?;
/// assert!(format::json(&topology).contains("\"cpus\": 2,"));
/// # Ok::<(), raddle_topology::TopologyError>(())
/// ```
#[cfg(feature = "hwloc")]
#[must_use]
pub fn json(topology: &Topology) -> String {
    // Every key is a text, and no value can fail to serialise, so there is no error to return.
    let mut json = serde_json::to_string_pretty(topology).unwrap_or_default();
    json.push('\n');
    json
}

/// Returns the lines about the source of a topology and the CPUs that the process may use.
fn facts(topology: &Topology) -> Vec<(&'static str, String)> {
    let limits = topology.limits();
    let allowed = topology.allowed_set();
    let mut facts = vec![
        (
            "source",
            match topology.hwloc_version() {
                Some(version) => format!("{} (hwloc API {version})", topology.source()),
                None => format!("{} (without hwloc)", topology.source()),
            },
        ),
        (
            "allowed",
            format!(
                "{} of {} CPUs ({})",
                allowed.len(),
                topology.cpu_count(),
                if allowed.is_empty() {
                    "none".to_owned()
                } else {
                    allowed.to_string()
                }
            ),
        ),
    ];
    let narrowed = |set: &crate::cpu_set::CpuSet| set.len() < topology.cpu_count();
    if narrowed(&limits.cpuset) {
        facts.push(("cpuset", limits.cpuset.to_string()));
    }
    if let Some(affinity) = limits.affinity.as_ref().filter(|set| narrowed(set)) {
        facts.push(("affinity", affinity.to_string()));
    }
    if *topology.source() == Source::ThisMachine {
        let quota = limits.quota.as_ref();
        facts.push((
            "quota",
            quota.map_or("none".to_owned(), ToString::to_string),
        ));
    }
    facts.push((
        "workers",
        format!("{} by default", topology.worker_count_default()),
    ));
    facts.extend(limits.notes.iter().map(|note| ("note", note.clone())));
    facts
}
