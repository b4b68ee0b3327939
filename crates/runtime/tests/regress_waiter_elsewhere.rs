//! A `Waiter` can be cloned and sent, since other threads notify by it. Waiting by it on another
//! thread than its own was possible too: two threads then waited in one cell, and a notification
//! woke one of them. The other waited for ever, though it had done nothing wrong. Such a wait is
//! refused now.

#![cfg(not(any(loom, shuttle)))]

use std::thread;

use raddle_runtime::{Runtime, Waiter};

const REFUSAL: &str = "a waiter waits on the thread that it stands for";

fn expect_refusal(wait: impl FnOnce() + Send) {
    let panic = thread::scope(|scope| scope.spawn(wait).join()).expect_err("it is refused");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&REFUSAL));
}

#[test]
fn waiter_of_a_thread_waits_nowhere_else() {
    let waiter = Waiter::current();
    expect_refusal(|| waiter.wait_until(|| true));
    expect_refusal(|| waiter.wait_asking(true, || true, |_| ()));
    waiter.wait_until(|| true);
    waiter.wait_asking(true, || true, |_| ());
}

#[test]
fn waiter_of_a_worker_waits_on_no_other_worker() {
    let runtime = |workers| {
        Runtime::builder()
            .workers(workers)
            .build()
            .expect("workers")
    };
    let (one, other) = (runtime(1), runtime(1));
    let waiter = one.install(Waiter::current);
    expect_refusal(|| waiter.wait_until(|| true));
    expect_refusal(|| other.install(|| waiter.wait_until(|| true)));
    one.install(|| waiter.wait_until(|| true));
}
