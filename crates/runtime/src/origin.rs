//! The process in which a runtime was started, and child processes made by fork(2), in which that
//! runtime has no workers.
//!
//! Only the thread that called fork(2) continues in the child process. A runtime remembers the
//! process in which it was started. In any other process it is *inherited*:
//!
//! | in the child process | effect |
//! |---|---|
//! | [`join`](crate::join), [`scope`](fn@crate::scope), loops | start a new default runtime |
//! | calls of an inherited [`Runtime`](crate::Runtime) that need a worker | panic |
//! | waiting for an inherited [`Handle`](crate::Handle) that is not done | panics |
//! | messages to an inherited runtime | are dropped, as for a runtime that has ended |
//! | dropping an inherited runtime | returns at once and leaks its memory |
//!
//! The memory is leaked because threads that do not exist any more may have been using it.
//!
//! # A worker that forks
//! If a worker called fork(2), its thread continues in the child inside the task, and is no worker
//! there. Open forks that lie on its own stack are still called at their join. The thread panics
//! where it would have to wait for another worker. If the task returned to the worker's loop,
//! nothing else would ever run in that process. Therefore the child ends with abort(3) at that
//! point, so that its parent sees the failure. The child must end inside the task, with exit(3),
//! `_exit(2)` or exec(2). The same holds for blocking threads.
//!
//! # Limits
//! A lock that another thread held at the time of the fork stays locked in the child, as in any
//! program with threads. Raddle holds its locks for well under a microsecond. The default runtime
//! of the child has new locks, and the lock of the thread's own fork stack is freed in the child.
//! Values that a process determines once (its topology, the speed of its clock) are determined by
//! the thread that starts the first runtime. Only a fork during that start copies them half done.

use std::panic::catch_unwind;

use raddle_sync::prim::fork_count;

use crate::panics::discard;

/// The panic message for a runtime that has no workers in this process.
pub(crate) const INHERITED: &str = "this runtime was started before fork(2), and its workers are \
     not in this process: start a runtime in the child process, or use the default one there";

/// The process that a runtime was started in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin(u64);

impl Origin {
    /// Returns the current process.
    pub(crate) fn here() -> Self {
        count();
        Self(fork_count())
    }

    /// Returns true in a child process of this one. Cost: a load and a comparison.
    #[inline]
    pub(crate) fn is_other_process(self) -> bool {
        fork_count() != self.0
    }

    /// Checks that this process is the current one.
    ///
    /// # Panics
    /// In a child process of this one.
    #[inline]
    #[track_caller]
    pub(crate) fn expect_here(self) {
        if self.is_other_process() {
            refuse();
        }
    }

    /// Ends the process if it is a child and its only thread has returned to the loop of a worker.
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
    // The panic hook prints the message: a library does not print.
    discard(catch_unwind(|| {
        panic!(
            "a task that called fork(2) returned in the child process, where its worker cannot go \
             on: a child must end inside of the task"
        );
    }));
    std::process::abort();
}

/// Starts counting forks of this process.
#[cfg(not(any(loom, shuttle)))]
fn count() {
    raddle_sync::prim::count_forks();
}

/// Does nothing, because a model has no processes.
#[cfg(any(loom, shuttle))]
fn count() {}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
