//! Central pools: one store for all workers.
//!
//! These pools balance the load best, and run tasks in the order of a depth-first run. The store
//! becomes the bottleneck if tasks are small.
//!
//! # Source
//! SQ-* in Hoffmann, Korch, Rauber, SC 2004, sect. 2.1.

use std::sync::Arc;

use raddle_sync::CachePadded;

use super::outside::Outside;
use super::store::Store;
use super::{Found, Look, Mark, Pool, Put, Seat, Setup, Wanted};
use crate::task::Task;

/// One store for all workers.
#[derive(Debug)]
pub(super) struct Central<S> {
    name: &'static str,
    shared: Arc<Shared<S>>,
}

#[derive(Debug)]
struct Shared<S> {
    tasks: CachePadded<S>,
    outside: Arc<Outside>,
}

#[derive(Debug)]
struct CentralSeat<S> {
    shared: Arc<Shared<S>>,
}

impl<S: Store<Owner = ()>> Central<S> {
    pub(super) fn build(name: &'static str, setup: &Setup) -> Box<dyn Pool> {
        let (tasks, ()) = S::new();
        Box::new(Self {
            name,
            shared: Arc::new(Shared {
                tasks: CachePadded::new(tasks),
                outside: Arc::clone(&setup.outside),
            }),
        })
    }
}

impl<S: Store<Owner = ()>> Pool for Central<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn seat(&self, _worker_index: usize) -> Box<dyn Seat> {
        let shared = Arc::clone(&self.shared);
        Box::new(CentralSeat { shared })
    }

    fn has_work(&self) -> bool {
        self.shared.tasks.has_tasks()
    }

    fn len_estimate(&self) -> Option<usize> {
        self.shared.tasks.len_estimate()
    }
}

impl<S: Store<Owner = ()>> Seat for CentralSeat<S> {
    fn put(&self, task: Task) -> Put {
        self.shared.tasks.put(&(), task);
        Put::Shared
    }

    fn share(&self, task: Task) {
        self.shared.tasks.put(&(), task);
    }

    /// Returns an empty mark. No position is needed: the store is searched as a whole.
    fn mark(&self) -> Mark {
        Mark::default()
    }

    fn has_own(&self) -> bool {
        self.shared.tasks.has_tasks()
    }

    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        let own = self.shared.tasks.take(wanted, look);
        let task = own.or_else(|| self.shared.outside.take_oldest(wanted))?;
        Some(Found {
            task,
            stolen_from: None,
        })
    }
}
