//! A `Waiter` can be cloned and sent, because other threads notify through it. It was also possible
//! to wait through it on a thread other than its own. Two threads then waited in one cell, and a
//! notification woke only one of them. The other one waited forever, although its own code was
//! correct. Such a wait is refused now.

use std::thread;

use raddle_runtime::Waiter;

use crate::common::runtime;

const REFUSAL: &str = "a waiter waits on the thread that made it";

fn expect_refusal(wait: impl FnOnce() + Send) {
    let panic = thread::scope(|scope| scope.spawn(wait).join()).expect_err("the wait is refused");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&REFUSAL));
}

#[test]
fn waiter_of_a_thread_waits_on_no_other_thread() {
    let waiter = Waiter::current();
    expect_refusal(|| waiter.wait_until(|| true));
    expect_refusal(|| waiter.wait_asking(true, || true, |_| ()));
    waiter.wait_until(|| true);
    waiter.wait_asking(true, || true, |_| ());
}

#[test]
fn waiter_of_a_worker_waits_on_no_other_worker() {
    let (one, other) = (runtime(1), runtime(1));
    let waiter = one.install(Waiter::current);
    expect_refusal(|| waiter.wait_until(|| true));
    expect_refusal(|| other.install(|| waiter.wait_until(|| true)));
    one.install(|| waiter.wait_until(|| true));
}
