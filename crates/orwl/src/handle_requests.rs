//! The requests of a handle, as its program can reach them before and after the run.
//!
//! Before the run, the program puts in the first requests of all handles, in the order of the
//! tasks. During the run, the handle owns its requests. A handle that is dropped leaves its
//! requests here. They stay in the FIFO until the turn or the run ends, so that a task that returns
//! early does not let a task behind it have a turn that it did not have itself.

use raddle_sync::ordered::{self, Right};
use raddle_sync::prim::{AtomicBool, Mutex, Relaxed};

/// The requests of one handle. The handle takes them in its first turn, and leaves them here when
/// it is dropped.
pub(crate) struct HandleRequests<D: ?Sized, R: Right> {
    ring: Mutex<Vec<ordered::Handle<D, R>>>,
    /// True once the handle was dropped.
    is_dropped: AtomicBool,
    /// The ring index of the first turn.
    pub(crate) first: usize,
}

/// The operations of [`HandleRequests`] that do not depend on the type of the data.
pub(crate) trait PutIn: Send + Sync {
    /// Puts in the request for turn `turn`, which is one of the first.
    fn put_in(&self, turn: usize);
    /// Gives back the requests that a dropped handle has left.
    fn give_back_if_dropped(&self);
    /// Returns true if the handle was dropped.
    fn is_dropped(&self) -> bool;
}

impl<D: ?Sized + Send + Sync, R: Right> PutIn for HandleRequests<D, R> {
    fn put_in(&self, turn: usize) {
        let mut ring = self.ring();
        let depth = ring.len();
        ring[(self.first + turn) % depth].put_in();
    }

    fn give_back_if_dropped(&self) {
        // Relaxed: the lock orders it.
        if self.is_dropped.load(Relaxed) {
            let ring = std::mem::take(&mut *self.ring());
            drop(ring);
        }
    }

    fn is_dropped(&self) -> bool {
        // Relaxed: as above.
        self.is_dropped.load(Relaxed)
    }
}

impl<D: ?Sized, R: Right> HandleRequests<D, R> {
    pub(crate) fn new(ring: Vec<ordered::Handle<D, R>>, first: usize) -> Self {
        Self {
            ring: Mutex::new(ring),
            is_dropped: AtomicBool::new(false),
            first,
        }
    }

    /// Locks the requests.
    pub(crate) fn ring(&self) -> impl std::ops::DerefMut<Target = Vec<ordered::Handle<D, R>>> + '_ {
        self.ring.lock().expect("nothing panics under this lock")
    }

    /// Records that the handle was dropped.
    pub(crate) fn mark_dropped(&self) {
        // Relaxed: read by this operation, or after the run.
        self.is_dropped.store(true, Relaxed);
    }
}
