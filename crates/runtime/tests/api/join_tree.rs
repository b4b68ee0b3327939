//! Fork-join through the public interface: results, nesting, panics, other runtimes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_runtime::{PoolKind, Runtime, join, scope};

use crate::checks::panic_text;
use crate::common::{runtime, runtime_with};

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Runs `check` on every pool with 1, 2 and 8 workers.
fn on_all(check: impl Fn(&Runtime)) {
    for pool in PoolKind::ALL {
        for worker_count in [1, 2, 8] {
            check(&runtime_with(worker_count, |builder| builder.pool(pool)));
        }
    }
}

#[test]
fn fib_without_cut_off_is_right_on_every_pool() {
    on_all(|runtime| assert_eq!(runtime.install(|| fib(24)), 46_368));
}

#[test]
fn panic_of_either_side_reaches_the_join_and_the_worker_survives() {
    on_all(|runtime| {
        for _ in 0..50 {
            let left = || {
                runtime.join(|| panic!("left"), || fib(10));
            };
            assert_eq!(panic_text(left), "left");
            let right = || {
                runtime.join(|| fib(10), || panic!("right"));
            };
            assert_eq!(panic_text(right), "right");
        }
        assert_eq!(runtime.install(|| fib(15)), 610);
    });
}

#[test]
fn deep_recursion_runs_on_one_fork_stack() {
    fn depth(n: u32) -> u32 {
        if n == 0 {
            0
        } else {
            join(|| depth(n - 1) + 1, || ()).0
        }
    }
    let runtime = runtime_with(2, |builder| builder.stack_bytes(256 << 20));
    // More forks are open at a time than the fork stack has slots. The rest are called in place.
    assert_eq!(runtime.install(|| depth(200_000)), 200_000);
}

/// Checks that each second closure is dropped once and not run if the first one panics, whether it
/// was forked or the fork stack was full.
#[test]
fn panic_beyond_a_full_fork_stack_drops_every_second_closure() {
    use std::sync::Arc;
    fn depth(n: u32, kept: &Arc<()>) {
        if n == 0 {
            panic!("the deepest");
        }
        let own = Arc::clone(kept);
        join(
            || depth(n - 1, kept),
            move || assert_eq!(Arc::strong_count(&own), 0, "not run"),
        );
    }
    // One worker: no thief runs a second closure.
    let runtime = runtime_with(1, |builder| builder.stack_bytes(512 << 20));
    let kept = Arc::new(());
    let call = || runtime.install(|| depth(70_000, &kept));
    assert_eq!(panic_text(call), "the deepest");
    assert_eq!(Arc::strong_count(&kept), 1);
}

/// Checks that calls of several threads outside end, with results and panics, while the workers
/// take all CPUs.
#[test]
fn threads_outside_call_again_and_again() {
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let runtime = runtime(workers);
    std::thread::scope(|scope| {
        for caller in 0..3_u64 {
            let runtime = &runtime;
            scope.spawn(move || {
                for turn in 0..200 {
                    let sum = runtime.install(|| join(|| caller, || fib(8)));
                    assert_eq!(sum, (caller, 21));
                    if turn % 50 == 0 {
                        let call = || runtime.install(|| panic!("of call {turn}"));
                        assert_eq!(panic_text(call), format!("of call {turn}"));
                    }
                }
            });
        }
    });
}

#[test]
fn foreign_work_never_needs_a_lock_that_is_held_across_a_join() {
    use std::sync::Mutex;
    on_all(|runtime| {
        let locks: Vec<Mutex<u64>> = (0..4).map(|_| Mutex::new(0)).collect();
        runtime.scope(|scope| {
            for turn in 0..200_usize {
                let lock = &locks[turn % 4];
                scope.spawn(move || {
                    let mut sum = lock.lock().expect("no panic");
                    *sum += fib(8);
                });
            }
        });
        let sum: u64 = locks
            .iter()
            .map(|lock| *lock.lock().expect("no panic"))
            .sum();
        assert_eq!(sum, 200 * 21);
    });
}

#[test]
fn scopes_nest_and_tasks_spawn_tasks() {
    on_all(|runtime| {
        let count = std::sync::Mutex::new(0);
        runtime.scope(|outer| {
            for _ in 0..10 {
                outer.spawn(|| {
                    scope(|inner| {
                        for _ in 0..10 {
                            inner.spawn(|| *count.lock().expect("no panic") += 1);
                        }
                    });
                    outer.spawn(|| *count.lock().expect("no panic") += 1);
                });
            }
        });
        assert_eq!(count.into_inner().expect("no panic"), 110);
    });
}

#[test]
fn panic_of_a_task_reaches_the_scope_after_all_tasks_have_ended() {
    on_all(|runtime| {
        let ended = std::sync::Mutex::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            runtime.scope(|scope| {
                for turn in 0..20 {
                    let ended = &ended;
                    scope.spawn(move || {
                        *ended.lock().expect("no panic under the lock") += 1;
                        assert!(turn != 7, "seven");
                    });
                }
            });
        }));
        assert!(result.is_err());
        assert_eq!(ended.into_inner().expect("no panic"), 20);
    });
}

#[test]
fn runtimes_may_call_each_other_in_cycles() {
    let (one, other) = (runtime(1), runtime(1));
    let depth = one.install(|| other.install(|| one.install(|| other.install(|| fib(12)))));
    assert_eq!(depth, 144);
}

#[test]
fn handle_returns_the_result_or_passes_the_panic_on() {
    on_all(|runtime| {
        assert_eq!(runtime.spawn(|| fib(12)).wait(), 144);
        assert_eq!(runtime.install(|| runtime.spawn(|| fib(12)).wait()), 144);
        assert_eq!(runtime.spawn_blocking(|| 7).wait(), 7);
        let panicked = runtime.spawn(|| panic!("spawned"));
        assert!(catch_unwind(AssertUnwindSafe(|| panicked.wait())).is_err());
    });
}

#[test]
fn drop_waits_for_spawned_tasks() {
    use std::sync::Arc;
    use std::sync::Mutex;
    let count = Arc::new(Mutex::new(0));
    for pool in PoolKind::ALL {
        let runtime = runtime_with(2, |builder| builder.pool(pool));
        for _ in 0..100 {
            let count = Arc::clone(&count);
            drop(runtime.spawn(move || *count.lock().expect("no panic") += 1));
        }
        let blocking = Arc::clone(&count);
        drop(runtime.spawn_blocking(move || *blocking.lock().expect("no panic") += 1));
    }
    let pools = PoolKind::ALL.len();
    assert_eq!(*count.lock().expect("no panic"), 101 * pools);
}
