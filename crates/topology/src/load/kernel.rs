//! Reads this machine without hwloc.
//!
//! hwloc cannot always be used to discover this machine:
//! - A system call filter may refuse `sched_getaffinity`. hwloc mistakes the refusal for a buffer
//!   that is too small, and tries larger and larger buffers forever.
//! - Environment variables such as `HWLOC_SYNTHETIC` or `HWLOC_XMLFILE` make hwloc read another
//!   machine, or treat this machine as another one. They are meant for tools such as `lstopo`. A
//!   runtime must not start workers for a machine that does not exist, and it cannot remove the
//!   variables without a race with other threads.
//!
//! In these cases, and without the feature `hwloc`, this module reads the machine from `/sys` (see
//! `sysfs`), and the CPUs that the process may use from `/proc`.

#[cfg(feature = "hwloc")]
use std::env;
use std::fs;
use std::path::Path;
use std::thread;

use super::sysfs;
use crate::affinity::parse_list;
use crate::cpu_set::{CpuId, CpuSet};
use crate::small_files::read_to_end;

/// The variables that make hwloc read another machine, or limits other than those of this process.
#[cfg(feature = "hwloc")]
const REDIRECTING: [&str; 8] = [
    "HWLOC_ALLOW",
    "HWLOC_COMPONENTS",
    "HWLOC_CPUID_PATH",
    "HWLOC_FSROOT",
    "HWLOC_SYNTHETIC",
    "HWLOC_THISSYSTEM",
    "HWLOC_THISSYSTEM_ALLOWED_RESOURCES",
    "HWLOC_XMLFILE",
];

/// Returns the reason why hwloc cannot discover this machine, as a sentence, or `None` if it can.
#[cfg(feature = "hwloc")]
pub(super) fn reason_against_hwloc() -> Option<String> {
    if let Err(refusal) = affinity_answers() {
        return Some(format!(
            "hwloc did not discover the machine, \
             because the system refuses sched_getaffinity: {refusal}"
        ));
    }
    let set: Vec<_> = REDIRECTING
        .into_iter()
        .filter(|name| env::var_os(name).is_some())
        .collect();
    (!set.is_empty()).then(|| {
        format!(
            "hwloc did not discover the machine, because {} would make it read another one",
            set.join(" and ")
        )
    })
}

/// Checks that the system returns the affinity mask of this thread.
#[cfg(all(feature = "hwloc", target_os = "linux"))]
fn affinity_answers() -> Result<(), String> {
    match rustix::thread::sched_getaffinity(None) {
        // INVAL means that the mask of a large machine does not fit, so the call is not refused.
        Ok(_) | Err(rustix::io::Errno::INVAL) => Ok(()),
        Err(refusal) => Err(refusal.to_string()),
    }
}

#[cfg(all(feature = "hwloc", not(target_os = "linux")))]
fn affinity_answers() -> Result<(), String> {
    Ok(())
}

/// Returns this machine as `/sys` shows it, or as a plain list of its CPUs.
pub(super) fn find() -> sysfs::Found {
    sysfs::find(Path::new("/")).unwrap_or_else(|| {
        let cpus = affinity(Path::new("/")).unwrap_or_else(|| {
            (0..thread::available_parallelism().map_or(1, |count| count.get() as u32))
                .map(CpuId)
                .collect()
        });
        sysfs::plain(&cpus)
    })
}

/// Returns the CPUs on which any thread of this process may run, according to `/proc`.
///
/// The result is the union over all threads, because a single bound thread must not restrict all
/// workers. `root` is the folder that contains `/proc`.
pub(super) fn affinity(root: &Path) -> Option<CpuSet> {
    let mut cpus = CpuSet::new();
    for thread in fs::read_dir(root.join("proc/self/task")).ok()? {
        // A thread that has ended in the meantime does not count.
        let Ok(status) = read_to_end(&thread.ok()?.path().join("status")) else {
            continue;
        };
        // The name of the thread need not be valid text.
        let status = String::from_utf8_lossy(&status);
        let list = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        cpus.extend_from(&parse_list(list)?);
    }
    (!cpus.is_empty()).then_some(cpus)
}
