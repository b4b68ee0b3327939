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

use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicBool, Mutex, Relaxed};

use crate::engine::local::Arrival;
use crate::state::{Explain, Feature, SharedState};

/// The calls that were left for each worker.
#[derive(Debug)]
pub(crate) struct Deferred(Box<[Arc<CachePadded<DeferredCalls>>]>);

impl Explain for Deferred {}

impl SharedState for Deferred {
    const FEATURE: Feature = Feature::Deferred;
}

/// The calls that were left for one worker.
#[derive(Default)]
pub(crate) struct DeferredCalls {
    has_any: AtomicBool,
    calls: Mutex<Vec<Arrival>>,
}

impl std::fmt::Debug for DeferredCalls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "DeferredCalls({:?})", self.has_any)
    }
}

impl DeferredCalls {
    fn calls(&self) -> impl std::ops::DerefMut<Target = Vec<Arrival>> {
        self.calls.lock().expect("nothing panics under this lock")
    }

    /// Leaves a call for the worker, which runs the entry of which the calling thread runs a fork.
    fn put(&self, call: Arrival) {
        self.calls().push(call);
        // Relaxed: see the header.
        self.has_any.store(true, Relaxed);
    }

    /// Returns true if anything was left for the worker.
    #[inline]
    pub(super) fn has_any(&self) -> bool {
        // Relaxed: see the header.
        self.has_any.load(Relaxed)
    }

    /// Takes the calls that were left for the worker. Only the worker calls this.
    pub(super) fn take(&self) -> Vec<Arrival> {
        let calls = std::mem::take(&mut *self.calls());
        // Relaxed: see the header.
        self.has_any.store(false, Relaxed);
        calls
    }
}

impl Deferred {
    pub(crate) fn new(worker_count: usize) -> Self {
        Self((0..worker_count).map(|_| Arc::default()).collect())
    }

    /// Leaves a call for a worker, which runs the entry of which the calling thread runs a fork.
    pub(crate) fn put(&self, worker: usize, call: Arrival) {
        self.0[worker].put(call);
    }

    /// Returns the calls that are left for a worker.
    pub(super) fn of_worker(&self, worker: usize) -> Arc<CachePadded<DeferredCalls>> {
        Arc::clone(&self.0[worker])
    }
}
