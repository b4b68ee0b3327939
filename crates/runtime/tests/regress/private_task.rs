//! A task may wait by its own means (a channel, a flag) for another task that it has spawned. Such
//! a program hung forever with pools that keep tasks private, and so also with the default pool, as
//! soon as it moved to one of these pools. Now a worker that is about to sleep looks at the private
//! tasks too.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use raddle_runtime::{IdlePolicy, PoolKind, Runtime, scope};

use crate::checks::PATIENCE;
use crate::common::runtime_with;

/// Calls `check` with a runtime of two workers for every pool and idle policy.
fn on_all(check: impl Fn(Runtime, &str)) {
    for pool in PoolKind::ALL {
        for idle in IdlePolicy::ALL {
            let runtime = runtime_with(2, |builder| builder.pool(pool).idle(idle));
            check(runtime, &format!("{pool}, {idle}"));
        }
    }
}

#[test]
fn task_may_wait_by_its_own_means_for_a_task_that_it_spawned() {
    on_all(|runtime, what| {
        for round in 0..20 {
            let (done, results) = mpsc::channel();
            runtime.scope(move |scope| {
                // So that the other worker is awake in some rounds and asleep in others.
                if round & 3 == 0 {
                    thread::sleep(Duration::from_micros(200));
                }
                scope.spawn(move || done.send(round).expect("the test receives"));
                assert_eq!(results.recv_timeout(PATIENCE), Ok(round), "{what}");
            });
        }
    });
}

/// Checks the case in which the worker that could help waits in a scope itself and needs the task
/// that the blocked worker keeps.
#[test]
fn worker_that_waits_in_a_scope_finds_such_a_task() {
    on_all(|runtime, what| {
        for round in 0..20 {
            let (done, results) = mpsc::channel();
            runtime.scope(|outer| {
                outer.spawn(move || {
                    scope(move |inner| {
                        inner.spawn(move || done.send(round).expect("the test receives"));
                        assert_eq!(results.recv_timeout(PATIENCE), Ok(round), "{what}");
                    });
                });
                // Gives the other worker time to take the task. Then this worker waits.
                thread::sleep(Duration::from_micros(100));
            });
        }
    });
}
