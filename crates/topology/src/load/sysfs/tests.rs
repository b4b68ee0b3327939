//! Machines read from synthetic file trees.

use super::*;
use crate::fake_root::FakeRoot;
use crate::topology::{Limits, Parts, Source, Topology};

/// Returns the machine of a synthetic `/sys/devices/system`.
fn machine(files: &[(&str, &str)]) -> Topology {
    let lines: Vec<_> = files
        .iter()
        .map(|(_, content)| format!("{content}\n"))
        .collect();
    let in_system = |(path, _): &(&str, &str)| format!("sys/devices/system/{path}");
    let paths = files.iter().map(in_system);
    let files: Vec<_> = paths.zip(lines.iter().map(String::as_str)).collect();
    let root = FakeRoot::new(&files);
    assembled(find(&root.0).expect("it shows a machine"))
}

fn assembled(found: Found) -> Topology {
    #[cfg(feature = "hwloc")]
    assert_same_as_hwloc(&found);
    Topology::assemble(Parts {
        source: Source::ThisMachine,
        hwloc_version: None,
        limits: Limits::default(),
        root: found.root,
        cpu_kinds: Vec::new(),
        numa_latencies: found.numa_latencies,
        binder: None,
    })
}

/// Checks that hwloc numbers the same objects in the same way, and attaches the memories to the
/// same objects.
#[cfg(feature = "hwloc")]
fn assert_same_as_hwloc(found: &Found) {
    let mut text = String::new();
    write_xml(&found.root, &mut text);
    let text = format!("<topology>\n{text}</topology>\n");
    let theirs = Topology::read_xml(text.as_bytes(), "sysfs")
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(lines(theirs.root()), lines(&found.root), "{text}");
}

/// Writes an object in the XML format of hwloc 1, in which a memory contains the CPUs near it.
/// Memories without CPUs are left out: in that format they become groups.
#[cfg(feature = "hwloc")]
fn write_xml(object: &Object, text: &mut String) {
    let is_near = |memory: &&Object| !memory.cpus.is_empty();
    open_xml(object, text);
    let near = object.memory_children.iter().filter(is_near);
    near.clone().for_each(|memory| open_xml(memory, text));
    for child in &object.children {
        write_xml(child, text);
    }
    near.for_each(|_| text.push_str("</object>\n"));
    text.push_str("</object>\n");
}

#[cfg(feature = "hwloc")]
fn open_xml(object: &Object, text: &mut String) {
    use std::fmt::Write as _;

    let kind = match object.kind {
        ObjectKind::Cache => "Cache".to_owned(),
        ObjectKind::Group => "Group".to_owned(),
        _ => object.kind_name(),
    };
    let mask = object
        .cpus
        .iter()
        .fold(0_u64, |mask, cpu| mask | 1 << cpu.0);
    let infallible = "writing to a string cannot fail";
    let (high, low) = (mask >> 32, mask & u64::from(u32::MAX));
    write!(
        text,
        "<object type=\"{kind}\" cpuset=\"0x{high:08x},0x{low:08x}\""
    )
    .expect(infallible);
    if let Some(number) = object.os_index {
        write!(text, " os_index=\"{number}\"").expect(infallible);
    }
    match object.attributes {
        Attributes::Cache {
            level,
            kind,
            size_bytes,
            line_bytes,
        } => {
            let (size, line) = (size_bytes.unwrap_or(0), line_bytes.unwrap_or(0));
            let kind = [CacheKind::Unified, CacheKind::Data, CacheKind::Instruction]
                .iter()
                .position(|&listed| listed == kind)
                .expect("all kinds are listed");
            write!(
                text,
                " depth=\"{level}\" cache_type=\"{kind}\" cache_size=\"{size}\" \
                 cache_linesize=\"{line}\""
            )
            .expect(infallible);
        }
        Attributes::Numa { memory_bytes } => {
            let bytes = memory_bytes.unwrap_or(0);
            write!(text, " local_memory=\"{bytes}\"").expect(infallible);
        }
        _ => {}
    }
    text.push_str(">\n");
}

/// Returns a line for each object that has CPUs: its level, kind, number, attributes and CPUs.
#[cfg(feature = "hwloc")]
fn lines(root: &Object) -> Vec<String> {
    let mut lines = Vec::new();
    root.for_each(&mut |object| {
        if object.cpus.is_empty() {
            return;
        }
        let (depth, attributes, cpus) = (object.depth, object.attributes, &object.cpus);
        lines.push(format!(
            "{depth:?} {object} {:?} {attributes:?} {cpus}",
            object.os_index
        ));
    });
    lines
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
    let topology = machine(&files);
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
    let topology = machine(&files);
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
    let topology = machine(&files);
    assert_eq!((topology.package_count(), topology.cpu_count()), (1, 3));
}

#[test]
fn machine_without_topology_files_has_its_cpus() {
    let topology = machine(&[("cpu/online", "0,2-3")]);
    assert_eq!(topology.root().cpus.to_string(), "0,2-3");
    assert!(find(Path::new("/nonexistent")).is_none());
    let cpus = CpuSet::from_iter([CpuId(1), CpuId(40)]);
    assert_eq!(assembled(plain(&cpus)).root().cpus, cpus);
}

/// Checks memories that belong to a part of a package.
#[test]
fn memories_without_an_object_of_the_same_cpus_have_a_group() {
    let mut files = vec![
        ("cpu/online".to_owned(), "0-3"),
        ("node/node0/cpulist".to_owned(), "0-1"),
        ("node/node1/cpulist".to_owned(), "2-3"),
    ];
    for cpu in 0..4 {
        files.push((format!("cpu/cpu{cpu}/topology/package_cpus_list"), "0-3"));
    }
    let files: Vec<_> = files
        .iter()
        .map(|(name, content)| (name.as_str(), *content))
        .collect();
    let topology = machine(&files);
    let nodes: Vec<_> = topology.cpus().iter().map(|cpu| cpu.numa_node).collect();
    assert_eq!(nodes, [0, 0, 1, 1].map(Some));
}

/// Compares what `/sys` shows of this machine with what hwloc finds.
#[cfg(feature = "hwloc")]
#[test]
fn this_machine_is_the_same_without_hwloc() {
    let found = find(Path::new("/")).expect("the system shows its CPUs");
    assert_same_as_hwloc(&found);
    let theirs = Topology::this_machine().expect("hwloc knows this machine");
    if theirs.hwloc_version().is_some() {
        assert_eq!(lines(theirs.root()), lines(&found.root));
    }
}
