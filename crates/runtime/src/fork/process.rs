//! Processes that fork(2) makes, in which a runtime of the parent has no workers.
//!
//! Of all threads only the one that called fork(2) goes on in the child process. A runtime
//! remembers in which process it was started; in any other it is *inherited*:
//!
//! | in the child process | does |
//! |---|---|
//! | [`join`](crate::join), [`scope`](crate::scope), loops | start a new default runtime on first use |
//! | calls of an inherited [`Runtime`](crate::Runtime) that need a worker | panic |
//! | waiting for an inherited [`Handle`](crate::Handle) that is not done | panics |
//! | messages to an inherited runtime | are dropped, as to one that has ended |
//! | dropping an inherited runtime | returns at once, and leaks it: its memory may be in use by threads that are gone |
//!
//! # A worker that forks
//! If a worker called fork(2), its thread goes on in the child as one that is no worker, inside of
//! the task. Forks and scopes that it has open there can still be called here, and are when they
//! lie on its own stack; where it would have to wait for another worker it panics. A task that
//! returns to the worker's loop has nowhere to go: nothing else would ever run in that process. It
//! ends then, by abort(3), so that its parent sees that something went wrong. The child must end
//! inside of the task, by exit(3), `_exit(2)` or exec(2). The same holds for blocking threads.
//!
//! # What is not covered
//! A lock that another thread held at the time of the fork stays locked in the child, as for any
//! program with threads. Raddle holds its locks for well under a microsecond. Those of the default
//! runtime are new in the child, and the lock of the thread's own forks is freed there. What a
//! process finds out once (its topology, the speed of its clock) is found out by the thread that
//! starts the first runtime: only a fork beside that start copies it half done.

use std::panic::catch_unwind;

use raddle_sync::prim::fork_count;

use crate::task::discard;

/// What panics say where a runtime has no workers.
pub(crate) const INHERITED: &str = "this runtime was started before fork(2), and its workers are not in this process: \
     start a runtime in the child process, or use the default one there";

/// The process that a runtime was started in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin(u64);

impl Origin {
    /// This process.
    pub(crate) fn here() -> Self {
        watch();
        Self(fork_count())
    }

    /// True in a child process of that one. Cost: a load and a comparison.
    #[inline]
    pub(crate) fn is_other_process(self) -> bool {
        fork_count() != self.0
    }

    /// # Panics
    /// In a child process of that one.
    #[inline]
    #[track_caller]
    pub(crate) fn expect_here(self) {
        if self.is_other_process() {
            refuse();
        }
    }

    /// Ends a child process whose only thread has come back to the loop of a worker.
    #[inline]
    pub(crate) fn end_if_other_process(self) {
        if self.is_other_process() {
            end_process();
        }
    }
}

#[cold]
#[track_caller]
fn refuse() -> ! {
    panic!("{INHERITED}");
}

#[cold]
fn end_process() -> ! {
    // The hook for panics prints it: a library does not print.
    discard(catch_unwind(|| {
        panic!(
            "a task that called fork(2) returned in the child process, where its worker cannot go on: \
             a child must end inside of the task"
        );
    }));
    std::process::abort();
}

/// Has child processes notice that they are such.
#[cfg(not(any(loom, shuttle)))]
fn watch() {
    use raddle_sync::prim::{AtomicBool, Relaxed, call_in_children, count_forks};

    static IS_WATCHING: AtomicBool = AtomicBool::new(false);
    count_forks();
    // Relaxed: a second thread that does it as well does no harm.
    if !IS_WATCHING.load(Relaxed) {
        // SAFETY: it sets a thread-local variable that has no destructor.
        unsafe { call_in_children(super::current::become_outside) };
        // Relaxed: as above.
        IS_WATCHING.store(true, Relaxed);
    }
}

/// There are no processes in a model.
#[cfg(any(loom, shuttle))]
fn watch() {}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
