//! The end of a runtime: it waits for all its work, whichever thread drops it, and all its threads
//! end.

use std::sync::Arc;

use raddle_runtime::join;
use raddle_runtime::model::explore::{Flag, explore};
use raddle_sync::prim::{AtomicUsize, SeqCst, thread};

use crate::forks::leaves;

#[test]
fn runtime_without_work_starts_and_ends() {
    explore(|setting| drop(setting.runtime()));
}

#[test]
fn runtime_ends_after_the_remaining_work() {
    explore(|setting| {
        let runtime = setting.runtime();
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let count = Arc::clone(&count);
            drop(runtime.spawn(move || count.fetch_add(leaves(1) as usize, SeqCst)));
        }
        drop(runtime);
        assert_eq!(count.load(SeqCst), 6);
    });
}

#[test]
fn task_that_spawns_keeps_the_runtime_alive() {
    explore(|setting| {
        let runtime = Arc::new(setting.runtime());
        let flag = Arc::new(Flag::default());
        let (own, raise) = (Arc::clone(&runtime), Arc::clone(&flag));
        // The inner task runs, whether a worker or this thread drops the last reference.
        let outer = runtime.spawn(move || own.spawn(move || raise.raise()));
        drop(runtime);
        outer.wait().wait();
        assert!(flag.is_up());
    });
}

#[test]
fn handle_outlives_its_runtime() {
    explore(|setting| {
        let runtime = setting.runtime();
        let handle = runtime.spawn(|| join(|| 1, || 2));
        let blocking = runtime.spawn_blocking(|| 3);
        let dropping = thread::spawn(move || drop(runtime));
        assert_eq!(handle.wait(), (1, 2));
        assert_eq!(blocking.wait(), 3);
        dropping.join().expect("dropping does not panic");
    });
}

#[test]
fn worker_of_another_runtime_helps_while_it_drops_one() {
    explore(|setting| {
        let one = Arc::new(setting.runtime_of(1));
        let inner = Arc::clone(&one);
        one.install(move || {
            let other = setting.runtime_of(1);
            drop(other.spawn(move || inner.install(|| 1)));
            drop(other);
        });
        assert_eq!(one.install(|| 2), 2);
    });
}
