//! Every way to wait answers every round trip, at once and late.

use super::*;
use crate::suites::waits::tokio_peer;
use crate::two_threads;

const TRIPS: u32 = 10;
const PAUSES: [Option<Duration>; 2] = [None, Some(Duration::from_micros(50))];

fn check(play: impl Fn((usize, usize), Option<Duration>) -> Totals) {
    let Ok(cpus) = two_threads::cpus() else {
        return;
    };
    for pause in PAUSES {
        let totals = play(cpus, pause);
        assert_eq!(totals.right, u64::from(TRIPS), "{pause:?}");
        assert!(!totals.time.is_zero(), "{pause:?}");
    }
}

fn check_direction<D: Direction + Default>() {
    check(|cpus, pause| play(&D::default(), &D::default(), cpus, TRIPS, pause));
}

#[test]
fn bare_threads_answer_every_round_trip() {
    check_direction::<SpinWord<false>>();
    check_direction::<SpinWord<true>>();
    check_direction::<FutexWord>();
    check_direction::<Channel>();
}

#[test]
fn tokio_answers_every_round_trip() {
    check(|cpus, pause| tokio_peer::tasks(cpus, TRIPS, pause).expect("a runtime"));
    check(|cpus, pause| tokio_peer::threads(cpus, TRIPS, pause).expect("two runtimes"));
}
