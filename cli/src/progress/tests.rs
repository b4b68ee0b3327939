//! What a bar says, and that phases end whatever was told to them.

use super::*;

/// The bar began with "0 % … 0s to go", which nobody could know.
#[test]
fn nothing_is_said_of_the_rest_before_there_is_something_to_go_by() {
    let second = Duration::from_secs(1);
    assert_eq!(to_go(0, 0, second), "");
    assert_eq!(to_go(0, 3072, second), "");
    assert_eq!(to_go(1, 3072, second), "");
    assert_eq!(to_go(768, 3072, second), ", 3 s to go");
    assert_eq!(to_go(3072, 3072, second), ", 0 s to go");
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
