//! Values of threads: each its own, no other variable's, and back in the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;

use super::*;
use crate::prim::LIGHT;

#[test]
fn every_thread_has_its_own_value_and_all_come_back() {
    let mut variable = PerThread::<u64>::new();
    thread::scope(|scope| {
        for number in 1..=4 {
            let variable = &variable;
            scope.spawn(move || {
                for round in 1..=if LIGHT { 10 } else { 100 } {
                    let count = variable.with(|count| {
                        *count += number;
                        *count
                    });
                    assert_eq!(count, round * number);
                }
            });
        }
    });
    variable.with(|count| assert_eq!(*count, 0));
    // The threads have ended; what they counted has not.
    let mut counts: Vec<u64> = variable.values_mut().map(|count| *count).collect();
    counts.sort_unstable();
    let rounds = if LIGHT { 10 } else { 100 };
    assert_eq!(counts, [0, 1, 2, 3, 4].map(|number| number * rounds));
    variable.values_mut().for_each(|count| *count = 7);
    variable.with(|count| assert_eq!(*count, 7));
    assert_eq!(variable.into_values().sum::<u64>(), 35);
}

#[test]
fn values_come_in_the_order_of_their_threads() {
    let variable = PerThread::<Vec<&str>>::new();
    variable.with(|words| words.push("first"));
    thread::scope(|scope| {
        scope.spawn(|| variable.with(|words| words.push("second")));
    });
    variable.with(|words| words.push("first again"));
    let words: Vec<_> = variable.into_values().collect();
    assert_eq!(words, [vec!["first", "first again"], vec!["second"]]);
}

#[test]
fn index_that_is_used_again_shows_nothing_of_what_was_there() {
    for round in 0..if LIGHT { 30 } else { 1_000_u64 } {
        let (numbers, texts) = (PerThread::<u64>::new(), PerThread::<String>::new());
        texts.with(|text| {
            assert_eq!(text, "");
            text.push_str("here");
            // Other variables may be used inside.
            numbers.with(|number| {
                assert_eq!(*number, 0);
                *number = round;
            });
        });
        // Which index the next one gets depends on the order of these.
        if round.is_multiple_of(3) {
            assert_eq!(numbers.into_values().collect::<Vec<_>>(), [round]);
        }
    }
}

#[test]
fn values_are_dropped_with_the_variable_while_their_threads_live() {
    let kept = Arc::new(());
    let variable = Arc::new(PerThread::<Option<Arc<()>>>::new());
    let (used, dropped) = (Barrier::new(3), Barrier::new(3));
    thread::scope(|scope| {
        for _ in 0..2 {
            let variable = Arc::clone(&variable);
            scope.spawn(|| {
                variable.with(|value| *value = Some(Arc::clone(&kept)));
                drop(variable);
                used.wait();
                dropped.wait();
                // A newer variable, at the same index as the last one that went.
                let next = PerThread::<u64>::new();
                next.with(|number| assert_eq!(*number, 0));
            });
        }
        used.wait();
        assert_eq!(Arc::strong_count(&kept), 3);
        drop(variable);
        assert_eq!(Arc::strong_count(&kept), 1);
        dropped.wait();
    });
}

#[test]
fn value_may_borrow() {
    let mut words = vec![String::new(), String::new()];
    let (left, right) = words.split_at_mut(1);
    let variable = PerThread::<Option<&mut String>>::new();
    thread::scope(|scope| {
        for word in [&mut left[0], &mut right[0]] {
            let variable = &variable;
            scope.spawn(move || {
                variable.with(|place| *place = Some(word));
                variable.with(|word| word.as_mut().expect("put there").push_str("written"));
            });
        }
    });
    drop(variable);
    assert_eq!(words, ["written", "written"]);
}

#[test]
fn nested_use_is_refused_and_a_panic_ends_a_use() {
    let variable = PerThread::<u64>::new();
    let nested = AssertUnwindSafe(|| variable.with(|_| variable.with(|_| ())));
    let panic = catch_unwind(nested).expect_err("a use inside a use");
    let text = panic.downcast::<&str>().expect("a text");
    assert_eq!(
        *text,
        "this thread's value is in use already: its uses must not be nested"
    );
    variable.with(|count| *count = 1);
    variable.with(|count| assert_eq!(*count, 1));
}
