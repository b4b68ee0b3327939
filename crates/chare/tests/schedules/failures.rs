//! Panics in user code: all waits for its results fail, and nothing hangs.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_chare::reduce::{self, Sum};
use raddle_chare::{Array, Chares, Cx, Failure, chare, model};
use raddle_runtime::model::explore::{beside, explore_some, fail_with, panics_were_meant};
use raddle_runtime::{Runtime, Waiter};
use raddle_sync::prim::{AtomicBool, SeqCst};

/// A chare that fails in all possible ways.
struct Climber {
    falls_when_dropped: bool,
}

impl Drop for Climber {
    fn drop(&mut self) {
        if self.falls_when_dropped {
            fail_with(3);
        }
    }
}

/// An argument of a message with a destructor that panics.
struct Loose;

impl Drop for Loose {
    fn drop(&mut self) {
        fail_with(4);
    }
}

#[chare]
impl Climber {
    #[entry]
    fn fall(&mut self) {
        fail_with(1);
    }

    #[entry]
    fn fall_asked(&mut self) -> u32 {
        fail_with(1);
    }

    #[message]
    fn rope(held: bool);

    /// Panics unless the rope is held.
    #[entry]
    async fn climb(&mut self, cx: &mut Cx<Self>) -> u32 {
        cx.migrate_to((cx.worker() + 1) % cx.worker_count());
        if !cx.next(Self::rope).await {
            fail_with(2);
        }
        1
    }

    /// Asks another climber that panics.
    #[entry]
    async fn ask(&mut self, cx: &mut Cx<Self>, other: usize) -> u32 {
        cx.array().at(other).fall_asked().await
    }

    #[entry]
    fn end_badly(&mut self, cx: &mut Cx<Self>) {
        self.falls_when_dropped = true;
        cx.end();
    }

    #[entry]
    fn carry(&mut self, loose: Loose) {
        drop(loose);
    }

    /// Makes another climber panic, and reports whether quiescence succeeded afterwards.
    #[entry]
    async fn watch(&mut self, cx: &mut Cx<Self>, other: usize, calm: Arc<AtomicBool>) {
        cx.array().at(other).fall();
        cx.quiescence().await;
        calm.store(true, SeqCst);
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.exit();
    }

    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(1_u32));
    }

    #[entry]
    fn vote_badly(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(reduce::with(1_u32, |_, _| fail_with(5)));
    }

    #[entry]
    fn vote_then_fall(&mut self, cx: &mut Cx<Self>) {
        cx.contribute_then(Sum(1_u32), |_| fail_with(6));
    }
}

fn climbers(runtime: &Runtime, count: usize) -> Array<Climber> {
    runtime.array(count, |_| Climber {
        falls_when_dropped: false,
    })
}

/// Waits for a reduction that will never be complete.
fn wait_for_votes(climbers: Array<Climber>) -> Result<u32, Failure> {
    climbers.reduction().try_wait()
}

/// Wakes the polling thread.
struct Rouse(Waiter);

impl Wake for Rouse {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }
}

/// Polls a future on a thread that is not a worker, and only when it is woken.
fn block_on<F: Future>(future: F) -> F::Output {
    let waiter = Waiter::current();
    let waker = Waker::from(Arc::new(Rouse(waiter.clone())));
    let (future, output) = (RefCell::new(Box::pin(future)), RefCell::new(None));
    waiter.wait_until(|| {
        let mut context = Context::from_waker(&waker);
        match future.borrow_mut().as_mut().poll(&mut context) {
            Poll::Ready(is) => *output.borrow_mut() = Some(is),
            Poll::Pending => return false,
        }
        true
    });
    output.into_inner().expect("it was ready")
}

// Regression: wakers were stored only with the reply, so that an unrelated failure woke no thread.
#[test]
fn polled_replies_are_woken_by_a_panic_and_by_the_end() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let climbers = climbers(&runtime, 3);
        let falls = setting.one_of(&[false, true]);
        let poll = move || block_on(climbers.reduction::<u32>().outcome());
        let (votes, _runtime) = beside(poll, move || {
            climbers.at(1).vote();
            if falls {
                // The runtime outlives the poll: otherwise its end might report the panic.
                climbers.at(0).fall();
                return Some(runtime);
            }
            drop(runtime);
            None
        });
        votes.expect_err("one has not voted");
    });
}

// Regression: the end of the runtime left the panic to a thread that was about to wait, but this
// thread then found no runtime. If neither of the two reports a panic, the process ends with exit
// code 101.
#[test]
fn a_panic_is_reported_by_the_end_or_by_a_waiting_thread() {
    explore_some(1_000, |setting| {
        let runtime = crate::runtime(&setting);
        let climbers = climbers(&runtime, 2);
        let (votes, end) = beside(
            move || wait_for_votes(climbers),
            move || {
                climbers.at(0).fall();
                catch_unwind(AssertUnwindSafe(|| drop(runtime)))
            },
        );
        votes.expect_err("no element has voted");
        if end.is_err() {
            panics_were_meant();
        }
    });
}

#[test]
fn all_kinds_of_waits_fail_after_a_panic() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let climbers = climbers(&runtime, 3);
        let here = || {
            model::migrate(climbers, [(1, 0), (0, 0)]);
            climbers.at(1).vote();
            climbers.at(0).fall();
            runtime.quiescence().try_wait()
        };
        let (votes, _) = beside(move || wait_for_votes(climbers), here);
        let failure = votes.expect_err("one has not voted");
        assert!(
            failure
                .to_string()
                .contains("Climber[0] panicked in `fall`")
        );
        assert!(wait_for_votes(climbers).is_err(), "later waits fail, too");
    });
}

// Regression: a thread that found quiescence before it checked for failures reported success.
#[test]
fn quiescence_does_not_hide_a_panic() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let climbers = climbers(&runtime, 3);
        let calm = Arc::new(AtomicBool::new(false));
        climbers.at(1).watch(2, Arc::clone(&calm));
        climbers.at(0).fall();
        let failure = runtime.quiescence().try_wait().expect_err("one fell");
        assert!(failure.to_string().contains("panicked in `fall`"));
        drop(runtime);
        assert!(!calm.load(SeqCst));
        // An entry that waits for quiescence panics, too.
        panics_were_meant();
    });
}

// Regression: as above, for an exit that was announced before the thread checked for failures.
#[test]
fn the_exit_does_not_hide_a_panic() {
    explore_some(96, |setting| {
        // With one worker, the exit comes after the panic.
        let runtime = crate::with_policy(&setting, setting.runtime_of(1));
        let climbers = climbers(&runtime, 2);
        climbers.at(0).fall();
        climbers.at(1).leave();
        let wait = AssertUnwindSafe(|| runtime.until_exit());
        catch_unwind(wait).expect_err("one fell");
        panics_were_meant();
    });
}

#[test]
fn a_panic_fails_only_the_reply_of_its_question() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let climbers = climbers(&runtime, 3);
        let asked = climbers.at(0).ask(1);
        let climbing = climbers.at(2).climb();
        climbers.at(2).rope(false);
        for reply in [asked, climbing] {
            let failure = reply.try_wait().expect_err("it panics");
            assert!(failure.to_string().contains("panicked in"), "{failure}");
        }
        runtime.quiescence().wait();
        for index in 0..3 {
            assert!(
                climbers.get(index).is_none(),
                "an element that panics is gone"
            );
        }
        // An entry that waits for the reply of a panicking element panics, too.
        panics_were_meant();
    });
}

#[test]
fn waits_for_a_panicking_element_fail() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let climbers = climbers(&runtime, 1);
        let climbing = climbers.at(0).climb();
        let asked = climbers.at(0).fall_asked();
        let rope = move || climbers.at(0).rope(false);
        let (_, failure) = beside(rope, || asked.try_wait());
        assert!(
            failure
                .expect_err("it is gone")
                .to_string()
                .contains("which has ended")
        );
        assert!(climbing.try_wait().is_err());
        runtime.quiescence().wait();
    });
}

#[test]
fn a_panicking_constructor_fails_questions() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let climber = runtime.chare::<Climber>(|_| fail_with(7));
        let ask = move || climber.fall_asked().try_wait();
        let (there, here) = beside(ask, ask);
        assert!(there.is_err() && here.is_err());
        let votes = wait_for_votes(climbers(&runtime, 1));
        assert!(votes.is_err(), "all other waits fail, too");
    });
}

// Regression: an unwound message was not counted as processed, and its panic was not reported.
#[test]
fn a_panic_outside_entries_is_reported() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let climbers = climbers(&runtime, 2);
        match setting.one_of(&[0, 1, 2, 3, 4]) {
            0 => climbers.all().vote_badly(),
            1 => climbers.all().vote_then_fall(),
            2 => climbers.at(1).end_badly(),
            // Regression: an unread reply that was dropped after the panic had arrived dropped the
            // panic as well.
            3 => drop(climbers.at(1).fall_asked()),
            _ => climbers.at(1).carry(Loose),
        }
        let failure = wait_for_votes(climbers).expect_err("there are none");
        assert!(failure.to_string().contains("panic"), "{failure}");
    });
}

#[test]
fn waits_in_a_destroyed_array_fail() {
    explore_some(96, |setting| {
        let runtime = crate::runtime(&setting);
        let climbers = climbers(&runtime, 2);
        let climbing = climbers.at(1).climb();
        let behind = climbers.at(1).fall_asked();
        runtime.quiescence().wait();
        climbers.destroy();
        assert!(climbing.try_wait().is_err());
        assert!(behind.try_wait().is_err());
        runtime.quiescence().wait();
    });
}
