//! A pool as its threads know it: the runtime, the panic handler, and the queues of `spawn_fifo`.

use std::cell::RefCell;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use raddle_runtime::default_runtime;
use raddle_runtime::open::{self, OpenTasks};

use crate::fifo::{Call, Fifo};
use crate::panics::{PanicHandler, run_guarded};
use crate::start::{Settings, start_global};
use crate::thread_spawn::DefaultSpawn;

thread_local! {
    /// The registry of the current thread, if it is known already.
    static CURRENT: RefCell<Option<Arc<Registry>>> = const { RefCell::new(None) };
}

/// The state that all threads of one pool share.
pub(crate) struct Registry {
    tasks: OpenTasks,
    panic_handler: Option<PanicHandler>,
    /// The calls of `spawn_fifo`, by the index of the thread that put them.
    fifos: Box<[Fifo]>,
    is_breadth_first: bool,
}

impl fmt::Debug for Registry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Registry")
            .field("num_threads", &self.worker_count())
            .finish_non_exhaustive()
    }
}

impl Registry {
    pub(crate) fn new(
        tasks: OpenTasks,
        panic_handler: Option<PanicHandler>,
        is_breadth_first: bool,
    ) -> Self {
        Self {
            fifos: Fifo::many(tasks.worker_count()),
            tasks,
            panic_handler,
            is_breadth_first,
        }
    }

    /// Returns the number of threads.
    pub(crate) fn worker_count(&self) -> usize {
        self.tasks.worker_count()
    }

    /// Returns the way to put tasks into this pool.
    pub(crate) fn tasks(&self) -> &OpenTasks {
        &self.tasks
    }

    /// Returns true if `spawn` acts as `spawn_fifo`, also in scopes.
    #[inline]
    pub(crate) fn is_breadth_first(&self) -> bool {
        self.is_breadth_first
    }

    /// Puts a call into the pool that the pool does not end without.
    pub(crate) fn spawn(self: &Arc<Self>, call: impl FnOnce() + Send + 'static) {
        if self.is_breadth_first {
            return self.spawn_fifo(call);
        }
        let registry = Arc::clone(self);
        self.tasks.spawn(move || registry.run(call));
    }

    /// Puts a call as [`spawn`](Self::spawn) does. Of those that one thread puts, the oldest runs
    /// first.
    pub(crate) fn spawn_fifo(self: &Arc<Self>, call: impl FnOnce() + Send + 'static) {
        let registry = Arc::clone(self);
        match self.tasks.own_index() {
            Some(index) => {
                let queued: Call = Box::new(call);
                self.fifos[index].put(queued);
                self.tasks.spawn(move || {
                    registry.run(|| registry.fifos[index].run_oldest());
                });
            }
            // Calls from other threads are in a queue already.
            None => self.tasks.spawn(move || registry.run(call)),
        }
    }

    /// Gives a call to each thread.
    pub(crate) fn spawn_broadcast(self: &Arc<Self>, call: impl Fn(usize) + Send + Sync + 'static) {
        let call = Arc::new(call);
        for index in 0..self.worker_count() {
            let (registry, call) = (Arc::clone(self), Arc::clone(&call));
            self.tasks
                .spawn_for(index, move || registry.run(|| call(index)));
        }
    }

    /// Runs a call for which no thread waits.
    fn run(&self, call: impl FnOnce()) {
        run_guarded(self.panic_handler.as_ref(), call);
    }
}

/// Calls `call` while the current thread belongs to `registry`.
///
/// Afterwards, also after a panic, it belongs to the pool that it belonged to before.
pub(crate) fn with_registry(registry: Arc<Registry>, call: impl FnOnce()) {
    struct Restore(Option<Arc<Registry>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.with(|current| current.replace(self.0.take()));
        }
    }
    let _restore = Restore(CURRENT.with(|current| current.replace(Some(registry))));
    call();
}

/// Makes the current thread belong to `registry`.
pub(crate) fn enter(registry: Arc<Registry>) {
    CURRENT.with(|current| current.replace(Some(registry)));
}

/// Returns the registry of the current thread, or else the global one.
pub(crate) fn current_or_global() -> Arc<Registry> {
    current().unwrap_or_else(global)
}

/// Returns the registry of the current thread, if it belongs to a pool.
pub(crate) fn current() -> Option<Arc<Registry>> {
    if !open::is_worker() {
        return None;
    }
    let known = CURRENT.with(|current| current.borrow().clone());
    known.or_else(|| {
        // A worker of a runtime that was not started here.
        let registry = of_runtime(OpenTasks::current()?);
        enter(Arc::clone(&registry));
        Some(registry)
    })
}

/// Returns the registry of the global pool, and starts the pool if necessary.
///
/// # Panics
/// If the system refuses threads, or a variable of the environment is bad.
pub(crate) fn global() -> Arc<Registry> {
    static GLOBAL: OnceLock<Arc<Registry>> = OnceLock::new();
    /// The global pool of a child process of the one that has made `GLOBAL`.
    static OF_CHILD: Mutex<Option<Arc<Registry>>> = Mutex::new(None);
    let start = || {
        // An error says that Raddle has started it already, or else comes again at once.
        let _ = start_global(Settings::default(), &mut DefaultSpawn);
        of_runtime(default_runtime().open_tasks())
    };
    let is_here = |registry: &&Arc<Registry>| registry.tasks.is_here();
    let global = GLOBAL.get_or_init(start);
    if is_here(&global) {
        return Arc::clone(global);
    }
    let mut of_child = OF_CHILD.lock().unwrap_or_else(PoisonError::into_inner);
    let started = of_child
        .as_ref()
        .filter(is_here)
        .map_or_else(start, Arc::clone);
    Arc::clone(of_child.insert(started))
}

/// The registries of the global pool and of runtimes that were not started by this crate.
static KNOWN: Mutex<Vec<Arc<Registry>>> = Mutex::new(Vec::new());

/// Keeps the registry of the global pool.
pub(crate) fn keep(registry: Arc<Registry>) {
    known().push(registry);
}

/// Returns the registry of a runtime, and makes one if there is none.
fn of_runtime(tasks: OpenTasks) -> Arc<Registry> {
    let mut known = known();
    known.retain(|registry| !registry.tasks.is_here() || !registry.tasks.have_threads_ended());
    let found = known.iter().find(|registry| registry.tasks.is_same(&tasks));
    if let Some(registry) = found {
        return Arc::clone(registry);
    }
    let registry = Arc::new(Registry::new(tasks, None, false));
    known.push(Arc::clone(&registry));
    registry
}

fn known() -> std::sync::MutexGuard<'static, Vec<Arc<Registry>>> {
    // Nothing panics under this lock.
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `op` on a worker, for the tests of the original.
#[cfg(all(test, rayon_suite))]
pub(crate) fn in_worker<R: Send>(op: impl FnOnce(&(), bool) -> R + Send) -> R {
    current_or_global()
        .tasks()
        .install(|ran| op(&(), ran == open::Ran::Elsewhere))
}
