//! How a part gets its first elements, and how messages wait for that.
//!
//! Each worker gets a message that makes it construct its elements. Code on a worker may need an
//! element before that message has been processed: for example a seed from the pool, on a worker
//! that checked its mailbox just before. That code then has the elements constructed itself.

use std::sync::Arc;

use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};

use super::Part;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::state::{Explain, Feature, SharedState};

/// Constructs the first elements of a part.
type Construct<T> = Arc<dyn Fn(&Local, &Part<T>) + Send + Sync>;

/// The constructor of the first elements of a collection, kept until all workers have theirs.
pub(crate) struct Construction<T: Chare> {
    construct: Mutex<Option<Construct<T>>>,
    /// The number of workers without their elements.
    left: AtomicUsize,
}

impl<T: Chare> Explain for Construction<T> {}

impl<T: Chare> SharedState for Construction<T> {
    const FEATURE: Feature = Feature::Construction;
}

impl<T: Chare> Construction<T> {
    pub(crate) fn new(
        worker_count: usize,
        construct: impl Fn(&Local, &Part<T>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            construct: Mutex::new(Some(Arc::new(construct))),
            left: AtomicUsize::new(worker_count),
        }
    }

    fn constructor(&self) -> impl std::ops::DerefMut<Target = Option<Construct<T>>> {
        self.construct
            .lock()
            .expect("nothing panics under this lock")
    }

    /// Notes that a worker has its elements. Drops the constructor after the last one.
    fn end_one(&self) {
        // Relaxed: the lock orders what follows.
        if self.left.fetch_sub(1, Relaxed) == 1 {
            let construct = self.constructor().take();
            drop(construct);
        }
    }
}

impl<T: Chare> Part<T> {
    /// Returns true until the first elements of the array have been constructed here.
    #[inline]
    pub(crate) fn is_under_construction(&self) -> bool {
        self.construction.borrow().is_some()
    }

    /// Keeps a call until the first elements have been constructed.
    #[cold]
    pub(crate) fn after_construction(&self, call: impl FnOnce(&Local, &Self) + 'static) {
        self.construction
            .borrow_mut()
            .as_mut()
            .expect("the caller has looked")
            .push(Box::new(call));
    }

    /// Constructs the first elements unless that has been begun, then makes the calls that waited
    /// for that.
    #[cold]
    pub(crate) fn construct(&self, local: &Local) {
        if self.has_begun_construction.replace(true) {
            return;
        }
        if let Some(construction) = self.collection.state::<Construction<T>>() {
            let construct = construction.constructor().clone();
            if let Some(construct) = construct {
                construct(local, self);
                // The destructors of what it holds are the program's.
                local.guard(|| {
                    drop(construct);
                    construction.end_one();
                });
            }
        }
        let calls = self.construction.take();
        for call in calls.into_iter().flatten() {
            local.guard(|| call(local, self));
        }
    }
}
