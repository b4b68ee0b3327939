//! The probe ends, and tells the two modes apart where they lie.

use super::*;

#[test]
fn one_worker_needs_no_probe() {
    assert_eq!(mode(1), Mode::OneThread);
}

#[test]
fn the_two_modes_lie_on_either_side_of_the_limit() {
    assert_eq!(classify(Duration::from_nanos(105)), Mode::Near);
    assert_eq!(classify(Duration::from_nanos(490)), Mode::Far);
}

#[test]
fn the_probe_leaves_the_callers_binding_alone() {
    let before = sched_getaffinity(None).expect("the affinity mask is readable");
    let found = mode(2);
    assert_eq!(sched_getaffinity(None).expect("still readable"), before);
    assert_eq!(found == Mode::OneThread, two_cpus().is_none());
}
