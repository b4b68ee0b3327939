//! Models of the shipped runtime: every schedule of two or three threads on weak memory, with a
//! bounded number of preemptions.
//!
//! Values that user code hands over (results, captured variables) are tracked cells. So an ordering
//! that is too weak is an error of the model even if the value happens to be right. A lost wake-up
//! is a deadlock, which loom reports.
//!
//! Weakening either side of B1, F2, S1, T1, T2, E1 and R1, or the fence of E2, makes a model here
//! fail.
//! Three things cannot be shown by any model here:
//!
//! - F1: the ordering of the deque that hands the cell over hides it. The model of the offer alone
//!   covers it (`raddle_sync`).
//! - E3: a worker yields between two looks at the pool, and loom lets a thread that has yielded see
//!   newer values, so the pool does not look empty. On the release side, a fence precedes the store
//!   anyway.
//! - Sequentially consistent accesses: loom treats them as weaker. Where the code needs such an
//!   order, it has fences.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Poll, Waker};

use loom::sync::{Condvar, Mutex};
use loom::thread;
use raddle_runtime::model::as_first_worker;
use raddle_runtime::{IdlePolicy, MailboxKind, PoolKind, Runtime, join, scope, worker_index};
use raddle_sync::prim::Tracked;

/// Runs `body` under every schedule with at most `preemptions` preemptions. Checks that `body`
/// returned true in some schedule, which means that the case in question occurred.
fn model(preemptions: usize, body: impl Fn() -> bool + Sync + Send + 'static) {
    let seen = Arc::new(std::sync::Mutex::new((0, 0)));
    let seen_inside = Arc::clone(&seen);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(move || {
        let saw = body();
        let mut seen = seen_inside.lock().expect("no panic");
        seen.0 += usize::from(saw);
        seen.1 += 1;
    });
    let seen = seen.lock().expect("no panic");
    assert!(
        seen.0 > 0,
        "the case that the model is about occurs in none of {} schedules",
        seen.1
    );
}

fn runtime(worker_count: usize) -> Runtime {
    runtime_with(worker_count, MailboxKind::LockFree)
}

fn runtime_with(worker_count: usize, mailbox: MailboxKind) -> Runtime {
    let (pool, idle) = (PoolKind::Deque, IdlePolicy::Park);
    raddle_runtime::model::runtime(worker_count, pool, mailbox, idle)
}

/// An event that happens once. A thread can block until it happens.
struct Flag(Mutex<bool>, Condvar);

impl Flag {
    fn new() -> Self {
        Self(Mutex::new(false), Condvar::new())
    }

    fn raise(&self) {
        *self.0.lock().expect("no panic") = true;
        self.1.notify_all();
    }

    fn is_up(&self) -> bool {
        *self.0.lock().expect("no panic")
    }

    fn await_up(&self) {
        let mut up = self.0.lock().expect("no panic");
        while !*up {
            up = self.1.wait(up).expect("no panic");
        }
    }
}

fn is_stolen() -> bool {
    worker_index() == Some(1)
}

/// Checks F2: the captured variables of a fork reach its thief, and its effects reach its owner.
#[test]
fn stolen_fork_delivers_its_result_and_its_effects() {
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

/// Checks that the join passes the panic of a stolen fork on.
#[test]
fn stolen_fork_delivers_its_panic() {
    model(3, || {
        let fork = || resume_unwind(Box::new(is_stolen()));
        let call = || as_first_worker(2, || catch_unwind(AssertUnwindSafe(|| join(|| 1, fork))));
        let panic = call().map(|(one, ())| one).expect_err("the fork panics");
        *panic.downcast::<bool>().expect("the panic of the fork")
    });
}

/// Checks that if the first closure of a join panics, the second is dropped without being run, or
/// the join waits for it.
#[test]
fn panic_of_the_first_closure_waits_for_the_stolen_second() {
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

/// Forks two levels deep: the older fork is published first, and either may be stolen or not.
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

/// Checks that a fork below a stolen fork wakes the sleeping owner of the stolen fork: the thief
/// forks until another worker has run one of its forks.
#[test]
fn sleeping_owner_is_notified_of_a_fork_below_its_stolen_fork() {
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

/// Checks S1: everything that the tasks of a scope wrote is visible when the scope ends. Checks R1:
/// the second task may use the cell of the first task, which its thief has freed.
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

/// Checks that a task that another worker spawns wakes the owner of a scope, which sleeps in the
/// scope.
#[test]
fn sleeping_scope_is_notified_of_a_spawned_task() {
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

/// Checks T1: the result and the effects of a call from outside reach the caller.
#[test]
fn call_from_outside_delivers_its_result_and_its_effects() {
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

/// Checks T2: a thread that waits for a handle sees that the task has ended, or is notified.
#[test]
fn handle_delivers_its_result_and_its_effects() {
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

/// Checks B1: a future that is polled again by `block_on` sees what led to its wake-up.
#[test]
fn block_on_sees_what_led_to_the_wake_up() {
    model(2, || {
        let effect = Arc::new(Tracked::new(0));
        let (waker, is_polled) = (Arc::new(Mutex::new(None)), Arc::new(Flag::new()));
        let other = {
            let (effect, waker, is_polled) = (effect.clone(), waker.clone(), is_polled.clone());
            thread::spawn(move || {
                is_polled.await_up();
                let waker: Option<Waker> = waker.lock().expect("no panic").take();
                effect.set(5);
                waker.expect("the first poll leaves it").wake();
            })
        };
        let future = poll_fn(|context| {
            if is_polled.is_up() {
                return Poll::Ready(effect.get());
            }
            *waker.lock().expect("no panic") = Some(context.waker().clone());
            is_polled.raise();
            Poll::Pending
        });
        let seen = as_first_worker(1, || raddle_runtime::block_on(future));
        assert_eq!(seen, 5);
        other.join().expect("no panic");
        true
    });
}

/// Checks the end: a dropped runtime waits for the remaining work, and every thread ends.
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

/// Checks the end while a worker is about to sleep.
#[test]
fn runtime_without_work_ends() {
    model(3, || {
        drop(runtime(1));
        true
    });
}

/// Checks that messages from outside reach a worker that is about to sleep, with everything that
/// was written before they were sent.
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

/// Checks a message from one worker to another one, which is about to sleep, and back, with
/// everything that each wrote before.
#[test]
fn messages_wake_workers() {
    for mailbox in MailboxKind::ALL {
        model(1, move || {
            let runtime = runtime_with(2, mailbox);
            let (post, done) = (runtime.post(), Arc::new((Tracked::new(0), Flag::new())));
            let (back, inside) = (post.clone(), Arc::clone(&done));
            runtime.post().send(0, move || {
                inside.0.set(1);
                post.send(1, move || {
                    inside.0.set(inside.0.get() + 1);
                    back.send(0, move || {
                        inside.0.set(inside.0.get() + 1);
                        inside.1.raise();
                    });
                });
            });
            done.1.await_up();
            assert_eq!(done.0.get(), 3);
            true
        });
    }
}

/// Checks that an urgent message runs before later messages of its sender, wherever the worker
/// looks first.
#[test]
fn urgent_messages_run_before_later_messages() {
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

/// Checks E4: a message that is sent while the runtime ends is run or dropped, together with
/// everything that it holds.
#[test]
fn message_to_an_ending_runtime_does_not_leak() {
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

#[test]
fn task_in_a_private_buffer_that_its_own_worker_blocks_for_is_found() {
    private_task_is_found(PoolKind::DqTlPrivC);
}

#[test]
fn task_in_the_front_that_its_own_worker_blocks_for_is_found() {
    private_task_is_found(PoolKind::Auto);
}

/// Checks that a task is found that a worker keeps private while it blocks until that task has run.
/// The other worker, which is about to sleep, takes the task or is notified.
///
/// This model takes the longest, so each pool has its own test: tests run in parallel.
fn private_task_is_found(pool: PoolKind) {
    model(1, move || {
        let mailbox = MailboxKind::LockFree;
        let runtime = raddle_runtime::model::runtime(2, pool, mailbox, IdlePolicy::Park);
        let done = Flag::new();
        runtime.scope(|scope| {
            scope.spawn(|| done.raise());
            done.await_up();
        });
        true
    });
}
