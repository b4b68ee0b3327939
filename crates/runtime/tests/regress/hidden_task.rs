//! A scope did not find a task that it waited for when the task lay under foreign tasks in its
//! worker's own deque.
//!
//! A waiting worker looked only at the newest of its own tasks. The reasoning was that everything
//! it had put since the wait began belongs to the wait. That was wrong in two ways: a task can
//! spawn into a scope further out, and a worker that is asked for work publishes the oldest fork of
//! its stack, which belongs to a frame further out. Either then lay on top of the task that the
//! scope waited for. With all workers waiting, the program hung. The random stress test found it
//! within a second. Now a waiting worker searches its own tasks down to where the wait began.

use std::sync::Mutex;

use raddle_runtime::{PoolKind, scope};

use crate::common::runtime_with;

#[test]
fn scope_finds_its_task_below_a_foreign_one() {
    for pool in PoolKind::ALL {
        let runtime = runtime_with(1, |builder| builder.pool(pool));
        let order = Mutex::new(Vec::new());
        let note = |what| order.lock().expect("no panic").push(what);
        runtime.scope(|outer| {
            let note = &note;
            outer.spawn(move || {
                scope(|inner| {
                    inner.spawn(|| note("inner"));
                    outer.spawn(|| note("outer"));
                });
                note("after");
            });
        });
        let order = order.into_inner().expect("no panic");
        assert_eq!(order, ["inner", "after", "outer"], "{pool}");
    }
}
