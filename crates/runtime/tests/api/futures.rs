//! Futures on given workers: which one is polled next, and what becomes of them at the end.

use std::future::poll_fn;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use raddle_runtime::{AssignedWorker, MailboxKind, Post, RunQueue, Urgency};

use crate::common::{runtime, runtime_with};

/// Blocks worker 0 until the result is dropped or used.
fn block(post: &Post) -> Sender<()> {
    let (end, ended) = channel::<()>();
    let (begin, begun) = channel();
    post.send(0, move || {
        begin.send(()).expect("the test waits");
        let _ = ended.recv();
    });
    begun.recv().expect("the message runs");
    end
}

/// Runs a future on worker 0 that sends its name.
fn name(post: &Post, ready: &RunQueue, urgency: Urgency, names: &Sender<u64>) {
    let names = names.clone();
    let future = async move { names.send(urgency.0).expect("the test waits") };
    ready.run(post, &AssignedWorker::new(0), move || urgency, future);
}

#[test]
fn the_most_urgent_future_runs_first_and_messages_run_in_between() {
    for mailbox in MailboxKind::ALL {
        let runtime = runtime_with(1, |builder| builder.mailbox(mailbox));
        let (post, (names, named)) = (runtime.post(), channel());
        let ready = RunQueue::new(&post);
        let end = block(&post);
        for urgency in [5, 3, 9, 4] {
            name(&post, &ready, (urgency, 0), &names);
        }
        let message = names.clone();
        post.send(0, move || message.send(0).expect("the test waits"));
        drop((end, names));
        let order: Vec<_> = named.iter().collect();
        let of_futures: Vec<_> = order.iter().copied().filter(|&name| name > 0).collect();
        assert_eq!(of_futures, [3, 4, 5, 9], "{mailbox}");
        assert_ne!(order.last(), Some(&0), "{mailbox}: the message waited");
    }
}

#[test]
fn a_future_that_panics_does_not_stop_those_behind_it() {
    let runtime = runtime(1);
    let (post, (names, named)) = (runtime.post(), channel());
    let ready = RunQueue::new(&post);
    let end = block(&post);
    for urgency in 1..=3 {
        let panics = async move { panic!("future {urgency}") };
        ready.run(&post, &AssignedWorker::new(0), move || (urgency, 0), panics);
        name(&post, &ready, (urgency, 1), &names);
    }
    drop((end, names));
    assert_eq!(named.iter().collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn a_future_can_wake_itself_and_others_while_it_runs() {
    const ROUNDS: u32 = 1_000;
    let runtime = runtime(2);
    let (post, (done, is_done)) = (runtime.post(), channel());
    let ready = RunQueue::new(&post);
    let wakers: Arc<[Mutex<Option<Waker>>]> = (0..2).map(|_| Mutex::default()).collect();
    for own in 0..2 {
        let (wakers, done) = (Arc::clone(&wakers), done.clone());
        let mut rounds = 0;
        let future = poll_fn(move |context| {
            *wakers[own].lock().expect("no panics") = Some(context.waker().clone());
            rounds += 1;
            if rounds == ROUNDS {
                done.send(own).expect("the test waits");
                return Poll::Ready(());
            }
            let other = wakers[1 - own].lock().expect("no panics").clone();
            other.iter().for_each(Waker::wake_by_ref);
            context.waker().wake_by_ref();
            Poll::Pending
        });
        ready.run(&post, &AssignedWorker::new(own), || (0, 0), future);
    }
    drop(done);
    assert_eq!(is_done.iter().count(), 2);
}

#[test]
fn the_end_of_the_runtime_drops_all_ready_futures() {
    let held = Arc::new(());
    let runtime = runtime(2);
    let post = runtime.post();
    let ready = RunQueue::new(&post);
    for worker in [0, 0, 0, 1] {
        let held = Arc::clone(&held);
        let future = poll_fn(move |context| {
            let _keep = &held;
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        ready.run(&post, &AssignedWorker::new(worker), || (0, 0), future);
    }
    drop((runtime, ready, post));
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_future_that_is_woken_after_the_end_is_dropped() {
    let held = Arc::new(());
    let runtime = runtime(1);
    let post = runtime.post();
    let ready = RunQueue::new(&post);
    let (wakers, waker) = channel();
    let inside = Arc::clone(&held);
    let future = poll_fn(move |context| {
        let _keep = &inside;
        wakers
            .send(context.waker().clone())
            .expect("the test waits");
        Poll::<()>::Pending
    });
    ready.run(&post, &AssignedWorker::new(0), || (0, 0), future);
    let waker = waker.recv().expect("the future is polled");
    drop(runtime);
    assert_eq!(Arc::strong_count(&held), 2);
    waker.wake();
    assert_eq!(Arc::strong_count(&held), 1);
}
