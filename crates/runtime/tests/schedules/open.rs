//! Open tasks: every one is run, also while all workers are in open waits.

use std::sync::Arc;

use raddle_runtime::Waiter;
use raddle_runtime::model::explore::{Flag, explore};
use raddle_runtime::open::{Ran, join, worker_index};
use raddle_sync::prim::{AtomicUsize, Mutex, SeqCst, yield_now};

fn open_leaves(depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = join(|| open_leaves(depth - 1), |_| open_leaves(depth - 1));
    a + b
}

#[test]
fn open_joins_return_both_results() {
    explore(|setting| {
        let runtime = setting.runtime();
        let leaves = runtime.open_tasks().install(|ran| {
            assert_eq!(ran, Ran::Elsewhere);
            open_leaves(3)
        });
        assert_eq!(leaves, 8);
    });
}

#[test]
fn every_worker_runs_its_task_while_one_waits_for_all_of_them() {
    explore(|setting| {
        let runtime = setting.runtime();
        let tasks = runtime.open_tasks();
        let count = Arc::new(AtomicUsize::new(0));
        tasks.install(|_| {
            let waiter = Waiter::current();
            for index in 0..tasks.worker_count() {
                let (waiter, count) = (waiter.clone(), Arc::clone(&count));
                tasks.spawn_for(index, move || {
                    assert_eq!(worker_index(), Some(index));
                    count.fetch_add(1, SeqCst);
                    waiter.notify();
                });
            }
            tasks.wait_until(&waiter, || count.load(SeqCst) == tasks.worker_count());
        });
    });
}

#[test]
fn runtimes_of_one_worker_wait_for_each_other() {
    explore(|setting| {
        let (first, second) = (setting.runtime_of(1), setting.runtime_of(1));
        let (first, second) = (first.open_tasks(), second.open_tasks());
        let number = first.install(|_| second.install(|_| first.install(|_| 7)));
        assert_eq!(number, 7);
    });
}

#[test]
fn task_from_outside_runs_while_all_workers_wait() {
    explore(|setting| {
        let runtime = setting.runtime_of(2);
        let tasks = runtime.open_tasks();
        let (flag, waiters) = (Arc::new(Flag::default()), Arc::new(Mutex::new(Vec::new())));
        for index in 0..2 {
            let (flag, waiters) = (Arc::clone(&flag), Arc::clone(&waiters));
            let own = tasks.clone();
            tasks.spawn_for(index, move || {
                let waiter = Waiter::current();
                waiters.lock().expect("nothing panics").push(waiter.clone());
                own.wait_until(&waiter, || flag.is_up());
            });
        }
        while waiters.lock().expect("nothing panics").len() < 2 {
            yield_now();
        }
        tasks.spawn(move || {
            flag.raise();
            let waiters = waiters.lock().expect("nothing panics");
            waiters.iter().for_each(Waiter::notify);
        });
    });
}
