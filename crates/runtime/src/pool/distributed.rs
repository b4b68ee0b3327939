//! The distributed pool: a queue under a lock per worker.
//!
//! A worker takes its own newest task and steals another's oldest, which is the largest in divide-and-conquer.

use std::sync::Arc;

use raddle_sync::CachePadded;

use super::outside::Outside;
use super::queue::Queue;
use super::{Found, Look, Mark, Pool, Seat, Wanted, victims};
use crate::task::Task;

/// A queue per worker, and one for what comes from outside.
#[derive(Debug)]
pub(crate) struct Distributed {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    queues: Box<[CachePadded<Queue>]>,
    outside: CachePadded<Outside>,
}

#[derive(Debug)]
struct DistributedSeat {
    shared: Arc<Shared>,
    worker_index: usize,
    victims: Vec<usize>,
}

impl Distributed {
    pub(crate) fn new(worker_count: usize) -> Self {
        let queues = (0..worker_count).map(|_| CachePadded::default()).collect();
        Self {
            shared: Arc::new(Shared {
                queues,
                outside: CachePadded::default(),
            }),
        }
    }
}

impl Pool for Distributed {
    fn name(&self) -> &'static str {
        "distributed"
    }

    fn seat(&self, worker_index: usize) -> Box<dyn Seat> {
        let victims = victims(worker_index, self.shared.queues.len());
        Box::new(DistributedSeat {
            shared: Arc::clone(&self.shared),
            worker_index,
            victims,
        })
    }

    fn put_outside(&self, task: Task) {
        self.shared.outside.put(task);
    }

    fn has_work(&self) -> bool {
        !self.shared.outside.is_empty() || self.shared.queues.iter().any(|queue| !queue.is_empty())
    }
}

impl Seat for DistributedSeat {
    fn put(&self, task: Task) {
        self.shared.queues[self.worker_index].put(task);
    }

    /// The queue is searched as a whole: no position is needed.
    fn mark(&self) -> Mark {
        Mark::default()
    }

    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        let own = self.shared.queues[self.worker_index].take_newest(wanted);
        if let Some(task) = own.or_else(|| self.shared.outside.take_oldest(wanted)) {
            return Some(Found {
                task,
                stolen_from: None,
            });
        }
        self.victims.iter().find_map(|&victim| {
            look.steals_tried += 1;
            let task = self.shared.queues[victim].take_oldest(wanted)?;
            Some(Found {
                task,
                stolen_from: Some(victim),
            })
        })
    }
}
