//! What all chares of a runtime share: its collections, counters of messages, and who waits.
//!
//! Proxies carry the number of their system, not a pointer: so they are small, are copied freely, and count no references. Workers keep
//! the system at hand ([`crate::local`]); other threads look it up.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use raddle_runtime::{Post, Runtime, Waiter};
use raddle_sync::prim::{AtomicBool, AtomicUsize, Mutex, Relaxed, panicking};

use crate::collection::Collection;
use crate::collections::Collections;
use crate::deferred::Deferred;
use crate::entry::Chare;
use crate::failure::Failure;
use crate::local::{self, Arrival, Local};
use crate::migration::Moves;
use crate::nodes::{self, AwayCell, Letter};
use crate::outside::Outside;
use crate::quiet::Quiet;
use crate::registry;
use crate::seeds::Seeds;
use crate::unreported::Unreported;
use crate::waiters::{Waiters, Waiting, Watch};
#[cfg(not(any(loom, shuttle)))]
use crate::watch::Watcher;

/// What all chares of a runtime share.
pub struct System {
    pub(crate) id: u32,
    pub(crate) post: Post,
    collections: Collections,
    singles: Mutex<Vec<(TypeId, u32)>>,
    pub(crate) outside: Mutex<Outside>,
    pub(crate) quiet: Quiet,
    pub(crate) moves: Moves,
    pub(crate) seeds: Seeds,
    pub(crate) deferred: Deferred,
    /// What it has of the systems of other nodes.
    pub(crate) away: AwayCell,
    failure: Mutex<Option<Failure>>,
    has_failed: AtomicBool,
    pub(crate) unreported: Unreported,
    pub(crate) waiters: Waiters,
    has_exited: AtomicBool,
    /// Where a thread that is no worker puts the next thing.
    next_worker: AtomicUsize,
}

impl fmt::Debug for System {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("System")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl System {
    /// The system of `runtime`.
    pub(crate) fn of(runtime: &Runtime) -> Arc<Self> {
        let owner = runtime.model(|post| {
            #[cfg(not(any(loom, shuttle)))]
            raddle_sync::exit::watch_panics();
            let worker_count = post.worker_count();
            let system = registry::add(|id| Self {
                id,
                post,
                collections: Collections::default(),
                singles: Mutex::default(),
                outside: Mutex::default(),
                quiet: Quiet::new(worker_count),
                moves: Moves::default(),
                deferred: Deferred::new(worker_count),
                seeds: Seeds::new(runtime.seed_policy(), worker_count),
                away: AwayCell::new(),
                failure: Mutex::default(),
                has_failed: AtomicBool::new(false),
                unreported: Unreported::default(),
                waiters: Waiters::default(),
                has_exited: AtomicBool::new(false),
                next_worker: AtomicUsize::new(0),
            });
            Arc::new(Owner::new(system))
        });
        Arc::clone(&owner.system)
    }

    /// The system with this number, unless its runtime has ended.
    ///
    /// Messages that are dropped then may send others from their destructors, under whatever locks their sender holds: those must take none.
    pub(crate) fn find(id: u32) -> Option<Arc<Self>> {
        registry::find(id).filter(|system| !system.post.is_closed())
    }

    /// The system of an entry that runs, or of a fork of one: its worker has it as long as that.
    pub(crate) fn of_entry(id: u32) -> Arc<Self> {
        registry::find(id).expect("the worker of an entry has its system")
    }

    pub(crate) fn worker_count(&self) -> usize {
        self.post.worker_count()
    }

    /// # Panics
    /// When there is no such worker.
    #[track_caller]
    pub(crate) fn check_worker(&self, worker: usize) {
        let worker_count = self.worker_count();
        assert!(
            worker < worker_count,
            "there is no worker {worker}: there are {worker_count}"
        );
    }

    /// The worker on which a thread that is no worker puts the next thing.
    pub(crate) fn next_worker(&self) -> usize {
        // Relaxed: any will do.
        self.next_worker.fetch_add(1, Relaxed) % self.worker_count()
    }

    /// Keeps a collection that `make` makes of its number.
    pub(crate) fn add<T: Chare>(
        &self,
        make: impl FnOnce(u32) -> Collection<T>,
    ) -> Arc<Collection<T>> {
        let id = self.collections.allocate();
        let collection = Arc::new(make(id));
        self.collections.put(id, Arc::clone(&collection) as _);
        collection
    }

    /// Forgets a collection; false if that has been done.
    pub(crate) fn forget(&self, id: u32) -> bool {
        self.collections.take(id).is_some()
    }

    /// The collection was forgotten, by all workers too: another may have its place.
    pub(crate) fn release(&self, id: u32) {
        self.collections.release(id);
    }

    /// The collection with this number, which is of `T`, unless it was forgotten.
    pub(crate) fn find_collection<T: Chare>(&self, id: u32) -> Option<Arc<Collection<T>>> {
        let collection = self.collections.get(id)?;
        let collection = collection.downcast();
        Some(collection.expect("a proxy has the type of its collection"))
    }

    /// The collection with this number, which is of `T`; a husk if it was forgotten.
    pub(crate) fn collection<T: Chare>(&self, id: u32) -> Arc<Collection<T>> {
        self.find_collection(id)
            .unwrap_or_else(|| Arc::new(Collection::husk(self.id, id)))
    }

    /// The collection of all chares of type `T` that are in no array.
    pub(crate) fn singles<T: Chare>(&self) -> u32 {
        let mut singles = self.singles.lock().expect("nothing panics under this lock");
        let of = TypeId::of::<T>();
        if let Some((_, id)) = singles.iter().find(|single| single.0 == of) {
            return *id;
        }
        let made = self.add::<T>(|id| Collection::singles(self.id, id, self.worker_count()));
        singles.push((of, made.id));
        made.id
    }

    /// Sends a message from this thread to a worker, now and then.
    pub(crate) fn post_from_here(&self, to: usize, message: impl FnOnce(&Local) + Send + 'static) {
        self.post_arrival(to, Box::new(message));
    }

    fn post_arrival(&self, to: usize, message: Arrival) {
        local::with(self.id, |local| match local {
            Some(local) => local.post(to, message),
            None => self.post_outside(to, message),
        });
    }

    /// All who wait, now or later, learn of the first of these: at all nodes.
    #[cold]
    pub(crate) fn fail(&self, failure: Failure) {
        if self.away.get().is_some() && self.failure().is_none() {
            self.send_to_others(&Letter::Failed {
                text: &failure.to_string(),
                is_panic: failure.is_panic(),
            });
        }
        self.fail_here(failure);
    }

    /// All who wait at this node learn of it.
    #[cold]
    pub(crate) fn fail_here(&self, failure: Failure) {
        // Of several nodes, the first reports for all: they have told it. Noted before anything
        // that waits is told.
        if failure.is_panic() && self.away.get().is_none_or(|away| away.me == 0) {
            self.unreported.note(&failure);
        }
        nodes::give_up(self, &failure);
        self.failure
            .lock()
            .expect("nothing panics under this lock")
            .get_or_insert(failure);
        // Relaxed: a waiter is in the list before it looks, both under the list's lock.
        self.has_failed.store(true, Relaxed);
        self.waiters.tell_all();
    }

    /// Who waits for the program's end waits no longer, at any node.
    pub(crate) fn exit(&self) {
        self.send_to_others(&Letter::Exit);
        self.exit_here();
    }

    /// The same at this node.
    pub(crate) fn exit_here(&self) {
        // Relaxed: as in `fail`.
        self.has_exited.store(true, Relaxed);
        self.waiters.tell_threads();
    }

    /// Waits on this thread until the program says that it is at its end, or something has failed; the end is no excuse for a failure.
    pub(crate) fn wait_for_exit(&self) -> Result<(), Failure> {
        // Relaxed: as in `fail`.
        let failure = self.wait_or_fail(|| self.has_exited.load(Relaxed));
        failure.map_or(Ok(()), |failure| {
            self.unreported.note_told(true);
            Err(failure)
        })
    }

    /// What has failed first, if anything has.
    pub(crate) fn failure(&self) -> Option<Failure> {
        // Relaxed: whoever needs to know has taken the lock of the waiters, or read the count of the message that failed.
        if !self.has_failed.load(Relaxed) {
            return None;
        }
        self.failure
            .lock()
            .expect("nothing panics under this lock")
            .clone()
    }

    /// Waits on this thread until `done`, or something has failed; returns what has, though it may be done as well.
    ///
    /// Whoever makes `done` true notifies this thread's [`Waiter`].
    pub(crate) fn wait_or_fail(&self, done: impl Fn() -> bool) -> Option<Failure> {
        let waiter = Waiter::current();
        let watch = Watch::new(self, Waiting::Thread(waiter.clone()));
        // Relaxed: see `fail`.
        waiter.wait_until(|| done() || self.has_failed.load(Relaxed));
        drop(watch);
        self.failure()
    }
}

/// What the runtime has of its system.
///
/// Others have the system too, for a while: whoever waits for something of it. So it outlives the runtime, and who waits is told.
struct Owner {
    system: Arc<System>,
    #[cfg(not(any(loom, shuttle)))]
    _watcher: Option<Watcher>,
}

impl Owner {
    fn new(system: Arc<System>) -> Self {
        Self {
            #[cfg(not(any(loom, shuttle)))]
            _watcher: Watcher::from_environment(&system),
            system,
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.system.fail(Failure::new("the runtime has ended"));
        let system = &self.system;
        if !system.post.is_closed() {
            // The shutdown did not wait for the workers. The exit code reports what they do.
            return;
        }
        // Reporters first: a future that is polled meanwhile has a place in the list of waiters
        // before its thread ceases to be one.
        if system.unreported.has_reporters() || system.waiters.has_any() {
            // These threads and futures get the failure. If they are dropped without being polled,
            // the exit code reports the panic.
            return;
        }
        let unreported = self.system.unreported.report();
        if let Some(failure) = unreported.filter(|_| !panicking()) {
            panic!("{failure}; nothing has waited for it until the end of the runtime");
        }
    }
}
