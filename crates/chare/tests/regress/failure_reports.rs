//! Receivers of failures: blocked threads, futures that other executors poll, and entries that
//! continue after a failure.
//!
//! Regressions: a panic without a reply to fail reached only threads in `wait`. A reply that an
//! executor polled stayed pending for ever. An `async` entry could only await a reply in a way that
//! panicked together with its peer.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use raddle_chare::reduce::Sum;
use raddle_chare::{Array, Chares, Cx, Reply, chare};
use raddle_runtime::Runtime;
use raddle_sync::prim::{AtomicUsize, Relaxed};

use crate::common::runtime;
use crate::soon::soon;

/// Wakes a thread and counts the wakes.
struct Unpark {
    thread: Thread,
    count: AtomicUsize,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.count.fetch_add(1, Relaxed);
        self.thread.unpark();
    }
}

fn unpark() -> Arc<Unpark> {
    Arc::new(Unpark {
        thread: thread::current(),
        count: AtomicUsize::new(0),
    })
}

/// Runs a future to completion on this thread: a minimal executor. Calls `pending` after the first
/// poll if the future is pending.
fn block_on<F: Future>(future: F, pending: impl FnOnce()) -> F::Output {
    let waker = Waker::from(unpark());
    let mut context = Context::from_waker(&waker);
    let (mut future, mut pending) = (pin!(future), Some(pending));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        match pending.take() {
            Some(pending) => pending(),
            None => thread::park(),
        }
    }
}

struct Actor {
    count: u32,
}

#[chare]
impl Actor {
    #[message]
    fn go();

    #[entry]
    fn fall(&mut self) -> u32 {
        panic!("falls");
    }
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(1_u32));
    }
    #[entry]
    fn count(&mut self) -> u32 {
        self.count += 1;
        self.count
    }
    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.next(Self::go).await;
        self.count
    }
    #[entry]
    async fn fall_later(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.next(Self::go).await;
        panic!("falls");
    }
    /// Continues whether the other chare panics or not.
    #[entry]
    async fn ask(&mut self, other: ActorProxy) -> Result<u32, String> {
        let first = other.count().outcome().await;
        let second = other.fall().outcome().await;
        self.count += 1;
        assert_eq!(first, Ok(1));
        second.map_err(|failure| failure.to_string())
    }
    #[entry]
    async fn ask_itself(&mut self, cx: &mut Cx<Self>) -> bool {
        cx.this().count().outcome().await.is_ok()
    }
    /// Awaits a reduction without contributions.
    #[entry]
    async fn await_votes(&mut self, others: Array<Self>) -> u32 {
        others.reduction().await
    }
}

fn actors(runtime: &Runtime) -> Array<Actor> {
    runtime.array(2, |_| Actor { count: 0 })
}

#[test]
fn an_entry_continues_when_its_peer_panics() {
    let (outcome, count) = soon(|| {
        let runtime = runtime(2);
        let actors = actors(&runtime);
        let outcome = actors.at(0).ask(actors.at(1)).wait();
        (outcome, actors.at(0).count().wait())
    });
    assert_eq!(
        outcome.expect_err("the other one falls"),
        "Actor[1] panicked in `fall`: falls"
    );
    assert_eq!(count, 2);
}

#[test]
fn an_outcome_of_the_own_chare_is_reported_at_once() {
    let failure = soon(|| {
        let runtime = runtime(1);
        let asked = actors(&runtime).at(0).ask_itself();
        asked.try_wait().expect_err("it would wait for ever")
    });
    assert!(
        failure.to_string().contains("waits for a reply of its own"),
        "{failure}"
    );
}

#[test]
fn other_executors_are_woken_by_a_failure() {
    let outcome = soon(|| {
        let runtime = runtime(2);
        let actors = actors(&runtime);
        let votes = actors.reduction::<u32>().outcome();
        block_on(votes, || drop(actors.at(0).fall()))
    });
    let failure = outcome.expect_err("there are no votes");
    assert!(failure.to_string().contains("falls"), "{failure}");
}

#[test]
fn other_executors_receive_an_earlier_failure() {
    let outcome = soon(|| {
        let runtime = runtime(2);
        let actors = actors(&runtime);
        drop(actors.at(0).fall());
        runtime.quiescence().try_wait().expect_err("it falls");
        block_on(actors.reduction::<u32>().outcome(), || {
            panic!("the failure is reported at once")
        })
    });
    outcome.expect_err("there are no votes");
}

#[test]
fn awaiting_a_failed_reply_panics_with_the_failure() {
    let panicked = soon(|| {
        let runtime = runtime(2);
        let actors = actors(&runtime);
        let votes = actors.reduction::<u32>();
        let call = || block_on(votes, || drop(actors.at(0).fall()));
        catch_unwind(AssertUnwindSafe(call)).is_err()
    });
    assert!(panicked);
}

#[test]
fn other_executors_are_woken_by_the_end_of_the_runtime() {
    let outcome = soon(|| {
        let runtime = runtime(2);
        // The awaited value was neither sent nor dropped.
        let votes = actors(&runtime).reduction::<u32>().outcome();
        block_on(votes, || drop(runtime))
    });
    outcome.expect_err("the runtime has ended");
}

#[test]
fn other_executors_receive_a_value() {
    let sum = soon(|| {
        let runtime = runtime(2);
        let actors = actors(&runtime);
        block_on(actors.reduction::<u32>(), || actors.all().vote())
    });
    assert_eq!(sum, 2);
}

/// Checks replies that were awaited for some time and then dropped, as after a timeout: the panics
/// of their entries fail no other wait.
#[test]
fn the_panic_of_a_reply_that_was_given_up_fails_no_other_wait() {
    let count = soon(|| {
        let runtime = runtime(2);
        let actors = actors(&runtime);
        let mut replies = [0, 1].map(|index| actors.at(index).fall_later());
        for reply in &mut replies {
            let polled = Pin::new(reply).poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
        }
        let [early, late] = replies;
        // One is dropped before the panic, and one after it.
        drop(early);
        actors.all().go();
        while !late.is_here() {
            thread::yield_now();
        }
        drop(late);
        runtime
            .quiescence()
            .try_wait()
            .expect("nothing is reported");
        let other = runtime.chare(|_| Actor { count: 0 });
        // The end of the runtime does not panic.
        other.count().wait()
    });
    assert_eq!(count, 1);
}

#[test]
fn a_reply_is_woken_once_after_many_polls_and_never_after_its_drop() {
    soon(|| {
        let runtime = runtime(2);
        let actors = actors(&runtime);
        let (kept, dropped) = (unpark(), unpark());
        let poll = |reply: &mut Reply<u32>, waker: &Arc<Unpark>| {
            let waker = Waker::from(Arc::clone(waker));
            let polled = Pin::new(reply).poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
        };
        let (mut votes, mut others) = (actors.reduction::<u32>(), actors.reduction::<u32>());
        for _ in 0..100 {
            poll(&mut votes, &kept);
            poll(&mut others, &dropped);
        }
        drop(others);
        // One reference of the test, one of the replier, and one in the list.
        assert_eq!(Arc::strong_count(&kept), 3);
        drop(actors.at(0).fall());
        while kept.count.load(Relaxed) == 0 {
            thread::yield_now();
        }
        runtime.quiescence().try_wait().expect_err("it falls");
        assert_eq!(kept.count.load(Relaxed), 1);
        assert_eq!(dropped.count.load(Relaxed), 0);
        drop(votes);
    });
}

#[test]
fn an_entry_that_waits_in_silence_stays_until_the_end_and_is_named() {
    let (lines, outcome) = soon(|| {
        let runtime = runtime(2);
        let (actors, others) = (actors(&runtime), actors(&runtime));
        let votes = actors.at(0).await_votes(others);
        let waits = actors.at(1).wait();
        drop(others.at(0).fall());
        runtime.quiescence().try_wait().expect_err("it falls");
        let lines = runtime.explain_waits();
        // The entry does not fail with the others, and can continue.
        actors.at(1).go();
        while !waits.is_here() {
            thread::yield_now();
        }
        assert_eq!(waits.try_wait(), Ok(0));
        assert!(!votes.is_here());
        (lines, votes.try_wait())
    });
    assert!(
        lines.contains(&"Actor[0] waits in `await_votes`".to_owned()),
        "{lines:?}"
    );
    outcome.expect_err("all waits outside entries fail");
}

/// Records whether it was dropped during a panic.
struct Witness(Arc<Mutex<bool>>);

impl Drop for Witness {
    fn drop(&mut self) {
        *self.0.lock().expect("no panic poisons it") |= thread::panicking();
    }
}

/// Waits for a message that never arrives, or for a peer that does so.
struct Patient;

#[chare]
impl Patient {
    #[message]
    fn never();

    #[entry]
    async fn hold(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.next(Self::never).await;
        1
    }

    #[entry]
    async fn ask(&mut self, cx: &mut Cx<Self>, witness: Witness) {
        let other = cx.array().at((cx.index() + 1) % 8);
        let held = other.hold().await;
        drop((held, witness));
    }
}

// Regression: entries that awaited replies were woken by the loss of their own messages, and each
// of them panicked with a trace.
#[test]
fn an_entry_that_awaits_a_reply_at_the_end_is_dropped_in_silence() {
    let panicked = Arc::new(Mutex::new(false));
    for _ in 0..200 {
        let runtime = runtime(3);
        let patients = runtime.array(8, |_| Patient);
        for index in 0..8 {
            patients.at(index).ask(Witness(Arc::clone(&panicked)));
        }
    }
    assert!(!*panicked.lock().expect("no panic poisons it"));
}
