//! Worker-private variables: every worker has its own value, and the values together hold
//! everything that was put there.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier, Mutex, mpsc};

use raddle_runtime::{Private, PrivateArray, Runtime, for_each, worker_index};

use crate::checks::panic_text;
use crate::common::runtime;

const COUNT: u64 = 10_000;

/// Runs `call` on all workers of `runtime` at the same time, and returns when all calls have ended.
fn on_every_worker(runtime: &Runtime, call: impl Fn() + Send + Sync + 'static) {
    let workers = runtime.worker_count();
    let (call, together) = (Arc::new(call), Arc::new(Barrier::new(workers)));
    let (done, ended) = mpsc::channel();
    for to in 0..workers {
        let (call, together, done) = (Arc::clone(&call), Arc::clone(&together), done.clone());
        runtime.post().send(to, move || {
            together.wait();
            call();
            // The call drops what it holds before it counts as done.
            drop(call);
            done.send(()).expect("the test receives");
        });
    }
    drop(done);
    assert_eq!(ended.iter().count(), workers);
}

#[test]
fn every_worker_has_its_own_value_and_all_values_are_returned() {
    for workers in 1..=8 {
        let runtime = runtime(workers);
        let variable = Arc::new(Private::new(|| (worker_index(), 0)));
        let counts = Arc::clone(&variable);
        on_every_worker(&runtime, move || {
            for number in 1..=COUNT {
                counts.with(|(owner, count)| {
                    assert_eq!(*owner, worker_index());
                    *count += 1;
                    assert_eq!(*count, number);
                });
            }
        });
        let mut counts = Arc::into_inner(variable).expect("all calls have ended");
        assert!(counts.values_mut().all(|(_, count)| *count == COUNT));
        let owners: BTreeSet<_> = counts.into_values().map(|(owner, _)| owner).collect();
        assert!(
            owners.into_iter().eq((0..workers).map(Some)),
            "{workers} workers"
        );
    }
}

#[test]
fn values_of_all_threads_add_up() {
    for workers in [1, 2, 5] {
        let runtime = runtime(workers);
        let mut sum = Private::<u64>::default();
        for round in 1..=3 {
            runtime.install(|| for_each(0..10_000, |item| sum.with(|sum| *sum += item as u64)));
            sum.with(|sum| *sum += 1);
            let total: u64 = sum.values_mut().map(|sum| *sum).sum();
            assert_eq!(total, round * 49_995_001, "{workers} workers");
        }
    }
}

#[test]
fn compensating_threads_and_outside_threads_have_their_own_values() {
    let runtime = Arc::new(runtime(1));
    let user = Arc::new(Private::new(|| (std::thread::current().id(), 0)));
    let inside = (Arc::clone(&runtime), Arc::clone(&user));
    let note = |user: &Private<(std::thread::ThreadId, u32)>| {
        user.with(|(thread, uses)| {
            assert_eq!(*thread, std::thread::current().id());
            *uses += 1;
            worker_index()
        })
    };
    note(&user);
    runtime.install(move || {
        let (runtime, user) = inside;
        assert_eq!(note(&user), Some(0));
        let (below, in_call) = (Arc::clone(&runtime), Arc::clone(&user));
        // The only worker waits for a task that only a compensating thread can run.
        let handle = runtime.spawn_blocking(move || {
            assert_eq!(note(&in_call), None);
            below.install(|| note(&in_call))
        });
        assert_eq!(handle.wait(), Some(1));
        assert_eq!(note(&user), Some(0));
    });
    drop(Arc::into_inner(runtime).expect("the calls have ended"));
    let user = Arc::into_inner(user).expect("all threads have dropped it");
    let uses: Vec<u32> = user.into_values().map(|(_, uses)| uses).collect();
    assert_eq!(uses, [1, 2, 1, 1]);
}

#[test]
fn values_are_dropped_with_the_variable_and_not_before() {
    let runtime = runtime(3);
    let held = Arc::new(());
    for _ in 0..100 {
        let value = Arc::clone(&held);
        let variable = Arc::new(Private::new(move || Arc::clone(&value)));
        let inside = Arc::clone(&variable);
        on_every_worker(&runtime, move || inside.with(|_| ()));
        assert_eq!(Arc::strong_count(&held), 1 + 1 + 3);
        drop(variable);
        assert_eq!(Arc::strong_count(&held), 1);
    }
    let value = Arc::clone(&held);
    let variable = Private::new(move || Arc::clone(&value));
    runtime.install(|| variable.with(|_| ()));
    drop(runtime);
    assert_eq!(Arc::strong_count(&held), 1 + 1 + 1);
    assert_eq!(variable.into_values().count(), 1);
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn workers_of_two_consecutive_runtimes_have_two_values() {
    let uses = Private::<u32>::default();
    for _ in 0..2 {
        runtime(1).install(|| uses.with(|uses| *uses += 1));
    }
    assert_eq!(uses.into_values().collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn nested_use_panics_with_a_clear_text() {
    const NESTED: &str = "this thread's value is in use already: its uses must not be nested";
    let runtime = runtime(1);
    let (outer, inner) = (Private::new(|| 0), Private::new(|| 0));
    let nested = || outer.with(|_| inner.with(|_| outer.with(|_| ())));
    assert_eq!(panic_text(|| runtime.install(nested)), NESTED);
    // An initialiser that uses its own variable panics too.
    static OF_ITSELF: std::sync::LazyLock<Private<u32>> =
        std::sync::LazyLock::new(|| Private::new(|| OF_ITSELF.with(|value| *value)));
    assert_eq!(panic_text(|| OF_ITSELF.with(|_| ())), NESTED);
    // Both variables still work.
    runtime.install(|| outer.with(|outer| inner.with(|inner| (*outer, *inner) = (1, 2))));
    assert_eq!(
        outer.into_values().chain(inner.into_values()).sum::<i32>(),
        3
    );
}

#[test]
fn value_is_made_at_the_next_use_if_its_initialiser_panicked() {
    let refusals = Mutex::new(2);
    let variable = Private::new(move || {
        let mut refusals = refusals
            .lock()
            .unwrap_or_else(|refused| refused.into_inner());
        if *refusals > 0 {
            *refusals -= 1;
            panic!("not yet");
        }
        7
    });
    assert_eq!(panic_text(|| variable.with(|_| ())), "not yet");
    assert_eq!(panic_text(|| variable.with(|_| ())), "not yet");
    assert_eq!(variable.with(|value| *value), 7);
}

#[test]
fn each_worker_counts_in_its_own_slot_of_an_array() {
    for workers in 1..=8 {
        let runtime = runtime(workers);
        for array in [PrivateArray::new(&runtime), PrivateArray::padded(&runtime)] {
            let array = Arc::new(array);
            let inside = Arc::clone(&array);
            on_every_worker(&runtime, move || {
                let own = worker_index().expect("messages run on workers") as u64;
                inside.set(own);
                for _ in 0..COUNT {
                    inside.add(1);
                }
                assert_eq!(inside.get(), own + COUNT);
            });
            let values: Vec<u64> = array.values().collect();
            let (own, of_compensating) = values.split_at(workers);
            assert!(own.iter().copied().eq((COUNT..).take(workers)), "{own:?}");
            assert!(of_compensating.iter().all(|&value| value == 0));
        }
    }
}

#[test]
fn only_workers_of_its_runtime_may_use_an_array() {
    const OTHERS: &str = "the current thread is not a worker of the runtime of this array";
    let (here, there) = (runtime(1), runtime(1));
    let array = PrivateArray::new(&here);
    assert_eq!(panic_text(|| array.add(1)), OTHERS);
    assert_eq!(panic_text(|| there.install(|| array.add(1))), OTHERS);
    here.install(|| array.add(u64::MAX));
    here.install(|| array.add(2));
    assert_eq!(array.values().sum::<u64>(), 1);
}
