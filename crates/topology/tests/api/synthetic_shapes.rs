//! Synthetic machines have the objects of their descriptions.

use proptest::prelude::*;
use raddle_topology::{Affinity, BindError, CpuId, PlanError, Source, Topology, format, plan};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn counts_multiply_out(
        packages in 1_usize..5,
        nodes in 1_usize..4,
        caches in 1_usize..4,
        cores in 1_usize..5,
        threads in 1_usize..4,
    ) {
        let description =
            format!("package:{packages} numa:{nodes} l3:{caches} core:{cores} pu:{threads}");
        let topology = Topology::synthetic(&description).expect("hwloc knows these levels");
        prop_assert_eq!(topology.package_count(), packages);
        prop_assert_eq!(topology.numa_nodes().len(), packages * nodes);
        prop_assert_eq!(topology.caches_at(3).count(), packages * nodes * caches);
        prop_assert_eq!(topology.core_count(), packages * nodes * caches * cores);
        prop_assert_eq!(topology.cpu_count(), packages * nodes * caches * cores * threads);
        prop_assert_eq!(topology.allowed_cpus().count(), topology.cpu_count());
        prop_assert_eq!(topology.worker_count_default(), topology.cpu_count());
        for cpu in topology.cpus() {
            prop_assert_eq!(topology.smt_siblings(cpu.id).count(), threads);
            prop_assert_eq!(cpu.smt_rank, cpu.logical_index % threads);
            prop_assert_eq!(cpu.core, Some(cpu.logical_index / threads));
            let package_cpus = nodes * caches * cores * threads;
            prop_assert_eq!(cpu.package, Some(cpu.logical_index / package_cpus));
        }
    }

    #[test]
    fn compact_neighbours_are_at_least_as_near_as_scattered_ones(
        packages in 1_usize..4,
        caches in 1_usize..4,
        cores in 1_usize..4,
        threads in 1_usize..3,
        workers in 2_usize..9,
    ) {
        let description = format!("package:{packages} l3:{caches} core:{cores} pu:{threads}");
        let topology = Topology::synthetic(&description).expect("hwloc knows these levels");
        let workers = workers.min(topology.cpu_count());
        let nearest = |affinity: &Affinity| {
            let plan = plan(&topology, affinity, workers).expect("a plan");
            let cpus: Vec<CpuId> = plan.cpus().collect();
            let distance = |pair: &[CpuId]| topology.distance(pair[0], pair[1]);
            cpus.windows(2).map(|pair| distance(pair).expect("both exist")).min()
        };
        prop_assert!(nearest(&Affinity::Compact) <= nearest(&Affinity::Scatter));
    }

    #[test]
    fn scatter_balances_packages(
        packages in 1_usize..6,
        cores in 1_usize..6,
        threads in 1_usize..3,
        workers in 1_usize..40,
    ) {
        let description = format!("package:{packages} core:{cores} pu:{threads}");
        let topology = Topology::synthetic(&description).expect("hwloc knows these levels");
        let mut load = vec![0_usize; packages];
        for id in plan(&topology, &Affinity::Scatter, workers).expect("a plan").cpus() {
            load[topology.cpu(id).and_then(|cpu| cpu.package).expect("it has one")] += 1;
        }
        let most = load.iter().max().expect("one package");
        let least = load.iter().min().expect("one package");
        prop_assert!(most - least <= 1, "{:?}", load);
    }
}

#[test]
fn threads_cannot_be_bound_to_a_synthetic_machine() {
    let topology = Topology::synthetic("numa:2 core:4 pu:2").expect("hwloc knows these levels");
    assert!(!topology.is_this_machine());
    assert_eq!(
        topology.source(),
        &Source::Synthetic("numa:2 core:4 pu:2".to_owned())
    );
    let refused = BindError::NotThisMachine {
        topology: "synthetic: numa:2 core:4 pu:2".to_owned(),
    };
    assert_eq!(topology.bind_this_thread(CpuId(0)), Err(refused.clone()));
    assert_eq!(topology.unbind_this_thread(), Err(refused.clone()));
    assert_eq!(topology.this_thread_cpus(), Err(refused.clone()));
    assert_eq!(topology.this_thread_last_cpu(), Err(refused));
}

#[test]
fn sparse_cpu_numbers_are_kept() {
    let topology =
        Topology::synthetic("core:2 pu:2(indexes=7,100,3,40)").expect("hwloc knows these levels");
    let numbers: Vec<_> = topology.cpus().iter().map(|cpu| cpu.id.0).collect();
    // hwloc sorts siblings by their numbers.
    assert_eq!(numbers, [3, 40, 7, 100]);
    assert_eq!(topology.allowed_set().to_string(), "3,7,40,100");
    let unknown = plan(&topology, &"0".parse().expect("a list"), 1);
    assert_eq!(
        unknown,
        Err(PlanError::UnknownCpu {
            cpu: CpuId(0),
            allowed: topology.allowed_set()
        })
    );
    assert!(format::text(&topology).contains("PU L#1 (P#40)"));
}

#[test]
fn a_topology_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + Clone + std::fmt::Debug + 'static>(_: &T) {}
    shared(&Topology::synthetic("pu:1").expect("one CPU"));
}
