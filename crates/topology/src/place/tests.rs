//! What every placement keeps, and that it is good.

use super::random::Random;
use super::*;
use crate::cpu_set::CpuSet;

/// Machines small enough for the exact optimum, some of them uneven through CPUs that may not be used.
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
            let talks = !sparse || random.below(order) < 2;
            if from != to && talks {
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
