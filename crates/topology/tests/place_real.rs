//! Placement of measured matrices on real machines: every placement keeps its limits, and
//! placements by traffic cost no more than the baselines.

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;

use common::xml_file;
use raddle_topology::{
    Control, CpuSet, Matrix, PlaceOptions, Placement, Strategy, Topology, place,
};

const MATRICES: [&str; 5] = [
    "comm-matrices/maplib_cg_64_size.csv",
    "comm-matrices/maplib_btmz_64_size.csv",
    "comm-matrices/maplib_lulesh_64_size.csv",
    "comm-matrices/maplib_amg_64_size.csv",
    "comm-matrices/eagermap_nas_sp_omp_64.csv",
];

/// Machines with latencies, uneven trees, hardware threads, fewer CPUs than parties, and several
/// memories per CPU.
const MACHINES: [&str; 7] = [
    "192em64t-24n8c2t",
    "192em64t-12gr2n8c2t",
    "x86-AMD-17h-Zen-2xEpyc-7451",
    "power8gpudistances",
    "linux-128ia64-17n4s2c",
    "linux-48amd64-4d2n6c-sparse",
    "linux-64intel64-fakeKNL-SNC4-hybrid",
];

/// Returns the path of a real data file.
fn data(name: &str) -> PathBuf {
    let folder = std::env::var_os("RADDLE_DATA")
        .expect("RADDLE_DATA must name the folder with the real test data; see CONTRIBUTING.md");
    PathBuf::from(folder).join("topology").join(name)
}

/// Checks that a placement uses only usable CPUs, and that it uses cores and CPUs evenly.
#[track_caller]
fn check(placement: &Placement, topology: &Topology, usable: &CpuSet, what: &str) {
    let (mut on_cpu, mut on_core) = (BTreeMap::new(), BTreeMap::new());
    for &cpu in &placement.cpus {
        assert!(usable.contains(cpu), "{what}: CPU {cpu}");
        *on_cpu.entry(cpu).or_insert(0_usize) += 1;
        let core = topology.cpu(cpu).and_then(|cpu| cpu.core);
        *on_core.entry(core).or_insert(0_usize) += 1;
    }
    let most = placement.cpus.len().div_ceil(usable.len());
    assert!(on_cpu.values().all(|count| *count <= most), "{what}");
    let core_of = |cpu| topology.cpu(cpu).and_then(|cpu| cpu.core);
    let core_count = usable
        .iter()
        .map(core_of)
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    assert_eq!(
        on_core.len(),
        core_count.min(placement.cpus.len()),
        "{what}"
    );
}

#[test]
fn measured_matrices_are_placed_on_real_machines() {
    for machine in MACHINES {
        let topology = Topology::from_xml(xml_file(machine)).unwrap();
        let all = topology.allowed_set();
        // Use every CPU, and an uneven part of them.
        let part: CpuSet = all
            .iter()
            .filter(|cpu| cpu.0 % 7 != 3 && cpu.0 % 16 < 11)
            .collect();
        for file in MATRICES {
            let matrix = Matrix::read(data(file)).unwrap();
            for usable in [&all, &part] {
                let what = format!("{file} on {machine}, CPUs {usable}");
                let options = PlaceOptions::new().cpus(usable.clone());
                let solve = |strategy| {
                    place(&matrix, &topology, &options.clone().strategy(strategy)).unwrap()
                };
                let found = solve(Strategy::TreeMatch);
                check(&found, &topology, usable, &what);
                for baseline in Strategy::BASELINES {
                    let other = solve(baseline);
                    check(&other, &topology, usable, &what);
                    assert!(
                        found.cost <= other.cost * (1.0 + 1e-6),
                        "{what}: {baseline}"
                    );
                }
            }
        }
    }
}

#[test]
fn compressed_scotch_graphs_are_read() {
    let counts = [
        ("3elt", 4720, 27444),
        ("4elt", 15606, 91756),
        ("bump", 9800, 57978),
    ];
    for (name, order, arcs) in counts {
        let graph = Matrix::read(data(&format!("scotch/{name}.grf.gz"))).unwrap();
        assert_eq!(
            (graph.order(), graph.entry_count()),
            (order, arcs),
            "{name}"
        );
        assert!(
            graph
                .entries()
                .all(|(from, to, load)| graph.get(to, from) == load)
        );
    }
}

#[test]
fn a_mesh_is_placed_far_better_than_in_order() {
    let graph = Matrix::read(data("scotch/3elt.grf.gz")).unwrap();
    let topology = Topology::from_xml(xml_file("192em64t-24n8c2t")).unwrap();
    let solve =
        |strategy| place(&graph, &topology, &PlaceOptions::new().strategy(strategy)).unwrap();
    let (found, compact) = (
        solve(Strategy::TreeMatch).cost,
        solve(Strategy::Compact).cost,
    );
    assert!(found < 0.5 * compact, "{found} and {compact}");
}

#[test]
fn control_threads_on_the_machine_of_the_study_get_the_other_hardware_threads() {
    let topology = Topology::from_xml(xml_file("derived-uv-12node")).unwrap();
    let matrix = Matrix::read(data(MATRICES[2])).unwrap();
    let options = PlaceOptions::new().control(Control::Reserved);
    let placement = place(&matrix, &topology, &options).unwrap();
    for (&cpu, &control) in placement.cpus.iter().zip(&placement.control) {
        let control = control.expect("a control CPU");
        assert!(cpu != control && topology.smt_siblings(cpu).any(|sibling| sibling == control));
    }
}
