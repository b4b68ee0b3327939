//! Machines read from synthetic file trees.

use std::path::PathBuf;

use super::*;
use crate::topology::Topology;

/// A synthetic `/sys`, removed at the end.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("raddle-sysfs-{}-{name}", std::process::id()));
        for (path, content) in files {
            let path = root.join("sys/devices/system").join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder"))
                .expect("a new folder");
            fs::write(path, format!("{content}\n")).expect("a new file");
        }
        Self(root)
    }

    fn topology(&self) -> Topology {
        let text = describe(&self.0).expect("it shows a machine");
        Topology::read_xml(text.as_bytes(), "sysfs")
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // A leftover folder among the temporary files of the system does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn packages_caches_cores_and_memories_are_read() {
    let mut files = vec![
        ("cpu/online".to_owned(), "0-3,5"),
        ("node/online".to_owned(), "0-2"),
        ("node/node0/cpulist".to_owned(), "0-3"),
        (
            "node/node0/meminfo".to_owned(),
            "Node 0 MemTotal:       2048 kB\nNode 0 MemFree: 1 kB",
        ),
        ("node/node0/distance".to_owned(), "10 30 20"),
        // The second node is memory without CPUs.
        ("node/node1/cpulist".to_owned(), ""),
        ("node/node1/distance".to_owned(), "30 10 40"),
        ("node/node2/cpumap".to_owned(), "00000000,00000030"),
        ("node/node2/distance".to_owned(), "20 40 10"),
    ];
    for cpu in [0, 1, 2, 3, 5] {
        let mut file = |name: &str, content: &'static str| {
            files.push((format!("cpu/cpu{cpu}/{name}"), content))
        };
        let is_first = cpu < 4;
        file(
            "topology/physical_package_id",
            if is_first { "0" } else { "1" },
        );
        // The second package has only masks, which include an offline CPU.
        if is_first {
            file("topology/core_siblings_list", "0-3");
            file(
                "topology/core_cpus_list",
                if cpu < 2 { "0-1" } else { "2-3" },
            );
        } else {
            file("topology/core_siblings", "00000030");
            file("topology/thread_siblings", "30");
        }
        file("cache/index0/level", "1");
        file("cache/index0/type", "Instruction");
        file("cache/index0/size", "32K");
        file("cache/index0/coherency_line_size", "64");
        file(
            "cache/index0/shared_cpu_list",
            if cpu < 2 {
                "0-1"
            } else if is_first {
                "2-3"
            } else {
                "4-5"
            },
        );
        if is_first {
            file("cache/index3/level", "3");
            file("cache/index3/type", "Unified");
            file("cache/index3/size", "8192K");
            file("cache/index3/shared_cpu_map", "f");
        }
    }
    let files: Vec<_> = files
        .iter()
        .map(|(name, content)| (name.as_str(), *content))
        .collect();
    let topology = Tree::new("whole", &files).topology();
    let counts = (
        topology.package_count(),
        topology.core_count(),
        topology.cpu_count(),
    );
    assert_eq!(counts, (2, 3, 5));
    assert_eq!(topology.root().cpus.to_string(), "0-3,5");
    let smt: Vec<_> = topology.smt_siblings(CpuId(3)).collect();
    assert_eq!(smt, [CpuId(2), CpuId(3)]);
    let nodes: Vec<_> = topology
        .numa_nodes()
        .iter()
        .map(|node| (node.os_index, node.cpus.to_string()))
        .collect();
    let expected = [(0, "0-3"), (2, "5"), (1, "")];
    assert_eq!(
        nodes,
        expected.map(|(number, cpus)| (Some(number), cpus.to_owned()))
    );
    assert_eq!(topology.numa_nodes()[0].memory_bytes, Some(2 << 20));
    let latencies = topology.numa_latencies().expect("they are read");
    assert_eq!(latencies.values, [10, 20, 30, 20, 10, 40, 30, 40, 10]);
    let third: Vec<_> = topology.caches_at(3).collect();
    assert_eq!((third.len(), third[0].size_bytes), (1, Some(8 << 20)));
    assert_eq!(topology.caches().len(), 4);
}

/// Kernels before 2.6.27, and copies of their `/sys`, provide no lists.
#[test]
fn cpu_folders_are_used_if_there_is_no_list() {
    let files = [
        ("cpu/cpu0/topology/core_siblings", "00000000,0000000b\0\0"),
        ("cpu/cpu1/online", "1"),
        ("cpu/cpu2/online", "0"),
        ("cpu/cpu3/topology/core_siblings", "b"),
        ("cpu/cpufreq/policy", ""),
        ("node/node0/cpumap", "b"),
        ("node/node1/cpumap", "0"),
    ];
    let topology = Tree::new("folders", &files).topology();
    assert_eq!(topology.root().cpus.to_string(), "0-1,3");
    assert_eq!(
        (topology.package_count(), topology.numa_nodes().len()),
        (1, 2)
    );
}

#[test]
fn partly_overlapping_objects_are_left_out() {
    let files = [
        ("cpu/online", "0-2"),
        ("cpu/cpu0/topology/core_siblings_list", "0-1"),
        ("cpu/cpu1/topology/core_siblings_list", "1-2"),
    ];
    let topology = Tree::new("crossing", &files).topology();
    assert_eq!((topology.package_count(), topology.cpu_count()), (1, 3));
}

#[test]
fn machine_without_topology_files_has_its_cpus() {
    let topology = Tree::new("bare", &[("cpu/online", "0,2-3")]).topology();
    assert_eq!(topology.root().cpus.to_string(), "0,2-3");
    assert_eq!(describe(Path::new("/nonexistent")), None);
    let cpus = CpuSet::from_iter([CpuId(1), CpuId(40)]);
    let topology = Topology::read_xml(plain(&cpus).as_bytes(), "plain").expect("it is whole");
    assert_eq!(topology.root().cpus, cpus);
}
