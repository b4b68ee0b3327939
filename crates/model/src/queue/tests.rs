//! Compares the queues with a simulation, with each other, and with their sums.

use std::collections::VecDeque;

use rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

fn bounded(load: f64, places: u32) -> BoundedQueue {
    BoundedQueue::new(Rate(load), Nanoseconds(1.0), places).unwrap()
}

/// Simulates `arrivals` arrivals. Returns the refused share, and the mean time in the queue of the
/// others.
fn simulated(load: f64, places: usize, arrivals: usize) -> (f64, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(73);
    let mut draw = || -> f64 { Exp1.sample(&mut random) };
    let mut ends: VecDeque<f64> = VecDeque::new();
    let (mut now, mut last_end, mut refused, mut times) = (0.0, 0.0_f64, 0, 0.0);
    for _ in 0..arrivals {
        now += draw() / load;
        while ends.front().is_some_and(|&end| end <= now) {
            ends.pop_front();
        }
        if ends.len() == places {
            refused += 1;
            continue;
        }
        last_end = last_end.max(now) + draw();
        ends.push_back(last_end);
        times += last_end - now;
    }
    let admitted = arrivals - refused;
    (refused as f64 / arrivals as f64, times / admitted as f64)
}

#[test]
fn a_simulation_finds_the_same() {
    for (load, places) in [(0.4, 32), (0.8, 8), (1.0, 6), (1.5, 4)] {
        let queue = bounded(load, places);
        let (refused, response) = simulated(load, places as usize, 2_000_000);
        let off = response / queue.response().0 - 1.0;
        assert!(off.abs() < 0.01, "load {load}: {off}");
        assert!((refused - queue.refused()).abs() < 0.01 * queue.refused() + 1e-4);
    }
}

#[test]
fn states_add_up_and_have_the_mean() {
    for load in [0.01, 0.5, 0.999_99, 1.0, 1.000_01, 3.0, 1e6] {
        for places in [1, 2, 32, 3_584] {
            let queue = bounded(load, places);
            let sum: f64 = (0..=places).map(|jobs| queue.probability(jobs)).sum();
            let mean: f64 = (0..=places)
                .map(|jobs| f64::from(jobs) * queue.probability(jobs))
                .sum();
            assert!((sum - 1.0).abs() < 1e-9, "{load} {places}: {sum}");
            let off = (mean - queue.jobs()).abs();
            assert!(
                off < 1e-8 * mean,
                "{load} {places}: {mean} {}",
                queue.jobs()
            );
        }
    }
}

#[test]
fn a_large_capacity_approaches_the_unbounded_queue() {
    let open = Queue::new(Rate(0.4), Nanoseconds(1.0)).unwrap();
    let off = bounded(0.4, 96).response().0 / open.response().0 - 1.0;
    assert!(off.abs() < 1e-12, "{off}");
    assert_eq!(bounded(0.4, 96).probability(97), 0.0);
}

#[test]
fn a_queue_that_grows_without_bound_is_refused() {
    let error = Queue::new(Rate(2.0), Nanoseconds(0.5)).unwrap_err();
    assert!(
        error.to_string().contains("load of the queue is 1"),
        "{error}"
    );
    assert!(Queue::new(Rate(0.0), Nanoseconds(1.0)).is_err());
    assert!(BoundedQueue::new(Rate(1.0), Nanoseconds(-1.0), 3).is_err());
    assert!(BoundedQueue::new(Rate(1.0), Nanoseconds(1.0), 0).is_err());
}
