//! What a worker keeps for itself: tasks that cost it no synchronisation, and that others take only when there is nothing else.
//!
//! Nobody sleeps while there are such tasks: who is about to, takes them ([`Pool::has_work`](super::Pool::has_work) counts them, after a
//! heavy fence), and their maker makes them public when he sees somebody sleep, after a light one. So a worker that stands still in
//! the middle of its task keeps nothing from the others for ever.

use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::biased::{Others, Owner, biased};
use raddle_sync::prim::{AtomicBool, Relaxed};

/// A place for tasks, possibly none.
pub(super) trait Place: Default + Send + 'static {
    fn is_empty(&self) -> bool;
}

/// The worker's own end.
#[derive(Debug)]
pub(super) struct Own<T> {
    place: Owner<T>,
    holds: Arc<CachePadded<AtomicBool>>,
}

/// The others' end.
#[derive(Debug)]
pub(super) struct Hidden<T> {
    place: Others<T>,
    /// Whether something is there, as its owner said last.
    holds: Arc<CachePadded<AtomicBool>>,
}

/// An empty place.
pub(super) fn hidden<T: Place>() -> (Hidden<T>, Own<T>) {
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
    pub(super) fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        self.place.with(|place| {
            let result = change(place);
            // Relaxed: a hint, or ordered by fences (see the header).
            self.holds.store(!place.is_empty(), Relaxed);
            result
        })
    }

    /// True when nothing is there. Others only take.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Relaxed: our own, but for what others take.
        !self.holds.load(Relaxed)
    }
}

impl<T: Place> Hidden<T> {
    /// Calls `change` with the place if something is there.
    pub(super) fn raid<R>(&self, change: impl FnOnce(&mut T) -> Option<R>) -> Option<R> {
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

    #[inline]
    pub(super) fn holds(&self) -> bool {
        // Relaxed: see the header.
        self.holds.load(Relaxed)
    }
}
