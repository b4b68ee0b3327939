//! The guarantees of every placement, and the quality of placements.

mod controls;

use super::random::Random;
use super::*;
use crate::cpu_set::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

/// Machines that are small enough for the exact optimum. Some become uneven when CPUs may not be
/// used.
const MACHINES: [&str; 8] = [
    "package:2 core:4 pu:1",
    "package:2 l3:2 core:2 pu:1",
    "numa:4 core:3 pu:1",
    "numa:2 package:2 l2:2 core:2 pu:1",
    "package:3 core:2 pu:2",
    "core:12 pu:1",
    "numa:2 core:2 pu:2",
    "package:2 l3:3 core:2 pu:1",
];

fn random_matrix(random: &mut Random, order: usize) -> Matrix {
    let mut matrix = Matrix::new(order);
    let sparse = random.below(2) == 0;
    for from in 0..order {
        for to in 0..order {
            let is_pair = !sparse || random.below(order) < 2;
            if from != to && is_pair {
                matrix.add(from, to, (random.below(1000) + 1) as f64);
            }
        }
    }
    matrix
}

fn random_cpus(random: &mut Random, topology: &Topology) -> CpuSet {
    let mut cpus: CpuSet = topology.allowed_set();
    if random.below(2) == 0 {
        for cpu in topology.cpus() {
            if cpus.len() > 3 && random.below(3) == 0 {
                cpus.remove(cpu.id);
            }
        }
    }
    cpus
}

#[test]
fn small_cases_cost_at_most_five_percent_more_than_the_optimum() {
    let mut random = Random::new(6);
    let (mut ratios, mut cases) = (0.0, 0);
    for case in 0..200 {
        let topology = Topology::synthetic(MACHINES[case % MACHINES.len()]).unwrap();
        let order = 2 + random.below(9);
        let matrix = random_matrix(&mut random, order);
        let options = PlaceOptions::new().cpus(random_cpus(&mut random, &topology));
        let solve =
            |strategy| place(&matrix, &topology, &options.clone().strategy(strategy)).unwrap();
        let found = solve(Strategy::TreeMatch).cost;
        let least = solve(Strategy::Exact).cost;
        assert!(
            least <= found * (1.0 + 1e-9),
            "case {case}: exact {least}, found {found}"
        );
        for baseline in Strategy::BASELINES {
            let cost = solve(baseline).cost;
            assert!(
                found <= cost * (1.0 + 1e-9),
                "case {case}: {baseline} {cost}, found {found}"
            );
        }
        if least > 0.0 {
            ratios += found / least;
            cases += 1;
        }
    }
    let mean = ratios / f64::from(cases);
    assert!(mean <= 1.05, "mean over {cases} cases: {mean}");
}

fn synthetic(description: &str) -> Topology {
    Topology::synthetic(description).unwrap()
}

/// Returns the matrix of a line of parties, each of which sends to the next.
fn pipeline(order: usize) -> Matrix {
    let mut matrix = Matrix::new(order);
    for party in 1..order {
        matrix.add(party - 1, party, 100.0);
    }
    matrix
}

#[track_caller]
fn fails(matrix: &Matrix, topology: &Topology, options: &PlaceOptions, expected: &str) {
    let error = place(matrix, topology, options).expect_err("an error");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn impossible_placements_are_refused_with_a_reason() {
    let topology = synthetic("core:4 pu:1");
    let options = PlaceOptions::new();
    fails(
        &Matrix::new(0),
        &topology,
        &options,
        "there are no parties to place: the matrix is empty; expected at least 1 party",
    );
    fails(
        &pipeline(2),
        &topology,
        &options.clone().cpus([CpuId(9)].into_iter().collect()),
        "there is no CPU to place parties on: \
         the machine has CPUs 0-3, of which 0-3 may be used, and 9 chosen",
    );
    fails(
        &pipeline(5),
        &topology,
        &options.clone().share(false),
        "5 parties need a CPU each, and 4 may be used; \
         expected fewer parties, more CPUs, or CPUs that are shared",
    );
    fails(
        &pipeline(11),
        &topology,
        &options.clone().strategy(Strategy::Exact),
        "the exact strategy tries placements one by one: found 11 parties, expected at most 10",
    );
    fails(
        &pipeline(2),
        &topology,
        &options.clone().loads(vec![1.0, -1.0]),
        "loads: found -1 for party 1, expected a number from 0 to 1e30",
    );
    fails(
        &pipeline(2),
        &topology,
        &options.loads(vec![1.0]),
        "loads: found 1 numbers, expected 2, one for each party",
    );
    let error = cost(&pipeline(2), &topology, &[CpuId(0), CpuId(7)]).expect_err("an error");
    assert_eq!(
        error.to_string(),
        "placement: found CPU 7, expected a CPU of the topology"
    );
}

#[test]
fn a_single_cpu_gets_all_parties() {
    let topology = synthetic("package:2 core:4 pu:2");
    let options = PlaceOptions::new().cpus([CpuId(5)].into_iter().collect());
    for strategy in [
        Strategy::TreeMatch,
        Strategy::Compact,
        Strategy::Scatter,
        Strategy::Exact,
    ] {
        let placement =
            place(&pipeline(7), &topology, &options.clone().strategy(strategy)).unwrap();
        assert_eq!(placement.cpus, [CpuId(5); 7]);
        assert_eq!((placement.cost, placement.parties_per_cpu), (0.0, 7));
    }
}

#[test]
fn parties_without_traffic_are_spread() {
    let topology = synthetic("numa:2 l3:2 core:4 pu:2");
    let placement = place(&Matrix::new(4), &topology, &PlaceOptions::new()).unwrap();
    let caches: std::collections::BTreeSet<u32> =
        placement.cpus.iter().map(|cpu| cpu.0 / 8).collect();
    assert_eq!(caches.len(), 4, "{:?}", placement.cpus);
}

#[test]
fn a_pipeline_that_fits_into_a_cache_stays_in_it() {
    let topology = synthetic("numa:2 l3:2 core:4 pu:1");
    let placement = place(&pipeline(4), &topology, &PlaceOptions::new()).unwrap();
    let cache = placement.cpus[0].0 / 4;
    assert!(
        placement.cpus.iter().all(|cpu| cpu.0 / 4 == cache),
        "{:?}",
        placement.cpus
    );
}

#[test]
fn loads_are_balanced_where_cpus_are_shared() {
    let topology = synthetic("core:2 pu:1");
    let options = PlaceOptions::new().loads(vec![6.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let placement = place(&pipeline(7), &topology, &options).unwrap();
    let beside = placement
        .cpus
        .iter()
        .filter(|cpu| **cpu == placement.cpus[0])
        .count();
    assert_eq!(beside, 1, "{:?}", placement.cpus);
}

#[test]
fn latencies_decide_which_nodes_are_neighbours() {
    // Two pairs of nodes are near each other, 0 with 3 and 1 with 2, but the tree does not show it.
    let latency = "10 40 40 20 40 10 20 40 40 20 10 40 20 40 40 10";
    let sets = |set: &str| {
        format!(
            "cpuset=\"{set}\" complete_cpuset=\"{set}\" \
             nodeset=\"{set}\" complete_nodeset=\"{set}\""
        )
    };
    let objects: String = (0..4)
        .map(|node| {
            let sets = sets(&format!("0x{:x}", 1 << node));
            let object = |kind: &str, number: u32| {
                let gp_index = 10 + 3 * node + number;
                format!(
                    "<object type=\"{kind}\" os_index=\"{node}\" {sets} gp_index=\"{gp_index}\""
                )
            };
            let (package, memory, pu) =
                (object("Package", 0), object("NUMANode", 1), object("PU", 2));
            format!("{package}>{memory} local_memory=\"4096\"/>{pu}/></object>")
        })
        .collect();
    let machine = sets("0xf");
    let values = format!(
        "<u64values length=\"{}\">{latency}</u64values>",
        latency.len()
    );
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\
         <object type=\"Machine\" os_index=\"0\" {machine} \
         allowed_cpuset=\"0xf\" allowed_nodeset=\"0xf\" gp_index=\"1\">{objects}</object>\
         <distances2 type=\"NUMANode\" nbobjs=\"4\" kind=\"5\" name=\"NUMALatency\" \
         indexing=\"os\">\
         <indexes length=\"8\">0 1 2 3 </indexes>{values}</distances2></topology>"
    );
    let topology = Topology::read_xml(xml.as_bytes(), "four nodes").unwrap();
    let distances = Distances::new(&topology);
    let between = |left, right| distances.between(CpuId(left), CpuId(right)).unwrap();
    assert_eq!(
        (between(0, 3), between(1, 2), between(0, 1), between(2, 2)),
        (20.0, 20.0, 40.0, 0.0)
    );
    let mut matrix = Matrix::new(4);
    matrix.add(0, 1, 100.0);
    matrix.add(2, 3, 100.0);
    let placement = place(&matrix, &topology, &PlaceOptions::new()).unwrap();
    assert_eq!(placement.cost, 4000.0);
}

#[test]
fn large_matrices_are_placed_better_than_in_order() {
    let topology = synthetic("numa:4 l3:4 core:16 pu:1");
    let (width, height) = (60, 50);
    let mut grid = Matrix::new(width * height);
    for party in 0..width * height {
        if party % width + 1 < width {
            grid.add(party, party + 1, 10.0);
        }
        if party + width < width * height {
            grid.add(party, party + width, 10.0);
        }
    }
    let solve =
        |strategy| place(&grid, &topology, &PlaceOptions::new().strategy(strategy)).unwrap();
    let (found, compact) = (solve(Strategy::TreeMatch), solve(Strategy::Compact));
    assert!(
        found.cost < 0.6 * compact.cost,
        "{} and {}",
        found.cost,
        compact.cost
    );
    assert_eq!(found.parties_per_cpu, (width * height).div_ceil(256));
}

mod properties {
    use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

    use super::*;

    const SHAPES: [&str; 6] = [
        "package:2 core:4 pu:2",
        "numa:3 l3:2 core:3 pu:1",
        "core:5 pu:1",
        "numa:2 package:2 core:2 pu:2",
        "package:4 core:1 pu:4",
        "l3:3 core:2 pu:2",
    ];

    /// A shape, a number of parties, entries, a seed, and whether CPUs are reserved for control
    /// threads.
    type Case = (usize, usize, Vec<(usize, usize, u32)>, u64, u8);

    fn cases() -> impl proptest::strategy::Strategy<Value = Case> {
        (
            0..SHAPES.len(),
            1..40_usize,
            proptest::collection::vec((0..40_usize, 0..40_usize, 1..1000_u32), 0..120),
            any::<u64>(),
            0..2_u8,
        )
    }

    fn matrix_of(order: usize, entries: &[(usize, usize, u32)], names: &[usize]) -> Matrix {
        let mut matrix = Matrix::new(order);
        for &(from, to, bytes) in entries {
            matrix.add(names[from % order], names[to % order], f64::from(bytes));
        }
        matrix
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn parties_are_spread_evenly_over_cores_and_cpus(case in cases()) {
            let (shape, order, entries, seed, control) = case;
            let topology = synthetic(SHAPES[shape]);
            let cpus = random_cpus(&mut Random::new(seed), &topology);
            let mut options = PlaceOptions::new().cpus(cpus.clone());
            if control == 1 {
                options = options.control(Control::Reserved);
            }
            let names: Vec<usize> = (0..order).collect();
            let matrix = matrix_of(order, &entries, &names);
            let placement = place(&matrix, &topology, &options).unwrap();
            prop_assert_eq!(placement.cpus.len(), order);
            prop_assert!(placement.cpus.iter().all(|cpu| cpus.contains(*cpu)));
            let mut on_cpu = BTreeMap::new();
            let mut on_core = BTreeMap::new();
            for &cpu in &placement.cpus {
                *on_cpu.entry(cpu).or_insert(0_usize) += 1;
                *on_core.entry(topology.cpu(cpu).unwrap().core).or_insert(0_usize) += 1;
            }
            let cores: BTreeSet<_> =
                cpus.iter().map(|cpu| topology.cpu(cpu).unwrap().core).collect();
            if order <= cores.len() {
                prop_assert!(on_core.values().all(|count| *count == 1));
            } else {
                prop_assert_eq!(on_core.len(), cores.len());
            }
            if control == 0 {
                let most = order.div_ceil(cpus.len());
                prop_assert!(on_cpu.values().all(|count| *count <= most));
            }
            let rated = cost(&matrix, &topology, &placement.cpus).unwrap();
            prop_assert!((rated - placement.cost).abs() <= 1e-9 * rated);
            for baseline in Strategy::BASELINES {
                let other = place(&matrix, &topology, &options.clone().strategy(baseline)).unwrap();
                let most = other.cost * (1.0 + 1e-6);
                prop_assert!(placement.cost <= most, "{} {}", baseline, other.cost);
            }
            let used: CpuSet = placement.cpus.iter().copied().collect();
            for control in placement.control.iter().copied().flatten() {
                prop_assert!(cpus.contains(control) && !used.contains(control));
            }
            if control == 1 {
                let has_spare = on_core.len() < cores.len();
                for (&cpu, control) in placement.cpus.iter().zip(&placement.control) {
                    let core = topology.cpu(cpu).unwrap().core;
                    let on_its_core = |cpu: CpuId| topology.cpu(cpu).unwrap().core == core;
                    let has_sibling = cpus.iter().any(|other| other != cpu && on_its_core(other));
                    prop_assert_eq!(control.is_some(), has_sibling || has_spare);
                    prop_assert_eq!(control.is_some_and(on_its_core), has_sibling);
                }
            }
        }

        #[test]
        fn the_order_of_few_parties_does_not_matter(case in cases()) {
            let (shape, order, entries, seed, _) = case;
            let topology = synthetic(SHAPES[shape]);
            let order = order.min(6);
            let mut names: Vec<usize> = (0..order).collect();
            let options = PlaceOptions::new().strategy(Strategy::Exact);
            let one = place(&matrix_of(order, &entries, &names), &topology, &options).unwrap();
            Random::new(seed).shuffle(&mut names);
            let shuffled = matrix_of(order, &entries, &names);
            let other = place(&shuffled, &topology, &options).unwrap();
            let difference = (one.cost - other.cost).abs();
            prop_assert!(difference <= 1e-6 * one.cost, "{} {}", one.cost, other.cost);
            let found = place(&shuffled, &topology, &PlaceOptions::new()).unwrap();
            prop_assert!(found.cost <= 1.25 * one.cost + 1e-9, "{} {}", found.cost, one.cost);
            let again = place(&shuffled, &topology, &PlaceOptions::new()).unwrap();
            prop_assert_eq!(found, again);
        }

        #[test]
        fn every_text_gives_a_matrix_or_a_one_line_error(text in "[0-9 ,.%\na-z-]{0,80}") {
            match Matrix::from_bytes(text.as_bytes(), "m") {
                Ok(matrix) => prop_assert!(matrix.entries().all(|(_, _, bytes)| bytes > 0.0)),
                Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
            }
        }
    }
}

/// Reproduces a bug: rating a pair of members went through both groups, so 1,000 parties on two
/// CPUs took more than 15 s.
#[test]
fn many_parties_on_few_cpus_are_grouped_quickly() {
    let parties = 600;
    let mut matrix = Matrix::new(parties);
    for one in 0..parties {
        for other in 0..one {
            matrix.add(one, other, 1.0 + ((one * 7 + other * 13) % 31) as f64);
        }
    }
    for machine in ["core:2 pu:1", "core:8 pu:1"] {
        let topology = Topology::synthetic(machine).expect("a machine");
        let placement = place(&matrix, &topology, &PlaceOptions::new()).expect("a placement");
        let compact = PlaceOptions::new().strategy(Strategy::Compact);
        let compact = place(&matrix, &topology, &compact).expect("a placement");
        assert!(placement.cost <= compact.cost);
        assert_eq!(placement.parties_per_cpu, parties / topology.cpu_count());
    }
}

/// Reproduces a bug: with unequal loads, a CPU that was too full lost half of its parties in single
/// moves, each of which scanned all parties, so 40,000 parties took 6.5 s.
#[test]
fn many_parties_of_unequal_work_are_balanced_quickly() {
    let parties = 20_000;
    let mut matrix = Matrix::new(parties);
    for party in 1..parties {
        matrix.add(party - 1, party, 1.0);
    }
    let work: Vec<f64> = (0..parties)
        .map(|party| if party < parties / 2 { 3.0 } else { 1.0 })
        .collect();
    let topology = Topology::synthetic("core:2 pu:1").expect("a machine");
    let options = PlaceOptions::new().loads(work.clone());
    let placement = place(&matrix, &topology, &options).expect("a placement");
    let on_first = placement.cpus.iter().zip(&work);
    let on_first: f64 = on_first
        .filter(|(cpu, _)| cpu.0 == 0)
        .map(|(_, work)| work)
        .sum();
    let share = on_first / work.iter().sum::<f64>();
    assert!((0.47..0.53).contains(&share), "{share}");
    assert!(
        placement.cost < 0.1 * f64::from(parties as u32) * 10.0,
        "{}",
        placement.cost
    );
}

#[test]
fn parties_that_stay_together_are_placed_as_one() {
    let topology = Topology::synthetic("package:2 core:2 pu:1").expect("a machine");
    // A ring, which would be cut at other parties without the labels.
    let labels = vec![0, 5, 5, 9, 9, 0];
    let ring = (0..6).map(|party| (party, (party + 1) % 6, 1.0 + (party % 2) as f64));
    let mut matrix = Matrix::new(6);
    ring.for_each(|(from, to, bytes)| matrix.add(from, to, bytes));
    for strategy in [Strategy::TreeMatch, Strategy::Scatter, Strategy::RoundRobin] {
        let options = PlaceOptions::new().strategy(strategy);
        let placement = place(&matrix, &topology, &options.together(labels.clone()))
            .unwrap_or_else(|error| panic!("{error}"));
        let cpus = &placement.cpus;
        assert_eq!((cpus[0], cpus[1], cpus[3]), (cpus[5], cpus[2], cpus[4]));
        assert!(cpus[0] != cpus[1] && cpus[1] != cpus[3] && cpus[3] != cpus[0]);
        assert_eq!(
            placement.cost,
            cost(&matrix, &topology, cpus).expect("it fits")
        );
        assert_eq!(placement.parties_per_cpu, 2);
    }
    let wrong = PlaceOptions::new().together(vec![0; 5]);
    let error = place(&matrix, &topology, &wrong).expect_err("labels are missing");
    assert_eq!(
        error.to_string(),
        "parties that stay together: found 5 labels, expected 6, one for each party"
    );
}

/// Checks that a full matrix, which is read without its indexes, and a matrix that lacks a single
/// entry, which is not, give the same traffic as any other matrix.
#[test]
fn full_and_almost_full_matrices_give_the_same_traffic_as_others() {
    let order = 7;
    for missing in [None, Some((2, 0)), Some((2, 2)), Some((0, 6)), Some((6, 5))] {
        for has_own in [true, false] {
            let mut matrix = Matrix::new(order);
            let pairs = (0..order).flat_map(|from| (0..order).map(move |to| (from, to)));
            for (from, to) in pairs.filter(|&(from, to)| has_own || from != to) {
                if Some((from, to)) != missing {
                    matrix.add(from, to, (1 + from * order + to) as f64);
                }
            }
            let traffic = super::traffic::Traffic::new(&matrix);
            let most = matrix
                .entries()
                .map(|(_, _, bytes)| bytes)
                .fold(0.0, f64::max);
            for party in 0..order {
                let found: Vec<_> = traffic.neighbours(party).collect();
                let expected: Vec<_> = (0..order)
                    .filter(|&other| other != party)
                    .map(|other| (other, matrix.get(party, other), matrix.get(other, party)))
                    .map(|(other, sent, came)| {
                        let scaled = |bytes: f64| (bytes * (0.5 / most)) as f32;
                        (other, scaled(sent) + scaled(came))
                    })
                    .collect();
                assert_eq!(found, expected, "{missing:?}, {has_own}, party {party}");
            }
        }
    }
}
