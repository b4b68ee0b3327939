//! The end of a process: failures that it must not hide behind exit code 0, and calls that it
//! makes.
//!
//! A thread that nothing waits for may fail after everything that the program waits for has
//! arrived. `main` then returns as if all were well. As long as an [`UnreportedFailure`] lives, a
//! process that would end with exit code 0 prints on standard error what has failed, and ends with
//! exit code [`FAILURE_CODE`] instead. This is the exit code of a Rust program after a panic in the
//! main thread. Other exit codes stay unchanged.
//!
//! A panic that is still being printed when `main` returns is not known yet. Printing is the
//! longest part of a panic, because backtraces are slow. So [`count_panics`] counts the panics that
//! are being printed, and the end of the process waits for those.
//!
//! Only `exit` calls the hook, before functions that were registered with `atexit` earlier.
//! Processes that are killed, or call `_exit`, do not call it. Only glibc passes the exit code to
//! such a hook: elsewhere, and under Miri, unreported failures have no effect.

use std::panic;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::prim::fork_count;

/// The exit code of a process with unreported failures: that of a Rust program after a panic in
/// `main`.
pub const FAILURE_CODE: i32 = 101;

/// The maximum time that the end of a process waits for a panic that is being printed.
const PRINTING: Duration = Duration::from_secs(5);
/// The maximum time that the end of a process then waits for the code that catches the panic.
const CATCHING: Duration = Duration::from_millis(20);

static FAILURES: Mutex<UnreportedFailures> = Mutex::new(UnreportedFailures {
    next: 0,
    printing: 0,
    forks: 0,
    texts: Vec::new(),
});

/// All unreported failures of this process, and the panics that are being printed.
#[derive(Debug)]
struct UnreportedFailures {
    /// The number of the next failure.
    next: u64,
    /// The number of panics that are being printed in the process with this `forks`.
    printing: u32,
    /// The [`fork_count`] of that process. The printing threads do not exist in its children.
    forks: u64,
    /// The numbers and the descriptions of the failures.
    texts: Vec<(u64, String)>,
}

impl UnreportedFailures {
    fn begin_printing(&mut self) {
        if self.forks != fork_count() {
            (self.printing, self.forks) = (0, fork_count());
        }
        self.printing += 1;
    }

    fn end_printing(&mut self) {
        // The hook may have called fork(2), and this may be the child process.
        self.printing = self.printing.saturating_sub(1);
    }

    fn is_printing(&self) -> bool {
        self.printing > 0 && self.forks == fork_count()
    }
}

/// A failure that no code has handled yet. The process cannot end with exit code 0 until this value
/// is dropped.
#[derive(Debug)]
pub struct UnreportedFailure(u64);

impl UnreportedFailure {
    /// Creates a failure that is described by `text`.
    #[must_use = "a failure that is dropped has no effect"]
    pub fn new(text: String) -> Self {
        check_at_exit();
        let mut failures = failures();
        let number = failures.next;
        failures.next += 1;
        failures.texts.push((number, text));
        Self(number)
    }
}

impl Drop for UnreportedFailure {
    fn drop(&mut self) {
        failures().texts.retain(|text| text.0 != self.0);
    }
}

// A lock of `std`, which models cannot see: no model contains an exit.
fn failures() -> impl std::ops::DerefMut<Target = UnreportedFailures> {
    FAILURES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the end of the process check for unreported failures.
fn check_at_exit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(hook::register);
}

/// Functions to call when the process ends.
static CALLS: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// Calls `call` when the process ends by `exit` or the end of `main`, while other threads may still
/// run. In a child process of fork(2), it is called there, too.
pub fn call_at_exit(call: fn()) {
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    if calls.is_empty() {
        hook::call_at_exit();
    }
    if !calls.contains(&call) {
        calls.push(call);
    }
}

extern "C" fn run_calls() {
    // A copy, so that no lock is held meanwhile.
    let calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for call in calls {
        // A panic must not unwind into the system's library.
        let _ = panic::catch_unwind(call);
    }
}

/// Counts panics while they are printed, from now on. For programs in which threads that nothing
/// waits for may panic.
///
/// Installs a panic hook that calls the previous hook of the program. A hook that the program sets
/// later replaces it. Does nothing in a thread that panics.
pub fn count_panics() {
    static ONCE: Once = Once::new();
    if thread::panicking() {
        return;
    }
    check_at_exit();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            failures().begin_printing();
            before(panic);
            failures().end_printing();
        }));
    });
}

/// Waits for panics that are being printed, and for the code that catches them, as long as no
/// failure is known.
fn wait_for_panics() {
    let is_printed = || !failures().is_printing();
    // A panic hook may itself end the process.
    if is_printed() || thread::panicking() {
        return;
    }
    let wait = |limit, done: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !done() && start.elapsed() < limit {
            thread::sleep(Duration::from_millis(1));
        }
    };
    wait(PRINTING, &is_printed);
    wait(CATCHING, &|| !failures().texts.is_empty());
}

#[cfg(all(target_env = "gnu", not(miri)))]
mod hook {
    use std::io::Write;

    use super::{FAILURE_CODE, failures, wait_for_panics};

    unsafe extern "C" {
        fn on_exit(
            call: extern "C" fn(libc::c_int, *mut libc::c_void),
            argument: *mut libc::c_void,
        ) -> libc::c_int;
    }

    /// Makes `exit` call the hook. If there is no memory for that, the exit code stays unchanged.
    pub(super) fn register() {
        // SAFETY: `on_exit` keeps the function and the pointer. The function lives as long as the
        // program, and does not use the pointer.
        unsafe { on_exit(check, std::ptr::null_mut()) };
    }

    /// Makes `exit` run the calls.
    pub(super) fn call_at_exit() {
        // SAFETY: the function lives as long as the program.
        unsafe { libc::atexit(super::run_calls) };
    }

    extern "C" fn check(code: libc::c_int, _argument: *mut libc::c_void) {
        if code != 0 {
            return;
        }
        wait_for_panics();
        // A copy, so that no lock is held while this writes and ends the process.
        let texts = failures().texts.clone();
        if texts.is_empty() {
            return;
        }
        for (_, text) in &texts {
            // If writing fails, the exit code still reports the failure.
            let _ = writeln!(std::io::stderr(), "{text}");
        }
        // SAFETY: a null pointer flushes all streams of C; this thread holds none of their locks.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        // SAFETY: ends the process, and accesses no memory of the program.
        unsafe { libc::_exit(FAILURE_CODE) };
    }
}

#[cfg(not(all(target_env = "gnu", not(miri))))]
mod hook {
    /// Does nothing, because hooks do not receive the exit code on this platform.
    pub(super) fn register() {}

    /// Makes `exit` run the calls.
    pub(super) fn call_at_exit() {
        // SAFETY: the function lives as long as the program.
        unsafe { libc::atexit(super::run_calls) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_of_another_process_are_not_waited_for() {
        let mut failures = UnreportedFailures {
            next: 0,
            printing: 0,
            forks: fork_count(),
            texts: Vec::new(),
        };
        assert!(!failures.is_printing());
        failures.begin_printing();
        assert!(failures.is_printing());
        // The state in a child process, in which the printing thread does not exist.
        failures.forks += 1;
        assert!(!failures.is_printing());
        failures.begin_printing();
        assert!(failures.is_printing());
        failures.end_printing();
        assert!(!failures.is_printing());
        // The end of a panic that began in the parent process.
        failures.end_printing();
        assert!(!failures.is_printing());
    }

    #[test]
    fn a_failure_is_known_as_long_as_it_lives() {
        let known =
            |failure: &UnreportedFailure| failures().texts.iter().any(|text| text.0 == failure.0);
        let (one, other) = (
            UnreportedFailure::new("one".into()),
            UnreportedFailure::new("other".into()),
        );
        assert!(known(&one) && known(&other));
        let number = one.0;
        drop(one);
        assert!(known(&other));
        assert!(failures().texts.iter().all(|text| text.0 != number));
    }
}
