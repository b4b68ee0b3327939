//! The text of a bar, and the end of a phase.

use super::*;

// Regression: the bar began with "0 % … 0s to go", although nothing was known yet.
#[test]
fn the_remaining_time_appears_only_once_it_can_be_estimated() {
    let mut forecast = Forecast::default();
    let mut times = |share, seconds| forecast.times(share, Duration::from_secs(seconds));
    assert_eq!(times(0.0, 1), "1 s");
    assert_eq!(times(0.0, 2), "2 s");
    assert_eq!(times(0.0625, 10), "10 s");
    assert_eq!(times(0.0626, 11), "11 s");
    // A quarter took five seconds; the time before it does not count.
    assert_eq!(times(0.3125, 15), "15 s, 14 s to go");
    assert_eq!(times(1.0, 29), "29 s, 0 s to go");
}

#[test]
fn a_share_never_decreases() {
    let phase = Phase::begin("testing", true);
    phase.at_share(0.5);
    phase.at_share(0.25);
    assert_eq!(phase.count.done.load(Relaxed), 5_000);
    assert_eq!(phase.count.total.load(Relaxed), 10_000);
    let phase = Phase::begin("testing", true);
    phase.one_more_of(7);
    phase.one_more_of(7);
    assert_eq!(phase.count.done.load(Relaxed), 2);
}

// A spinner that outlived its work would stay on the screen, and delay the end of the program.
#[test]
fn the_drawing_thread_ends_with_its_phase() {
    let count = Arc::<Count>::default();
    let drawer = {
        let count = Arc::clone(&count);
        thread::spawn(move || count.draw("testing", Instant::now()))
    };
    drop(Phase {
        began: Instant::now(),
        count: Arc::clone(&count),
        drawer: Some(drawer),
        _scope: Scope::begin("testing"),
    });
    assert_eq!(Arc::strong_count(&count), 1);
}
