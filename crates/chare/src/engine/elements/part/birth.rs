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

/// Makes the elements that a part begins with.
type Make<T> = Arc<dyn Fn(&Local, &Part<T>) + Send + Sync>;

/// The constructor of the first elements of a collection, kept until all workers have theirs.
pub(crate) struct Birth<T: Chare> {
    make: Mutex<Option<Make<T>>>,
    left: AtomicUsize,
}

impl<T: Chare> Birth<T> {
    /// Creates the state of a collection that begins without elements.
    pub(crate) fn none() -> Self {
        Self {
            make: Mutex::new(None),
            left: AtomicUsize::new(0),
        }
    }

    pub(crate) fn new(
        worker_count: usize,
        make: impl Fn(&Local, &Part<T>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            make: Mutex::new(Some(Arc::new(make))),
            left: AtomicUsize::new(worker_count),
        }
    }

    fn make(&self) -> Option<Make<T>> {
        self.make
            .lock()
            .expect("nothing panics under this lock")
            .clone()
    }

    /// A worker has its elements.
    fn end_one(&self) {
        // Relaxed: the lock orders what follows.
        if self.left.fetch_sub(1, Relaxed) == 1 {
            let make = self
                .make
                .lock()
                .expect("nothing panics under this lock")
                .take();
            drop(make);
        }
    }
}

impl<T: Chare> Part<T> {
    /// True until the array that is being made has its elements here.
    #[inline]
    pub(crate) fn is_unborn(&self) -> bool {
        self.unborn.borrow().is_some()
    }

    /// Keeps what came before the part was made.
    #[cold]
    pub(crate) fn wait_for_birth(&self, call: impl FnOnce(&Local, &Self) + 'static) {
        self.unborn
            .borrow_mut()
            .as_mut()
            .expect("the caller has looked")
            .push(Box::new(call));
    }

    /// Constructs the first elements unless that has been begun, then runs the calls that came
    /// before.
    #[cold]
    pub(crate) fn come_into_being(&self, local: &Local) {
        if self.is_coming.replace(true) {
            return;
        }
        let birth = self.collection.birth();
        if let Some(make) = birth.make() {
            make(local, self);
            // Destructors of what it held are the program's.
            local.guard(|| {
                drop(make);
                birth.end_one();
            });
        }
        let calls = self.unborn.take();
        for call in calls.into_iter().flatten() {
            local.guard(|| call(local, self));
        }
    }
}
