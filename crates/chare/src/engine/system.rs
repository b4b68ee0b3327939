//! The state that all chares of a runtime share: collections, counters of messages, and waiting
//! threads.
//!
//! A proxy carries the number of its system, not a pointer: it is small, is copied freely, and
//! counts no references. Workers have the system at hand ([`crate::engine::local`]); other threads
//! look it up ([`registry`]).
//!
//! The system is the lowest layer of the engine. It knows collections by their numbers only, not
//! their types: [`crate::engine::elements::collection`] adds and finds them.

pub(crate) mod collections;
pub(crate) mod quiet;
pub(crate) mod registry;
pub(crate) mod unreported;
pub(crate) mod waiters;

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, OnceLock};

use raddle_runtime::{Post, Waiter};
use raddle_sync::prim::{AtomicBool, AtomicUsize, Mutex, Relaxed};
use raddle_trace::sources::MessageSource;

use crate::address::detours::Detours;
use crate::failure::Failure;
use crate::state::{SharedState, SharedStates};
use collections::Collections;
use quiet::Quiet;
use unreported::Unreported;
use waiters::{Waiters, Waiting, Watch};

/// The sender that all threads share that are no workers: they send under one lock, and so have an
/// order, an epoch and detours as a worker has.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) epoch: u32,
    pub(crate) detours: Detours,
}

/// The outcome of a call on another node.
pub(crate) enum Outcome<'a> {
    /// The serialised result.
    Bytes(&'a [u8]),
    Failed(Failure),
    Panicked(Failure),
}

impl<'a> Outcome<'a> {
    pub(crate) fn of(outcome: Result<&'a [u8], &str>, panicked: bool) -> Self {
        match outcome {
            Ok(bytes) => Self::Bytes(bytes),
            Err(text) if panicked => Self::Panicked(Failure::of_panic(text)),
            Err(text) => Self::Failed(Failure::new(text)),
        }
    }
}

/// The other nodes of a program, as the core sees them.
pub(crate) trait OtherNodes: Any + Send + Sync {
    /// Returns the number of this node.
    fn me(&self) -> u16;

    /// Returns the number of nodes.
    fn node_count(&self) -> u16;

    /// Returns true if workers also receive after messages within this node.
    fn receives_after_any_send(&self) -> bool;

    /// Receives what has arrived, unless another thread is receiving.
    fn receive(&self);

    /// Reports a failure of this node to all others.
    fn fail(&self, system: &System, failure: &Failure);

    /// Stops the waits of this node for other nodes, after a failure on any node.
    fn give_up(&self, failure: &Failure);

    /// Reports the end of the program to all others.
    fn exit(&self, system: &System);

    /// Calls `take` with a reply of node `from`; returns the number under which it comes.
    fn await_reply(&self, from: u16, take: Box<dyn FnOnce(Outcome<'_>) + Send>) -> u64;

    /// Sends a reply to the node that asked for it under number `reply`.
    fn reply(
        &self,
        system: &System,
        node: u16,
        reply: u64,
        outcome: Result<Vec<u8>, &Failure>,
        panicked: bool,
    );
}

/// The state that all chares of a runtime share.
pub struct System {
    id: u32,
    post: Post,
    collections: Collections,
    singles: Mutex<Vec<(TypeId, u32)>>,
    outside: Mutex<Outside>,
    quiet: Quiet,
    states: SharedStates,
    /// The other nodes, for a program on several.
    other_nodes: OnceLock<Box<dyn OtherNodes>>,
    /// Workers also receive from the other nodes after messages within this node.
    receives_after_any_send: AtomicBool,
    failure: Mutex<Option<Failure>>,
    has_failed: AtomicBool,
    unreported: Unreported,
    waiters: Waiters,
    has_exited: AtomicBool,
    /// The worker that gets the next element from a thread that is no worker, modulo their number.
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

impl MessageSource for System {
    fn messages_under_way(&self) -> u64 {
        let (sent, done) = self.quiet.counts();
        sent.saturating_sub(done)
    }
}

impl System {
    /// Creates a system with this number; `states` holds the shared states of its features.
    pub(crate) fn new(id: u32, post: Post, states: SharedStates) -> Self {
        let worker_count = post.worker_count();
        Self {
            id,
            post,
            collections: Collections::default(),
            singles: Mutex::default(),
            outside: Mutex::default(),
            quiet: Quiet::new(worker_count),
            states,
            other_nodes: OnceLock::new(),
            receives_after_any_send: AtomicBool::new(false),
            failure: Mutex::default(),
            has_failed: AtomicBool::new(false),
            unreported: Unreported::default(),
            waiters: Waiters::default(),
            has_exited: AtomicBool::new(false),
            next_worker: AtomicUsize::new(0),
        }
    }

    /// Returns the number by which proxies know this system.
    #[inline]
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Returns the way to send calls to workers.
    #[inline]
    pub(crate) fn post(&self) -> &Post {
        &self.post
    }

    /// Returns the counters of messages, for quiescence detection.
    #[inline]
    pub(crate) fn quiet(&self) -> &Quiet {
        &self.quiet
    }

    /// Returns the panics that nothing has reported yet.
    pub(crate) fn unreported(&self) -> &Unreported {
        &self.unreported
    }

    /// Returns the threads and futures that wait for anything of this system.
    pub(crate) fn waiters(&self) -> &Waiters {
        &self.waiters
    }

    /// Returns the state of a feature that all workers share.
    #[inline]
    pub(crate) fn shared<S: SharedState>(&self) -> &S {
        self.states.of()
    }

    /// Returns the other nodes, for a program on several.
    pub(crate) fn other_nodes(&self) -> Option<&dyn OtherNodes> {
        self.other_nodes.get().map(|nodes| &**nodes)
    }

    /// Makes this the system of one node of several.
    ///
    /// # Panics
    /// When that has been done.
    pub(crate) fn set_other_nodes(&self, nodes: impl OtherNodes) {
        // Relaxed: a worker that sees it later only receives later.
        self.receives_after_any_send
            .store(nodes.receives_after_any_send(), Relaxed);
        let set = self.other_nodes.set(Box::new(nodes));
        assert!(set.is_ok(), "a new runtime has no nodes");
    }

    /// Receives from the other nodes after a message within this node, if the program asked for it
    /// ([`Progress::AnySend`](crate::nodes::Progress::AnySend)).
    #[inline]
    pub(crate) fn receive_after_send(&self) {
        // Relaxed: as in `set_other_nodes`.
        if self.receives_after_any_send.load(Relaxed) {
            self.receive_after_send_slow();
        }
    }

    #[cold]
    fn receive_after_send_slow(&self) {
        if let Some(nodes) = self.other_nodes() {
            nodes.receive();
        }
    }

    /// Returns the system with this number, unless its runtime has ended.
    ///
    /// A message that is dropped then may send others from its destructor, while the sender holds a
    /// lock. A destructor must therefore find no system, and take no lock of one.
    pub(crate) fn find(id: u32) -> Option<Arc<Self>> {
        registry::find(id).filter(|system| !system.post.is_closed())
    }

    /// Returns the system of an entry that runs, or of one of its forks. The worker of the entry
    /// keeps the system alive.
    pub(crate) fn of_entry(id: u32) -> Arc<Self> {
        registry::find(id).expect("the worker of an entry has its system")
    }

    /// Returns the number of workers.
    pub(crate) fn worker_count(&self) -> usize {
        self.post.worker_count()
    }

    /// Checks the number of a worker.
    ///
    /// # Panics
    /// If there is no such worker.
    #[track_caller]
    pub(crate) fn check_worker(&self, worker: usize) {
        let worker_count = self.worker_count();
        assert!(
            worker < worker_count,
            "there is no worker {worker}: there are {worker_count}"
        );
    }

    /// Returns the worker that gets the next element from a thread that is no worker.
    pub(crate) fn next_worker(&self) -> usize {
        // Relaxed: any worker will do.
        self.next_worker.fetch_add(1, Relaxed) % self.worker_count()
    }

    /// Returns the collections, by their numbers.
    pub(crate) fn collections(&self) -> &Collections {
        &self.collections
    }

    /// Returns the number of the collection of all chares of a type that are in no array. Calls
    /// `add` if there is none yet.
    pub(crate) fn singles(&self, of: TypeId, add: impl FnOnce() -> u32) -> u32 {
        let mut singles = self.singles.lock().expect("nothing panics under this lock");
        if let Some((_, id)) = singles.iter().find(|single| single.0 == of) {
            return *id;
        }
        let id = add();
        singles.push((of, id));
        id
    }

    /// Locks the sender that all threads share that are no workers.
    pub(crate) fn outside(&self) -> impl std::ops::DerefMut<Target = Outside> {
        self.outside.lock().expect("nothing panics under this lock")
    }

    /// Fails the system at all nodes: all threads and futures that wait, now or later, report the
    /// first failure.
    #[cold]
    pub(crate) fn fail(&self, failure: Failure) {
        if let Some(nodes) = self.other_nodes()
            && self.failure().is_none()
        {
            nodes.fail(self, &failure);
        }
        self.fail_here(failure);
    }

    /// Fails the system at this node.
    #[cold]
    pub(crate) fn fail_here(&self, failure: Failure) {
        // The first node reports the panics of all nodes, which have sent it theirs. The panic is
        // noted before any waiter is notified.
        if failure.is_panic() && self.other_nodes().is_none_or(|nodes| nodes.me() == 0) {
            self.unreported.note(&failure);
        }
        let first = self
            .failure
            .lock()
            .expect("nothing panics under this lock")
            .get_or_insert_with(|| failure.clone())
            .clone();
        // Relaxed: a waiter enters its list before it looks, both under the lock of the list.
        self.has_failed.store(true, Relaxed);
        if let Some(nodes) = self.other_nodes() {
            nodes.give_up(&first);
        }
        self.waiters.notify_all();
    }

    /// Ends the program at all nodes: threads that wait for its end go on.
    pub(crate) fn exit(&self) {
        if let Some(nodes) = self.other_nodes() {
            nodes.exit(self);
        }
        self.exit_here();
    }

    /// Ends the program at this node.
    pub(crate) fn exit_here(&self) {
        // Relaxed: as in `fail`.
        self.has_exited.store(true, Relaxed);
        self.waiters.notify_threads();
    }

    /// Blocks this thread until the program has called `exit`, or has failed.
    ///
    /// # Errors
    /// The first failure, if there is one, even if the program has called `exit`.
    pub(crate) fn wait_for_exit(&self) -> Result<(), Failure> {
        // Relaxed: as in `fail`.
        let failure = self.wait_or_fail(|| self.has_exited.load(Relaxed));
        failure.map_or(Ok(()), |failure| {
            self.unreported.note_reported(true);
            Err(failure)
        })
    }

    /// Returns the first failure, if there is one.
    pub(crate) fn failure(&self) -> Option<Failure> {
        // Relaxed: a caller that must see a failure has taken the lock of the waiters, or has read
        // the count of the message that failed.
        if !self.has_failed.load(Relaxed) {
            return None;
        }
        self.failure
            .lock()
            .expect("nothing panics under this lock")
            .clone()
    }

    /// Blocks this thread until `done` returns true, or the system has failed. Returns the failure,
    /// also if `done` returns true by then.
    ///
    /// The code that makes `done` true notifies this thread's [`Waiter`].
    pub(crate) fn wait_or_fail(&self, done: impl Fn() -> bool) -> Option<Failure> {
        let waiter = Waiter::current();
        let watch = Watch::new(self, Waiting::Thread(waiter.clone()));
        // Relaxed: see `fail`.
        waiter.wait_until(|| done() || self.has_failed.load(Relaxed));
        drop(watch);
        self.failure()
    }
}
