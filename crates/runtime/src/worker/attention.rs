//! The attention of a worker: one mark for all rare cases of a frequent path.
//!
//! A layer above the runtime asks for the mark where it would otherwise ask for each rare case:
//! while the mark is set, it takes a slow path, which finds out what the case is. The slow path
//! removes the mark when it finds none. The runtime sets the mark while it is recorded; a layer
//! sets that of its own worker for its own cases.
//!
//! Any thread may set a mark, but only its worker removes it. So the worker never misses a case of
//! its own. It may miss that a recording has begun, until its next task or message.

use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicBool, Relaxed};

/// The place of a mark.
pub(super) type Place = CachePadded<AtomicBool>;

/// Creates the place of a mark that is not set.
pub(super) fn place() -> Place {
    CachePadded::new(AtomicBool::new(false))
}

/// The mark of one worker. Copies are the same mark.
///
/// It is for the [programming model](crate::Runtime::model) of the runtime alone: if other code
/// removed the mark, messages could overtake others.
#[derive(Clone, Debug)]
pub struct Attention(Arc<Place>);

impl Attention {
    pub(super) fn new(place: &Arc<Place>) -> Self {
        Self(Arc::clone(place))
    }

    /// Returns true if something rare may be the case.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        // Relaxed: the worker sees what it has stored itself; for others, see above.
        self.0.load(Relaxed)
    }

    /// Sets the mark.
    #[inline]
    pub fn set(&self) {
        // Relaxed: as above.
        self.0.store(true, Relaxed);
    }

    /// Removes the mark. For the thread of its worker, which then looks for all cases, and sets the
    /// mark again if there is one.
    #[inline]
    pub fn remove(&self) {
        // Relaxed: as above.
        self.0.store(false, Relaxed);
    }
}
