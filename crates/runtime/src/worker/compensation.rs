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
//! resting. There are up to [`COMPENSATING_MAX`]. When all of them are in use, a worker waits
//! without one. If tasks wait only for handles that existed when the tasks were spawned, such a
//! program still ends: root tasks begin in the order in which they were spawned, so the first
//! unfinished one waits for nothing that has not begun. A program can stand still only if more
//! tasks than that wait for later tasks, of which they received the handles afterwards;
//! [`super::standstill`] reports it.
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

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use raddle_sync::prim::thread;
use raddle_sync::prim::{AtomicBool, AtomicUsize, Mutex, Relaxed};

use super::{Shared, Worker, as_worker};
use crate::panics::OnPanic;
use crate::pool::Setup;
use crate::threads::{WorkerThreads, thread_name};

/// The largest number of compensating threads of one runtime. Zero in exhaustive models, which
/// support few threads.
pub(crate) const COMPENSATING_MAX: usize = if cfg!(loom) {
    0
} else if cfg!(shuttle) {
    3
} else {
    1024
};

/// The compensating threads of one runtime.
#[derive(Debug)]
pub(crate) struct Compensation {
    state: Mutex<State>,
    /// More threads run than are needed: a compensating thread that ends a task checks under the
    /// lock.
    surplus: AtomicBool,
    /// The number of workers and compensating threads started so far.
    present: Arc<AtomicUsize>,
    limit: usize,
    threads: WorkerThreads,
}

#[derive(Debug, Default)]
struct State {
    /// Workers that have lent their places.
    lent: usize,
    /// The workers among them that wait for something that may come from outside the runtime.
    foreign: usize,
    /// Compensating threads that run.
    running: usize,
    /// The worker indices of compensating threads that rest.
    resting: Vec<usize>,
    /// Compensating threads that the system refused to start.
    lost: usize,
    /// For each compensating thread, the worker that it replaced last.
    places: HashMap<usize, usize>,
    /// The threads of all workers.
    handles: Vec<thread::JoinHandle<()>>,
}

/// The action that fills a place that was just lent.
enum Taker {
    /// Enough threads run already.
    NotNeeded,
    /// The limit is reached.
    Unavailable,
    /// The resting thread with this worker index is to be woken.
    Resting(usize),
    /// A thread with this worker index is to be started.
    New(usize),
}

impl Compensation {
    pub(super) fn new(setup: &Setup, threads: WorkerThreads) -> Self {
        Self {
            state: Mutex::default(),
            surplus: AtomicBool::new(false),
            present: setup.present(),
            limit: setup.worker_limit(),
            threads,
        }
    }

    /// Returns the number of workers and compensating threads started so far.
    #[inline]
    pub(super) fn present(&self) -> usize {
        // Relaxed: a thread that is seen late is asked for work late.
        self.present.load(Relaxed)
    }

    /// Returns the function that gets panics for which no thread waits.
    pub(crate) fn on_panic(&self) -> Option<OnPanic> {
        self.threads.handlers.panic.clone()
    }

    /// Returns the number of compensating threads that rest or could not be started.
    pub(super) fn absent_count(&self) -> usize {
        self.change(|state| state.resting.len() + state.lost)
    }

    /// Returns true if some worker waits for something that may come from outside the runtime.
    pub(super) fn any_foreign(&self) -> bool {
        self.change(|state| state.foreign > 0)
    }

    /// Takes the handles of all worker threads, to join them.
    pub(crate) fn take_handles(&self) -> Vec<thread::JoinHandle<()>> {
        self.change(|state| std::mem::take(&mut state.handles))
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state.lock().expect("nothing panics under this lock");
        let result = change(&mut state);
        // Relaxed: a hint; a thread that acts on it checks under the lock.
        self.surplus.store(state.running > state.lent, Relaxed);
        result
    }

    /// Counts a place as lent and returns how to fill it.
    fn lend(&self, lender: usize, is_foreign: bool) -> Taker {
        self.change(|state| {
            state.lent += 1;
            state.foreign += usize::from(is_foreign);
            if state.running >= state.lent {
                return Taker::NotNeeded;
            }
            state.running += 1;
            // A compensating thread that lends its place passes on the place that it has taken.
            let place = state.places.get(&lender).copied().unwrap_or(lender);
            if let Some(worker_index) = state.resting.pop() {
                state.places.insert(worker_index, place);
                return Taker::Resting(worker_index);
            }
            let worker_index = self.present();
            if worker_index == self.limit {
                state.running -= 1;
                return Taker::Unavailable;
            }
            // Relaxed: the lock orders the threads that start compensating threads.
            self.present.store(worker_index + 1, Relaxed);
            state.places.insert(worker_index, place);
            Taker::New(worker_index)
        })
    }

    /// Returns true if `worker_index` has to rest; it then counts as resting.
    fn should_rest(&self, worker_index: usize) -> bool {
        self.change(|state| {
            let surplus = state.running > state.lent;
            if surplus {
                state.running -= 1;
                state.resting.push(worker_index);
            }
            surplus
        })
    }
}

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
        self.shared.compensation.change(|state| {
            state.lent -= 1;
            state.foreign -= usize::from(self.is_foreign);
        });
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
        let threads = &self.compensation.threads;
        let name = thread_name(&threads.name, &format!("-{worker_index}"));
        let mut spawner = thread::Builder::new().name(name);
        if let Some(stack_bytes) = threads.stack_bytes {
            spawner = spawner.stack_size(stack_bytes);
        }
        self.begin_thread();
        let handle = spawner.spawn(call).inspect_err(|_| self.end_thread())?;
        self.compensation.change(|state| state.handles.push(handle));
        Ok(())
    }

    /// Wakes all resting compensating threads, because the runtime may be ending.
    pub(super) fn wake_resting(&self) {
        self.compensation.change(|state| {
            for &worker_index in &state.resting {
                let _ = self.idle.cell(worker_index).notify();
            }
        });
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
        match shared.compensation.lend(self.index(), is_foreign) {
            Taker::NotNeeded => {}
            Taker::Unavailable => is_empty = true,
            Taker::Resting(worker_index) => {
                let _ = shared.idle.cell(worker_index).notify();
            }
            Taker::New(worker_index) => {
                let its_own = Arc::clone(shared);
                let started = shared.start_thread(worker_index, move || run(worker_index, its_own));
                if started.is_err() {
                    // The place stays empty, and the worker index is not used again.
                    shared.compensation.change(|state| {
                        state.running -= 1;
                        state.lost += 1;
                    });
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

    /// Returns true if this is a compensating thread and more of them seem to run than are needed.
    #[inline]
    pub(super) fn is_surplus(&self) -> bool {
        self.is_compensating
            // Relaxed: a hint.
            && self.shared().compensation.surplus.load(Relaxed)
    }

    /// Returns true if this is a compensating thread that is not needed any more. It counts as
    /// resting then.
    #[inline]
    pub(super) fn should_rest(&self) -> bool {
        self.is_surplus() && self.shared().compensation.should_rest(self.index())
    }

    /// Rests until this compensating thread is needed. Returns false if the runtime ends instead.
    #[cold]
    pub(super) fn rest(&self) -> bool {
        self.make_all_public();
        let shared = self.shared();
        let cell = shared.idle.cell(self.index());
        loop {
            let (place, ends) = shared.compensation.change(|state| {
                let needed = !state.resting.contains(&self.index());
                let place = needed.then(|| state.places.get(&self.index()).copied());
                // Stale forks may still be in the pool at the end; other workers remove them.
                (place, shared.may_end())
            });
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

    /// Makes all private tasks visible to other workers, and wakes one for them.
    fn make_all_public(&self) {
        self.seat.share_all();
        self.announce_work();
    }
}

/// The thread of one worker.
pub(crate) fn run(worker_index: usize, shared: Arc<Shared>) {
    let handlers = shared.compensation.threads.handlers.clone();
    let worker = Worker::new(worker_index, Arc::clone(&shared));
    as_worker(&worker, || {
        handlers.call_start(worker_index);
        worker.run_to_the_end();
        handlers.call_exit(worker_index);
    });
    drop(worker);
    shared.end_thread();
}
