//! Quotas and limits from synthetic file trees, in the form that hosts and containers show.

use super::*;
use crate::fake_root::FakeRoot;

/// Returns the remaining bytes, and the file that contains the limit.
fn memory_left(root: &FakeRoot) -> Option<(u64, String)> {
    let limit = memory_limit(&root.0).expect("nothing is wrong")?;
    Some((limit.left_bytes(), limit.file.display().to_string()))
}

fn quota_below(root: &FakeRoot) -> Result<Option<CpuQuota>, QuotaError> {
    cpu_quota(&root.0)
}

const V2_MOUNT: &str = "24 1 0:22 / /proc rw - proc proc rw\n\
     31 24 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

fn quota_of(quota_us: u64, period_us: u64, file: &str) -> Option<CpuQuota> {
    Some(CpuQuota {
        quota_us,
        period_us,
        file: PathBuf::from(file),
    })
}

#[test]
fn no_control_groups_set_no_limit() {
    let tree = FakeRoot::new(&[("proc/self/status", "")]);
    assert_eq!(quota_below(&tree).expect("nothing is wrong"), None);
}

#[test]
fn version_two_uses_the_tightest_limit_of_nested_groups() {
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "0::/user.slice/job/step\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/user.slice/cpu.max", "350000 100000\n"),
        ("sys/fs/cgroup/user.slice/job/cpu.max", "75000 50000\n"),
        ("sys/fs/cgroup/user.slice/job/step/cpu.max", "max 100000\n"),
    ]);
    let quota = quota_below(&tree).expect("nothing is wrong");
    assert_eq!(
        quota,
        quota_of(75_000, 50_000, "/sys/fs/cgroup/user.slice/job/cpu.max")
    );
    let quota = quota.expect("just compared");
    assert!((quota.cpus() - 1.5).abs() < 1e-12);
    assert_eq!(quota.worker_count_max(), 2);
    assert_eq!(
        quota.to_string(),
        "1.50 CPUs (75000 of every 50000 µs, /sys/fs/cgroup/user.slice/job/cpu.max)"
    );
}

#[test]
fn a_sibling_group_does_not_count() {
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "0::/a\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/b/cpu.max", "10000 100000\n"),
    ]);
    assert_eq!(quota_below(&tree).expect("nothing is wrong"), None);
}

#[test]
fn a_container_sees_its_group_as_the_mount_point() {
    // /proc/self/cgroup has the path on the host. The mount shows only the container's part of it.
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "0::/docker/abc/inner\n"),
        (
            "proc/self/mountinfo",
            "31 24 0:28 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
        ),
        ("sys/fs/cgroup/cpu.max", "200000 100000\n"),
        ("sys/fs/cgroup/inner/cpu.max", "50000 100000\n"),
    ]);
    let quota = quota_below(&tree).expect("nothing is wrong");
    assert_eq!(
        quota,
        quota_of(50_000, 100_000, "/sys/fs/cgroup/inner/cpu.max")
    );
}

#[test]
fn a_group_outside_the_mount_falls_back_to_the_mount_point() {
    for path in ["/../../elsewhere", "/other"] {
        let tree = FakeRoot::new(&[
            ("proc/self/cgroup", &format!("0::{path}\n")),
            (
                "proc/self/mountinfo",
                "31 24 0:28 /docker /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
            ),
            ("sys/fs/cgroup/cpu.max", "120000 100000\n"),
        ]);
        let quota = quota_below(&tree).expect("nothing is wrong");
        assert_eq!(
            quota,
            quota_of(120_000, 100_000, "/sys/fs/cgroup/cpu.max"),
            "{path}"
        );
    }
}

#[test]
fn version_one_reads_quota_and_period() {
    let mount = "40 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                 41 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
    let tree = FakeRoot::new(&[
        (
            "proc/self/cgroup",
            "5:memory:/m\n4:cpu,cpuacct:/box\n0::/\n",
        ),
        ("proc/self/mountinfo", mount),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "250000\n"),
        (
            "sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us",
            "100000\n",
        ),
    ]);
    let quota = quota_below(&tree).expect("nothing is wrong");
    let file = "/sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us";
    assert_eq!(quota, quota_of(250_000, 100_000, file));
    assert_eq!(quota.expect("just compared").worker_count_max(), 3);
}

#[test]
fn quotas_of_both_versions_apply_together() {
    let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                  41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "1:cpu:/\n0::/deep\n"),
        ("proc/self/mountinfo", mounts),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/unified/deep/cpu.max", "300000 100000\n"),
    ]);
    let quota = quota_below(&tree).expect("nothing is wrong");
    assert_eq!(
        quota,
        quota_of(300_000, 100_000, "/sys/fs/cgroup/unified/deep/cpu.max")
    );
}

#[test]
fn blanks_in_mount_points_are_unescaped() {
    assert_eq!(unescape(r"/a\040b\134c"), r"/a b\c");
    assert_eq!(unescape(r"\04"), r"\04");
    assert_eq!(unescape(r"\9zz\"), r"\9zz\");
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "0::/\n"),
        (
            "proc/self/mountinfo",
            "31 24 0:28 / /my\\040groups rw - cgroup2 none rw\n",
        ),
        ("my groups/cpu.max", "100000 100000\n"),
    ]);
    let quota = quota_below(&tree).expect("nothing is wrong");
    assert_eq!(quota, quota_of(100_000, 100_000, "/my groups/cpu.max"));
}

#[test]
fn a_missing_period_means_100_ms() {
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/cpu.max", "5000"),
    ]);
    let quota = quota_below(&tree).expect("nothing is wrong");
    assert_eq!(quota, quota_of(5_000, 100_000, "/sys/fs/cgroup/cpu.max"));
    assert_eq!(quota.expect("just compared").worker_count_max(), 1);
}

#[test]
fn an_invalid_file_is_reported_with_its_content() {
    for wrong in ["", "many 100000", "1 0", "-5 100000", "1 2 3", "max soon"] {
        let tree = FakeRoot::new(&[
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", V2_MOUNT),
            ("sys/fs/cgroup/cpu.max", wrong),
        ]);
        let error = quota_below(&tree).expect_err(wrong);
        assert_eq!(
            error.to_string(),
            format!(
                "/sys/fs/cgroup/cpu.max: found {wrong:?}, expected \"max\" or a number of \
                 microseconds, then a period in microseconds"
            )
        );
    }
    let v1 = "32 31 0:29 / /cg rw - cgroup cgroup rw,cpu\n";
    for (quota, period, named) in [("x", "1", "cfs_quota_us"), ("1", "0", "cfs_period_us")] {
        let tree = FakeRoot::new(&[
            ("proc/self/cgroup", "1:cpu:/\n"),
            ("proc/self/mountinfo", v1),
            ("cg/cpu.cfs_quota_us", quota),
            ("cg/cpu.cfs_period_us", period),
        ]);
        let error = quota_below(&tree).expect_err("a wrong number").to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn a_folder_in_place_of_the_file_is_an_error() {
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/cpu.max/inside", ""),
    ]);
    let error = quota_below(&tree).expect_err("a folder").to_string();
    assert!(error.contains("cpu.max: "), "{error}");
}

#[test]
fn malformed_lines_are_ignored() {
    assert_eq!(Group::parse("nonsense", "cpu"), None);
    assert_eq!(Group::parse("3:cpuset:/x", "cpu"), None);
    assert_eq!(Mount::parse("no separator here", Version::Two, "cpu"), None);
    assert_eq!(Mount::parse("1 2 3 / - cgroup2", Version::Two, "cpu"), None);
}

#[test]
fn the_quota_of_this_process_can_be_read() {
    let quota = cpu_quota(Path::new("/")).expect("the kernel follows its documentation");
    assert!(quota.is_none_or(|quota| quota.period_us > 0));
}

const V1_MEMORY: &str = "40 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
     41 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
     42 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

const NONE_V1: &str = "9223372036854771712\n";

/// Reproduces a bug: version 1 was ignored, and so were all folders of version 2 except the mount
/// point.
#[test]
fn memory_limit_of_version_one_is_the_tightest_of_nested_groups() {
    let mut files = vec![
        (
            "proc/self/cgroup",
            "5:memory:/slice/box/inner\n4:cpu:/\n0::/\n",
        ),
        ("proc/self/mountinfo", V1_MEMORY),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", NONE_V1),
        ("sys/fs/cgroup/memory/memory.usage_in_bytes", "7000000000\n"),
        (
            "sys/fs/cgroup/memory/slice/memory.limit_in_bytes",
            "4000000\n",
        ),
        (
            "sys/fs/cgroup/memory/slice/memory.usage_in_bytes",
            "1000000\n",
        ),
        (
            "sys/fs/cgroup/memory/slice/box/memory.limit_in_bytes",
            "6000000\n",
        ),
        (
            "sys/fs/cgroup/memory/slice/box/memory.usage_in_bytes",
            "900000\n",
        ),
        (
            "sys/fs/cgroup/memory/slice/box/inner/memory.limit_in_bytes",
            NONE_V1,
        ),
        (
            "sys/fs/cgroup/memory/slice/box/inner/memory.usage_in_bytes",
            "800000\n",
        ),
    ];
    let slice = "/sys/fs/cgroup/memory/slice/memory.limit_in_bytes".to_owned();
    assert_eq!(
        memory_left(&FakeRoot::new(&files)),
        Some((3_000_000, slice.clone()))
    );
    // File pages that the kernel reclaims first do not count as used.
    let stat = "cache 9\ninactive_file 1\ntotal_inactive_file 250000\n";
    files.push(("sys/fs/cgroup/memory/slice/memory.stat", stat));
    assert_eq!(
        memory_left(&FakeRoot::new(&files)),
        Some((3_250_000, slice))
    );
}

#[test]
fn memory_limit_of_version_two_is_the_tightest_of_nested_groups() {
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "0::/user.slice/job/step\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/user.slice/memory.max", "max\n"),
        ("sys/fs/cgroup/user.slice/memory.current", "5\n"),
        ("sys/fs/cgroup/user.slice/job/memory.max", "1000\n"),
        ("sys/fs/cgroup/user.slice/job/memory.current", "600\n"),
        (
            "sys/fs/cgroup/user.slice/job/memory.stat",
            "anon 5\ninactive_file 100\n",
        ),
        ("sys/fs/cgroup/user.slice/job/step/memory.max", "2000\n"),
        ("sys/fs/cgroup/user.slice/job/step/memory.current", "600\n"),
    ]);
    let file = "/sys/fs/cgroup/user.slice/job/memory.max".to_owned();
    assert_eq!(memory_left(&tree), Some((500, file)));
}

#[test]
fn memory_limits_of_both_versions_apply_together() {
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "5:memory:/box\n0::/deep\n"),
        ("proc/self/mountinfo", V1_MEMORY),
        ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9000\n"),
        ("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "1000\n"),
        ("sys/fs/cgroup/unified/deep/memory.max", "3000\n"),
        ("sys/fs/cgroup/unified/deep/memory.current", "4000\n"),
    ]);
    let file = "/sys/fs/cgroup/unified/deep/memory.max".to_owned();
    assert_eq!(memory_left(&tree), Some((0, file)));
}

#[test]
fn a_mount_that_contains_the_group_is_preferred() {
    // The folder of another container is mounted too, on a later line.
    let mounts = "41 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                  50 31 0:30 /other /elsewhere rw - cgroup cgroup rw,memory\n";
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "5:memory:/box\n"),
        ("proc/self/mountinfo", mounts),
        ("elsewhere/memory.limit_in_bytes", "10\n"),
        ("elsewhere/memory.usage_in_bytes", "0\n"),
        ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9000\n"),
        ("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "1000\n"),
    ]);
    let file = "/sys/fs/cgroup/memory/box/memory.limit_in_bytes".to_owned();
    assert_eq!(memory_left(&tree), Some((8000, file)));
}

#[test]
fn an_invalid_memory_limit_is_reported_with_its_content() {
    let tree = FakeRoot::new(&[
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/memory.max", "much\n"),
        ("sys/fs/cgroup/memory.current", "1\n"),
    ]);
    let error = memory_limit(&tree.0).expect_err("no number").to_string();
    let expected =
        "/sys/fs/cgroup/memory.max: found \"much\", expected \"max\" or a number of bytes";
    assert_eq!(error, expected);
    assert!(
        memory_limit(Path::new("/")).is_ok(),
        "the kernel follows its documentation"
    );
}
