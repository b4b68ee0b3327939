//! Models of per-thread values. Loom checks every access, and that the owner of the variable sees
//! the changes of all threads.

use std::sync::Arc;

use loom::thread;
use raddle_sync::per_thread::PerThread;

/// Adds to the calling thread's value. Returns the sum.
fn add(variable: &PerThread<u32>, number: u32) -> u32 {
    let add = |count: &mut u32| {
        *count += number;
        *count
    };
    variable.try_with(|| 0, add).expect("no use is nested")
}

#[test]
fn the_owner_of_the_variable_sees_all_values() {
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
fn the_next_variable_at_an_index_starts_empty_on_every_thread() {
    loom::model(|| {
        // An `Arc` of loom: its count orders the uses of the other threads before the last of them
        // drops the variable.
        let first = loom::sync::Arc::new(PerThread::<u32>::new());
        let other = {
            let first = loom::sync::Arc::clone(&first);
            thread::spawn(move || {
                add(&first, 1);
                // The last thread drops the variable, perhaps while the other one is here.
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
