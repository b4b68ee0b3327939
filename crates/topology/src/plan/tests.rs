//! Orders, reasons and summaries on small machines, compared literally.

use super::*;

fn machine(description: &str) -> Topology {
    Topology::synthetic(description).expect(description)
}

fn cpus(topology: &Topology, affinity: &Affinity, worker_count: usize) -> Vec<u32> {
    let plan = plan(topology, affinity, worker_count).expect("a plan");
    plan.cpus().map(|cpu| cpu.0).collect()
}

fn reason(topology: &Topology, affinity: &Affinity, worker_count: usize, worker: usize) -> String {
    let plan = plan(topology, affinity, worker_count).expect("a plan");
    plan.entries[worker].reason.clone()
}

#[test]
fn compact_fills_the_machine_in_the_order_of_its_tree() {
    let topology = machine("package:2 core:2 pu:2");
    assert_eq!(
        cpus(&topology, &Affinity::Compact, 10),
        [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]
    );
}

#[test]
fn scatter_goes_over_packages_then_caches_then_cores_then_threads() {
    let topology = machine("package:2 l3:2 core:2 pu:2");
    let order = cpus(&topology, &Affinity::Scatter, 16);
    assert_eq!(
        order,
        [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15]
    );
}

#[test]
fn no_worker_is_bound_without_affinity() {
    let plan = plan(&machine("pu:2"), &Affinity::None, 3).expect("a plan");
    assert_eq!(plan.entries.len(), 3);
    assert!(
        plan.entries
            .iter()
            .all(|entry| entry.cpu.is_none() && entry.reason.starts_with("not bound"))
    );
}

#[test]
fn an_explicit_list_is_taken_literally() {
    let topology = machine("core:4 pu:1");
    let list: Affinity = "3,1,1".parse().expect("a list");
    assert_eq!(cpus(&topology, &list, 4), [3, 1, 1, 3]);
    assert_eq!(
        reason(&topology, &list, 4, 3),
        "entry 1 of the list again: core 3; the CPU is shared with worker 0"
    );
    assert_eq!(
        reason(&topology, &list, 4, 1),
        "entry 2 of the list: core 1; the CPU is shared with worker 2"
    );
}

#[test]
fn reasons_name_the_position_and_the_smallest_shared_part() {
    let topology = machine("package:2 l3:2 l2:2 core:1 pu:2");
    let compact = |count, worker| reason(&topology, &Affinity::Compact, count, worker);
    assert_eq!(
        compact(4, 1),
        "core 0 of package 0, second hardware thread; shares the core with worker 0"
    );
    assert_eq!(
        compact(3, 2),
        "core 1 of package 0, first hardware thread; shares L3 with workers 0-1"
    );
    let scatter = |count, worker| reason(&topology, &Affinity::Scatter, count, worker);
    assert_eq!(
        scatter(2, 1),
        "core 4 of package 1, first hardware thread; \
         shares no cache, memory or package with another worker"
    );
    assert_eq!(
        scatter(3, 0),
        "core 0 of package 0, first hardware thread; shares the package with worker 2"
    );
    assert_eq!(
        compact(17, 16),
        "core 0 of package 0, first hardware thread; the CPU is shared with worker 0"
    );
}

#[test]
fn numa_nodes_are_named_if_packages_are_unknown() {
    let topology = machine("numa:2 core:2 pu:1");
    assert_eq!(
        reason(&topology, &Affinity::Compact, 2, 1),
        "core 1 of NUMA node 0; shares the NUMA node with worker 0"
    );
    assert_eq!(
        reason(&machine("pu:3"), &Affinity::Compact, 1, 0),
        "CPU 0; shares no cache, memory or package with another worker"
    );
}

#[test]
fn impossible_plans_are_errors_that_name_the_cpus() {
    let topology = machine("core:2 pu:2");
    let error = |affinity: &Affinity, count| {
        plan(&topology, affinity, count)
            .expect_err("no plan")
            .to_string()
    };
    assert_eq!(
        error(&Affinity::Compact, 0),
        "there are no workers to place: the number of workers must be at least 1"
    );
    assert_eq!(
        error(&Affinity::Explicit(Vec::new()), 1),
        "the explicit list of CPUs is empty"
    );
    assert_eq!(
        error(&Affinity::Explicit(vec![CpuId(0), CpuId(9)]), 1),
        "there is no CPU 9; this process may use 0-3"
    );
}

#[test]
fn the_table_lines_up() {
    let topology = machine("core:12 pu:1");
    let list: Affinity = "2,11".parse().expect("a list");
    let table = plan(&topology, &list, 2).expect("a plan").to_string();
    assert_eq!(
        table,
        "placed by list: 2 workers on CPUs 2,11 (one per core)\n\nworker | cpu | why\n\
         -------+-----+----\n     \
         0 |   2 | entry 1 of the list: core 2; \
         shares no cache, memory or package with another worker\n     \
         1 |  11 | entry 2 of the list: core 11; \
         shares no cache, memory or package with another worker\n"
    );
    let unbound = plan(&topology, &Affinity::None, 1)
        .expect("a plan")
        .to_string();
    assert!(unbound.contains("     0 |   - | not bound"), "{unbound}");
}

#[test]
fn a_plan_serialises_with_its_reasons() {
    let plan = plan(&machine("pu:1"), &Affinity::Compact, 1).expect("a plan");
    let json = serde_json::to_value(&plan).expect("nothing can refuse");
    assert_eq!(json["entries"][0]["cpu"], 0);
    assert_eq!(json["entries"][0]["worker_index"], 0);
    assert!(json["entries"][0]["reason"].is_string());
}

/// Returns other processes that have claimed these CPUs.
fn others(cpus: &[u32]) -> Others {
    let mut others = Others::none();
    others.processes = cpus.iter().copied().map(CpuId).collect();
    others
}

/// Returns the CPUs that `auto` selects beside other processes on `taken`, and the summary.
fn auto(topology: &Topology, worker_count: usize, taken: &[u32]) -> (Vec<u32>, String) {
    let plan = plan_beside(topology, &Affinity::Auto, worker_count, &others(taken));
    let plan = plan.expect("a plan");
    assert_eq!(plan.entries.len(), worker_count);
    assert!(!plan.shares_a_cpu());
    (plan.cpus().map(|cpu| cpu.0).collect(), plan.summary)
}

#[test]
fn auto_takes_one_thread_of_each_core_before_any_second_one() {
    let topology = machine("package:2 core:2 pu:2");
    assert_eq!(auto(&topology, 2, &[]).0, [0, 2]);
    assert_eq!(auto(&topology, 3, &[]).0, [0, 2, 4]);
    assert_eq!(auto(&topology, 6, &[]).0, [0, 2, 4, 6, 1, 3]);
    let (cpus, summary) = auto(&topology, 8, &[]);
    assert_eq!(cpus, [0, 2, 4, 6, 1, 3, 5, 7]);
    assert_eq!(
        summary,
        "placed by auto: 8 workers on CPUs 0-7 (one per hardware thread of 2 packages)"
    );
}

#[test]
fn auto_keeps_workers_together_and_large_parts_whole() {
    let topology = machine("package:2 l3:2 core:4 pu:1");
    assert_eq!(auto(&topology, 2, &[]).0, [0, 1]);
    // The first cache has two free cores, which is enough.
    assert_eq!(auto(&topology, 2, &[0, 1, 8]).0, [2, 3]);
    // Two are too few now. A whole cache with four cores is nearer than cores of two caches.
    assert_eq!(auto(&topology, 3, &[0, 1]).0, [4, 5, 6]);
    // The cache with the fewest spare cores is taken.
    assert_eq!(auto(&topology, 3, &[13]).0, [12, 14, 15]);
    // Only one package has enough cores.
    assert_eq!(auto(&topology, 7, &[0, 1]).0, [8, 9, 10, 11, 12, 13, 14]);
}

#[test]
fn auto_takes_the_other_thread_of_a_claimed_core_last() {
    let topology = machine("package:1 core:3 pu:2");
    assert_eq!(auto(&topology, 2, &[0]).0, [2, 4]);
    assert_eq!(auto(&topology, 3, &[0]).0, [2, 4, 1]);
    assert_eq!(auto(&topology, 3, &[0, 1]).0, [2, 4, 3]);
}

#[test]
fn auto_leaves_surplus_workers_unbound_and_says_so() {
    let topology = machine("package:1 core:2 pu:1");
    let (cpus, summary) = auto(&topology, 5, &[]);
    assert_eq!(cpus, [0, 1]);
    assert_eq!(
        summary,
        "placed by auto: 2 workers on CPUs 0-1 (one per core of package 0); \
         3 workers are not bound, since there is no free CPU left"
    );
    let (cpus, summary) = auto(&topology, 1, &[0, 1]);
    assert!(cpus.is_empty());
    assert_eq!(
        summary,
        "placed by auto: 1 worker is not bound, since there is no free CPU; \
         CPUs 0-1 are used by another Raddle process"
    );
    let mut beside = others(&[0]);
    beside.runtimes.insert(CpuId(1));
    beside.note = Some("a note".to_owned());
    let plan = plan_beside(&topology, &Affinity::Compact, 2, &beside).expect("a plan");
    assert_eq!(plan.cpus().collect::<Vec<_>>(), [0, 1].map(CpuId));
    assert_eq!(
        plan.summary,
        "placed by compact: 2 workers on CPUs 0-1 (one per core of package 0); \
         CPU 0 is used by another Raddle process; \
         CPU 1 is used by another runtime of this process; a note"
    );
}

#[test]
fn the_summary_is_the_first_line() {
    let topology = machine("package:1 core:2 pu:1");
    let plan = plan(&topology, &Affinity::None, 1).expect("a plan");
    assert_eq!(
        plan.to_string().lines().next(),
        Some("placed by none: 1 worker is not bound, the operating system chooses")
    );
    let list = Affinity::Explicit(vec![CpuId(1), CpuId(1)]);
    let plan = super::plan(&topology, &list, 2).expect("a plan");
    assert!(plan.shares_a_cpu());
    assert!(
        plan.summary
            .starts_with("placed by list: 2 workers on CPU 1 (sharing CPUs of package 0)")
    );
}

proptest::proptest! {
    #[test]
    fn auto_uses_free_cpus_once_and_as_many_as_it_can(
        packages in 1_usize..4, cores in 1_usize..5, threads in 1_usize..4,
        taken in proptest::collection::vec(0_u32..40, 0..20), worker_count in 1_usize..40,
    ) {
        let topology = machine(&format!("package:{packages} core:{cores} pu:{threads}"));
        let (cpus, _) = auto(&topology, worker_count, &taken);
        let is_taken = |cpu: u32| taken.contains(&cpu);
        let free = topology.cpus().iter().filter(|cpu| !is_taken(cpu.id.0)).count();
        assert_eq!(cpus.len(), worker_count.min(free));
        assert!(cpus.iter().all(|&cpu| !is_taken(cpu)));
        // No core with one of these workers is shared while another core is unused.
        let on = |core: usize, of: &dyn Fn(u32) -> bool| {
            (core * threads..(core + 1) * threads).filter(|&cpu| of(cpu as u32)).count()
        };
        let is_ours = |cpu: u32| cpus.contains(&cpu);
        let is_used = |cpu: u32| is_ours(cpu) || is_taken(cpu);
        let mut cores = 0..packages * cores;
        let is_shared = |core| on(core, &is_used) > 1 && on(core, &is_ours) > 0;
        let has_shared = cores.clone().any(is_shared);
        let has_unused = cores.any(|core| on(core, &is_used) == 0);
        assert!(!(has_shared && has_unused));
    }
}

/// Reproduces a bug: several nodes on one machine with the same list all started at its first CPU.
#[test]
fn processes_of_one_program_share_a_list_and_an_order() {
    let topology = Topology::synthetic("package:1 core:4 pu:1").expect("it is one");
    let of_process = |affinity: &Affinity, process: usize| {
        let mut others = Others::none();
        others.before = 2 * process;
        plan_beside(&topology, affinity, 2, &others).expect("there are CPUs")
    };
    let list = Affinity::Explicit([3, 1, 0].map(CpuId).to_vec());
    let cpus = |affinity: &Affinity, process| {
        let plan = of_process(affinity, process);
        plan.cpus().map(|cpu| cpu.0).collect::<Vec<_>>()
    };
    assert_eq!(cpus(&list, 0), [3, 1]);
    assert_eq!(cpus(&list, 1), [0, 3]);
    assert_eq!(cpus(&Affinity::Compact, 1), [2, 3]);
    let reasons = of_process(&list, 1).entries;
    assert!(
        reasons[0].reason.starts_with("entry 3 of the list: "),
        "{reasons:?}"
    );
    assert!(
        reasons[1].reason.starts_with("entry 1 of the list again: "),
        "{reasons:?}"
    );
}
