//! Models of values for threads: loom checks every access, and that what threads did is seen by who has the variable.

#![cfg(loom)]

use std::sync::Arc;

use loom::thread;
use raddle_sync::per_thread::PerThread;

/// Adds to the calling thread's value; returns the sum.
fn add(variable: &PerThread<u32>, number: u32) -> u32 {
    let add = |count: &mut u32| {
        *count += number;
        *count
    };
    variable.try_with(|| 0, add).expect("no use is nested")
}

#[test]
fn who_has_the_variable_sees_all_values() {
    loom::model(|| {
        let variable = Arc::new(PerThread::<u32>::new());
        let other = {
            let variable = Arc::clone(&variable);
            thread::spawn(move || {
                add(&variable, 1);
                add(&variable, 1);
            })
        };
        add(&variable, 10);
        other.join().expect("no panic");
        let mut variable = Arc::into_inner(variable).expect("the other thread has ended");
        assert_eq!(variable.values_mut().map(|count| *count).sum::<u32>(), 12);
        assert_eq!(variable.into_values().sum::<u32>(), 12);
    });
}

#[test]
fn next_variable_at_an_index_begins_anew_on_every_thread() {
    loom::model(|| {
        // Loom's: the count of an `Arc` orders what the others did before the last of them drops
        // the variable.
        let first = loom::sync::Arc::new(PerThread::<u32>::new());
        let other = {
            let first = loom::sync::Arc::clone(&first);
            thread::spawn(move || {
                add(&first, 1);
                // Whoever is last drops it, perhaps while the other is here.
                drop(first);
                let own = PerThread::<u32>::new();
                add(&own, 2);
                assert_eq!(add(&own, 0), 2);
            })
        };
        add(&first, 1);
        drop(first);
        let own = PerThread::<u32>::new();
        add(&own, 4);
        assert_eq!(own.into_values().collect::<Vec<_>>(), [4]);
        other.join().expect("no panic");
    });
}
