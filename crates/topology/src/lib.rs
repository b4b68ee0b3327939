//! The machine as hwloc or the kernel shows it: CPUs, caches, NUMA nodes, binding.
//!
//! A [`Topology`] is a plain value. It is copied once from what hwloc found (on this machine, in a
//! synthetic description or in an XML file) or from `/sys`, and does not change afterwards. The
//! other parts of the crate build on it: what the process may use ([`Limits`]), how far apart two
//! CPUs are ([`CpuDistance`]), where workers should run ([`plan()`]), and how to draw the machine
//! ([`mod@format`]).
//!
//! | module | contents |
//! |---|---|
//! | `cpu_set` | [`CpuId`], [`CpuSet`] |
//! | `object` | the tree of [`Object`]s |
//! | `topology` | [`Topology`]: the tree, and the tables derived from it |
//! | `load` | loads a topology, through hwloc or from `/sys` |
//! | `cgroup` | the CPU quota and the memory limit of the control groups |
//! | `gzip` | decompresses gzip |
//! | `bind` | binds the calling thread to a CPU, and reads the CPU that it runs on |
//! | `affinity`, `plan` | the CPU that each worker should run on, and the reason |
//! | `claims` | the CPUs to which other processes have bound workers |
//! | `matrix` | [`Matrix`]: the bytes that parties exchange, and readers of its file formats |
//! | `place` | [`place()`]: assigns a CPU to each party, so that heavy communicators are near |
//! | `relocate` | decides whether running parties should move: the gain, and the price of moving |
//! | `small_files` | reads files of `/proc` and `/sys` |
//! | `format` | text, SVG and JSON |
//!
//! **Invariant:** no type of hwloc or of its Rust binding appears in the public interface.
//!
//! # Examples
//! ```
//! use raddle_topology::{Affinity, Topology, plan};
//!
//! let topology = Topology::synthetic("numa:2 core:4 pu:2")?;
//! assert_eq!(topology.cpus().len(), 16);
//! let plan = plan(&topology, &Affinity::Scatter, 2)?;
//! let node_of = |cpu| topology.cpu(cpu).and_then(|cpu| cpu.numa_node);
//! let nodes: Vec<_> = plan.cpus().map(node_of).collect();
//! assert_eq!(nodes, [Some(0), Some(1)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod affinity;
mod bind;
mod cgroup;
mod claims;
mod cpu_set;
mod error;
#[cfg(test)]
mod fake_root;
pub mod format;
mod gzip;
mod load;
mod matrix;
mod object;
mod path_text;
mod place;
mod plan;
mod relocate;
mod sharing;
mod small_files;
mod topology;

pub use affinity::Affinity;
pub use cgroup::{CpuQuota, MemoryLimit, QuotaError, cpu_quota, memory_limit};
pub use claims::{Claim, ClaimError, Claims, Others};
pub use cpu_set::{CPU_NUMBER_LIMIT, CpuId, CpuSet};
pub use error::{BindError, MatrixError, ParseAffinityError, PlaceError, PlanError, TopologyError};
pub use matrix::{MATRIX_BYTES_MAX, Matrix, MatrixFormat};
pub use object::{Attributes, CacheKind, Object, ObjectKind};
pub use place::{
    Control, Distances, EXACT_PARTIES_MAX, PlaceOptions, Placement, Strategy, cost, place,
};
pub use plan::{Plan, PlanEntry, plan, plan_beside};
pub use relocate::{Decision, HOP_BYTE_NS, Relocation, alike, relocate, relocation_price};
pub use sharing::Sharing;
pub use topology::{
    Cache, Cpu, CpuDistance, CpuKind, LatencyMatrix, Limits, NumaNode, Source, Topology,
};
