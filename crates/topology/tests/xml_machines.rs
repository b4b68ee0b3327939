//! The 33 machines of the data folder: they load with the expected counts, and can be drawn and
//! planned on.

mod common;

use std::collections::{BTreeMap, HashSet};

use common::xml_file;
use proptest::prelude::*;
use raddle_topology::{Affinity, Source, Topology, format, plan};

/// The machines of the data folder, each with its numbers of NUMA nodes, packages, cores and CPUs
/// from the table in that folder.
const MACHINES: [(&str, [usize; 4]); 33] = [
    ("16amd64-4distances", [8, 8, 16, 16]),
    ("192em64t-12gr2n8c2t", [24, 24, 192, 384]),
    ("192em64t-24n8c2t", [24, 24, 192, 384]),
    ("96em64t-4n4d3ca2co-pci", [4, 16, 96, 96]),
    ("derived-uv-12node", [12, 12, 96, 192]),
    ("derived-uv-20node", [20, 20, 160, 320]),
    ("linux-128arm-2pa2n8cluster4co", [4, 2, 128, 128]),
    ("linux-128ia64-17n4s2c", [17, 64, 128, 128]),
    ("linux-16em64t-4s2c2t", [1, 4, 8, 16]),
    ("linux-16ia64-8n2s", [8, 16, 16, 16]),
    ("linux-256ia64-64n2s2c", [64, 128, 256, 256]),
    ("linux-256ppc-8n8s4t", [8, 64, 64, 256]),
    ("linux-32em64t-2n8c+1mic", [2, 2, 16, 16]),
    ("linux-40intel64-4n10c+pci-conflicts", [4, 3, 40, 40]),
    ("linux-48amd64-4d2n6c-sparse", [8, 4, 48, 48]),
    ("linux-64amd64-4s2n4ca2co", [8, 4, 64, 64]),
    ("linux-64fake-4n2s2ca2c2t", [4, 8, 32, 64]),
    ("linux-64intel64-fakeKNL-SNC4-hybrid", [8, 1, 16, 64]),
    ("linux-96em64t-4n4d3ca2co", [4, 16, 96, 96]),
    ("nvidiaDGX2", [2, 2, 4, 4]),
    ("power8gpudistances", [2, 2, 8, 16]),
    ("x86-AMD-15h-Piledriver-4xOpteron-6348", [1, 4, 48, 48]),
    ("x86-AMD-17h-Zen-2xEpyc-7451", [1, 2, 48, 96]),
    ("x86-AMD-19h-Zen3-2xEpyc-7763", [1, 2, 128, 128]),
    ("x86-AMD-19h-Zen4-2xEpyc-9654", [1, 2, 192, 384]),
    ("x86-AMD-K10-Istanbul-8xOpteron-8439SE", [1, 8, 48, 48]),
    ("x86-Intel-Haswell-2xXeon-E5-2680v3", [1, 2, 24, 24]),
    ("x86-Intel-IvyBridge-12xXeon-E5-4620v2", [1, 12, 96, 192]),
    ("x86-Intel-KnightsLanding-XeonPhi-7210", [1, 1, 64, 256]),
    ("x86-Intel-Penryn-4xXeon-X7460", [1, 4, 24, 24]),
    ("x86-Intel-SandyBridge-2xXeon-E5-2650", [1, 2, 16, 32]),
    ("x86-Intel-SapphireRapids-2xXeonMax9460", [1, 2, 80, 160]),
    ("x86-Intel-Skylake-2xXeon6140", [1, 2, 36, 72]),
];

fn load(name: &str) -> Topology {
    Topology::from_xml(xml_file(name)).expect(name)
}

#[test]
fn counts_match_the_table() {
    for (name, [numa_nodes, packages, cores, cpus]) in MACHINES {
        let topology = load(name);
        assert_eq!(
            [
                topology.numa_nodes().len(),
                topology.package_count(),
                topology.core_count(),
                topology.cpu_count()
            ],
            [numa_nodes, packages, cores, cpus],
            "{name}"
        );
        assert_eq!(topology.source(), &Source::Xml(xml_file(name)));
        assert!(!topology.is_this_machine(), "{name}");
    }
}

#[test]
fn every_file_in_the_folder_is_in_the_table() {
    let folder = xml_file("any").parent().expect("a folder").to_path_buf();
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of machines")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "xml"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    found.sort();
    let mut listed = MACHINES.map(|(name, _)| name);
    listed.sort_unstable();
    assert_eq!(found, listed);
}

#[test]
fn tables_agree_with_the_tree() {
    for (name, _) in MACHINES {
        let topology = load(name);
        assert_eq!(topology.root().cpus.len(), topology.cpu_count(), "{name}");
        let logical: Vec<_> = topology
            .cpus()
            .iter()
            .map(|cpu| cpu.logical_index)
            .collect();
        assert_eq!(
            logical,
            (0..topology.cpu_count()).collect::<Vec<_>>(),
            "{name}"
        );
        let mut levels: BTreeMap<_, usize> = BTreeMap::new();
        for cache in topology.caches() {
            assert!(!cache.cpus.is_empty(), "{name}: {cache:?}");
            *levels
                .entry((cache.level, format!("{:?}", cache.kind)))
                .or_default() += cache.cpus.len();
        }
        for (level, shared) in levels {
            assert!(
                shared <= topology.cpu_count(),
                "{name}: caches {level:?} overlap"
            );
        }
        for cpu in topology.cpus() {
            let siblings: Vec<_> = topology.smt_siblings(cpu.id).collect();
            assert_eq!(
                siblings.iter().position(|&id| id == cpu.id),
                Some(cpu.smt_rank),
                "{name}"
            );
            let node = cpu.numa_node.expect("every machine has memory");
            assert!(topology.numa_nodes()[node].cpus.contains(cpu.id), "{name}");
        }
    }
}

#[test]
fn latencies_are_read_if_the_file_has_them() {
    let matrix_of = |name: &str| load(name).numa_latencies().cloned();
    let opteron = matrix_of("16amd64-4distances").expect("it has some");
    assert_eq!(opteron.name, "NUMALatency");
    assert_eq!(opteron.values.len(), 64);
    assert!((0..8).all(|node| opteron.latency(node, node) == Some(10)));
    let blades = matrix_of("192em64t-12gr2n8c2t").expect("it has some");
    let mut values = blades.values.clone();
    values.sort_unstable();
    values.dedup();
    assert_eq!(values, [10, 50, 65, 79]);
    assert_eq!(matrix_of("x86-Intel-Haswell-2xXeon-E5-2680v3"), None);
}

#[test]
fn pictures_are_well_formed_and_show_every_object() {
    for (name, [_, packages, cores, cpus]) in MACHINES {
        let topology = load(name);
        let picture = format::svg(&topology);
        let picture = roxmltree::Document::parse(&picture).expect(name);
        let count = |class| {
            picture
                .descendants()
                .filter(|node| node.attribute("class") == Some(class))
                .count()
        };
        // The legend has one box of each of these classes except packages.
        assert_eq!(count("allowed") + count("forbidden"), cpus + 2, "{name}");
        assert_eq!(count("core"), cores + 1, "{name}");
        assert_eq!(count("package"), packages, "{name}");
    }
}

#[test]
fn texts_contain_every_cpu() {
    for (name, [_, _, _, cpus]) in MACHINES {
        let text = format::text(&load(name));
        assert_eq!(text.matches("PU L#").count(), cpus, "{name}");
        assert!(
            text.contains(&format!("source:   XML file: {}", xml_file(name).display())),
            "{text}"
        );
        assert!(!text.contains("quota:"), "{name} has no quota");
        let json: serde_json::Value = serde_json::from_str(&format::json(&load(name))).expect(name);
        assert_eq!(json["counts"]["cpus"], cpus, "{name}");
    }
}

#[test]
fn two_scattered_workers_use_two_packages_and_two_compact_workers_use_one() {
    for (name, [_, packages, ..]) in MACHINES {
        let topology = load(name);
        let used = |affinity| {
            let plan = plan(&topology, &affinity, 2).expect(name);
            plan.cpus()
                .map(|id| topology.cpu(id).expect("it exists").package)
                .collect::<HashSet<_>>()
                .len()
        };
        assert_eq!(used(Affinity::Scatter), packages.min(2), "{name}");
        let package_cpus = topology.cpu_count() / packages;
        if package_cpus > 1 {
            assert_eq!(used(Affinity::Compact), 1, "{name}");
        }
    }
}

#[test]
fn a_full_plan_uses_every_allowed_cpu_once() {
    for (name, _) in MACHINES {
        let topology = load(name);
        let allowed = topology.allowed_set();
        for affinity in [Affinity::Compact, Affinity::Scatter] {
            let plan = plan(&topology, &affinity, allowed.len()).expect(name);
            let used: HashSet<_> = plan.cpus().collect();
            assert_eq!(used.len(), allowed.len(), "{name} {affinity}");
            assert!(
                plan.cpus().all(|id| allowed.contains(id)),
                "{name} {affinity}"
            );
            assert!(
                plan.entries
                    .iter()
                    .all(|entry| !entry.reason.contains("the CPU is shared")),
                "{name}"
            );
        }
    }
}

#[test]
fn scatter_gives_each_core_a_worker_before_any_gets_two() {
    for (name, [_, _, cores, _]) in MACHINES {
        let topology = load(name);
        let plan = plan(&topology, &Affinity::Scatter, cores).expect(name);
        let used: HashSet<_> = plan
            .cpus()
            .filter_map(|id| topology.cpu(id)?.core)
            .collect();
        assert_eq!(used.len(), cores, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_cpu_is_used_twice_before_all_are_used_once(
        machine in 0..MACHINES.len(),
        worker_count in 1_usize..800,
    ) {
        let topology = load(MACHINES[machine].0);
        let allowed = topology.allowed_set();
        for affinity in [Affinity::Compact, Affinity::Scatter] {
            let plan = plan(&topology, &affinity, worker_count).expect("there are CPUs");
            prop_assert_eq!(plan.entries.len(), worker_count);
            let mut uses: BTreeMap<_, usize> = allowed.iter().map(|id| (id, 0)).collect();
            for (worker, entry) in plan.entries.iter().enumerate() {
                prop_assert_eq!(entry.worker_index, worker);
                let cpu = entry.cpu.expect("it is bound");
                let used = uses.get_mut(&cpu).expect("it is allowed");
                *used += 1;
                prop_assert_eq!(*used, worker / allowed.len() + 1);
            }
        }
    }

    #[test]
    fn distances_are_symmetric_and_smallest_to_the_cpu_itself(
        machine in 0..MACHINES.len(),
        picks in any::<[prop::sample::Index; 2]>(),
    ) {
        let topology = load(MACHINES[machine].0);
        let [left, right] = picks.map(|pick| topology.cpus()[pick.index(topology.cpu_count())].id);
        let distance = topology.distance(left, right).expect("both exist");
        prop_assert_eq!(Some(distance), topology.distance(right, left));
        prop_assert!(topology.distance(left, left).expect("it exists") <= distance);
        let neighbours = topology.neighbours(left);
        prop_assert_eq!(neighbours.len(), topology.cpu_count() - 1);
        prop_assert!(neighbours.is_sorted_by_key(|&other| topology.distance(left, other)));
    }
}
