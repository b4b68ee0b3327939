//! The probe ends, and distinguishes the two modes at their typical values.

use super::*;

#[test]
fn one_worker_needs_no_probe() {
    assert_eq!(mode(1), Mode::OneThread);
}

#[test]
fn the_typical_round_trips_of_both_modes_are_classified() {
    assert_eq!(classify(Duration::from_nanos(105)), Mode::Near);
    assert_eq!(classify(Duration::from_nanos(490)), Mode::Far);
}

#[test]
fn the_probe_does_not_change_the_callers_binding() {
    let before = sched_getaffinity(None).expect("the affinity mask is readable");
    let found = mode(2);
    assert_eq!(sched_getaffinity(None).expect("still readable"), before);
    assert_eq!(found == Mode::OneThread, two_cpus().is_none());
}
