//! Running other work in the middle of a call.

use raddle_runtime::open::{self, From};

/// The outcome of [`yield_now`] and [`yield_local`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// The thread has run some other work.
    Executed,
    /// There was no other work.
    Idle,
}

/// Runs one other task of the pool, if there is one; `None` on a thread that is in no pool.
pub fn yield_now() -> Option<Yield> {
    yield_to(From::Anywhere)
}

/// Runs one task of the current thread, if there is one; `None` on a thread that is in no pool.
pub fn yield_local() -> Option<Yield> {
    yield_to(From::Own)
}

fn yield_to(from: From) -> Option<Yield> {
    open::run_one(from).map(|has_run| match has_run {
        true => Yield::Executed,
        false => Yield::Idle,
    })
}

/// Returns true if the current thread has tasks that no thread has begun; `None` if it is in no
/// pool.
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    open::has_own_tasks()
}
