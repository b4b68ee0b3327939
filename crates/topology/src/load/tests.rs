//! The number of workers, from the limits of synthetic systems.

use super::*;
use crate::fake_root::FakeRoot;

/// Returns the number of workers for a system with these CPUs online, this affinity mask, and this
/// quota.
fn count(online: &str, allowed: &str, quota: &str) -> Option<usize> {
    let status = format!("Name:\tx\nCpus_allowed_list:\t{allowed}\n");
    let root = FakeRoot::new(&[
        ("sys/devices/system/cpu/online", online),
        ("proc/self/task/1/status", &status),
        ("proc/self/cgroup", "0::/\n"),
        (
            "proc/self/mountinfo",
            "31 24 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        ),
        ("sys/fs/cgroup/cpu.max", quota),
    ]);
    count_usable(&root.0)
}

#[test]
fn every_cpu_that_is_online_and_allowed_counts() {
    let no_quota = "max 100000\n";
    assert_eq!(count("0-3\n", "0-3", no_quota), Some(4));
    // A mask usually contains CPUs that do not exist.
    assert_eq!(count("0-3\n", "0-127", no_quota), Some(4));
    // CPU 1 is offline, and CPU 5 is not allowed.
    assert_eq!(count("0,2-5\n", "0-4", no_quota), Some(4));
}

#[test]
fn quota_limits_the_number_of_workers() {
    assert_eq!(count("0-7\n", "0-7", "150000 100000\n"), Some(2));
    assert_eq!(count("0-7\n", "0-7", "10000 100000\n"), Some(1));
    assert_eq!(count("0-1\n", "0-7", "800000 100000\n"), Some(2));
}

#[test]
fn system_that_shows_nothing_has_no_count() {
    let root = FakeRoot::new(&[("proc/version", "")]);
    assert_eq!(count_usable(&root.0), None);
}

#[test]
fn this_machine_has_the_count_of_its_topology() {
    let topology = Topology::this_machine().expect("this machine can be read");
    assert_eq!(
        count_usable(Path::new("/")),
        Some(topology.worker_count_default())
    );
}
