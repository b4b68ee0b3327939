//! The end of a runtime: when all its work is done, or when the program does not want to wait any
//! longer.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::prim::{AtomicBool, Relaxed, thread};
use raddle_sync::wait::WaitCell;

use super::Runtime;
use crate::worker::{Waiter, current_worker};

/// A time that is longer than any program runs, and that every clock of the system can represent.
const TIME_MAX: Duration = Duration::from_secs(1 << 30);

/// The outcome of [`Runtime::shutdown_timeout`].
#[must_use = "work that is not finished may still use what the program frees next"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shutdown {
    /// All work is done, and all threads have ended.
    Complete,
    /// The time limit was reached first. The threads of the runtime end when their work is done.
    Unfinished {
        /// The number of unfinished tasks: those that a worker runs, and those in the pool.
        tasks: usize,
        /// The number of unfinished calls of [`spawn_blocking`](Runtime::spawn_blocking) and
        /// [`spawn_thread`](Runtime::spawn_thread).
        blocking_calls: usize,
    },
}

impl Runtime {
    /// Ends the runtime, but waits no longer than `limit`.
    ///
    /// Dropping a runtime waits until all its work is done, which never happens if a call on a
    /// blocking thread does not return. This function returns after `limit` instead. The work
    /// continues: tasks run to their ends, and then the workers end and give their CPUs back
    /// without waiting for calls on blocking threads. A call that never returns keeps its thread
    /// until the process ends. Tasks and messages that such a call sends after the workers have
    /// ended are dropped.
    ///
    /// On a thread of the runtime itself, which cannot wait for its own end, this returns at once.
    ///
    /// # Examples
    /// ```
    /// use std::{sync::mpsc, time::Duration};
    /// use raddle_runtime::{Runtime, Shutdown};
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let (sender, receiver) = mpsc::channel::<()>();
    /// // This call never returns, because nothing is sent.
    /// drop(runtime.spawn_blocking(move || receiver.recv()));
    /// let stuck = Shutdown::Unfinished { tasks: 0, blocking_calls: 1 };
    /// assert_eq!(runtime.shutdown_timeout(Duration::from_millis(10)), stuck);
    /// # drop(sender);
    /// # Ok::<(), raddle_runtime::BuildError>(())
    /// ```
    pub fn shutdown_timeout(mut self, limit: Duration) -> Shutdown {
        self.end(Some(limit))
    }

    /// Ends the runtime without waiting: as [`shutdown_timeout`](Self::shutdown_timeout) with a
    /// limit of zero. Like the function of this name in tokio.
    pub fn shutdown_background(mut self) {
        let _ = self.end(Some(Duration::ZERO));
    }

    /// Ends the runtime once. Waits for all its work, or no longer than `limit`.
    fn end(&mut self, limit: Option<Duration>) -> Shutdown {
        if mem::replace(&mut self.has_ended, true) {
            return Shutdown::Complete;
        }
        if self.shared.is_other_process() {
            self.leak();
            return Shutdown::Complete;
        }
        let waiter = Waiter::current();
        self.shared.set_stopper(waiter.clone());
        self.shared.blocking().end();
        self.shared.stop();
        let on_own_worker =
            current_worker().is_some_and(|worker| Arc::ptr_eq(worker.shared(), &self.shared));
        // A thread cannot wait for its own end: the runtime ends without it, when its work is done.
        let can_wait = !on_own_worker && !self.shared.blocking().is_own_thread();
        let is_over = || self.shared.have_threads_ended();
        // A worker of another runtime runs that runtime's work meanwhile: the end of this one may
        // depend on it.
        match limit {
            _ if !can_wait => {}
            None => waiter.wait_until(is_over),
            Some(limit) => wait_at_most(limit, &waiter, is_over),
        }
        self.shared.keep_facts();
        if !can_wait || !is_over() {
            let (tasks, blocking_calls) = self.shared.unfinished();
            if limit.is_some() {
                self.shared.abandon_calls();
            }
            return Shutdown::Unfinished {
                tasks,
                blocking_calls,
            };
        }
        for thread in self.shared.take_thread_handles() {
            thread
                .join()
                .expect("workers catch every panic of their tasks");
        }
        self.shared.blocking().join();
        Shutdown::Complete
    }

    /// Leaks all memory, in a process in which the threads of this runtime do not exist. The memory
    /// may be in any state.
    fn leak(&mut self) {
        mem::forget(Arc::clone(&self.shared));
        self.shared.blocking().leak();
        let models = self.models.get_mut();
        mem::forget(models.map(mem::take));
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let _ = self.end(None);
    }
}

/// Waits as `waiter`, which is the current thread, until `done`, but no longer than `limit`. If the
/// system refuses the thread that measures the time, the wait ends at once.
fn wait_at_most(limit: Duration, waiter: &Waiter, done: impl Fn() -> bool) {
    if done() || limit.is_zero() {
        return;
    }
    let is_late = Arc::new(AtomicBool::new(false));
    let cancel = Arc::new(WaitCell::new());
    let clock = {
        let (is_late, cancel, waiter) = (is_late.clone(), cancel.clone(), waiter.clone());
        thread::Builder::new()
            .name("raddle-shutdown".to_owned())
            .spawn(move || {
                if !cancel.wait_timeout(limit.min(TIME_MAX)) {
                    // Relaxed: the notification orders it.
                    is_late.store(true, Relaxed);
                    waiter.notify();
                }
            })
    };
    let Ok(clock) = clock else { return };
    // Relaxed: as the store above.
    waiter.wait_until(|| done() || is_late.load(Relaxed));
    let _ = cancel.notify();
    clock.join().expect("the clock's thread does not panic");
}
