//! Spawned futures: wake-ups, handles as futures, `block_on`, and the end.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::{Poll, Waker};

use raddle_runtime::model::explore::{beside, explore, fail_with, number_of_failure};
use raddle_sync::prim::{AtomicBool, Mutex, SeqCst};

/// An event that another thread brings about.
#[derive(Default)]
struct Event {
    has_happened: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Event {
    fn set(&self) {
        self.has_happened.store(true, SeqCst);
        let waker = self.waker.lock().expect("no panics").take();
        waker.into_iter().for_each(Waker::wake);
    }

    async fn happened(&self) {
        poll_fn(|context| {
            *self.waker.lock().expect("no panics") = Some(context.waker().clone());
            match self.has_happened.load(SeqCst) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

#[test]
fn no_wake_up_of_a_future_is_lost() {
    explore(|setting| {
        let runtime = setting.runtime();
        let event = Arc::new(Event::default());
        let waiting = Arc::clone(&event);
        let future = runtime.spawn_future(async move {
            waiting.happened().await;
            1
        });
        let outer = runtime.spawn_future(async move { future.await + 1 });
        let (result, ()) = beside(|| outer.wait(), || event.set());
        assert_eq!(result, 2);
    });
}

#[test]
fn block_on_sees_the_end_of_a_task() {
    explore(|setting| {
        let runtime = setting.runtime();
        let task = runtime.spawn(|| 3);
        let result =
            runtime.block_on(async { task.await + runtime.spawn_future(async { 4 }).await });
        assert_eq!(result, 7);
        let inside = runtime.install(|| runtime.block_on(runtime.spawn(|| 5)));
        assert_eq!(inside, 5);
    });
}

#[test]
fn panic_of_a_future_reaches_the_awaiter() {
    explore(|setting| {
        let runtime = setting.runtime();
        let inner = runtime.spawn_future(async { fail_with(5) });
        let outer = runtime.spawn_future(async move { inner.await });
        assert_eq!(number_of_failure(|| outer.wait()), 5);
    });
}

#[test]
fn the_end_drops_futures_that_are_woken_at_the_same_time() {
    explore(|setting| {
        let runtime = setting.runtime();
        let event = Arc::new(Event::default());
        let waiting = Arc::clone(&event);
        let held = Arc::new(());
        let (first, second) = (Arc::clone(&held), Arc::clone(&held));
        let woken = runtime.spawn_future(async move {
            waiting.happened().await;
            drop(first);
        });
        let never = runtime.spawn_future(async move {
            let _held = second;
            pending::<()>().await;
        });
        beside(move || drop(runtime), || event.set());
        assert_eq!(Arc::strong_count(&held), 1);
        assert!(woken.is_done() && never.is_done());
    });
}
