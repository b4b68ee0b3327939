//! The global pool of a child process made by fork(2).
//!
//! Regression: it was bound to cores and ignored `RAYON_NUM_THREADS`, as if Raddle had started it.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::thread::available_parallelism;

use rayon_core::{broadcast, current_num_threads, join};

/// The variable that is set in the process in which the test is alone.
const ALONE: &str = "RADDLE_TEST_ALONE";
/// The number of threads, which no machine has by default.
const THREADS: usize = 37;
/// The number of seconds after which a child counts as hanging.
const ALARM_SECONDS: u32 = 60;

/// Checks the global pool of this process.
fn check(cpus: usize) {
    assert_eq!(current_num_threads(), THREADS);
    assert_eq!(join(|| 1, || 2), (1, 2));
    for seen in broadcast(|_| available_parallelism().map_or(0, usize::from)) {
        assert_eq!(seen, cpus, "the threads are not bound");
    }
}

/// Forks, runs `call` in the child, and returns the status of the child.
fn in_child(call: impl FnOnce()) -> i32 {
    // SAFETY: the child only uses what this crate supports after a fork.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "the system has no process");
    if child == 0 {
        // SAFETY: it only sets an alarm.
        unsafe { libc::alarm(ALARM_SECONDS) };
        let is_good = catch_unwind(AssertUnwindSafe(call)).is_ok();
        // SAFETY: it only ends the process.
        unsafe { libc::_exit(i32::from(!is_good)) };
    }
    let mut status = 0;
    // SAFETY: the status is written to a local variable.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child);
    status
}

#[test]
fn child_has_a_global_pool_with_the_same_settings() {
    if env::var_os(ALONE).is_none() {
        let program = env::current_exe().expect("a test program has a path");
        let status = Command::new(program)
            .env(ALONE, "1")
            .env("RAYON_NUM_THREADS", THREADS.to_string())
            .status()
            .expect("this program runs");
        return assert!(status.success());
    }
    let cpus = available_parallelism().map_or(0, usize::from);
    check(cpus);
    let child = || {
        check(cpus);
        check(cpus);
        assert_eq!(in_child(|| check(cpus)), 0, "the child of the child");
    };
    assert_eq!(in_child(child), 0);
    check(cpus);
}
