//! Loads a topology, and copies it into plain values.
//!
//! This machine is read by hwloc, or from `/sys` (`kernel`): if hwloc cannot be used to discover
//! it, or if this crate is built without the feature `hwloc`. Synthetic descriptions and XML files
//! need hwloc.
//!
//! | module | contents |
//! |---|---|
//! | `hwloc` | loads a topology through hwloc, after checks of its input |
//! | `convert` | copies hwloc's objects into plain values |
//! | `synthetic` | checks of synthetic descriptions |
//! | `xml` | checks of XML files |
//! | `kernel` | this machine without hwloc |
//! | `sysfs` | CPUs, caches and memories as `/sys` shows them |
//! | `levels` | numbers the objects of such a tree as hwloc does |
//!
//! # Invariants
//! 1. hwloc refuses nothing that has passed these checks. A refusal would have no reason, would
//!    write to the standard error stream, and would lose memory.
//! 2. hwloc discovers this machine only after the kernel has answered `sched_getaffinity`, and only
//!    if no environment variable makes hwloc read another machine ([`kernel`]).

#[cfg(feature = "hwloc")]
mod convert;
#[cfg(feature = "hwloc")]
mod hwloc;
mod kernel;
mod levels;
#[cfg(feature = "hwloc")]
mod synthetic;
mod sysfs;
#[cfg(test)]
mod tests;
#[cfg(feature = "hwloc")]
mod xml;

use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

#[cfg(feature = "hwloc")]
pub(crate) use self::convert::cpus_in;
use crate::cgroup::cpu_quota;
use crate::error::TopologyError;
use crate::topology::{Binder, Limits, Parts, Source, Topology};

static LOADED: OnceLock<Topology> = OnceLock::new();

impl Topology {
    /// Returns the topology of this machine. The first call loads it, and later calls return the
    /// same value.
    ///
    /// The first call also determines which CPUs the process may use, so it should be made before
    /// threads are bound. Environment variables of hwloc, such as `HWLOC_SYNTHETIC`, cannot replace
    /// this machine by another one; [`Limits::notes`] reports such variables. Takes some
    /// milliseconds the first time, and an atomic load afterwards.
    ///
    /// # Errors
    /// [`TopologyError::ThisMachine`] if hwloc fails. The next call tries again.
    pub fn this_machine() -> Result<&'static Self, TopologyError> {
        static LOADING: Mutex<()> = Mutex::new(());
        if let Some(topology) = LOADED.get() {
            return Ok(topology);
        }
        let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(topology) = LOADED.get() {
            return Ok(topology);
        }
        let topology = load_this_machine()?;
        Ok(LOADED.get_or_init(|| topology))
    }

    /// Returns the [`worker_count_default`](Self::worker_count_default) of this machine.
    ///
    /// The first call reads only the limits of this process, if the machine has not been loaded.
    /// Takes a tenth of a millisecond then, and an atomic load afterwards.
    ///
    /// # Errors
    /// Those of [`this_machine`](Self::this_machine), if the limits cannot be read without it.
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::Topology;
    /// let count = Topology::worker_count_here()?;
    /// assert_eq!(count, Topology::this_machine()?.worker_count_default());
    /// # Ok::<(), raddle_topology::TopologyError>(())
    /// ```
    pub fn worker_count_here() -> Result<usize, TopologyError> {
        static COUNT: OnceLock<Option<usize>> = OnceLock::new();
        let read = || match LOADED.get() {
            Some(topology) => Some(topology.worker_count_default()),
            None => count_usable(Path::new("/")),
        };
        match COUNT.get_or_init(read) {
            Some(count) => Ok(*count),
            None => Ok(Self::this_machine()?.worker_count_default()),
        }
    }
}

/// Returns the number of CPUs that this process may use, limited by its quota. `root` is the folder
/// that contains `/proc` and `/sys`.
fn count_usable(root: &Path) -> Option<usize> {
    let allowed = kernel::affinity(root)?.intersection(&sysfs::online(root)?);
    let quota = cpu_quota(root).ok().flatten();
    let quota = quota.map_or(usize::MAX, |quota| quota.worker_count_max());
    Some(allowed.len().min(quota).max(1))
}

/// Loads this machine through hwloc if possible, and from `/sys` otherwise.
#[cfg(feature = "hwloc")]
fn load_this_machine() -> Result<Topology, TopologyError> {
    match kernel::reason_against_hwloc() {
        None => hwloc::this_machine(),
        reason => Ok(without_hwloc(reason)),
    }
}

/// Loads this machine from `/sys`.
#[cfg(not(feature = "hwloc"))]
fn load_this_machine() -> Result<Topology, TopologyError> {
    Ok(without_hwloc(None))
}

/// Loads this machine from `/sys`. The `reason` becomes one of the notes.
fn without_hwloc(reason: Option<String>) -> Topology {
    let found = kernel::find();
    let mut limits = Limits {
        cpuset: found.root.cpus.clone(),
        affinity: kernel::affinity(Path::new("/")),
        ..Limits::default()
    };
    limits.notes.extend(reason);
    add_quota(&mut limits);
    Topology::assemble(Parts {
        source: Source::ThisMachine,
        hwloc_version: None,
        root: found.root,
        cpu_kinds: Vec::new(),
        numa_latencies: found.numa_latencies,
        limits,
        binder: Some(Binder::Kernel),
    })
}

/// Adds the CPU quota to the limits, or a note if the quota cannot be read.
fn add_quota(limits: &mut Limits) {
    match cpu_quota(Path::new("/")) {
        Ok(quota) => limits.quota = quota,
        Err(error) => limits
            .notes
            .push(format!("the CPU quota could not be read: {error}")),
    }
}
