//! Tables, distances and limits of small machines with known answers.

use std::path::PathBuf;

use super::*;

fn machine(description: &str) -> Topology {
    Topology::synthetic(description).expect(description)
}

fn ids(numbers: impl IntoIterator<Item = u32>) -> Vec<CpuId> {
    numbers.into_iter().map(CpuId).collect()
}

#[test]
fn each_cpu_has_its_position_and_ancestors() {
    let topology = machine("package:2 numa:2 l2:2 core:2 pu:2");
    let cpu = topology.cpu(CpuId(21)).expect("it exists");
    assert_eq!(
        (cpu.logical_index, cpu.core, cpu.smt_rank),
        (21, Some(10), 1)
    );
    assert_eq!((cpu.package, cpu.numa_node), (Some(1), Some(2)));
    assert_eq!(cpu.efficiency, None);
    assert!(cpu.allowed);
    assert_eq!(topology.cpu(CpuId(32)), None);
    assert_eq!((topology.package_count(), topology.core_count()), (2, 16));
    assert_eq!(topology.numa_nodes().len(), 4);
    assert_eq!(topology.numa_nodes()[1].cpus.to_string(), "8-15");
}

#[test]
fn caches_list_the_cpus_that_share_them() {
    let topology = machine("l3:2(size=33554432) l2:2 l1d:1 core:1 pu:2");
    let shared = |level| -> Vec<_> {
        topology
            .caches_at(level)
            .map(|cache| cache.cpus.to_string())
            .collect()
    };
    assert_eq!(shared(3), ["0-3", "4-7"]);
    assert_eq!(shared(2), ["0-1", "2-3", "4-5", "6-7"]);
    assert_eq!(shared(4), [""; 0]);
    assert_eq!(
        topology
            .caches_at(3)
            .next()
            .and_then(|cache| cache.size_bytes),
        Some(32 << 20)
    );
    assert!(topology.caches().is_sorted_by_key(|cache| cache.level));
}

#[test]
fn siblings_are_the_threads_of_the_core() {
    let topology = machine("core:2 pu:3");
    let siblings = |cpu| topology.smt_siblings(CpuId(cpu)).collect::<Vec<_>>();
    assert_eq!(siblings(4), ids([3, 4, 5]));
    assert_eq!(siblings(0), ids([0, 1, 2]));
    assert_eq!(siblings(6), []);
    // Without cores, a CPU has no sibling but itself.
    let bare = machine("pu:4");
    assert_eq!(bare.smt_siblings(CpuId(2)).collect::<Vec<_>>(), ids([2]));
    assert!(
        bare.cpus()
            .iter()
            .all(|cpu| cpu.core.is_none() && cpu.smt_rank == 0)
    );
}

#[test]
fn cpus_that_share_less_are_farther_apart() {
    let topology = machine("package:2 l3:2 core:2 pu:2");
    let far = |other| {
        topology
            .distance(CpuId(0), CpuId(other))
            .expect("both exist")
    };
    let ladder: Vec<_> = [0, 1, 2, 4, 8].map(far).to_vec();
    assert!(ladder.is_sorted_by(|near, far| near < far), "{ladder:?}");
    assert_eq!(ladder[0].levels_up, 0);
    assert_eq!(far(8), far(15));
    assert_eq!(topology.distance(CpuId(0), CpuId(99)), None);
    let machine = topology
        .common_ancestor(CpuId(0), CpuId(15))
        .expect("both exist");
    assert_eq!(machine.depth, Some(0));
    let shared = topology
        .common_ancestor(CpuId(4), CpuId(6))
        .expect("both exist");
    assert_eq!(shared.to_string(), "L3 L#1");
}

#[test]
fn neighbours_are_nearest_first_and_start_after_the_cpu() {
    let topology = machine("package:2 core:2 pu:2");
    assert_eq!(topology.neighbours(CpuId(2)), ids([3, 0, 1, 4, 5, 6, 7]));
    assert_eq!(topology.neighbours(CpuId(7)), ids([6, 4, 5, 0, 1, 2, 3]));
    assert_eq!(topology.neighbours(CpuId(8)), []);
}

#[test]
fn latencies_decide_between_cpus_equally_far_in_the_tree() {
    let mut topology = machine("numa:3 pu:1");
    topology.numa_latencies = Some(LatencyMatrix {
        name: "test".to_owned(),
        nodes: vec![2, 0, 1],
        values: vec![10, 30, 20, 21, 10, 40, 20, 40, 10],
    });
    let matrix = topology.numa_latencies().expect("just set");
    assert_eq!(
        (matrix.latency(0, 2), matrix.latency(2, 0)),
        (Some(21), Some(30))
    );
    assert_eq!(matrix.latency(0, 3), None);
    assert_eq!(topology.neighbours(CpuId(0)), ids([2, 1]));
    assert_eq!(
        topology
            .distance(CpuId(0), CpuId(2))
            .map(|distance| distance.numa_latency),
        Some(30)
    );
}

/// Returns a copy of a topology with the given limits.
fn limited(
    topology: &Topology,
    cpuset: &[u32],
    affinity: Option<&[u32]>,
    quota: Option<CpuQuota>,
) -> Topology {
    let set = |numbers: &[u32]| numbers.iter().copied().map(CpuId).collect();
    Topology::assemble(Parts {
        source: topology.source.clone(),
        hwloc_version: None,
        root: topology.root.clone(),
        cpu_kinds: Vec::new(),
        numa_latencies: None,
        limits: Limits {
            cpuset: set(cpuset),
            affinity: affinity.map(set),
            quota,
            notes: Vec::new(),
        },
        binder: None,
    })
}

#[test]
fn default_worker_count_respects_every_limit() {
    let whole = machine("core:4 pu:2");
    let quota = |quota_us| {
        Some(CpuQuota {
            quota_us,
            period_us: 100_000,
            file: PathBuf::from("cpu.max"),
        })
    };
    assert_eq!(whole.worker_count_default(), 8);
    let narrow = limited(&whole, &[0, 1, 2, 3], Some(&[2, 3, 4]), None);
    assert_eq!(narrow.allowed_set().to_string(), "2-3");
    assert_eq!(narrow.worker_count_default(), 2);
    let all: Vec<_> = (0..8).collect();
    let workers = |quota_us| limited(&whole, &all, None, quota(quota_us)).worker_count_default();
    assert_eq!(
        [1, 100_000, 100_001, 250_000, 9_000_000].map(workers),
        [1, 1, 2, 3, 8]
    );
    assert_eq!(limited(&whole, &[], None, None).worker_count_default(), 1);
}

#[test]
fn json_has_the_documented_shape() {
    let topology = machine("numa:2 core:1 pu:2");
    let json = serde_json::to_value(&topology).expect("serialisation succeeds");
    let keys: Vec<_> = json
        .as_object()
        .expect("an object")
        .keys()
        .cloned()
        .collect();
    let mut expected = [
        "source",
        "hwloc_version",
        "is_this_machine",
        "counts",
        "worker_count_default",
        "limits",
        "cpus",
        "cpu_kinds",
        "caches",
        "numa_nodes",
        "numa_latencies",
        "tree",
    ];
    expected.sort_unstable();
    let mut keys = keys;
    keys.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!(json["source"]["synthetic"], "numa:2 core:1 pu:2");
    assert_eq!(json["counts"]["cpus"], 4);
    assert_eq!(json["limits"]["cpuset"], "0-3");
    assert_eq!(json["cpus"][3]["id"], 3);
    assert_eq!(json["tree"]["kind"], "machine");
    assert_eq!(json["tree"]["children"][1]["cpus"], "2-3");
    let xml = Source::Xml(PathBuf::from("/a/b.xml"));
    assert_eq!(
        serde_json::to_value(xml).expect("a path")["xml"],
        "/a/b.xml"
    );
}

#[test]
fn efficiency_is_reported_only_if_there_are_several_kinds_of_cpus() {
    let whole = machine("core:4 pu:1");
    let kind = |efficiency, cpus: [u32; 2]| CpuKind {
        efficiency: Some(efficiency),
        cpus: cpus.map(CpuId).into_iter().collect(),
    };
    let allowed = whole.allowed_set();
    let two = Tables::new(&whole.root, &[kind(0, [0, 1]), kind(1, [2, 3])], &allowed);
    let efficiencies: Vec<_> = two.cpus.iter().map(|cpu| cpu.efficiency).collect();
    assert_eq!(efficiencies, [Some(0), Some(0), Some(1), Some(1)]);
    let one = Tables::new(&whole.root, &[kind(0, [0, 1])], &allowed);
    assert!(one.cpus.iter().all(|cpu| cpu.efficiency.is_none()));
}
