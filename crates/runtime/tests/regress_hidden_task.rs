//! A task that lay under foreign ones in its worker's own deque was not found by the scope that waited for it.
//!
//! A waiting worker looked only at the newest of its own tasks, since "all that I put since then is below what I wait
//! for". That was wrong twice: a task can spawn into a scope further out, and a worker that is asked for work publishes
//! the oldest fork of its stack, which belongs to a frame further out. Either then lay on top of the task that the scope
//! waited for; with all workers waiting, the program stood still. The random stress found it within a second. Now a
//! waiting worker searches its own tasks down to where the wait began.

use std::sync::Mutex;

use raddle_runtime::{PoolKind, Runtime, scope};

#[test]
fn task_below_a_foreign_one_is_found() {
    for pool in PoolKind::ALL {
        let runtime = Runtime::builder()
            .workers(1)
            .pool(pool)
            .build()
            .expect("a runtime");
        let order = Mutex::new(Vec::new());
        let note = |what| order.lock().expect("nobody panics").push(what);
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
        let order = order.into_inner().expect("nobody panics");
        assert_eq!(order, ["inner", "after", "outer"], "{pool}");
    }
}
