//! Calls that the forks of an entry leave for the worker of their element.
//!
//! A part belongs to one worker, and has no lock. An entry may fork, and another worker may run the
//! fork, or a thread that is no worker at all. What a fork does to the part of its element, such as
//! a contribution, is then left here. The element's worker does it as soon as the entry ends or
//! waits, before anything else runs on that worker: so it comes no later than what the entry itself
//! does.
//!
//! # Memory ordering
//! All relaxed. An entry ends after its forks. The join or scope that waits for a fork orders what
//! the fork has left before the look for it.

use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicBool, Mutex, Relaxed};

use crate::engine::local::Arrival;

/// The calls that were left for each worker.
#[derive(Debug)]
pub(crate) struct Deferred(Box<[CachePadded<OfWorker>]>);

#[derive(Default)]
struct OfWorker {
    has_any: AtomicBool,
    calls: Mutex<Vec<Arrival>>,
}

impl std::fmt::Debug for OfWorker {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "OfWorker({:?})", self.has_any)
    }
}

impl OfWorker {
    fn calls(&self) -> impl std::ops::DerefMut<Target = Vec<Arrival>> {
        self.calls.lock().expect("nothing panics under this lock")
    }
}

impl Deferred {
    pub(crate) fn new(worker_count: usize) -> Self {
        Self((0..worker_count).map(|_| CachePadded::default()).collect())
    }

    /// Leaves a call for a worker, which runs the entry of which the calling thread runs a fork.
    pub(crate) fn put(&self, worker: usize, call: Arrival) {
        let own = &self.0[worker];
        own.calls().push(call);
        // Relaxed: see the header.
        own.has_any.store(true, Relaxed);
    }

    /// True if anything was left for a worker.
    #[inline]
    pub(crate) fn has_any(&self, worker: usize) -> bool {
        // Relaxed: see the header.
        self.0[worker].has_any.load(Relaxed)
    }

    /// Takes what was left for a worker, which the calling thread is.
    pub(crate) fn take(&self, worker: usize) -> Vec<Arrival> {
        let own = &self.0[worker];
        let calls = std::mem::take(&mut *own.calls());
        // Relaxed: see the header.
        own.has_any.store(false, Relaxed);
        calls
    }
}
