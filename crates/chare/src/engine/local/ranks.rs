//! Messages with priorities, which wait for their turn at their worker.
//!
//! All such messages of a worker are in one heap. When one arrives, the worker sends itself a
//! message that runs the first of the heap. For a negative priority, that message is urgent and so
//! runs before all ordinary messages that have arrived; for a positive one, it runs after them.
//!
//! An element that moves takes its messages along. The element of a node group has a heap of its
//! own ([`crate::node`]).

use std::collections::HashMap;

use raddle_sync::ranks::Ranks;

use crate::address::number::ElementId;
use crate::engine::local::{Arrival, Local};

/// The messages that wait for their turn at each of some elements, the first to run first.
pub(crate) type RanksOf = HashMap<ElementId, Vec<Arrival>>;

/// The messages that wait at a worker, each with its element if it is for one: the most urgent
/// first, and the oldest first among equals.
pub(crate) type WorkerRanks = Ranks<i32, (Option<ElementId>, Arrival)>;

/// Returns a message that puts `arrival` into the heap of its worker when it arrives.
pub(crate) fn ranked(priority: i32, to: Option<ElementId>, arrival: Arrival) -> Arrival {
    Box::new(move |local: &Local| {
        local.ranks.borrow_mut().push(priority, (to, arrival));
        if priority < 0 {
            local.post_urgent(local.worker, Box::new(Local::run_first));
        } else {
            local.post(local.worker, Local::run_first);
        }
    })
}

impl Local {
    /// Runs the first message of the heap.
    fn run_first(&self) {
        let first = self.ranks.borrow_mut().pop();
        // The heap is empty if an element that has moved took its messages along.
        if let Some((_, arrival)) = first {
            arrival(self);
        }
    }

    /// Takes the messages that wait for their turn at elements that move.
    pub(crate) fn take_ranked(&self, movers: impl Iterator<Item = ElementId>) -> RanksOf {
        let mut ranks = self.ranks.borrow_mut();
        if ranks.is_empty() {
            return RanksOf::new();
        }
        let mut taken: RanksOf = movers.map(|key| (key, Vec::new())).collect();
        let mut left = WorkerRanks::default();
        for (priority, (key, arrival)) in ranks.drain() {
            match key.and_then(|key| taken.get_mut(&key)) {
                Some(own) => own.push(arrival),
                None => left.push(priority, (key, arrival)),
            }
        }
        *ranks = left;
        taken
    }
}
