//! The private place of a worker: tasks there cost the worker no synchronisation, and other workers
//! take them only when they find nothing else.
//!
//! No worker sleeps while there are private tasks:
//!
//! - A worker that is about to sleep takes them. [`Pool::has_work`](super::Pool::has_work) counts
//!   them after a heavy fence.
//! - The owner makes them public when it sees that a worker sleeps. It checks this after a light
//!   fence.
//!
//! So a worker that stands still in the middle of its task does not withhold other tasks for ever.

use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::biased::{Others, Owner, biased};
use raddle_sync::prim::{AtomicBool, Relaxed};

/// A place for tasks.
pub(crate) trait Place: Default + Send + 'static {
    /// Returns true if there is no task.
    fn is_empty(&self) -> bool;
}

/// The owner's end of the place.
#[derive(Debug)]
pub(crate) struct Own<T> {
    place: Owner<T>,
    holds: Arc<CachePadded<AtomicBool>>,
}

/// The end of the place for all other workers.
#[derive(Debug)]
pub(crate) struct Hidden<T> {
    place: Others<T>,
    /// The place contains tasks, as of its last use.
    holds: Arc<CachePadded<AtomicBool>>,
}

/// Creates an empty place.
pub(crate) fn hidden<T: Place>() -> (Hidden<T>, Own<T>) {
    let (own, others) = biased(T::default());
    let holds = Arc::<CachePadded<AtomicBool>>::default();
    let own = Own {
        place: own,
        holds: Arc::clone(&holds),
    };
    let hidden = Hidden {
        place: others,
        holds,
    };
    (hidden, own)
}

impl<T: Place> Own<T> {
    /// Calls `change` with the place.
    #[inline]
    pub(crate) fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        self.place.with(|place| {
            let result = change(place);
            // Relaxed: a hint, or ordered by fences (see the header).
            self.holds.store(!place.is_empty(), Relaxed);
            result
        })
    }

    /// Returns true if there is no task. Other workers only take tasks, so the owner relies on it.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // Relaxed: this worker has written it, unless another worker has taken tasks since.
        !self.holds.load(Relaxed)
    }
}

impl<T: Place> Hidden<T> {
    /// Calls `change` with the place if it may contain tasks.
    pub(crate) fn raid<R>(&self, change: impl FnOnce(&mut T) -> Option<R>) -> Option<R> {
        if !self.holds() {
            return None;
        }
        self.place.with(|place| {
            let result = change(place);
            // Relaxed: as in `Own::with`; the place orders the two.
            self.holds.store(!place.is_empty(), Relaxed);
            result
        })
    }

    /// Returns true if the place may contain tasks.
    #[inline]
    pub(crate) fn holds(&self) -> bool {
        // Relaxed: see the header.
        self.holds.load(Relaxed)
    }
}
