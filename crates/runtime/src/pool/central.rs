//! The central pool: one stack of tasks under one lock.
//!
//! Good balance, and the order of a depth-first run; the lock is the bottleneck when tasks are small.

use std::sync::Arc;

use super::outside::Outside;
use super::queue::Queue;
use super::{Found, Look, Mark, Pool, Seat, Wanted};
use crate::task::Task;

/// One queue for all workers, and one for what comes from outside.
#[derive(Clone, Debug)]
pub(crate) struct Central {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    tasks: Queue,
    outside: Outside,
}

impl Central {
    pub(crate) fn new() -> Self {
        Self {
            shared: Arc::default(),
        }
    }
}

impl Pool for Central {
    fn name(&self) -> &'static str {
        "central"
    }

    fn seat(&self, _worker_index: usize) -> Box<dyn Seat> {
        Box::new(self.clone())
    }

    fn put_outside(&self, task: Task) {
        self.shared.outside.put(task);
    }

    fn has_work(&self) -> bool {
        !self.shared.tasks.is_empty() || !self.shared.outside.is_empty()
    }
}

impl Seat for Central {
    fn put(&self, task: Task) {
        self.shared.tasks.put(task);
    }

    /// The queue is searched as a whole: no position is needed.
    fn mark(&self) -> Mark {
        Mark::default()
    }

    fn get(&self, wanted: Wanted<'_>, _look: &mut Look) -> Option<Found> {
        let task = self
            .shared
            .tasks
            .take_newest(wanted)
            .or_else(|| self.shared.outside.take_oldest(wanted))?;
        Some(Found {
            task,
            stolen_from: None,
        })
    }
}
