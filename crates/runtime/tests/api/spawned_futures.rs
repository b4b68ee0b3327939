//! Spawned futures, `block_on`, and handles as futures.

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use raddle_runtime::{Handle, join, worker_index};
use raddle_sync::prim::{AtomicBool, AtomicUsize, Relaxed};

use crate::common::{runtime, runtime_with};

/// Gives other work a turn.
async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// An event that another thread brings about.
#[derive(Default)]
struct Event(Mutex<(bool, Option<Waker>)>);

impl Event {
    fn set(&self) {
        let waker = {
            let mut state = self.0.lock().expect("no panics");
            state.0 = true;
            state.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    async fn happened(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().expect("no panics");
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Returns the number with which `call` panics.
fn number_of_panic<R>(call: impl FnOnce() -> R) -> u32 {
    let Err(panic) = catch_unwind(AssertUnwindSafe(call)) else {
        panic!("it has not panicked");
    };
    *panic.downcast().expect("the panic has a number")
}

fn fail_with(number: u32) -> u32 {
    resume_unwind(Box::new(number))
}

#[test]
fn a_future_gives_its_result_to_a_thread_and_to_a_future() {
    for workers in [1, 2] {
        let runtime = runtime(workers);
        assert_eq!(runtime.spawn_future(async { 1 }).wait(), 1);
        let (task, blocking) = (runtime.spawn(|| 2), runtime.spawn_blocking(|| 3));
        let inner = runtime.spawn_future(async { 4 });
        let outer = runtime.spawn_future(async { task.await + blocking.await + inner.await });
        assert_eq!(outer.wait(), 9);
    }
}

#[test]
fn a_future_runs_on_workers_of_its_runtime() {
    let runtime = runtime(2);
    let event = Arc::new(Event::default());
    let waiting = Arc::clone(&event);
    let handle = runtime.spawn_future(async move {
        let before = worker_index();
        waiting.happened().await;
        [before, worker_index()]
    });
    // Woken by a thread that is no worker.
    event.set();
    assert!(handle.wait().iter().all(Option::is_some));
}

#[test]
fn a_panic_reaches_the_code_that_awaits() {
    let runtime = runtime(2);
    let first = runtime.spawn_future(async {
        yield_now().await;
        fail_with(1)
    });
    let second = runtime.spawn_future(async { first.await + 1 });
    let third = runtime.spawn(|| fail_with(3));
    assert_eq!(number_of_panic(|| second.wait()), 1);
    assert_eq!(number_of_panic(|| runtime.block_on(third)), 3);
    assert_eq!(
        number_of_panic(|| runtime.block_on(async { fail_with(4) })),
        4
    );
}

#[test]
fn a_panic_without_an_awaiter_goes_to_the_panic_handler() {
    let (panics, panicked) = channel();
    let panics = Mutex::new(panics);
    let runtime = runtime_with(1, |builder| {
        builder.on_panic(move |panic| {
            let number = panic.downcast::<u32>().map_or(0, |number| *number);
            let _ = panics.lock().expect("no panics").send(number);
        })
    });
    drop(runtime.spawn_future(async { fail_with(5) }));
    assert_eq!(panicked.recv(), Ok(5));
}

#[test]
fn the_destructor_of_a_future_runs_before_its_awaiter_continues() {
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let runtime = runtime(2);
    for _ in 0..100 {
        let count = Arc::new(AtomicUsize::new(0));
        let counts = Counts(Arc::clone(&count));
        let mut first = true;
        let future = poll_fn(move |context| {
            let _kept = &counts;
            if std::mem::take(&mut first) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(())
        });
        runtime.spawn_future(future).wait();
        assert_eq!(count.load(Relaxed), 1);
    }
}

/// A value that panics when it is dropped.
struct FailsInDrop(u32);

impl Drop for FailsInDrop {
    fn drop(&mut self) {
        fail_with(self.0);
    }
}

#[test]
fn a_panic_of_a_destructor_reaches_the_awaiter() {
    let runtime = runtime(1);
    let at_the_end = runtime.spawn_future(async {
        let _fails = FailsInDrop(6);
        7
    });
    assert_eq!(number_of_panic(|| at_the_end.wait()), 6);
    // The destructor of a future that the end of its runtime drops.
    let fails = FailsInDrop(8);
    let dropped = runtime.spawn_future(async move {
        let _fails = fails;
        pending::<()>().await;
    });
    drop(runtime);
    assert_eq!(number_of_panic(|| dropped.wait()), 8);
}

#[test]
fn the_end_of_the_runtime_drops_unfinished_futures() {
    let held = Arc::new(());
    let runtime = runtime(2);
    let event = Arc::new(Event::default());
    let handles: Vec<Handle<()>> = (0..6)
        .map(|index| {
            let (held, event) = (Arc::clone(&held), Arc::clone(&event));
            runtime.spawn_future(async move {
                let _held = held;
                match index % 3 {
                    // No waker of it is left.
                    0 => pending().await,
                    // Its waker outlives the runtime.
                    1 => event.happened().await,
                    // It is always ready.
                    _ => loop {
                        yield_now().await;
                    },
                }
            })
        })
        .collect();
    thread::sleep(Duration::from_millis(5));
    drop(runtime);
    assert_eq!(Arc::strong_count(&held), 1);
    event.set();
    for handle in handles {
        assert!(handle.is_done());
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| handle.wait())) else {
            panic!("an unfinished future has no result");
        };
        let message = panic.downcast_ref::<&str>().expect("a message");
        assert!(message.contains("runtime has ended"), "{message}");
    }
}

#[test]
fn a_task_that_the_end_waits_for_can_use_futures() {
    let runtime = runtime(1);
    let post = runtime.post();
    let handle = runtime.spawn(move || {
        // The runtime is about to end.
        while !post.is_ending() {
            thread::yield_now();
        }
        raddle_runtime::block_on(async {
            yield_now().await;
            raddle_runtime::spawn_future(async { 5 }).await
        })
    });
    drop(runtime);
    assert_eq!(handle.wait(), 5);
}

#[test]
fn futures_that_wake_each_other_do_not_hold_up_tasks() {
    let runtime = runtime(1);
    let is_over = Arc::new(AtomicBool::new(false));
    let events: Arc<[Mutex<Option<Waker>>]> = (0..2).map(|_| Mutex::default()).collect();
    let players: Vec<_> = (0..2)
        .map(|own| {
            let (events, is_over) = (Arc::clone(&events), Arc::clone(&is_over));
            runtime.spawn_future(poll_fn(move |context| {
                let other = events[1 - own].lock().expect("no panics").take();
                other.into_iter().for_each(Waker::wake);
                if is_over.load(Relaxed) {
                    return Poll::Ready(());
                }
                *events[own].lock().expect("no panics") = Some(context.waker().clone());
                // The first of them begins the game.
                if own == 0 && events[1].lock().expect("no panics").is_none() {
                    context.waker().wake_by_ref();
                }
                Poll::Pending
            }))
        })
        .collect();
    let yields = Arc::clone(&is_over);
    let yielding = runtime.spawn_future(async move {
        while !yields.load(Relaxed) {
            yield_now().await;
        }
    });
    for _ in 0..100 {
        runtime.spawn(|| ()).wait();
    }
    is_over.store(true, Relaxed);
    yielding.wait();
    // One of the players may wait for the other, which has ended.
    for event in events.iter() {
        let waker = event.lock().expect("no panics").take();
        waker.into_iter().for_each(Waker::wake);
    }
    drop(players);
}

#[test]
fn block_on_borrows_and_nests_on_the_only_worker() {
    let runtime = runtime(1);
    let words = ["one", "two"];
    let count = runtime.block_on(async {
        yield_now().await;
        assert!(worker_index().is_some());
        let (left, right) = join(
            || runtime.block_on(async { runtime.spawn_future(async { 1 }).await }),
            || runtime.block_on(runtime.spawn(|| 2)),
        );
        left + right + words.len()
    });
    assert_eq!(count, 5);
}

#[test]
fn block_on_a_worker_of_another_runtime() {
    let (one, other) = (runtime(1), runtime(1));
    let sum = one.install(|| {
        other.block_on(async {
            yield_now().await;
            one.spawn_future(async { 2 }).await + other.spawn(|| 3).await
        })
    });
    assert_eq!(sum, 5);
}

#[test]
fn a_handle_keeps_only_its_latest_waker() {
    let runtime = runtime(1);
    let event = Arc::new(Event::default());
    let waiting = Arc::clone(&event);
    let mut handle = pin!(runtime.spawn_future(async move { waiting.happened().await }));
    let mut context = Context::from_waker(Waker::noop());
    assert!(handle.as_mut().poll(&mut context).is_pending());
    event.set();
    runtime.block_on(handle.as_mut());
    let again = catch_unwind(AssertUnwindSafe(|| handle.as_mut().poll(&mut context)));
    assert!(again.is_err(), "a handle is not polled after it was ready");
}

#[test]
fn many_futures_are_spawned_by_futures() {
    fn tree(depth: u32) -> std::pin::Pin<Box<dyn Future<Output = u32> + Send>> {
        Box::pin(async move {
            if depth == 0 {
                return 1;
            }
            let left = raddle_runtime::spawn_future(tree(depth - 1));
            let right = raddle_runtime::spawn_future(tree(depth - 1));
            left.await + right.await
        })
    }
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        assert_eq!(runtime.spawn_future(tree(12)).wait(), 1 << 12);
    }
}

#[test]
fn a_worker_that_waits_for_a_future_lets_it_run() {
    let runtime = Arc::new(runtime(1));
    let inside = Arc::clone(&runtime);
    let result = runtime.install(move || {
        let future = inside.spawn_future(async {
            yield_now().await;
            7
        });
        future.wait()
    });
    assert_eq!(result, 7);
}
