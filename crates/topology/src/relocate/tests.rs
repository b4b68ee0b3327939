//! Moves that pay, moves that do not, and machines on which no move can pay.

use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn machine(description: &str) -> Topology {
    Topology::synthetic(description).expect(description)
}

fn on(cpus: &[u32]) -> Vec<Option<CpuId>> {
    cpus.iter().map(|&cpu| Some(CpuId(cpu))).collect()
}

/// Returns a matrix in which each pair exchanges `bytes`.
fn pairs(order: usize, pairs: &[(usize, usize)], bytes: f64) -> Matrix {
    let mut matrix = Matrix::new(order);
    for &(left, right) in pairs {
        matrix.add(left, right, bytes);
    }
    matrix
}

fn decide(topology: &Topology, matrix: &Matrix, present: &[Option<CpuId>]) -> Decision {
    relocate(matrix, SECOND, present, topology, &PlaceOptions::new())
}

fn after(decision: &Decision, present: &[Option<CpuId>]) -> Vec<Option<CpuId>> {
    let mut cpus = present.to_vec();
    for step in &decision.moves {
        assert_eq!(cpus[step.party], Some(step.from));
        cpus[step.party] = Some(step.to);
    }
    cpus
}

#[test]
fn pairs_with_traffic_come_together_by_the_fewest_moves() {
    let topology = machine("package:2 core:4 pu:1");
    let present = on(&[0, 1, 2, 3, 4, 5, 6, 7]);
    // All pairs are well placed but for two, which have exchanged partners.
    let matrix = pairs(8, &[(0, 1), (2, 4), (3, 5), (6, 7)], 1e8);
    let decision = decide(&topology, &matrix, &present);
    assert_eq!(decision.moves.len(), 2, "{decision}");
    let package = |cpu: Option<CpuId>| topology.cpu(cpu?).and_then(|cpu| cpu.package);
    let cpus = after(&decision, &present);
    for (left, right) in [(0, 1), (2, 4), (3, 5), (6, 7)] {
        assert_eq!(package(cpus[left]), package(cpus[right]));
    }
    // Each of two pairs saves a distance of 10 for 1e8 bytes at 0.1 ns. The price is that of two
    // second-level caches of 1 MiB at 10 GB/s with 50 µs each.
    assert_eq!(decision.gain.as_millis(), 200);
    assert!(
        decision.price > Duration::from_micros(300) && decision.price < Duration::from_millis(2)
    );
    assert!(
        decision
            .reason
            .starts_with("2 move: it saves 200.0ms in 1.0s"),
        "{decision}"
    );
}

#[test]
fn no_party_moves_if_the_gain_is_below_the_price() {
    let topology = machine("package:2 core:2 pu:1");
    let present = on(&[0, 1, 2, 3]);
    let small = decide(&topology, &pairs(4, &[(0, 3), (1, 2)], 1e4), &present);
    assert!(small.moves.is_empty());
    assert!(small.reason.starts_with("no party moves: "), "{small}");
    let nothing = decide(&topology, &Matrix::new(4), &present);
    assert_eq!(nothing.reason, "no party moves: they exchange no data");
}

#[test]
fn no_party_moves_on_a_symmetric_machine_or_from_a_good_placement() {
    let flat = machine("package:1 core:8 pu:1");
    let matrix = pairs(4, &[(0, 3), (1, 2)], 1e12);
    let decision = decide(&flat, &matrix, &on(&[0, 1, 2, 3]));
    assert_eq!(
        decision.reason,
        "no party moves: all placements cost the same on this machine"
    );
    let deep = machine("package:2 l3:2 core:2 pu:2");
    let placement = place(&matrix, &deep, &PlaceOptions::new()).expect("a placement");
    let present: Vec<_> = placement.cpus.into_iter().map(Some).collect();
    assert!(decide(&deep, &matrix, &present).moves.is_empty());
}

#[test]
fn free_cpus_are_used_only_if_they_may_be_used() {
    let topology = machine("package:2 core:2 pu:1");
    let present = on(&[0, 2]);
    let matrix = pairs(2, &[(0, 1)], 1e9);
    assert_eq!(decide(&topology, &matrix, &present).moves.len(), 1);
    let only = PlaceOptions::new().cpus([CpuId(0), CpuId(2)].into_iter().collect());
    let decision = relocate(&matrix, SECOND, &present, &topology, &only);
    assert!(decision.moves.is_empty());
}

#[test]
fn unbound_parties_stay_unbound() {
    let topology = machine("package:2 core:4 pu:1");
    let present = [Some(CpuId(0)), None, Some(CpuId(4)), None];
    let matrix = pairs(4, &[(0, 2), (1, 3), (0, 1)], 1e9);
    let decision = decide(&topology, &matrix, &present);
    let cpus = after(&decision, &present);
    assert_eq!(decision.moves.len(), 1, "{decision}");
    assert_eq!((cpus[1], cpus[3]), (None, None));
    let alone = decide(&topology, &matrix, &[Some(CpuId(0)), None, None, None]);
    assert_eq!(
        alone.reason,
        "no party moves: fewer than two of them are bound"
    );
}

#[test]
fn parties_move_once_the_loss_reaches_the_price() {
    let topology = machine("package:2 core:2 pu:1");
    let present = on(&[0, 1, 2, 3]);
    let moved_after = (0..60).find(|&step| {
        let observed = Duration::from_micros(100) * (1 << step);
        // 10 MB a second each.
        let matrix = pairs(4, &[(0, 3), (1, 2)], 1e7 * observed.as_secs_f64());
        let decision = relocate(&matrix, observed, &present, &topology, &PlaceOptions::new());
        // The moves happen when the loss is at least the price, and at most twice the price.
        let lost = 2.0 * 1e7 * observed.as_secs_f64() * 10.0 * HOP_BYTE_NS;
        if decision.moves.is_empty() {
            return false;
        }
        let price = decision.price.as_nanos() as f64;
        assert!(lost >= price && lost <= 2.1 * price, "{lost} {price}");
        true
    });
    assert!(moved_after.is_some());
}

proptest! {
    #[test]
    fn moves_give_a_placement_that_saves_more_than_its_price(
        packages in 1_usize..4, cores in 1_usize..4, threads in 1_usize..3,
        entries in proptest::collection::vec((0_usize..8, 0_usize..8, 0.0_f64..1e8), 0..30),
        order in 2_usize..8,
    ) {
        let topology = machine(&format!("package:{packages} core:{cores} pu:{threads}"));
        let count = order.min(topology.cpu_count());
        let mut matrix = Matrix::new(order);
        for (from, to, bytes) in entries {
            if from < order && to < order {
                matrix.add(from, to, bytes);
            }
        }
        // The order is reversed, so that there is something to gain.
        let reversed = topology.cpus().iter().rev().map(|cpu| Some(cpu.id));
        let mut present: Vec<_> = reversed.take(count).collect();
        present.resize(order, None);
        let decision = decide(&topology, &matrix, &present);
        let cpus = after(&decision, &present);
        let distinct: CpuSet = cpus.iter().flatten().copied().collect();
        prop_assert_eq!(distinct.len(), count);
        if !decision.moves.is_empty() {
            prop_assert!(decision.gain > decision.price);
            let bound: Vec<usize> = (0..count).collect();
            let hop_bytes = |cpus: &[Option<CpuId>]| {
                let cpus: Vec<CpuId> = cpus.iter().flatten().copied().collect();
                let part = part_of(&matrix, &bound);
                crate::cost(&part, &topology, &cpus).expect("CPUs of the machine")
            };
            let saved = (hop_bytes(&present) - hop_bytes(&cpus)) * HOP_BYTE_NS;
            prop_assert!((saved - decision.gain.as_nanos() as f64).abs() <= 1.0 + 1e-6 * saved);
        }
    }
}
