//! Compares the chains with the study, a linear solver, and a random simulation.

use faer::linalg::solvers::Solve;
use faer::{Col, Mat};
use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardUniform};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::speed::SpeedCurve;

fn study(threads: usize) -> Vec<Speed> {
    let curve = SpeedCurve::fitted(3.20, 2.67).unwrap();
    curve.up_to(threads).unwrap()
}

/// Computes the stationary shares of any chain from the rates between its states: the balance of
/// each state but one, and the sum.
fn solved(states: usize, rates: &[(usize, usize, f64)]) -> Vec<f64> {
    let mut matrix = Mat::<f64>::zeros(states, states);
    for &(from, to, rate) in rates {
        matrix[(from, from)] -= rate;
        matrix[(to, from)] += rate;
    }
    for state in 0..states {
        matrix[(states - 1, state)] = 1.0;
    }
    let mut right = Col::<f64>::zeros(states);
    right[states - 1] = 1.0;
    let shares = matrix.full_piv_lu().solve(&right);
    shares.iter().copied().collect()
}

fn rates_of_like(threads: LikeThreads, speeds: &[Speed]) -> Vec<(usize, usize, f64)> {
    let count = threads.threads;
    let up = (0..count).map(|i| (i, i + 1, (count - i) as f64 / threads.wait.0));
    let down = (1..=count).map(|i| (i, i - 1, i as f64 * speeds[i].0 / threads.work.0));
    up.chain(down).collect()
}

/// States 0 to `N_r` are without the handler; the states after them are with it.
fn rates_of_handler(chain: RenderersAndHandler, speeds: &[Speed]) -> Vec<(usize, usize, f64)> {
    let count = chain.renderers;
    let with = count + 1;
    let mut rates = Vec::new();
    for i in 0..=count {
        rates.push((i, with + i, 1.0 / chain.idle.0));
        rates.push((with + i, i, speeds[i + 1].0 / chain.handle.0));
        for (base, above) in [(0, 0), (with, 1)] {
            if i < count {
                rates.push((base + i, base + i + 1, (count - i) as f64 / chain.miss.0));
            }
            if i > 0 {
                let rate = i as f64 * speeds[i + above].0 / chain.render.0;
                rates.push((base + i, base + i - 1, rate));
            }
        }
    }
    rates
}

fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (one, other) in found.iter().zip(expected) {
        assert!(
            (one - other).abs() < tolerance,
            "{found:?} and {expected:?}"
        );
    }
}

#[test]
fn four_like_threads_have_the_studys_shares() {
    let threads = LikeThreads {
        threads: 4,
        work: Nanoseconds(1.0),
        wait: Nanoseconds(1.0),
    };
    let expected = [
        0.046_818_76,
        0.187_341_65,
        0.333_148_36,
        0.308_520_41,
        0.124_170_82,
    ];
    near(&threads.probabilities(&study(4)).unwrap(), &expected, 5e-9);
}

#[test]
fn a_monte_carlo_run_finds_the_same_shares() {
    let chain = RenderersAndHandler {
        renderers: 3,
        render: Nanoseconds(11_777.5),
        miss: Nanoseconds(10_124.6),
        handle: Nanoseconds(768.3),
        idle: Nanoseconds(7_208.8),
    };
    let speeds = study(4);
    let rates = rates_of_handler(chain, &speeds);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(48);
    let mut times = [0.0; 8];
    let mut state = 0;
    for _ in 0..1_000_000 {
        let ways: Vec<_> = rates.iter().filter(|&&(from, ..)| from == state).collect();
        let total: f64 = ways.iter().map(|&&(_, _, rate)| rate).sum();
        let pause: f64 = Exp1.sample(&mut random);
        times[state] += pause / total;
        let draw: f64 = StandardUniform.sample(&mut random);
        let mut left = draw * total;
        for &&(_, to, rate) in &ways {
            state = to;
            left -= rate;
            if left < 0.0 {
                break;
            }
        }
    }
    let all: f64 = times.iter().sum();
    let shares: Vec<_> = times.iter().map(|time| time / all).collect();
    let found = chain.solve(&speeds).unwrap();
    let expected: Vec<_> = found
        .without_handler
        .iter()
        .chain(&found.with_handler)
        .copied()
        .collect();
    near(&shares, &expected, 2e-3);
}

#[test]
fn many_threads_neither_overflow_nor_vanish() {
    let chain = RenderersAndHandler {
        renderers: 5_000,
        render: Nanoseconds(1e6),
        miss: Nanoseconds(1.0),
        handle: Nanoseconds(10.0),
        idle: Nanoseconds(3.0),
    };
    let found = chain.solve(&study(5_001)).unwrap();
    let sum: f64 = found
        .without_handler
        .iter()
        .chain(&found.with_handler)
        .sum();
    assert!((sum - 1.0).abs() < 1e-9);
    assert!(found.renderer_speed.0.is_finite() && found.handler_speed.0.is_finite());
}

#[test]
fn parameters_outside_the_range_of_the_chain_are_refused() {
    let good = RenderersAndHandler {
        renderers: 2,
        render: Nanoseconds(1.0),
        miss: Nanoseconds(1.0),
        handle: Nanoseconds(1.0),
        idle: Nanoseconds(1.0),
    };
    let speeds = study(3);
    assert!(good.solve(&speeds).is_ok());
    let report = |chain: RenderersAndHandler| chain.solve(&speeds).unwrap_err().quantity;
    assert_eq!(
        report(RenderersAndHandler {
            renderers: 0,
            ..good
        }),
        "renderers"
    );
    assert_eq!(
        report(RenderersAndHandler {
            render: Nanoseconds(-1.0),
            ..good
        }),
        "T_r"
    );
    assert_eq!(
        report(RenderersAndHandler {
            miss: Nanoseconds(0.0),
            ..good
        }),
        "T_c"
    );
    assert_eq!(
        report(RenderersAndHandler {
            handle: Nanoseconds(f64::NAN),
            ..good
        }),
        "T_h"
    );
    assert_eq!(
        report(RenderersAndHandler {
            idle: Nanoseconds(f64::INFINITY),
            ..good
        }),
        "T_m"
    );
    assert_eq!(good.solve(&speeds[..3]).unwrap_err().quantity, "speeds");
}

proptest! {
    #[test]
    fn like_threads_agree_with_a_linear_solver(
        threads in 1_usize..12, odds in -2.0_f64..2.0, aggregate in 1.0_f64..6.0,
            saturation in 0.5_f64..6.0,
    ) {
        let speeds = SpeedCurve::fitted(aggregate, saturation).unwrap().up_to(threads).unwrap();
        let work = Nanoseconds(10_f64.powf(odds));
            let threads = LikeThreads { threads, work, wait: Nanoseconds(1.0) };
        let expected = solved(threads.threads + 1, &rates_of_like(threads, &speeds));
        near(&threads.probabilities(&speeds).unwrap(), &expected, 1e-12);
    }

    #[test]
    fn renderers_and_handler_agree_with_a_linear_solver(
        renderers in 1_usize..9, odds in -1.5_f64..1.5, handler_odds in -2.0_f64..1.0,
            saturation in 0.5_f64..6.0,
    ) {
        let speeds = SpeedCurve::fitted(3.2, saturation).unwrap().up_to(renderers + 1).unwrap();
        let chain = RenderersAndHandler {
            renderers,
            render: Nanoseconds(10_f64.powf(odds)),
            miss: Nanoseconds(1.0),
            handle: Nanoseconds(10_f64.powf(handler_odds)),
            idle: Nanoseconds(1.0),
        };
        let expected = solved(2 * renderers + 2, &rates_of_handler(chain, &speeds));
        let found = chain.solve(&speeds).unwrap();
        near(&found.without_handler, &expected[..=renderers], 1e-12);
        near(&found.with_handler, &expected[renderers + 1..], 1e-12);
    }
}
