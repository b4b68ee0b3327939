//! XML topologies in the formats that `lstopo` writes and reads.
//!
//! Some valid files used to be refused. Now each of them loads as `lstopo` shows it:
//! - Files with two or more siblings without CPUs, which memory on a CXL card or control groups can
//!   cause. The siblings were mistaken for objects in the wrong order.
//! - Compressed files.
//! - Files without a version.
//! - Files in the format of hwloc 1, in which NUMA nodes contain the objects near them.
//!
//! One kind of invalid file used to be accepted: a group contains a single object with the same
//! CPUs, and the memories of the group follow those of the object in the order of nodes. hwloc
//! merges the two objects without sorting their memories, and its own check aborts the process.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use raddle_topology::{ObjectKind, Topology};

/// Writes an object of version 2 with its sets. Each complete set equals the set.
fn object(attributes: &str, cpus: &str, nodes: &str, inside: &str) -> String {
    format!(
        "<object {attributes} cpuset=\"{cpus}\" complete_cpuset=\"{cpus}\" nodeset=\"{nodes}\" \
         complete_nodeset=\"{nodes}\">{inside}</object>\n"
    )
}

/// Writes a machine of two CPUs with two memories without CPUs, which have the numbers `far`.
fn machine_with_far_memories(far: [u32; 2]) -> String {
    let far = far.map(|node| {
        let nodes = format!("0x{:x}", 1 << node);
        let memory = format!(
            "type=\"NUMANode\" os_index=\"{node}\" gp_index=\"{}\"",
            20 + node
        );
        let group = format!(
            "type=\"Group\" kind=\"1001\" subkind=\"0\" gp_index=\"{}\"",
            30 + node
        );
        object(&group, "0x0", &nodes, &object(&memory, "0x0", &nodes, ""))
    });
    let near = object(
        "type=\"NUMANode\" os_index=\"0\" gp_index=\"2\"",
        "0x3",
        "0x1",
        "",
    );
    let cpus = object(
        "type=\"PU\" os_index=\"0\" gp_index=\"3\"",
        "0x1",
        "0x1",
        "",
    ) + &object(
        "type=\"PU\" os_index=\"1\" gp_index=\"4\"",
        "0x2",
        "0x1",
        "",
    );
    let group = object(
        "type=\"Group\" kind=\"1001\" subkind=\"0\" gp_index=\"5\"",
        "0x3",
        "0x1",
        &(near + &cpus),
    );
    let inside = group + &far.concat();
    let sets = "type=\"Machine\" gp_index=\"1\" allowed_cpuset=\"0x3\" allowed_nodeset=\"0x7\"";
    format!(
        "<topology version=\"2.0\">\n{}</topology>\n",
        object(sets, "0x3", "0x7", &inside)
    )
}

fn read(text: &str) -> Topology {
    Topology::read_xml(text.as_bytes(), "machine.xml").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn siblings_without_cpus_may_be_in_any_order() {
    for far in [[1, 2], [2, 1]] {
        let topology = read(&machine_with_far_memories(far));
        assert_eq!(
            (topology.cpu_count(), topology.numa_nodes().len()),
            (2, 3),
            "{far:?}"
        );
        let without = topology
            .numa_nodes()
            .iter()
            .filter(|node| node.cpus.is_empty());
        assert_eq!(without.count(), 2, "{far:?}");
    }
}

#[test]
fn compressed_content_loads() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer
        .write_all(machine_with_far_memories([1, 2]).as_bytes())
        .expect("writing to memory succeeds");
    let mut packed = packer.finish().expect("writing to memory succeeds");
    let topology = Topology::read_xml(&packed, "machine.xml").expect("it is complete");
    assert_eq!(topology.cpu_count(), 2);
    packed.truncate(packed.len() / 2);
    let error = Topology::read_xml(&packed, "machine.xml")
        .expect_err("a half")
        .to_string();
    assert!(
        error.starts_with("machine.xml: ") && error.contains("expected the topology"),
        "{error}"
    );
}

#[test]
fn a_version_may_be_missing() {
    let text = machine_with_far_memories([2, 1]).replace(" version=\"2.0\"", "");
    assert_eq!(read(&text).numa_nodes().len(), 3);
}

/// Writes an object of version 1.
fn old(attributes: &str, cpus: &str, inside: &str) -> String {
    format!(
        "<object {attributes} cpuset=\"{cpus}\" complete_cpuset=\"{cpus}\" \
         online_cpuset=\"{cpus}\" allowed_cpuset=\"{cpus}\">{inside}</object>\n"
    )
}

/// Writes a core of version 1 with the CPUs `first` and `first + 1`.
fn old_core(first: u32) -> String {
    let cpu = |number: u32| {
        old(
            &format!("type=\"PU\" os_index=\"{number}\""),
            &format!("0x{:x}", 1_u32 << number),
            "",
        )
    };
    let cpus = format!("0x{:x}", 3_u32 << first);
    old(
        &format!("type=\"Core\" os_index=\"{first}\""),
        &cpus,
        &(cpu(first) + &cpu(first + 1)),
    )
}

#[test]
fn machines_of_hwloc_1_with_numa_nodes_load() {
    let cache = |cpus, inside: &str| {
        old(
            "type=\"Cache\" depth=\"3\" cache_type=\"0\" cache_size=\"1048576\" \
             cache_linesize=\"64\"",
            cpus,
            inside,
        )
    };
    // Three nodes: the first contains a single cache, the second two cores, the third no CPUs.
    let first = old(
        "type=\"NUMANode\" os_index=\"0\" local_memory=\"4096\"",
        "0xf",
        &cache("0xf", &(old_core(0) + &old_core(2))),
    );
    let second = old(
        "type=\"NUMANode\" os_index=\"1\" local_memory=\"8192\"",
        "0xf0",
        &(old_core(4) + &old_core(6)),
    );
    let third =
        "<object type=\"NUMANode\" os_index=\"2\" cpuset=\"0x0\" complete_cpuset=\"0x0\"/>\n";
    let latencies: String = ["1", "2.1", "4", "2.1", "1", "4", "4", "4", "1"]
        .map(|value| format!("<latency value=\"{value}\"/>"))
        .concat();
    let distances = format!(
        "<distances nbobjs=\"3\" relative_depth=\"1\" latency_base=\"10.0\">\
         {latencies}</distances>\n"
    );
    let device = "<object type=\"Bridge\" os_index=\"0\" bridge_type=\"0-1\" depth=\"0\"/>\n";
    let socket = old("type=\"Socket\" os_index=\"0\"", "0xff", &(first + &second));
    let machine = old(
        "type=\"Machine\" os_index=\"0\"",
        "0xff",
        &(distances + &socket + third + device),
    );
    for root in ["<topology>", "<topology version=\"1.0\">"] {
        let topology = read(&format!("{root}\n{machine}</topology>"));
        let counts = (
            topology.package_count(),
            topology.core_count(),
            topology.cpu_count(),
        );
        assert_eq!(counts, (1, 4, 8));
        let nodes: Vec<_> = topology
            .numa_nodes()
            .iter()
            .map(|node| (node.os_index, node.memory_bytes, node.cpus.to_string()))
            .collect();
        let expected = [
            (0, Some(4096), "0-3"),
            (1, Some(8192), "4-7"),
            (2, None, ""),
        ];
        let expected = expected.map(|(number, bytes, cpus)| (Some(number), bytes, cpus.to_owned()));
        let mut sorted = nodes.clone();
        sorted.sort();
        assert_eq!(sorted, expected);
        assert_eq!(topology.caches_at(3).count(), 1);
        let latencies = topology.numa_latencies().expect("latencies between nodes");
        let logical = |number| {
            nodes
                .iter()
                .position(|node| node.0 == Some(number))
                .expect("it exists")
        };
        assert_eq!(latencies.latency(logical(0), logical(1)), Some(21));
        assert_eq!(latencies.latency(logical(2), logical(1)), Some(40));
        assert_eq!(topology.allowed_cpus().count(), 8);
    }
}

#[test]
fn machines_of_hwloc_1_without_numa_nodes_get_one() {
    let misc = old("type=\"Misc\" os_index=\"7\"", "0x3", &old_core(0));
    let cache = old(
        "type=\"Cache\" depth=\"1\" cache_type=\"2\" cache_size=\"1024\" cache_linesize=\"64\"",
        "0xc",
        &old_core(2),
    );
    let machine = old(
        "type=\"System\" os_index=\"0\" local_memory=\"65536\"",
        "0xf",
        &(misc + &cache),
    );
    let topology = read(&format!("<topology>\n{machine}</topology>"));
    assert_eq!((topology.core_count(), topology.cpu_count()), (2, 4));
    let [node] = topology.numa_nodes() else {
        panic!("{:?}", topology.numa_nodes());
    };
    assert_eq!((node.memory_bytes, node.cpus.len()), (Some(65_536), 4));
    assert_eq!(topology.caches().len(), 1);
    let kinds = topology.root().children.iter().map(|child| child.kind);
    assert!(
        kinds.clone().all(|kind| kind != ObjectKind::Other),
        "{:?}",
        kinds.collect::<Vec<_>>()
    );
}

#[test]
fn problems_in_a_file_of_hwloc_1_are_reported_with_their_lines() {
    let machine = |inside: &str| {
        format!(
            "<topology>\n{}</topology>",
            old("type=\"Machine\"", "0x3", inside)
        )
    };
    for (inside, expected) in [
        (
            "\n<object type=\"Cache\" cpuset=\"0x3\"/>",
            "machine.xml:3:1: found an object of the unknown type \"Cache\", expected ",
        ),
        (
            "\n\n<object type=\"PU\" cpuset=\"0x3\"/>",
            "machine.xml:4:1: found a PU without a number, expected ",
        ),
        (
            "\n<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\"/>\n\
             <distances nbobjs=\"1\" latency_base=\"10\">\n<latency value=\"far\"/></distances>",
            "machine.xml:5:1: found \"far\" as a latency, expected ",
        ),
        (
            "\n<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\"/>\n\
             <distances nbobjs=\"1\"/>",
            "machine.xml:4:1: found 0 latencies between 1 objects, expected 1",
        ),
    ] {
        let text = machine(inside);
        let error = Topology::read_xml(text.as_bytes(), "machine.xml")
            .expect_err(expected)
            .to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn memories_of_a_group_must_precede_those_of_its_only_child() {
    let machine = |[outer, inner]: [u32; 2]| {
        let memory = |node: u32| {
            let nodes = format!("0x{:x}", 1 << node);
            object(
                &format!(
                    "type=\"NUMANode\" os_index=\"{node}\" gp_index=\"{}\"",
                    9 + node
                ),
                "0x1",
                &nodes,
                "",
            )
        };
        let cpu = object(
            "type=\"PU\" os_index=\"0\" gp_index=\"4\"",
            "0x1",
            "0x3",
            "",
        );
        let cache = object(
            "type=\"L3Cache\" depth=\"3\" cache_type=\"0\" gp_index=\"3\"",
            "0x1",
            "0x3",
            &(memory(inner) + &cpu),
        );
        let group = object(
            "type=\"Group\" kind=\"1001\" subkind=\"0\" gp_index=\"2\"",
            "0x1",
            "0x3",
            &(memory(outer) + &cache),
        );
        let sets = "type=\"Machine\" gp_index=\"1\" allowed_cpuset=\"0x1\" allowed_nodeset=\"0x3\"";
        format!(
            "<topology version=\"2.0\">\n{}</topology>\n",
            object(sets, "0x1", "0x3", &group)
        )
    };
    assert_eq!(read(&machine([0, 1])).numa_nodes().len(), 2);
    let text = machine([1, 0]);
    let error = Topology::read_xml(text.as_bytes(), "machine.xml")
        .expect_err("a wrong order")
        .to_string();
    let expected = "machine.xml:3:";
    assert!(
        error.starts_with(expected) && error.contains("the nodes 0 inside of a group"),
        "{error}"
    );
}

/// Checks that a compressed file can also be loaded from a path.
#[test]
fn a_compressed_file_loads_from_a_path() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("packed-machine.xml.gz");
    let file = fs::File::create(&path).expect("a new file");
    let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    packer
        .write_all(machine_with_far_memories([1, 2]).as_bytes())
        .expect("space for the file");
    packer.finish().expect("space for the file");
    let topology = Topology::from_xml(&path).expect("it is complete");
    fs::remove_file(&path).expect("it exists");
    assert_eq!(topology.numa_nodes().len(), 3);
}
