//! Messages with priorities: they wait for their turn, at their worker or, for the element of a node group, with that ([`crate::node`]).
//!
//! All of a worker lie in one heap, and each has the worker send itself a message that runs the first of the heap. Those for messages more
//! urgent than most are urgent themselves, and so come before all ordinary messages that have arrived; those for the others come after them.
//! An element that moves takes those for itself along.

use std::collections::HashMap;

use raddle_sync::ranks::Ranks;

use crate::address::number::Number;
use crate::engine::local::{Arrival, Local};

/// The element that a message is for, with its collection; what is for all has none.
pub(crate) type Key = (u32, Number);

/// What waits for its turn at some elements, the first to run first.
pub(crate) type RanksOf = HashMap<Key, Vec<Arrival>>;

/// What waits at a worker: the most urgent first, and the oldest of those that are as urgent.
pub(crate) type WorkerRanks = Ranks<i32, (Option<Key>, Arrival)>;

/// What a message of this priority does when it arrives, for an element, or for all: it waits for its turn to call `arrival`.
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
    /// Sends what calls `arrival` when a message of this priority has its turn.
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

    fn run_first(&self) {
        let first = self.ranks.borrow_mut().pop();
        // Elements that have moved took theirs along.
        if let Some((_, arrival)) = first {
            arrival(self);
        }
    }

    /// What waits for its turn at elements that move, the first to run first.
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
