//! Tests with real child processes: nothing in them waits for a worker that does not exist there.
//!
//! Each test runs in a process of its own, in which no other test holds a lock when it forks. A
//! child that hangs is killed by an alarm, and counts as failed.

use std::any::Any;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::task::{Poll, Waker};
use std::time::Duration;

use raddle_sync::prim::{Acquire, AtomicBool, AtomicU64, Relaxed, Release};

use super::*;
use crate::worker::as_outside_thread;
use crate::{Handle, Runtime, Shutdown, default_runtime, for_each, join, scope, worker_index};

/// The variable that is set in the process of one test.
const ALONE: &str = "RADDLE_TEST_CHILD";
/// The number of seconds after which a child counts as hanging.
const ALARM_SECONDS: u32 = 30;

/// Runs `body` in a process in which the test of this name is alone.
#[track_caller]
fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let program = std::env::current_exe().expect("a test program has a path");
    let name = format!("origin::tests::{test}");
    let output = Command::new(program)
        .args(["--exact", &name, "--nocapture"])
        .env(ALONE, "1")
        // Backtraces take longer than everything else, and some panics are part of a test.
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("this program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

/// The end of a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Code(i32),
    Signal(i32),
}

/// Forks. In the child, calls `call`, and exits with 0 if it returns true. Returns how the child
/// ended.
fn in_child(call: impl FnOnce() -> bool) -> Ended {
    in_child_of(fork, call)
}

fn fork() -> libc::pid_t {
    // SAFETY: these tests examine exactly what the child may do.
    unsafe { libc::fork() }
}

/// Does what [`in_child`] does, with a `fork` that forks and returns in both processes.
fn in_child_of(fork: impl FnOnce() -> libc::pid_t, call: impl FnOnce() -> bool) -> Ended {
    let child = fork();
    assert!(child >= 0, "the system has no process");
    if child == 0 {
        // SAFETY: it only sets an alarm.
        unsafe { libc::alarm(ALARM_SECONDS) };
        let is_good = catch_unwind(AssertUnwindSafe(call)).unwrap_or(false);
        // SAFETY: it only ends the process.
        unsafe { libc::_exit(i32::from(!is_good)) };
    }
    wait_for(child)
}

fn wait_for(child: libc::pid_t) -> Ended {
    let mut status = 0;
    // SAFETY: the status is written to a local variable.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child);
    if libc::WIFEXITED(status) {
        Ended::Code(libc::WEXITSTATUS(status))
    } else {
        Ended::Signal(libc::WTERMSIG(status))
    }
}

const GOOD: Ended = Ended::Code(0);

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default()
}

/// Returns true if `call` panics because its runtime is inherited.
fn is_refused<R>(call: impl FnOnce() -> R) -> bool {
    let result = catch_unwind(AssertUnwindSafe(call));
    result.is_err_and(|panic| text_of(&*panic) == INHERITED)
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Uses the default runtime in every way. Returns true if all results are right.
fn works() -> bool {
    let sum = AtomicU64::new(0);
    let add = |number: u64| {
        // Relaxed: read after all calls have ended.
        sum.fetch_add(number, Relaxed);
    };
    for_each(0..1_000, |index| add(index as u64));
    scope(|scope| (0..100).for_each(|_| scope.spawn(|| add(1))));
    let spawned = default_runtime().spawn(|| 3).wait();
    let blocking = default_runtime().spawn_blocking(|| 4).wait();
    let workers = default_runtime().worker_count();
    // All workers exist: each waits for all others.
    let together = Arc::new(std::sync::Barrier::new(workers));
    let (done, ended) = mpsc::channel();
    for worker in 0..workers {
        let (together, done) = (Arc::clone(&together), done.clone());
        default_runtime().post().send(worker, move || {
            together.wait();
            drop(done);
        });
    }
    drop(done);
    let _: Result<(), _> = ended.recv();
    fib(20) == 6_765 && sum.into_inner() == 499_500 + 100 && spawned + blocking == 7
}

#[test]
fn default_runtime_starts_anew_in_a_child_and_in_its_child() {
    alone(
        "default_runtime_starts_anew_in_a_child_and_in_its_child",
        || {
            assert!(works());
            let before: *const Runtime = default_runtime();
            let ended = in_child(|| {
                let is_other = !std::ptr::eq(before, default_runtime());
                is_other && works() && in_child(works) == GOOD
            });
            assert_eq!(ended, GOOD);
            // A child that does nothing itself before it forks.
            assert_eq!(in_child(|| in_child(works) == GOOD), GOOD);
            assert!(std::ptr::eq(before, default_runtime()));
            assert!(works());
        },
    );
}

#[test]
fn fork_before_the_first_use_changes_nothing() {
    alone("fork_before_the_first_use_changes_nothing", || {
        assert_eq!(in_child(works), GOOD);
        assert!(works());
        assert_eq!(in_child(works), GOOD);
    });
}

/// Reproduces a bug: a worker was determining a value for the whole process, such as the number of
/// CPUs, when its process forked. The child then waited for that worker, which it does not have.
#[test]
fn fork_right_after_a_start_copies_no_half_done_beginning() {
    alone(
        "fork_right_after_a_start_copies_no_half_done_beginning",
        || {
            // Each round runs in a process in which no runtime has been started.
            for _round in 0..20 {
                let ended = in_child(|| {
                    let _runtime = Runtime::builder().workers(2).build().expect("a runtime");
                    in_child(works) == GOOD
                });
                assert_eq!(ended, GOOD);
            }
        },
    );
}

#[test]
fn inherited_runtime_refuses_what_needs_a_worker() {
    alone("inherited_runtime_refuses_what_needs_a_worker", || {
        let mut place = Some(Runtime::builder().workers(2).build().expect("a runtime"));
        let runtime = place.as_ref().expect("it was put there");
        let done = runtime.spawn(|| 7);
        while !done.is_done() {
            std::thread::yield_now();
        }
        let (finish, finished) = mpsc::channel::<()>();
        let undone = runtime.spawn_blocking(move || finished.recv());
        let dropped = Arc::new(());
        let ended = in_child(|| {
            let runtime = place.take().expect("it was put there");
            let refused = is_refused(|| runtime.install(|| ()))
                && is_refused(|| runtime.join(|| (), || ()))
                && is_refused(|| runtime.scope(|_| ()))
                && is_refused(|| runtime.spawn(|| ()))
                && is_refused(|| runtime.spawn_blocking(|| ()))
                && is_refused(|| undone.wait());
            let error = runtime.spawn_thread(|| ()).map(drop);
            let is_error = error.is_err_and(|error| error.to_string() == INHERITED);
            // Messages are dropped together with the values that they own.
            let post = runtime.post();
            for to in 0..2 {
                let held = Arc::clone(&dropped);
                post.send(to, move || drop(held));
                let held = Arc::clone(&dropped);
                post.send_urgent(to, move || drop(held));
                let held = Arc::clone(&dropped);
                post.send_outside(to, move || drop(held));
                let held = Arc::clone(&dropped);
                post.put(move || drop(held));
            }
            let are_dropped = Arc::strong_count(&dropped) == 1 && post.is_closed();
            let text = format!("{runtime:?}");
            drop(runtime);
            refused && is_error && are_dropped && done.wait() == 7 && !text.is_empty() && works()
        });
        assert_eq!(ended, GOOD);
        finish.send(()).expect("the call waits");
    });
}

#[test]
fn futures_of_an_inherited_runtime_are_refused_or_dropped_in_the_child() {
    alone(
        "futures_of_an_inherited_runtime_are_refused_or_dropped_in_the_child",
        || {
            let runtime = Runtime::builder().workers(1).build().expect("it starts");
            let held = Arc::new(());
            let inside = Arc::clone(&held);
            let (wakers, waker) = mpsc::channel::<Waker>();
            let pending = poll_fn(move |context| {
                let _held = &inside;
                wakers
                    .send(context.waker().clone())
                    .expect("the test waits");
                Poll::<()>::Pending
            });
            let handle = runtime.spawn_future(pending);
            let waker = waker.recv().expect("the future is polled");
            // The worker has finished the poll when it has run this.
            runtime.spawn(|| ()).wait();
            let child = in_child(|| {
                let is_refused = is_refused(|| runtime.spawn_future(async { 1 }))
                    && is_refused(|| runtime.block_on(async { 1 }));
                waker.wake_by_ref();
                let is_dropped = Arc::strong_count(&held) == 1 && handle.is_done();
                let sum = crate::block_on(async { crate::spawn_future(async { 2 }).await + 1 });
                is_refused && is_dropped && sum == 3
            });
            assert_eq!(child, GOOD);
            // Nothing has changed in the parent.
            assert!(!handle.is_done());
            assert_eq!(runtime.block_on(async { 4 }), 4);
        },
    );
}

#[test]
fn inherited_runtime_ends_at_once_and_a_new_one_works() {
    alone("inherited_runtime_ends_at_once_and_a_new_one_works", || {
        let start = || Runtime::builder().workers(2).build().expect("a runtime");
        let (first, second, third) = (start(), start(), start());
        let ended = in_child(move || {
            drop(first);
            let outcome = second.shutdown_timeout(Duration::from_secs(3_600));
            third.shutdown_background();
            let own = start();
            let result = own.install(|| fib(15));
            let handle = own.spawn(worker_index);
            let index = handle.wait();
            drop(own);
            outcome == Shutdown::Complete && result == 610 && index.is_some()
        });
        assert_eq!(ended, GOOD);
    });
}

#[test]
fn worker_that_forks_goes_on_in_the_child_as_no_worker() {
    alone(
        "worker_that_forks_goes_on_in_the_child_as_no_worker",
        || {
            let own = Runtime::builder().workers(2).build().expect("a runtime");
            for runtime in [&own, default_runtime()] {
                let fork = || {
                    in_child(|| {
                        let is_no_worker = worker_index().is_none();
                        let is_refused = std::ptr::eq(runtime, &raw const own)
                            && is_refused(|| runtime.install(|| ()));
                        let is_new = !std::ptr::eq(runtime, default_runtime());
                        is_no_worker && (is_refused || is_new) && works()
                    })
                };
                assert_eq!(runtime.install(fork), GOOD);
                // The same in a task, in a message, and on a blocking thread.
                assert_eq!(runtime.spawn(|| in_child(works)).wait(), GOOD);
                assert_eq!(runtime.spawn_blocking(|| in_child(works)).wait(), GOOD);
                let (report, ended) = mpsc::channel();
                let message = move || report.send(in_child(works)).expect("the test waits");
                runtime.post().send(0, message);
                assert_eq!(ended.recv(), Ok(GOOD));
                // In this process, the thread that forked is still a worker.
                assert_eq!(runtime.install(|| fib(20)), 6_765);
            }
        },
    );
}

#[test]
fn worker_that_forks_as_an_outside_thread_is_no_worker_in_the_child_either() {
    alone(
        "worker_that_forks_as_an_outside_thread_is_no_worker_in_the_child_either",
        || {
            let runtime = Runtime::builder().workers(1).build().expect("a worker");
            let is_no_worker = || worker_index().is_none() && works();
            let ended = runtime.install(|| in_child_of(|| as_outside_thread(fork), is_no_worker));
            assert_eq!(ended, GOOD);
        },
    );
}

#[test]
fn forks_that_are_open_when_a_worker_forks_are_called_in_the_child() {
    alone(
        "forks_that_are_open_when_a_worker_forks_are_called_in_the_child",
        || {
            // One worker: no other has taken the second half.
            let runtime = Runtime::builder().workers(1).build().expect("a runtime");
            let is_child = AtomicBool::new(false);
            let (ended, ()) = runtime.install(|| {
                join(
                    || fork_and_return(&is_child),
                    || {
                        if is_set(&is_child) {
                            // SAFETY: it only ends the child process.
                            unsafe { libc::_exit(0) };
                        }
                    },
                )
            });
            assert_eq!(wait_for(ended), GOOD);
        },
    );
}

fn is_set(flag: &AtomicBool) -> bool {
    // Acquire: everything that the thread did before it set the flag.
    flag.load(Acquire)
}

fn set(flag: &AtomicBool) {
    // Release: as in `is_set`.
    flag.store(true, Release);
}

/// Forks, and returns in both processes: the process id of the child, or 0 in the child.
fn fork_and_return(is_child: &AtomicBool) -> libc::pid_t {
    // SAFETY: as in `in_child`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "the system has no process");
    if child == 0 {
        // SAFETY: it only sets an alarm.
        unsafe { libc::alarm(ALARM_SECONDS) };
        set(is_child);
    }
    child
}

#[test]
fn half_that_was_stolen_before_the_fork_is_refused_in_the_child() {
    alone(
        "half_that_was_stolen_before_the_fork_is_refused_in_the_child",
        || {
            let runtime = Runtime::builder().workers(2).build().expect("a runtime");
            let (is_stolen, is_child) = (AtomicBool::new(false), AtomicBool::new(false));
            let is_forked = AtomicBool::new(false);
            let wait_for_flag = |flag: &AtomicBool| {
                while !is_set(flag) {
                    // Forks that find the gates closed publish the older one.
                    join(|| (), || ());
                    std::thread::yield_now();
                }
            };
            let halves = || {
                join(
                    || {
                        wait_for_flag(&is_stolen);
                        let child = fork_and_return(&is_child);
                        set(&is_forked);
                        child
                    },
                    || {
                        set(&is_stolen);
                        while !is_set(&is_forked) {
                            std::thread::yield_now();
                        }
                    },
                )
            };
            let child = runtime.install(|| {
                let result = catch_unwind(AssertUnwindSafe(halves));
                if is_set(&is_child) {
                    let is_clear = result.is_err_and(|panic| text_of(&*panic) == INHERITED);
                    // SAFETY: it only ends the child process.
                    unsafe { libc::_exit(i32::from(!is_clear)) };
                }
                result.map(|(child, ())| child)
            });
            assert_eq!(wait_for(child.expect("no panic here")), GOOD);
        },
    );
}

#[test]
fn scope_that_is_open_when_a_worker_forks_is_refused_in_the_child() {
    alone(
        "scope_that_is_open_when_a_worker_forks_is_refused_in_the_child",
        || {
            let runtime = Runtime::builder().workers(1).build().expect("a runtime");
            let is_child = AtomicBool::new(false);
            let child = runtime.install(|| {
                let result = catch_unwind(AssertUnwindSafe(|| {
                    scope(|scope| {
                        scope.spawn(|| ());
                        let child = fork_and_return(&is_child);
                        if child == 0 && !is_refused(|| scope.spawn(|| ())) {
                            panic!("it was spawned");
                        }
                        child
                    })
                }));
                if is_set(&is_child) {
                    let is_clear = result.is_err_and(|panic| text_of(&*panic) == INHERITED);
                    // SAFETY: it only ends the child process.
                    unsafe { libc::_exit(i32::from(!is_clear)) };
                }
                result.expect("no panic here")
            });
            assert_eq!(wait_for(child), GOOD);
        },
    );
}

#[test]
fn task_that_returns_in_the_child_ends_the_process() {
    alone("task_that_returns_in_the_child_ends_the_process", || {
        let runtime = Runtime::builder().workers(1).build().expect("a runtime");
        let aborted = Ended::Signal(libc::SIGABRT);
        let (report, children) = mpsc::channel();
        let fork = move || {
            let child = fork_and_return(&AtomicBool::new(false));
            if child != 0 {
                report.send(child).expect("the test waits");
            }
        };
        let spawned: [Handle<()>; 2] = [
            runtime.spawn(fork.clone()),
            runtime.spawn_blocking(fork.clone()),
        ];
        runtime.post().send(0, fork);
        for child in children.iter().take(3) {
            assert_eq!(wait_for(child), aborted);
        }
        spawned.into_iter().for_each(Handle::wait);
    });
}

/// Reproduces a bug: a child process had the handlers of its parent, which only a thread of the
/// parent answers, so SIGTERM ended the parent and not the child.
#[test]
fn child_of_a_recorded_process_is_not_recorded_and_ends_by_signals() {
    let test = "child_of_a_recorded_process_is_not_recorded_and_ends_by_signals";
    alone(test, || {
        let signals = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
        for signal in signals {
            // Tests that were started in the background of a shell inherit that some are ignored.
            // SAFETY: the default needs no handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        let file = std::env::temp_dir().join(format!("raddle-fork-{}", std::process::id()));
        raddle_trace::trace_file::begin(&file).expect("a file that can be written");
        assert_eq!(fib(15), 610);
        let child = in_child(|| {
            let is_refused = default_runtime().trace().is_err();
            is_refused && works() && raddle_trace::trace_file::finish().is_none()
        });
        assert_eq!(child, GOOD);
        for signal in signals {
            // SAFETY: the child ends itself.
            let ended = in_child(|| unsafe { libc::raise(signal) } != 0);
            assert_eq!(ended, Ended::Signal(signal));
        }
        assert!(!file.exists(), "the parent goes on");
        let written = raddle_trace::trace_file::finish().expect("it is recorded");
        assert!(written.expect("a file that can be written").events > 0);
        std::fs::remove_file(file).expect("it was written");
    });
}
