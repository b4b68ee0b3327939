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

use crate::address::number::Number;
use crate::engine::local::{Arrival, Local};

/// An element: the number of its collection, and its own.
pub(crate) type Key = (u32, Number);

/// The messages that wait for their turn at each of some elements, the first to run first.
pub(crate) type RanksOf = HashMap<Key, Vec<Arrival>>;

/// The messages that wait at a worker, each with its element if it is for one: the most urgent
/// first, and the oldest first among equals.
pub(crate) type WorkerRanks = Ranks<i32, (Option<Key>, Arrival)>;

/// Returns a message that puts `arrival` into the heap of its worker when it arrives.
pub(crate) fn ranked(priority: i32, to: Option<Key>, arrival: Arrival) -> Arrival {
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
    /// Sends a message that calls `arrival` when its turn has come, for an element or (`to` is
    /// `None`) for all elements.
    pub(crate) fn post_with(
        &self,
        priority: i32,
        to: Option<Key>,
        worker: usize,
        arrival: impl FnOnce(&Self) + Send + 'static,
    ) {
        match priority {
            0 => self.post(worker, arrival),
            ..0 => self.post_urgent(worker, ranked(priority, to, Box::new(arrival))),
            _ => self.post(worker, ranked(priority, to, Box::new(arrival))),
        }
    }

    /// Runs the first message of the heap.
    fn run_first(&self) {
        let first = self.ranks.borrow_mut().pop();
        // The heap is empty if an element that has moved took its messages along.
        if let Some((_, arrival)) = first {
            arrival(self);
        }
    }

    /// Takes the messages that wait for their turn at elements that move.
    pub(crate) fn take_ranked(&self, movers: impl Iterator<Item = Key>) -> RanksOf {
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
