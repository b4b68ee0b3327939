//! The machine as hwloc sees it: CPUs, caches, NUMA nodes, binding.
//!
//! [`Topology`] is a plain value: what hwloc found (of this machine, of a synthetic description, of an
//! XML file) is copied once, and nothing of hwloc shows. On it stand what the process may use
//! ([`Limits`]), how far two CPUs are apart ([`CpuDistance`]), where workers should run ([`plan()`]) and
//! how it is drawn ([`mod@format`]).
//!
//! | module | what it does |
//! |---|---|
//! | `cpu_set` | [`CpuId`], [`CpuSet`] |
//! | `object` | the tree of [`Object`]s |
//! | `topology` | [`Topology`]: the tree and the tables made from it |
//! | `load` | from hwloc into a topology; checks of input before hwloc sees it |
//! | `cgroup` | the CPU quota and the memory limit of the control groups |
//! | `gzip` | unpacks gzip |
//! | `bind` | binds the calling thread and reads where it runs |
//! | `affinity`, `plan` | which worker should run where, and why |
//! | `claims` | which CPUs other processes have bound workers to |
//! | `matrix` | [`Matrix`]: the bytes that parties exchange, and its readers |
//! | `place` | which party should run where: [`place()`], by how much the parties talk to each other |
//! | `relocate` | whether parties that run should run elsewhere: what it would gain, and what moving costs |
//! | `format` | text, SVG and JSON |
//!
//! **Invariant:** no type of hwloc or of its binding stands in the public interface.
//!
//! # Examples
//! ```
//! use raddle_topology::{Affinity, Topology, plan};
//!
//! let topology = Topology::synthetic("numa:2 core:4 pu:2")?;
//! assert_eq!(topology.cpus().len(), 16);
//! let plan = plan(&topology, &Affinity::Scatter, 2)?;
//! let nodes: Vec<_> = plan.cpus().map(|cpu| topology.cpu(cpu).and_then(|cpu| cpu.numa_node)).collect();
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
pub mod format;
mod gzip;
mod load;
mod matrix;
mod object;
mod path_text;
mod place;
mod plan;
mod relocate;
mod topology;

pub use affinity::Affinity;
pub use cgroup::{CpuQuota, MemoryLimit, QuotaError, cpu_quota, memory_limit};
pub use claims::{Claim, ClaimError, Claims, Others};
pub use cpu_set::{CPU_NUMBER_LIMIT, CpuId, CpuSet};
pub use error::{BindError, MatrixError, ParseAffinityError, PlaceError, PlanError, TopologyError};
pub use matrix::{MATRIX_BYTES_MAX, Matrix};
pub use object::{Attributes, CacheKind, Object, ObjectKind};
pub use place::{
    Control, Distances, EXACT_PARTIES_MAX, PlaceOptions, Placement, Strategy, cost, place,
};
pub use plan::{Plan, PlanEntry, plan, plan_beside};
pub use relocate::{Decision, HOP_BYTE_NS, Relocation, alike, relocate, relocation_price};
pub use topology::{
    Cache, Cpu, CpuDistance, CpuKind, LatencyMatrix, Limits, NumaNode, Source, Topology,
};
