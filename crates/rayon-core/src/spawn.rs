//! Calls for which no thread waits.

use crate::registry;

/// Puts a call into the current thread's pool, or else into the global one.
///
/// Of the calls that one thread puts, that thread runs the newest first; other threads take the
/// oldest. The pool does not end before the call. A panic goes to the pool's panic handler; without
/// one the process aborts.
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    registry::current_or_global().spawn(func);
}

/// Puts a call as [`spawn`] does. Of the calls that one thread puts with this function, the oldest
/// runs first.
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    registry::current_or_global().spawn_fifo(func);
}
