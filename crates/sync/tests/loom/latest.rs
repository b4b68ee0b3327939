//! Models of words that are read and replaced together: no thread sees a mixture of two states.
//!
//! Weakening either side of Y1 or Y2 makes the first model fail.

use loom::sync::Arc;
use loom::thread;
use raddle_sync::latest::Latest;

/// Checks Y1 and Y2: a reader sees both words of one state, whatever a writer does meanwhile.
#[test]
fn a_reader_sees_one_state() {
    loom::model(|| {
        let latest = Arc::new(Latest::<2>::zeros());
        let reader = {
            let latest = Arc::clone(&latest);
            thread::spawn(move || {
                if let Some([first, second]) = latest.read() {
                    assert_eq!(first, second);
                }
            })
        };
        for _ in 0..2 {
            assert!(latest.update(|words| words.map(|word| word + 1)));
        }
        reader.join().expect("no panic");
        assert_eq!(latest.read(), Some([2, 2]));
    });
}

/// Checks Y1: no update is lost without a report, and an update sees the whole earlier one.
#[test]
fn two_writers_count_their_updates() {
    loom::model(|| {
        let latest = Arc::new(Latest::<2>::zeros());
        let update = |latest: &Latest<2>| {
            u64::from(latest.update(|[first, second]| {
                // A mixture is possible here, but then its result is lost.
                [first + 1, second + 1]
            }))
        };
        let other = {
            let latest = Arc::clone(&latest);
            thread::spawn(move || update(&latest))
        };
        let own = update(&latest);
        let updates = own + other.join().expect("no panic");
        assert!((1..=2).contains(&updates));
        assert_eq!(latest.read(), Some([updates, updates]));
    });
}
