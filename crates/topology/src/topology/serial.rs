//! A topology as JSON.
//!
//! ```text
//! { "source": "this_machine" | {"synthetic": TEXT} | {"xml": PATH},
//!   "hwloc_version": TEXT | null, "is_this_machine": BOOL,
//!   "counts": {"cpus": N, "allowed_cpus": N, "cores": N, "packages": N, "numa_nodes": N},
//!   "worker_count_default": N,
//!   "limits": {"cpuset": LIST, "affinity": LIST | null, "quota": {…} | null, "notes": [TEXT]},
//!   "cpus": [Cpu], "cpu_kinds": [CpuKind], "caches": [Cache], "numa_nodes": [NumaNode],
//!   "numa_latencies": {"name", "nodes": [N], "values": [N, row-major]} | null,
//!   "tree": Object }
//! ```
//! A capitalised name means the type of that name, field by field. A LIST of CPUs is a text such as
//! `0-3,8`. Sizes are in bytes, times in microseconds, and unknown values are `null`.

use serde::{Serialize, Serializer};

use super::{Cache, Cpu, CpuKind, LatencyMatrix, Limits, NumaNode, Source, Topology};
use crate::object::Object;

/// The JSON document.
#[derive(Serialize)]
struct View<'topology> {
    source: &'topology Source,
    hwloc_version: Option<&'topology str>,
    is_this_machine: bool,
    counts: Counts,
    worker_count_default: usize,
    limits: &'topology Limits,
    cpus: &'topology [Cpu],
    cpu_kinds: &'topology [CpuKind],
    caches: &'topology [Cache],
    numa_nodes: &'topology [NumaNode],
    numa_latencies: Option<&'topology LatencyMatrix>,
    tree: &'topology Object,
}

#[derive(Serialize)]
struct Counts {
    cpus: usize,
    allowed_cpus: usize,
    cores: usize,
    packages: usize,
    numa_nodes: usize,
}

impl Serialize for Topology {
    /// Writes counts, limits, tables and the tree. [`format::json`](crate::format::json) documents
    /// the shape.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        View {
            source: self.source(),
            hwloc_version: self.hwloc_version(),
            is_this_machine: self.is_this_machine(),
            counts: Counts {
                cpus: self.cpu_count(),
                allowed_cpus: self.allowed_cpus().count(),
                cores: self.core_count(),
                packages: self.package_count(),
                numa_nodes: self.numa_nodes().len(),
            },
            worker_count_default: self.worker_count_default(),
            limits: self.limits(),
            cpus: self.cpus(),
            cpu_kinds: self.cpu_kinds(),
            caches: self.caches(),
            numa_nodes: self.numa_nodes(),
            numa_latencies: self.numa_latencies(),
            tree: self.root(),
        }
        .serialize(serializer)
    }
}
