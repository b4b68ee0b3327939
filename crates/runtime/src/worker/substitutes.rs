//! Workers that take the places of those that wait for something that may need any other work.
//!
//! A worker that waits for a handle, or for another runtime, could run whatever is there meanwhile. But then work could lie
//! buried on its stack under a wait for itself, for ever. So it runs what lies below the wait, and else lends
//! its place: a substitute, a worker like all others on a thread of its own, runs in its stead, on its CPU, so that as many workers run as before.
//! When the wait is over the worker goes on at once, and a substitute rests after its current task.
//!
//! Substitutes come up when they are needed first, and stay until the runtime ends, resting. There
//! are up to [`SUBSTITUTES_MAX`]. When all are needed, a worker waits without one. Where tasks wait
//! for handles that they were made with, that still ends: those were spawned before them, root
//! tasks are begun in the order in which they came, and so the first of all that have not ended
//! waits for nothing that has not begun. Only a program in which more tasks than that wait for
//! later ones, whose handles they were sent, can stand still; [`super::standstill`] reports it.
//!
//! # Invariants
//! 1. As many substitutes run as workers have lent their places, at least, if there are so many; more only until each has
//!    ended its task.
//! 2. A resting substitute has nothing private, and is in no set of sleepers: no wake-up is spent on it.
//! # Source
//! The managed blocking of Java's fork-join pools: Lea: A Java fork/join framework. Java Grande 2000, and `ForkJoinPool`'s
//! documentation.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use raddle_sync::prim::thread;
use raddle_sync::prim::{AtomicBool, AtomicUsize, Mutex, Relaxed};

use super::{Shared, Worker};
use crate::config::Handlers;
use crate::fork::as_worker;
use crate::pool::Setup;
use crate::task::OnPanic;

/// Substitutes of one runtime. None in exhaustive models, which have room for few threads.
pub(crate) const SUBSTITUTES_MAX: usize = if cfg!(loom) {
    0
} else if cfg!(shuttle) {
    3
} else {
    1024
};

/// How threads of workers are made.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerThreads {
    pub(crate) name: String,
    pub(crate) stack_bytes: Option<usize>,
    pub(crate) handlers: Handlers,
}

/// The substitutes of one runtime.
#[derive(Debug)]
pub(crate) struct Substitutes {
    state: Mutex<State>,
    /// More run than are needed: who comes to the end of a task shall look.
    surplus: AtomicBool,
    present: Arc<AtomicUsize>,
    limit: usize,
    threads: WorkerThreads,
}

#[derive(Debug, Default)]
struct State {
    /// Workers that have lent their places.
    lent: usize,
    /// Those of them that wait for something that may come from outside of the runtime.
    foreign: usize,
    running: usize,
    /// Indices of workers.
    resting: Vec<usize>,
    /// Substitutes that the system gave no thread for.
    lost: usize,
    /// Whose place each substitute has taken last.
    places: HashMap<usize, usize>,
    /// All workers' threads.
    handles: Vec<thread::JoinHandle<()>>,
}

/// What has to be done so that a place is taken.
enum Taker {
    Nobody,
    /// There are no more.
    Missing,
    Resting(usize),
    New(usize),
}

impl Substitutes {
    pub(super) fn new(setup: &Setup, threads: WorkerThreads) -> Self {
        Self {
            state: Mutex::default(),
            surplus: AtomicBool::new(false),
            present: setup.present(),
            limit: setup.worker_limit(),
            threads,
        }
    }

    #[inline]
    pub(super) fn present(&self) -> usize {
        // Relaxed: who is seen late is asked late.
        self.present.load(Relaxed)
    }

    /// What gets a panic that nobody waits for.
    pub(crate) fn on_panic(&self) -> Option<OnPanic> {
        self.threads.handlers.panic.clone()
    }

    /// The number of substitutes that rest or have no thread.
    pub(super) fn absent_count(&self) -> usize {
        self.change(|state| state.resting.len() + state.lost)
    }

    /// Returns true if some worker waits for something that may come from outside of the runtime.
    pub(super) fn any_foreign(&self) -> bool {
        self.change(|state| state.foreign > 0)
    }

    /// The threads that were started, to be joined.
    pub(crate) fn take_handles(&self) -> Vec<thread::JoinHandle<()>> {
        self.change(|state| std::mem::take(&mut state.handles))
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state.lock().expect("nothing panics under this lock");
        let result = change(&mut state);
        // Relaxed: a hint; who follows it looks under the lock.
        self.surplus.store(state.running > state.lent, Relaxed);
        result
    }

    /// A worker lends its place; says who takes it.
    fn lend(&self, lender: usize, is_foreign: bool) -> Taker {
        self.change(|state| {
            state.lent += 1;
            state.foreign += usize::from(is_foreign);
            if state.running >= state.lent {
                return Taker::Nobody;
            }
            state.running += 1;
            let place = state.places.get(&lender).copied().unwrap_or(lender);
            if let Some(worker_index) = state.resting.pop() {
                state.places.insert(worker_index, place);
                return Taker::Resting(worker_index);
            }
            let worker_index = self.present();
            if worker_index == self.limit {
                state.running -= 1;
                return Taker::Missing;
            }
            // Relaxed: the lock orders those who start substitutes.
            self.present.store(worker_index + 1, Relaxed);
            state.places.insert(worker_index, place);
            Taker::New(worker_index)
        })
    }

    /// True when `worker_index` shall rest; it is among the resting then.
    fn shall_rest(&self, worker_index: usize) -> bool {
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

/// A place that is lent until this is dropped.
#[derive(Debug)]
pub(super) struct Lent<'a> {
    shared: &'a Shared,
    is_empty: bool,
    is_foreign: bool,
}

impl Lent<'_> {
    /// Returns true if no substitute could be had for it.
    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.shared.substitutes.change(|state| {
            state.lent -= 1;
            state.foreign -= usize::from(self.is_foreign);
        });
    }
}

impl Shared {
    /// Starts a thread for a worker, be it one of the first or a substitute, which calls [`run`] in `call`.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn start_thread(
        &self,
        worker_index: usize,
        call: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let threads = &self.substitutes.threads;
        let name = thread_name(&threads.name, &format!("-{worker_index}"));
        let mut spawner = thread::Builder::new().name(name);
        if let Some(stack_bytes) = threads.stack_bytes {
            spawner = spawner.stack_size(stack_bytes);
        }
        // Counted before it starts.
        // Relaxed: the thread's start orders it before its end.
        self.threads.fetch_add(1, Relaxed);
        let handle = spawner.spawn(call).inspect_err(|_| self.end_thread())?;
        self.substitutes.change(|state| state.handles.push(handle));
        Ok(())
    }

    /// Wakes all resting substitutes, because the runtime may be ending.
    pub(super) fn wake_resting(&self) {
        self.substitutes.change(|state| {
            for &worker_index in &state.resting {
                let _ = self.idle.cell(worker_index).notify();
            }
        });
    }
}

impl Worker {
    /// Lends this worker's place to a substitute. `is_foreign` says that it waits for something
    /// that may come from outside of this runtime.
    pub(super) fn lend(&self, is_foreign: bool) -> Lent<'_> {
        let shared = self.shared();
        let mut is_empty = false;
        match shared.substitutes.lend(self.index(), is_foreign) {
            Taker::Nobody => {}
            Taker::Missing => is_empty = true,
            Taker::Resting(worker_index) => {
                let _ = shared.idle.cell(worker_index).notify();
            }
            Taker::New(worker_index) => {
                let its_own = Arc::clone(shared);
                let started = shared.start_thread(worker_index, move || run(worker_index, its_own));
                if started.is_err() {
                    // Without a thread for it, the place stays empty, and the index is lost.
                    shared.substitutes.change(|state| {
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

    /// True when this is a substitute of whom there seem to be more than are needed.
    #[inline]
    pub(super) fn is_surplus(&self) -> bool {
        self.is_substitute
            // Relaxed: a hint.
            && self.shared().substitutes.surplus.load(Relaxed)
    }

    /// True when this is a substitute that nobody needs any more, and that rests from now on.
    #[inline]
    pub(super) fn shall_rest(&self) -> bool {
        self.is_surplus() && self.shared().substitutes.shall_rest(self.index())
    }

    /// Rests until this substitute is needed; false when the runtime ends instead.
    #[cold]
    pub(super) fn rest(&self) -> bool {
        self.make_all_public();
        let shared = self.shared();
        let cell = shared.idle.cell(self.index());
        loop {
            let (place, ends) = shared.substitutes.change(|state| {
                let needed = !state.resting.contains(&self.index());
                let place = needed.then(|| state.places.get(&self.index()).copied());
                // What may still be in the pool then is empty, and for the others to clear away.
                (place, shared.may_end())
            });
            if let Some(worker_index) = place.flatten() {
                // A thread inherits its place from who lends it first, and has to go to those of others.
                self.take_place_of(worker_index);
            }
            if place.is_some() || ends {
                return place.is_some();
            }
            cell.sleep(None);
        }
    }

    /// Leaves nothing where nobody else finds it, and sees to it that somebody looks.
    fn make_all_public(&self) {
        self.seat.share_all();
        self.tell_of_work();
    }
}

/// The name of a thread: `name` and then `end`. The system keeps few bytes of it, so `name` gives way.
pub(crate) fn thread_name(name: &str, end: &str) -> String {
    /// Linux keeps so many bytes.
    const NAME_BYTES_MAX: usize = 15;
    let room = NAME_BYTES_MAX.saturating_sub(end.len());
    let kept = name.floor_char_boundary(room);
    format!("{}{end}", &name[..kept])
}

/// The thread of one worker.
pub(crate) fn run(worker_index: usize, shared: Arc<Shared>) {
    let handlers = shared.substitutes.threads.handlers.clone();
    let worker = Worker::new(worker_index, Arc::clone(&shared));
    as_worker(&worker, || {
        handlers.call_start(worker_index);
        worker.run_to_the_end();
        handlers.call_exit(worker_index);
    });
    drop(worker);
    shared.end_thread();
}
