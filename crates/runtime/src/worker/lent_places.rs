//! The places that workers have lent, and the compensating threads that fill them
//! ([`super::compensation`]).

use std::collections::HashMap;
use std::sync::Arc;

use raddle_sync::prim::thread;
use raddle_sync::prim::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Relaxed};

use crate::panics::OnPanic;
use crate::pool::Setup;
use crate::threads::WorkerThreads;

/// The largest number of compensating threads of one runtime, unless the program sets a smaller one
/// (`Builder::max_compensating_threads`). Zero in exhaustive models, which
/// support few threads.
pub(crate) const COMPENSATING_MAX: usize = if cfg!(loom) {
    0
} else if cfg!(shuttle) {
    3
} else {
    1024
};

/// The value of `help_since_ns` before all compensating threads help.
const NEVER: u64 = u64::MAX;

/// The compensating threads of one runtime.
#[derive(Debug)]
pub(crate) struct Compensation {
    state: Mutex<CompensationState>,
    /// True if more threads run than are needed: a compensating thread that ends a task checks
    /// under the lock.
    surplus: AtomicBool,
    /// The age of the runtime since which compensating threads help while they wait, even if others
    /// run in their stead; [`NEVER`] before.
    help_since_ns: AtomicU64,
    /// The number of workers and compensating threads started so far.
    present: Arc<AtomicUsize>,
    limit: usize,
    threads: WorkerThreads,
}

#[derive(Debug, Default)]
struct CompensationState {
    /// The number of workers that have lent their places.
    lent: usize,
    /// The number of these workers that wait for something that may come from outside the runtime.
    foreign: usize,
    /// The number of compensating threads that run.
    running: usize,
    /// The worker indices of compensating threads that rest.
    resting: Vec<usize>,
    /// The number of compensating threads that the system refused to start.
    lost: usize,
    /// For each compensating thread, the worker that it replaced last.
    places: HashMap<usize, usize>,
    /// The handles of the threads of all workers.
    handles: Vec<thread::JoinHandle<()>>,
}

/// The action that fills a place that was just lent.
pub(super) enum Taker {
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
            help_since_ns: AtomicU64::new(NEVER),
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

    fn change<R>(&self, change: impl FnOnce(&mut CompensationState) -> R) -> R {
        let mut state = self.state.lock().expect("nothing panics under this lock");
        let result = change(&mut state);
        // Relaxed: a hint; a thread that acts on it checks under the lock.
        self.surplus.store(state.running > state.lent, Relaxed);
        result
    }

    /// Counts a place as lent and returns how to fill it.
    pub(super) fn lend(&self, lender: usize, is_foreign: bool) -> Taker {
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

    /// Counts a place as filled by its own worker again.
    pub(super) fn give_back(&self, is_foreign: bool) {
        self.change(|state| {
            state.lent -= 1;
            state.foreign -= usize::from(is_foreign);
        });
    }

    /// Counts a thread that the system refused to start. Its worker index is not used again.
    pub(super) fn count_lost(&self) {
        self.change(|state| {
            state.running -= 1;
            state.lost += 1;
        });
    }

    /// Returns true if more threads seem to run than are needed.
    #[inline]
    pub(super) fn has_surplus(&self) -> bool {
        // Relaxed: a hint.
        self.surplus.load(Relaxed)
    }

    /// Returns the age of the runtime, in nanoseconds, since which compensating threads help while
    /// they wait, or `None` if those that are replaced sleep.
    pub(super) fn help_since_ns(&self) -> Option<u64> {
        // Relaxed: a thread that sleeps instead is notified afterwards.
        Some(self.help_since_ns.load(Relaxed)).filter(|&since| since != NEVER)
    }

    /// Records that all compensating threads help from now on.
    pub(super) fn begin_help(&self, now_ns: u64) {
        // Relaxed: as above.
        self.help_since_ns.store(now_ns, Relaxed);
    }

    /// Returns true if `worker_index` has to rest; it then counts as resting.
    pub(super) fn should_rest(&self, worker_index: usize) -> bool {
        self.change(|state| {
            let surplus = state.running > state.lent;
            if surplus {
                state.running -= 1;
                state.resting.push(worker_index);
            }
            surplus
        })
    }

    /// Returns the place that thread `worker_index` fills if it is needed again, and the result of
    /// `ends`, which is called under the lock under which resting threads are woken.
    pub(super) fn after_rest(
        &self,
        worker_index: usize,
        ends: impl FnOnce() -> bool,
    ) -> (Option<Option<usize>>, bool) {
        self.change(|state| {
            let is_needed = !state.resting.contains(&worker_index);
            let place = is_needed.then(|| state.places.get(&worker_index).copied());
            (place, ends())
        })
    }

    /// Calls `wake` with the worker index of each resting thread.
    pub(super) fn for_each_resting(&self, wake: impl Fn(usize)) {
        self.change(|state| state.resting.iter().copied().for_each(wake));
    }

    /// Returns how to start threads of workers.
    pub(super) fn threads(&self) -> &WorkerThreads {
        &self.threads
    }

    /// Keeps the handle of a thread that was started.
    pub(super) fn keep_handle(&self, handle: thread::JoinHandle<()>) {
        self.change(|state| state.handles.push(handle));
    }
}
