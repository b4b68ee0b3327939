//! Orders and reasons on small machines, word for word.

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
fn an_explicit_list_is_taken_as_it_stands() {
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
fn reasons_name_the_place_and_the_smallest_thing_shared() {
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
        "core 4 of package 1, first hardware thread; shares no cache, memory or package with another worker"
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
fn nodes_are_named_where_packages_are_not_known() {
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
fn what_cannot_be_planned_is_an_error_that_names_the_cpus() {
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
        "there is no CPU 9; those that may be used are 0-3"
    );
}

#[test]
fn the_table_lines_up() {
    let topology = machine("core:12 pu:1");
    let list: Affinity = "2,11".parse().expect("a list");
    let table = plan(&topology, &list, 2).expect("a plan").to_string();
    assert_eq!(
        table,
        "worker | cpu | why\n\
         -------+-----+----\n     \
         0 |   2 | entry 1 of the list: core 2; shares no cache, memory or package with another worker\n     \
         1 |  11 | entry 2 of the list: core 11; shares no cache, memory or package with another worker\n"
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
