//! How a runtime ends: when all its work is done, or when the program will not wait any longer.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::prim::{AtomicBool, Relaxed, thread};
use raddle_sync::wait::WaitCell;

use super::Runtime;
use crate::fork::current_worker;
use crate::task::Waiter;

/// A longer time than any program runs, which every clock of the system can count.
const TIME_MAX: Duration = Duration::from_secs(1 << 30);

/// How [`Runtime::shutdown_timeout`] ended.
#[must_use = "work that is not finished may still use what the program frees next"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shutdown {
    /// All work is done, and all threads have ended.
    Complete,
    /// The time was over before. The threads of the runtime end when their work is done.
    Unfinished {
        /// Tasks that were not done: those that a worker runs, and those in the pool.
        tasks: usize,
        /// Calls of [`spawn_blocking`](Runtime::spawn_blocking) and
        /// [`spawn_thread`](Runtime::spawn_thread) that were not done.
        blocking_calls: usize,
    },
}

impl Runtime {
    /// Ends the runtime, but waits at most for `limit`.
    ///
    /// Dropping a runtime waits until all its work is done, for ever if a call on a blocking thread
    /// never returns. After `limit` this returns instead. The work goes on: tasks are run to their
    /// ends, and then the workers end and give their CPUs back, without waiting for calls on
    /// blocking threads any longer. A call that never returns keeps its thread until the process
    /// ends. What such a call puts or sends after the workers have ended is dropped.
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
    /// // Nothing is sent.
    /// drop(runtime.spawn_blocking(move || receiver.recv()));
    /// let stuck = Shutdown::Unfinished { tasks: 0, blocking_calls: 1 };
    /// assert_eq!(runtime.shutdown_timeout(Duration::from_millis(10)), stuck);
    /// # drop(sender);
    /// # Ok::<(), raddle_runtime::BuildError>(())
    /// ```
    pub fn shutdown_timeout(mut self, limit: Duration) -> Shutdown {
        self.end(Some(limit))
    }

    /// Ends the runtime without waiting: as [`shutdown_timeout`](Self::shutdown_timeout) with no
    /// time at all.
    pub fn shutdown_background(mut self) {
        let _ = self.end(Some(Duration::ZERO));
    }

    /// Ends the runtime, once; waits for all its work, or for `limit`.
    fn end(&mut self, limit: Option<Duration>) -> Shutdown {
        if mem::replace(&mut self.has_ended, true) {
            return Shutdown::Complete;
        }
        if self.shared.origin.is_other_process() {
            self.leak();
            return Shutdown::Complete;
        }
        let waiter = Waiter::current();
        *self
            .shared
            .stopper
            .lock()
            .expect("nothing panics under this lock") = Some(waiter.clone());
        self.shared.blocking.end();
        self.shared.stop();
        let on_own_worker =
            current_worker().is_some_and(|worker| Arc::ptr_eq(worker.shared(), &self.shared));
        // A thread cannot wait for its own end: the runtime ends without it, when its work is done.
        let can_wait = !on_own_worker && !self.shared.blocking.is_own_thread();
        // Relaxed: the stopper's lock orders it (`Shared::end_thread`), and the threads are joined
        // after it.
        let is_over = || self.shared.threads.load(Relaxed) == 0;
        // A worker of another runtime helps that one meanwhile: the work that is waited for may
        // need it.
        match limit {
            _ if !can_wait => {}
            None => waiter.wait_until(is_over),
            Some(limit) => wait_at_most(limit, &waiter, is_over),
        }
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
        for thread in self.shared.substitutes.take_handles() {
            thread
                .join()
                .expect("workers catch every panic of their tasks");
        }
        self.shared.blocking.join();
        Shutdown::Complete
    }

    /// Keeps all memory, in a process without the threads of this runtime. They may have used it in
    /// any way when they went.
    fn leak(&mut self) {
        mem::forget(Arc::clone(&self.shared));
        self.shared.blocking.leak();
        let models = self.models.get_mut();
        mem::forget(models.map(mem::take));
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        let _ = self.end(None);
    }
}

/// Waits as `waiter`, which is the current thread, until `done`, but at most for `limit`. A system
/// that has no thread for the clock makes the wait end at once.
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
