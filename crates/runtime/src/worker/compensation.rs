//! Compensating threads: additional workers that replace workers which wait for something that may
//! depend on any other work.
//!
//! A worker that waits for a handle, or for another runtime, could run any work meanwhile. But then
//! work could be buried on its stack below a wait for that same work, and never finish. So the
//! worker runs only the work below its wait, and otherwise *lends its place*: a compensating
//! thread, which is a worker on a thread of its own, runs in its stead and on its CPU, so that as
//! many workers run as before. When the wait is over, the worker continues at once, and a
//! compensating thread rests after its current task.
//!
//! Compensating threads are started when they are first needed. They stay until the runtime ends,
//! resting. There are up to [`COMPENSATING_MAX`](super::COMPENSATING_MAX). When all of them are in
//! use, a worker waits without one. If tasks wait only for handles that existed when the tasks were
//! spawned, such a program still ends: root tasks begin in the order in which they were spawned, so
//! the first unfinished one waits for nothing that has not begun. A program can stand still only if
//! more tasks than that wait for later tasks, of which they received the handles afterwards;
//! [`super::standstill`] reports it.
//!
//! A compensating thread that waits itself does not run the work below its wait if another thread
//! runs in its stead: it sleeps until its wait is over. Of those without such a thread, the first
//! [`HELPERS_MAX`] run that work. If each of a thousand threads woke for every task, the time of
//! nested waits would grow with the cube of their depth. When a runtime seems to stand still, all
//! of them are woken, and help from then on.
//!
//! # Invariants
//! 1. At least as many compensating threads run as workers have lent their places, up to the limit.
//!    More run only until each has ended its current task.
//! 2. A resting compensating thread has no private tasks and is in no set of sleepers, so that no
//!    wake-up is spent on it.
//!
//! # Source
//! The managed blocking of Java's fork-join pools: Lea: A Java fork/join framework. Java Grande
//! 2000, and the documentation of `ForkJoinPool`.

use std::io;
use std::sync::Arc;

use raddle_sync::prim::thread;
use raddle_trace::record;
use raddle_trace::record::kind::Idling;

use super::lent_places::Taker;
use super::standstill::LOOK_TIME;
use super::{Shared, ThreadCount, Worker, as_worker};
use crate::threads::thread_name;

/// The number of compensating threads that help while they wait without another in their stead.
const HELPERS_MAX: usize = 64;

/// A place that is lent until the guard is dropped.
#[derive(Debug)]
pub(super) struct Lent<'a> {
    shared: &'a Shared,
    is_empty: bool,
    is_foreign: bool,
}

impl Lent<'_> {
    /// Returns true if no compensating thread was available for the place.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.shared.compensation().give_back(self.is_foreign);
    }
}

impl Shared {
    /// Starts the thread of a worker or of a compensating thread; `call` calls [`run`].
    ///
    /// # Errors
    /// The error of the system if it cannot start a thread.
    pub(crate) fn start_thread(
        &self,
        worker_index: usize,
        call: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let threads = self.compensation().threads();
        let name = thread_name(&threads.name, &format!("-{worker_index}"));
        let mut spawner = thread::Builder::new().name(name);
        if let Some(stack_bytes) = threads.stack_bytes {
            spawner = spawner.stack_size(stack_bytes);
        }
        let handle = spawner.spawn(call)?;
        self.compensation().keep_handle(handle);
        Ok(())
    }

    /// Wakes all resting compensating threads, because the runtime may be ending.
    pub(super) fn wake_resting(&self) {
        self.compensation()
            .for_each_resting(|worker_index| self.notify(worker_index));
    }
}

impl Worker {
    /// Lends this worker's place to a compensating thread until the result is dropped.
    ///
    /// `is_foreign` says that the worker waits for something that may come from outside the
    /// runtime.
    pub(super) fn lend(&self, is_foreign: bool) -> Lent<'_> {
        let shared = self.shared();
        let mut is_empty = false;
        match shared.compensation().lend(self.index(), is_foreign) {
            Taker::NotNeeded => {}
            Taker::Unavailable => is_empty = true,
            Taker::Resting(worker_index) => {
                shared.notify(worker_index);
            }
            Taker::New(worker_index) => {
                let thread = ThreadCount::begin(shared);
                let started = shared.start_thread(worker_index, move || run(worker_index, thread));
                if started.is_err() {
                    // The place stays empty.
                    shared.compensation().count_lost();
                    is_empty = true;
                }
            }
        }
        Lent {
            shared,
            is_empty,
            is_foreign,
        }
    }

    /// Returns true if this is a compensating thread that does not help while it waits.
    pub(super) fn is_replaced(&self, lent: &Lent<'_>) -> bool {
        let number = self.index().checked_sub(self.shared().worker_count());
        number.is_some_and(|number| !lent.is_empty || number >= HELPERS_MAX)
            && self.shared().compensation().help_since_ns().is_none()
    }

    /// Returns true if all compensating threads have been called for help for [`LOOK_TIME`]. Calls
    /// them the first time.
    pub(super) fn has_called_for_help(&self) -> bool {
        let (shared, now_ns) = (self.shared(), self.shared().age_ns());
        let compensation = shared.compensation();
        if let Some(since_ns) = compensation.help_since_ns() {
            return u128::from(now_ns.saturating_sub(since_ns)) >= LOOK_TIME.as_nanos();
        }
        compensation.begin_help(now_ns);
        for worker_index in shared.worker_count()..shared.present() {
            shared.notify(worker_index);
        }
        false
    }

    /// Returns true if this is a compensating thread and more of them seem to run than are needed.
    #[inline]
    pub(super) fn is_surplus(&self) -> bool {
        self.is_compensating && self.shared().compensation().has_surplus()
    }

    /// Returns true if this is a compensating thread that is not needed any more. It counts as
    /// resting then.
    #[inline]
    pub(super) fn should_rest(&self) -> bool {
        self.is_surplus() && self.shared().compensation().should_rest(self.index())
    }

    /// Rests until this compensating thread is needed. Returns false if the runtime ends instead.
    #[cold]
    pub(super) fn rest(&self) -> bool {
        self.make_all_public();
        record::idle(Idling::Rests);
        self.counters().absent.begin(self.shared().age_ns());
        let is_needed = self.rest_until_needed();
        self.end_absence();
        is_needed
    }

    fn rest_until_needed(&self) -> bool {
        let shared = self.shared();
        let cell = shared.idle().cell(self.index());
        loop {
            // Stale forks may still be in the pool at the end; other workers remove them.
            let (place, ends) = shared
                .compensation()
                .after_rest(self.index(), || shared.may_end());
            if let Some(worker_index) = place.flatten() {
                // A new thread inherits the binding of the worker that started it. For the place of
                // another worker it has to move.
                self.take_place_of(worker_index);
            }
            if place.is_some() || ends {
                return place.is_some();
            }
            cell.sleep(None);
        }
    }

    /// Records that this thread has begun, or is needed again.
    fn end_absence(&self) {
        self.counters().absent.end(self.shared().age_ns());
    }

    /// Makes all private tasks visible to other workers, and wakes one for them.
    fn make_all_public(&self) {
        if self.has_put_tasks() {
            self.share_front(usize::MAX);
            self.seat.share_all();
            self.announce_work();
        }
    }
}

/// Runs one worker on its own thread until the runtime ends.
pub(crate) fn run(worker_index: usize, thread: ThreadCount) {
    let handlers = thread.shared().compensation().threads().handlers.clone();
    let worker = Worker::new(worker_index, Arc::clone(thread.shared()));
    worker.end_absence();
    as_worker(&worker, || {
        handlers.call_start(worker_index);
        worker.run_to_the_end();
        handlers.call_exit(worker_index);
    });
    drop(worker);
    drop(thread);
}
