//! Models of a value that is set late: a thread that sees the value also sees its content.
//!
//! Weakening either side of L1 makes the model fail.

use loom::sync::Arc;
use loom::thread;
use raddle_sync::late::Late;
use raddle_sync::prim::Tracked;

/// Checks L1: two threads set the value, a third one reads it, and one of the two succeeds.
#[test]
fn the_value_is_complete_and_set_once() {
    loom::model(|| {
        let late = Arc::new(Late::new());
        let setters: Vec<_> = [1, 2]
            .map(|number| {
                let late = Arc::clone(&late);
                thread::spawn(move || {
                    let value = Tracked::new(0);
                    value.set(number);
                    late.set(value).is_ok()
                })
            })
            .into();
        if let Some(value) = late.get() {
            assert!([1, 2].contains(&value.get()));
        }
        let set: usize = setters
            .into_iter()
            .map(|setter| usize::from(setter.join().expect("no panic")))
            .sum();
        assert_eq!(set, 1);
        assert!(late.get().is_some());
    });
}
