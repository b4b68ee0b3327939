//! This machine without hwloc's own search for it.
//!
//! hwloc cannot always be asked what this machine looks like:
//! - A filter of system calls may refuse `sched_getaffinity`. hwloc takes a refusal for a buffer
//!   that is too small, and tries larger ones for ever.
//! - Variables of its environment, such as `HWLOC_SYNTHETIC` or `HWLOC_XMLFILE`, make it read
//!   another machine, or forget that it reads this one. They are meant for `lstopo` and its like. A
//!   runtime must not start workers for a machine that is not there, and cannot take variables away
//!   without a race with other threads.
//!
//! In these cases `/sys` is read here (`sysfs`), and what the process may use in `/proc`. hwloc
//! only puts together what was read, which needs no system call and which no variable changes.

use std::env;
use std::fs;
use std::path::Path;
use std::thread;

use super::sysfs;
use crate::affinity::parse_list;
use crate::cpu_set::{CpuId, CpuSet};

/// Variables that make hwloc read another machine, or other limits than those of this process.
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

/// Tells why hwloc cannot be asked about this machine, in a sentence; `None` where it can.
pub(super) fn reason_against_hwloc() -> Option<String> {
    if let Err(refusal) = affinity_answers() {
        return Some(format!(
            "hwloc was not asked for the machine, because the system refuses sched_getaffinity: {refusal}"
        ));
    }
    let set: Vec<_> = REDIRECTING
        .into_iter()
        .filter(|name| env::var_os(name).is_some())
        .collect();
    (!set.is_empty()).then(|| {
        format!(
            "hwloc was not asked for the machine, because {} would make it read another one",
            set.join(" and ")
        )
    })
}

/// Asks the system for the affinity mask of this thread, to see whether it answers.
#[cfg(target_os = "linux")]
fn affinity_answers() -> Result<(), String> {
    match rustix::thread::sched_getaffinity(None) {
        // The mask of a large machine does not fit, which is an answer.
        Ok(_) | Err(rustix::io::Errno::INVAL) => Ok(()),
        Err(refusal) => Err(refusal.to_string()),
    }
}

#[cfg(not(target_os = "linux"))]
fn affinity_answers() -> Result<(), String> {
    Ok(())
}

/// Describes this machine in the XML format of hwloc 1: as `/sys` has it, or else as so many CPUs
/// without any order.
pub(super) fn describe() -> Vec<String> {
    let cpus = affinity(Path::new("/")).unwrap_or_else(|| {
        (0..thread::available_parallelism().map_or(1, |count| count.get() as u32))
            .map(CpuId)
            .collect()
    });
    let plain = sysfs::plain(&cpus);
    sysfs::describe(Path::new("/"))
        .into_iter()
        .chain([plain])
        .collect()
}

/// Returns the CPUs that any thread of this process may run on, as `/proc` has them.
///
/// The union over all threads: one that is bound must not narrow all workers. `root` is where
/// `/proc` is looked for.
pub(super) fn affinity(root: &Path) -> Option<CpuSet> {
    let mut cpus = CpuSet::new();
    for thread in fs::read_dir(root.join("proc/self/task")).ok()? {
        // A thread that has ended meanwhile runs nowhere.
        let Ok(status) = fs::read_to_string(thread.ok()?.path().join("status")) else {
            continue;
        };
        let list = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        cpus.extend_from(&parse_list(list)?);
    }
    (!cpus.is_empty()).then_some(cpus)
}
