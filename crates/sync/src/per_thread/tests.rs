//! Tests of per-thread variables: values are separate per thread and variable, and are returned at
//! the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Barrier, mpsc};
use std::thread;

use super::place::ENTRY_COUNT;
use super::*;
use crate::prim::LIGHT;

impl<T: Default> PerThread<T> {
    fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = self.try_with(T::default, change);
        result.expect("no use is nested in another")
    }
}

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
    // The threads have ended, but their counts are still there.
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
fn a_reused_index_shows_nothing_of_the_previous_variable() {
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
        // The order of these drops determines the index of the next variable.
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
                // A newer variable, with the index of the last one that was dropped.
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
    let nest = || variable.with(|_| variable.try_with(|| 0, |_| ()));
    // The first use of a thread takes another path than later ones. So does the use after a panic
    // in the first.
    for _ in 0..3 {
        assert_eq!(nest(), Err(ValueInUse));
        let panics = AssertUnwindSafe(|| variable.with(|_| panic!("in a use")));
        catch_unwind(panics).expect_err("it panics");
    }
    variable.with(|count| *count = 1);
    variable.with(|count| assert_eq!(*count, 1));
}

#[test]
fn a_use_inside_the_creation_of_a_value_is_refused() {
    let variable = PerThread::<u64>::new();
    let make = || match variable.try_with(|| 0, |_| ()) {
        Err(ValueInUse) => 7,
        Ok(()) => 8,
    };
    assert_eq!(variable.try_with(make, |value| *value), Ok(7));
}

#[test]
fn a_panic_during_the_creation_of_a_value_leaves_no_value() {
    let variable = PerThread::<String>::new();
    let panics = AssertUnwindSafe(|| variable.try_with(|| panic!("not made"), |_| ()));
    catch_unwind(panics).expect_err("it panics");
    let mut variable = variable;
    assert_eq!(variable.values_mut().count(), 0);
    variable.with(|text| text.push('a'));
    assert_eq!(variable.into_values().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn more_variables_than_entries_keep_their_values() {
    const COUNT: usize = ENTRY_COUNT + 50;
    let variables: Vec<PerThread<usize>> = (0..COUNT).map(|_| PerThread::new()).collect();
    for _ in 0..3 {
        for (number, variable) in variables.iter().enumerate() {
            variable.with(|value| *value += number);
        }
    }
    for (number, variable) in variables.into_iter().enumerate() {
        assert_eq!(variable.into_values().collect::<Vec<_>>(), [3 * number]);
    }
}

#[test]
fn different_variables_nest_and_one_variable_does_not_with_and_without_an_entry() {
    // The last variables have no entry, no matter how many variables other tests have.
    let all: Vec<PerThread<u64>> = (0..ENTRY_COUNT + 2).map(|_| PerThread::new()).collect();
    let variables = [&all[0], &all[1], &all[ENTRY_COUNT], &all[ENTRY_COUNT + 1]];
    for outer in variables {
        for inner in variables {
            if ptr::eq(outer, inner) {
                continue;
            }
            outer.with(|count| *count += 1);
            outer.with(|count| {
                inner.with(|count| {
                    *count += 1;
                    assert_eq!(outer.try_with(|| 0, |_| ()), Err(ValueInUse));
                    assert_eq!(inner.try_with(|| 0, |_| ()), Err(ValueInUse));
                });
                assert_eq!(outer.try_with(|| 0, |_| ()), Err(ValueInUse));
                *count += 1;
            });
        }
    }
    for variable in variables {
        variable.with(|count| assert_eq!(*count, 3 * 3));
    }
}

#[test]
fn a_dropped_variable_clears_the_entries_of_live_threads_only() {
    let (used, dropped) = (Barrier::new(3), Barrier::new(3));
    for round in 0..50 {
        let variable = Arc::new(PerThread::<u64>::new());
        let inside = Arc::clone(&variable);
        thread::spawn(move || inside.with(|value| *value = 1))
            .join()
            .expect("the thread ends before the variable");
        thread::scope(|scope| {
            for number in 1..=2 {
                let variable = Arc::clone(&variable);
                let (used, dropped) = (&used, &dropped);
                scope.spawn(move || {
                    variable.with(|value| *value += number);
                    variable.with(|value| *value += number);
                    drop(variable);
                    used.wait();
                    dropped.wait();
                    // Most likely a variable with the same index.
                    let next = PerThread::<[u64; 2]>::new();
                    next.with(|value| assert_eq!(*value, [0, 0]));
                    next.with(|value| *value = [round, number]);
                    assert_eq!(next.into_values().collect::<Vec<_>>(), [[round, number]]);
                });
            }
            used.wait();
            let variable = Arc::into_inner(variable).expect("the test has the last reference");
            let mut values: Vec<u64> = variable.into_values().collect();
            values.sort_unstable();
            assert_eq!(values, [1, 2, 4]);
            dropped.wait();
        });
    }
}

/// Uses a variable when this is dropped.
struct UsesWhenDropped(Arc<PerThread<u64>>, mpsc::Sender<Result<u64, ValueInUse>>);

impl Drop for UsesWhenDropped {
    fn drop(&mut self) {
        let count = |count: &mut u64| {
            *count += 1;
            *count
        };
        for _ in 0..2 {
            let result = self.0.try_with(|| 10, count);
            self.1.send(result).expect("the test still receives");
        }
    }
}

#[test]
fn a_variable_can_be_used_in_the_destructors_of_thread_local_variables() {
    thread_local! {
        static FIRST: Cell<Option<UsesWhenDropped>> = const { Cell::new(None) };
        static LAST: Cell<Option<UsesWhenDropped>> = const { Cell::new(None) };
    }
    for is_used_before in [false, true] {
        let (sender, results) = mpsc::channel();
        let variable = Arc::new(PerThread::<u64>::new());
        thread::spawn(move || {
            let first = UsesWhenDropped(Arc::clone(&variable), sender.clone());
            FIRST.set(Some(first));
            if is_used_before {
                variable.try_with(|| 5, |_| ()).expect("not nested");
            }
            LAST.set(Some(UsesWhenDropped(variable, sender)));
        })
        .join()
        .expect("the thread does not panic");
        let results: Vec<u64> = results.iter().map(|it| it.expect("not nested")).collect();
        let begin = if is_used_before { 5 } else { 10 };
        assert_eq!(results, (begin + 1..=begin + 4).collect::<Vec<u64>>());
    }
}
