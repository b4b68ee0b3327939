//! What a bar says, and that phases end whatever was told to them.

use super::*;

/// The bar began with "0 % … 0s to go", which nobody could know.
#[test]
fn nothing_is_said_of_the_rest_before_there_is_something_to_go_by() {
    let mut forecast = Forecast::default();
    let mut times = |share, seconds| forecast.times(share, Duration::from_secs(seconds));
    assert_eq!(times(0.0, 1), "1 s");
    assert_eq!(times(0.0, 2), "2 s");
    assert_eq!(times(0.0625, 10), "10 s");
    assert_eq!(times(0.0626, 11), "11 s");
    // A quarter in five seconds, whatever went before it.
    assert_eq!(times(0.3125, 15), "15 s, 14 s to go");
    assert_eq!(times(1.0, 29), "29 s, 0 s to go");
}

#[test]
fn the_furthest_that_was_told_counts() {
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

/// Nobody looks at a spinner that stays up when its work is done, nor waits for it.
#[test]
fn a_drawer_ends_with_its_phase() {
    let count = Arc::<Count>::default();
    let drawer = {
        let count = Arc::clone(&count);
        thread::spawn(move || count.draw("testing", Instant::now()))
    };
    drop(Phase {
        began: Instant::now(),
        count: Arc::clone(&count),
        drawer: Some(drawer),
    });
    assert_eq!(Arc::strong_count(&count), 1);
}
