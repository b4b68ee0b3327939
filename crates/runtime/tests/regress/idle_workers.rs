//! A worker was idle although there was work for it, in six ways.
//!
//! - A fork stayed private while its owner ran a long leaf: the owner noticed requests of other
//!   workers only at its next fork or join.
//! - A loop did not split while its first item ran, so that all other items waited for it.
//! - The first join of a new runtime ran serially if the second worker started after the fork. Two
//!   halves that waited for each other hung.
//! - A worker that waited for a stolen half ignored all other work.
//! - A fork was published while the last searching worker was going to sleep. A fence was missing
//!   between the two, and no worker took the fork.
//! - A worker that found work while others slept kept all forks but one private. The sleeping
//!   workers woke up one after the other.
//!
//! Each program here ends only if the idle worker does its part: one side waits for an effect of
//! the other. A time limit turns a hang into a failure.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use raddle_runtime::{
    IdlePolicy, PoolKind, Runtime, for_each, for_each_mut, join, map, map_reduce, scope,
};
use raddle_sync::prim::{AtomicUsize, SeqCst};

use crate::checks::PATIENCE;
use crate::common::runtime_with;

/// Waits until `is_done` returns true. The worker does nothing else meanwhile.
fn block_until(what: &str, is_done: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_done() {
        if start.elapsed() > PATIENCE {
            panic!("{what} did not happen");
        }
        thread::yield_now();
    }
}

/// Builds a runtime with workers that are not bound to CPUs.
fn unbound_runtime(workers: usize) -> Runtime {
    let unbound = "none".parse().expect("an affinity");
    runtime_with(workers, |builder| builder.affinity(unbound))
}

/// An event that happens once.
#[derive(Default)]
struct Flag(AtomicUsize);

impl Flag {
    fn raise(&self) {
        // SeqCst, here and in all of these programs: they test progress, not orderings.
        self.0.store(1, SeqCst);
    }

    fn is_up(&self) -> bool {
        self.0.load(SeqCst) == 1
    }
}

/// Joins two halves. The second, a fork, raises the flag for which the first, a long leaf, waits.
fn halves_wait_for_each_other() {
    let (started, taken) = (Flag::default(), Flag::default());
    let first = || {
        started.raise();
        block_until("the other half", || taken.is_up());
    };
    let second = || {
        block_until("this half", || started.is_up());
        taken.raise();
    };
    join(first, second);
}

#[test]
fn first_join_of_a_new_runtime_runs_on_two_workers() {
    for _ in 0..60 {
        unbound_runtime(2).install(halves_wait_for_each_other);
    }
}

#[test]
fn fork_is_taken_while_its_owner_runs_a_long_leaf() {
    for idle in [IdlePolicy::Adaptive, IdlePolicy::Park, IdlePolicy::Spin] {
        for pool in PoolKind::ALL {
            let runtime = runtime_with(2, |builder| builder.idle(idle).pool(pool));
            runtime.install(|| {
                for _ in 0..3 {
                    halves_wait_for_each_other();
                }
            });
        }
    }
}

/// Checks a fork while the other worker is busy until the fork lies on its owner's stack, so that
/// the owner receives no request while it forks.
#[test]
fn fork_without_a_request_is_taken_later() {
    let runtime = unbound_runtime(2);
    for _ in 0..20 {
        let (forked, taken) = (Flag::default(), Flag::default());
        runtime.install(|| {
            scope(|scope| {
                scope.spawn(|| block_until("the fork", || forked.is_up()));
                // In most rounds, this gives the other worker time to start the task.
                thread::sleep(Duration::from_micros(200));
                let leaf = || {
                    forked.raise();
                    block_until("the theft", || taken.is_up());
                };
                join(leaf, || taken.raise());
            });
        });
    }
}

/// Checks that other workers take all forks of a worker that is deep in a long leaf, the oldest
/// first.
#[test]
fn all_forks_below_a_long_leaf_are_taken() {
    fn nest(depth: usize, taken: &AtomicUsize, all: usize) {
        if depth == 0 {
            return block_until("every theft", || taken.load(SeqCst) == all);
        }
        let steal = || {
            taken.fetch_add(1, SeqCst);
        };
        join(|| nest(depth - 1, taken, all), steal);
    }
    let runtime = unbound_runtime(2);
    for depth in [1, 2, 10, 100] {
        let taken = AtomicUsize::new(0);
        runtime.install(|| nest(depth, &taken, depth));
    }
}

const LENGTHS: [usize; 6] = [2, 4, 63, 64, 1000, 20_000];

#[test]
fn all_items_of_a_loop_run_while_the_first_does() {
    let runtime = unbound_runtime(2);
    for len in LENGTHS {
        let others = AtomicUsize::new(0);
        let body = |index| {
            if index == 0 {
                block_until("the other items", || others.load(SeqCst) == len - 1);
            } else {
                others.fetch_add(1, SeqCst);
            }
        };
        runtime.install(|| for_each(0..len, body));
        let others = AtomicUsize::new(0);
        let body = |index| {
            if index == 0 {
                block_until("the other items", || others.load(SeqCst) == len - 1);
            } else {
                others.fetch_add(1, SeqCst);
            }
            index
        };
        let indices = runtime.install(|| map(0..len, body));
        assert!(indices.into_iter().eq(0..len));
    }
}

/// Checks that at least three quarters of a large range, and all other items of a small one, run
/// beside the first item. A leaf of the reduction tree consists of several items if the range is
/// large.
#[test]
fn most_items_of_a_reduction_run_while_the_first_does() {
    let runtime = unbound_runtime(2);
    for len in LENGTHS {
        let others = AtomicUsize::new(0);
        let enough = if len <= 64 { len - 1 } else { len * 3 / 4 };
        let item = |index| {
            if index == 0 {
                block_until("the other items", || others.load(SeqCst) >= enough);
            } else {
                others.fetch_add(1, SeqCst);
            }
            index
        };
        let sum = runtime.install(|| map_reduce(0..len, || 0, item, |a, b| a + b));
        assert_eq!(sum, len * (len - 1) / 2);
    }
}

/// Checks a loop that starts while no worker is idle, and in which an item far into it turns out to
/// be long.
#[test]
fn rest_of_a_loop_is_taken_while_a_late_item_runs() {
    let runtime = unbound_runtime(2);
    for late in [5, 100, 5_000] {
        let len = 10_000;
        let after = AtomicUsize::new(0);
        let mut items = vec![0; len];
        runtime.install(|| {
            for_each_mut(&mut items, |index, item| {
                if index == late {
                    // Items of the same step run after this one, perhaps on this worker.
                    block_until("later items", || after.load(SeqCst) >= len / 4);
                } else if index > late {
                    after.fetch_add(1, SeqCst);
                }
                *item = index;
            });
        });
        assert!(items.into_iter().eq(0..len));
    }
}

#[test]
fn other_work_runs_while_a_worker_waits_for_a_stolen_half() {
    let runtime = Arc::new(unbound_runtime(2));
    let (stolen, done) = (Arc::<Flag>::default(), Arc::new(AtomicUsize::new(0)));
    let joining = thread::spawn({
        let (runtime, stolen, done) =
            (Arc::clone(&runtime), Arc::clone(&stolen), Arc::clone(&done));
        move || {
            runtime.install(|| {
                let first = || block_until("the theft", || stolen.is_up());
                let second = || {
                    stolen.raise();
                    block_until("the other tasks", || done.load(SeqCst) == 10);
                };
                join(first, second);
            });
        }
    });
    block_until("the theft", || stolen.is_up());
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let done = Arc::clone(&done);
            runtime.spawn(move || done.fetch_add(1, SeqCst))
        })
        .collect();
    for task in tasks {
        task.wait();
    }
    joining.join().expect("the join ends");
}

#[test]
fn other_work_runs_while_a_scope_waits() {
    let runtime = Arc::new(unbound_runtime(2));
    let (stolen, done) = (Arc::<Flag>::default(), Arc::<Flag>::default());
    let scoping = runtime.spawn({
        let (stolen, done) = (Arc::clone(&stolen), Arc::clone(&done));
        move || {
            scope(|scope| {
                scope.spawn(|| {
                    stolen.raise();
                    block_until("the other task", || done.is_up());
                });
                // The other worker has the task before the scope's own worker waits.
                block_until("the theft", || stolen.is_up());
            });
        }
    });
    block_until("the theft", || stolen.is_up());
    runtime.spawn(move || done.raise()).wait();
    scoping.wait();
}

/// Checks that at least three forks are published. With fewer, the forks waited for a worker to
/// ask.
#[test]
fn first_forks_are_published_while_others_sleep() {
    const ATTEMPTS: usize = 21;
    let runtime = unbound_runtime(8);
    let published = || {
        let total = runtime.report().total;
        total.forks_published - total.forks_raided
    };
    let attempt = || {
        // Time for the workers to fall asleep. If one stays awake, this attempt may fail.
        thread::sleep(Duration::from_millis(20));
        runtime.install(|| {
            let before = published();
            let leaf = || published() - before;
            let two = || join(|| join(leaf, || ()).0, || ()).0;
            join(|| join(two, || ()).0, || ()).0 >= 3
        })
    };
    let good = (0..ATTEMPTS).filter(|_| attempt()).count();
    assert!(good > ATTEMPTS / 2, "only {good} of {ATTEMPTS} attempts");
}
