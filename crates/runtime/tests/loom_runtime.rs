//! Models of the shipped runtime: every schedule of two or three threads, on weak memory, within a bound of preemptions.
//!
//! What user code hands over (results, what a closure captured) lies in tracked cells, so that an ordering that is too weak
//! is an error of the model even where the value happens to be right. A wake-up that is lost is a deadlock, which loom
//! reports.
//!
//! Weakening either side of F2, S1, T1, T2, E1 and R1, or the fence of E2, makes a model here fail. Three things none can show:
//!
//! - F1 stands beside the ordering of the deque that hands the cell over; the model of the offer alone has it
//!   (`raddle_sync`).
//! - E3: between a worker's looks at the pool lies a yield, and loom lets a thread that has yielded see newer values, so that
//!   the pool does not look empty; and on the release side, a fence stands before the store anyway.
//! - Accesses that are sequentially consistent are not, for loom: where such an order is needed, the code has fences.

#![cfg(loom)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use loom::sync::{Condvar, Mutex};
use raddle_runtime::model::as_first_worker;
use raddle_runtime::{IdlePolicy, MailboxKind, PoolKind, Runtime, join, scope, worker_index};
use raddle_sync::prim::Tracked;

/// Runs `body` under every schedule with at most `preemptions` of them, and sees to it that some run said what it must be
/// possible to see.
fn model(preemptions: usize, body: impl Fn() -> bool + Sync + Send + 'static) {
    let seen = Arc::new(std::sync::Mutex::new((0, 0)));
    let seen_inside = Arc::clone(&seen);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(move || {
        let saw = body();
        let mut seen = seen_inside.lock().expect("nobody panics");
        seen.0 += usize::from(saw);
        seen.1 += 1;
    });
    let seen = seen.lock().expect("nobody panics");
    assert!(
        seen.0 > 0,
        "no schedule of {} does what the model is about",
        seen.1
    );
}

fn runtime(worker_count: usize) -> Runtime {
    runtime_with(worker_count, MailboxKind::LockFree)
}

fn runtime_with(worker_count: usize, mailbox: MailboxKind) -> Runtime {
    let (pool, idle) = (PoolKind::Deque, IdlePolicy::Park);
    raddle_runtime::model::runtime(worker_count, pool, mailbox, idle, false)
}

/// Something that happens once, and that a thread stands still for.
struct Flag(Mutex<bool>, Condvar);

impl Flag {
    fn new() -> Self {
        Self(Mutex::new(false), Condvar::new())
    }

    fn raise(&self) {
        *self.0.lock().expect("nobody panics") = true;
        self.1.notify_all();
    }

    fn is_up(&self) -> bool {
        *self.0.lock().expect("nobody panics")
    }

    fn await_up(&self) {
        let mut up = self.0.lock().expect("nobody panics");
        while !*up {
            up = self.1.wait(up).expect("nobody panics");
        }
    }
}

fn is_stolen() -> bool {
    worker_index() == Some(1)
}

/// F2: what a fork captured reaches its thief, and what it did reaches its owner.
#[test]
fn stolen_fork_brings_its_result_and_its_effects() {
    model(3, || {
        let (input, output) = (Tracked::new(0), Tracked::new(0));
        let (one, stolen) = as_first_worker(2, || {
            input.set(3);
            let second = || {
                output.set(input.get() + 1);
                is_stolen()
            };
            join(|| 1, second)
        });
        assert_eq!((one, output.get()), (1, 4));
        stolen
    });
}

/// The panic of a stolen fork comes out of its join.
#[test]
fn stolen_fork_brings_its_panic() {
    model(3, || {
        let fork = || resume_unwind(Box::new(is_stolen()));
        let call = || as_first_worker(2, || catch_unwind(AssertUnwindSafe(|| join(|| 1, fork))));
        let panic = call().map(|(one, ())| one).expect_err("the fork panics");
        *panic.downcast::<bool>().expect("the panic of the fork")
    });
}

/// A fork whose sister panics is dropped without being run, or waited for.
#[test]
fn panic_of_the_first_waits_for_the_stolen_second() {
    model(3, || {
        let effect = Tracked::new(0);
        let stolen = Tracked::new(0);
        let second = || {
            effect.set(1);
            stolen.set(u32::from(is_stolen()));
        };
        let first = || resume_unwind(Box::new(7_u32));
        let result = as_first_worker(2, || {
            let pair = AssertUnwindSafe(|| join::<_, _, (), ()>(first, second));
            catch_unwind(pair).expect_err("the first panics")
        });
        assert_eq!(*result.downcast::<u32>().expect("a number"), 7);
        assert_eq!(effect.get(), stolen.get());
        stolen.get() == 1
    });
}

/// Forks two deep: the older is published first, and either goes either way.
#[test]
fn forks_below_a_fork_run_once() {
    model(2, || {
        as_first_worker(2, || {
            let pair = || join(is_stolen, is_stolen);
            let (left, right) = join(pair, pair);
            left.0 || left.1 || right.0 || right.1
        })
    });
}

/// The owner of a stolen fork, asleep, is told of a fork below it: the thief forks until somebody else has run one.
#[test]
fn sleeping_owner_is_told_of_an_answer() {
    model(2, || {
        as_first_worker(2, || {
            let below = || {
                if !is_stolen() {
                    return false;
                }
                let helped = Flag::new();
                let first = || {
                    while !helped.is_up() {
                        join(|| (), || ());
                        loom::thread::yield_now();
                    }
                };
                join(first, || helped.raise());
                true
            };
            join(|| (), below).1
        })
    });
}

/// S1: what the tasks of a scope wrote is there when it ends. R1: the second task may lie in the cell of the first, which its thief
/// freed.
#[test]
fn scope_ends_after_its_tasks() {
    model(2, || {
        let (first, second) = (Tracked::new(0), Tracked::new(0));
        let (other, own) = (Tracked::new(0), Tracked::new(0));
        as_first_worker(2, || {
            scope(|scope| {
                scope.spawn(|| {
                    first.set(1);
                    other.set(u32::from(is_stolen()));
                });
                scope.spawn(|| {
                    second.set(2);
                    own.set(u32::from(!is_stolen()));
                });
            });
            assert_eq!(first.get() + second.get(), 3);
        });
        other.get() == 1 && own.get() == 1
    });
}

/// The owner of a scope, asleep in it, is told of a task that another worker puts.
#[test]
fn sleeping_scope_is_told_of_a_put() {
    model(2, || {
        let (done, stolen) = (Flag::new(), Tracked::new(0));
        as_first_worker(2, || {
            scope(|scope| {
                scope.spawn(|| {
                    scope.spawn(|| done.raise());
                    done.await_up();
                    stolen.set(u32::from(is_stolen()));
                });
            });
        });
        stolen.get() == 1
    });
}

/// T1: what a call from outside returns and does reaches the caller.
#[test]
fn call_from_outside_brings_its_result_and_its_effects() {
    model(2, || {
        let effect = Tracked::new(0);
        let runtime = runtime(1);
        let call = || {
            effect.set(5);
            Tracked::new(6)
        };
        let result = runtime.install(call);
        assert_eq!((effect.get(), result.get()), (5, 6));
        true
    });
}

/// T2: whoever waits for a handle sees that the task has ended, or is told.
#[test]
fn handle_brings_its_result_and_its_effects() {
    model(2, || {
        let effect = Arc::new(Tracked::new(0));
        let inside = Arc::clone(&effect);
        let runtime = runtime(1);
        let handle = runtime.spawn(move || {
            inside.set(5);
            Tracked::new(6)
        });
        let late = handle.is_done();
        if late {
            assert_eq!(effect.get(), 5);
        }
        let result = handle.wait();
        assert_eq!((effect.get(), result.get()), (5, 6));
        late
    });
}

/// The end: a runtime that is dropped waits for the work that is left, and every thread ends.
#[test]
fn runtime_ends_after_its_work() {
    model(3, || {
        let runtime = runtime(1);
        let handle = runtime.spawn(|| Tracked::new(3));
        let early = !handle.is_done();
        drop(runtime);
        assert!(handle.is_done());
        assert_eq!(handle.wait().get(), 3);
        early
    });
}

/// The end while a worker lies down.
#[test]
fn runtime_without_work_ends() {
    model(3, || {
        drop(runtime(1));
        true
    });
}

/// Messages from outside reach a worker that lies down, with what was written before they were sent.
#[test]
fn messages_arrive_with_their_content() {
    for mailbox in MailboxKind::ALL {
        model(3, move || {
            let runtime = runtime_with(1, mailbox);
            let post = runtime.post();
            let arrived = [0, 1].map(|_| Arc::new((Tracked::new(0), Flag::new())));
            for arrived in &arrived {
                let arrived = Arc::clone(arrived);
                arrived.0.set(1);
                post.send(0, move || {
                    arrived.0.set(arrived.0.get() + 1);
                    arrived.1.raise();
                });
            }
            for arrived in arrived {
                arrived.1.await_up();
                assert_eq!(arrived.0.get(), 2);
            }
            true
        });
    }
}

/// A message from one worker to another one, which lies down, and back, with what each wrote before.
#[test]
fn messages_wake_workers() {
    for mailbox in MailboxKind::ALL {
        model(1, move || {
            let runtime = runtime_with(2, mailbox);
            let (post, done) = (runtime.post(), Arc::new((Tracked::new(0), Flag::new())));
            let (back, heard) = (post.clone(), Arc::clone(&done));
            runtime.post().send(0, move || {
                heard.0.set(1);
                post.send(1, move || {
                    heard.0.set(heard.0.get() + 1);
                    back.send(0, move || {
                        heard.0.set(heard.0.get() + 1);
                        heard.1.raise();
                    });
                });
            });
            done.1.await_up();
            assert_eq!(done.0.get(), 3);
            true
        });
    }
}

/// An urgent message runs before what its sender sends later, wherever the worker looks first.
#[test]
fn urgent_messages_run_before_what_is_sent_later() {
    for mailbox in MailboxKind::ALL {
        model(3, move || {
            let runtime = runtime_with(1, mailbox);
            let (post, arrived) = (runtime.post(), Arc::new((Tracked::new(0), Flag::new())));
            let (urgent, later) = (Arc::clone(&arrived), Arc::clone(&arrived));
            post.send_urgent(0, move || urgent.0.set(1));
            post.send(0, move || {
                later.0.set(2 * later.0.get());
                later.1.raise();
            });
            arrived.1.await_up();
            assert_eq!(arrived.0.get(), 2);
            true
        });
    }
}

/// E4: a message that is sent while the runtime ends is run or dropped: what it holds does not stay.
#[test]
fn message_to_a_runtime_that_ends_does_not_stay() {
    model(3, || {
        let runtime = runtime(1);
        let held = Arc::new(());
        let (post, inside) = (runtime.post(), Arc::clone(&held));
        let other = loom::thread::spawn(move || post.send(0, move || drop(inside)));
        drop(runtime);
        other.join().expect("no panic");
        assert_eq!(Arc::strong_count(&held), 1);
        true
    });
}

/// A worker stands still for a task that it keeps for itself: the other one, which lies down, takes it or is told of it.
#[test]
fn task_that_its_maker_keeps_and_waits_for_is_found() {
    model(1, || {
        let (pool, mailbox) = (PoolKind::DqTlPrivC, MailboxKind::LockFree);
        let runtime = raddle_runtime::model::runtime(2, pool, mailbox, IdlePolicy::Park, false);
        let done = Flag::new();
        runtime.scope(|scope| {
            scope.spawn(|| done.raise());
            done.await_up();
        });
        true
    });
}
