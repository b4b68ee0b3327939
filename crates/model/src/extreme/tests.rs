//! Compares the expected largest draw with known values, the study, and random draws.

use rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

#[test]
fn known_values() {
    let known = [
        (1, 0.0),
        (2, 1.0 / PI.sqrt()),
        (3, 1.5 / PI.sqrt()),
        // ½ + (3/π) arcsin(1/3) is the chance behind it: Harter 1961, table 1, to 5 digits.
        (4, 1.029_375_373_003_964),
        (5, 1.162_964_473_640_518),
    ];
    for (draws, expected) in known {
        let found = expected_largest(draws).unwrap();
        assert!((found - expected).abs() < 1e-12, "{draws}: {found}");
    }
    for (draws, expected) in [(8, "1.423600"), (32, "2.069669"), (256, "2.826863")] {
        assert_eq!(format!("{:.6}", expected_largest(draws).unwrap()), expected);
    }
}

#[test]
fn ratios_of_the_study() {
    let of = |draws| expected_largest(draws).unwrap() / expected_largest(32).unwrap();
    assert_eq!(format!("{:.2} {:.3}", of(64), of(512)), "1.13 1.471");
    assert_eq!(
        format!("{:.1} {:.1}", 13.0 * of(64), 13.0 * of(512)),
        "14.7 19.1"
    );
}

#[test]
fn random_draws_have_that_mean() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(51);
    // 10⁶ groups of that many draws each. The standard error of the mean of n of them is below 0.9
    // / √n.
    for draws in [2_u32, 8, 32] {
        let groups = 1_000_000_u32;
        let sum: f64 = (0..groups)
            .map(|_| {
                (0..draws)
                    .map(|_| -> f64 { StandardNormal.sample(&mut random) })
                    .fold(f64::NEG_INFINITY, f64::max)
            })
            .sum();
        let off = sum / f64::from(groups) - expected_largest(draws).unwrap();
        assert!(off.abs() < 3.6 / f64::from(groups).sqrt(), "{draws}: {off}");
    }
}

#[test]
fn it_grows_without_end_but_slowly() {
    let mut last = 0.0;
    for draws in [2, 10, 100, 1_000, 10_000, 100_000, DRAWS_MAX] {
        let found = expected_largest(draws).unwrap();
        assert!(found > last && found < (2.0 * f64::from(draws).ln()).sqrt());
        last = found;
    }
    assert!((last - 4.863).abs() < 1e-3, "of 10⁶: {last}");
}

#[test]
fn zero_draws_are_refused() {
    assert!(expected_largest(0).is_err());
    assert!(expected_largest(DRAWS_MAX + 1).is_err());
}
