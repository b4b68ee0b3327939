//! Compares the speed curves and their fit with the study.

use super::*;

const TABLE_4: [f64; 8] = [1.0, 0.876, 0.717, 0.644, 0.502, 0.504, 0.412, 0.384];

#[test]
fn the_fit_of_the_studys_table_is_the_studys() {
    let fit = Fit::of(&TABLE_4).unwrap();
    assert!((fit.aggregate - 3.20).abs() < 0.01, "{fit:?}");
    assert!((fit.saturation - 2.67).abs() < 0.01, "{fit:?}");
}

#[test]
fn one_thread_of_the_fitted_curve_is_not_quite_1() {
    let curve = SpeedCurve::fitted(3.20, 2.67).unwrap();
    assert!((curve.of(1).0 - 0.999_644).abs() < 5e-7);
    assert_eq!(curve.of(0), Speed::ALONE);
}

#[test]
fn measured_speeds_are_returned_unchanged() {
    let curve = SpeedCurve::measured(&TABLE_4).unwrap();
    assert_eq!(curve.of(3), Speed(0.717));
    let speeds = curve.up_to(8).unwrap();
    assert_eq!(speeds.len(), 9);
    let error = curve.up_to(9).unwrap_err();
    assert!(error.to_string().contains("9 threads"), "{error}");
}

#[test]
fn the_fit_recovers_the_curve_of_generated_speeds() {
    for saturation in [0.8, 2.67, 9.0] {
        let of = Fit::through_one(saturation);
        let speeds: Vec<_> = (1..=8).map(|n| of.together(n) / n as f64).collect();
        let found = Fit::of(&speeds).unwrap();
        assert!((found.aggregate - of.aggregate).abs() < 1e-5, "{found:?}");
        assert!((found.saturation - saturation).abs() < 1e-5, "{found:?}");
    }
}

#[test]
fn threads_that_take_turns_fit_a_core_of_one_thread() {
    let speeds: Vec<_> = (1..=8).map(|n| 1.0 / f64::from(n)).collect();
    let found = Fit::of(&speeds).unwrap();
    assert!((found.together(1) - 1.0).abs() < 1e-3, "{found:?}");
    assert!((found.together(8) - 1.0).abs() < 1e-3, "{found:?}");
}

#[test]
fn invalid_speeds_are_refused() {
    assert!(SpeedCurve::measured(&[]).is_err());
    assert!(SpeedCurve::measured(&[1.0, 0.0]).is_err());
    assert!(SpeedCurve::fitted(f64::NAN, 1.0).is_err());
    assert!(SpeedCurve::fitted(3.2, -1.0).is_err());
    assert!(Fit::of(&[1.0]).is_err());
    assert!(Fit::of(&[1.0, f64::INFINITY]).is_err());
}
