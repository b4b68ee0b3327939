//! How a part gets its first elements, and what comes before them.
//!
//! Each worker has a message that has it make them. Whoever runs on a worker and wants the element there at once may come before that
//! message: a seed out of the pool, say, on a worker that has looked into its mailbox just before. He has them made himself.

use std::sync::Arc;

use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};

use super::Part;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;

/// Makes the elements that a part begins with.
type Make<T> = Arc<dyn Fn(&Local, &Part<T>) + Send + Sync>;

/// What makes the first elements of a collection, until all workers have theirs.
pub(crate) struct Birth<T: Chare> {
    make: Mutex<Option<Make<T>>>,
    left: AtomicUsize,
}

impl<T: Chare> Birth<T> {
    /// No elements at first.
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

    /// Makes the first elements, unless somebody does or has, and does what came before them.
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
