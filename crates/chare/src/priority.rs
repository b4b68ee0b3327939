//! Messages with priorities: they wait for their turn, at their worker or, for the element of a node group, with that ([`crate::node`]).
//!
//! All of a worker lie in one heap, and each has the worker send itself a message that runs the first of the heap. Those for messages more
//! urgent than most are urgent themselves, and so come before all ordinary messages that have arrived; those for the others come after them.
//! An element that moves takes those for itself along.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::mem;

use crate::local::{Arrival, Local};
use crate::number::Number;

/// The element that a message is for, with its collection; what is for all has none.
pub(crate) type Key = (u32, Number);

/// What waits for its turn at some elements, the first to run first.
pub(crate) type RanksOf = HashMap<Key, Vec<Arrival>>;

/// Messages that wait for their turn: the most urgent one is the first, and the oldest of those that are as urgent.
pub(crate) struct Ranks<M> {
    heap: BinaryHeap<Waiting<M>>,
    count: u64,
}

/// What waits at a worker.
pub(crate) type WorkerRanks = Ranks<(Option<Key>, Arrival)>;

struct Waiting<M> {
    priority: i32,
    /// The order of arrival, among those of the same priority.
    turn: u64,
    message: M,
}

impl<M> Default for Ranks<M> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            count: 0,
        }
    }
}

impl<M> fmt::Debug for Ranks<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Ranks({})", self.heap.len())
    }
}

impl<M> PartialEq for Waiting<M> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<M> Eq for Waiting<M> {}

impl<M> PartialOrd for Waiting<M> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<M> Ord for Waiting<M> {
    /// The greatest runs first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.priority, other.turn).cmp(&(self.priority, self.turn))
    }
}

impl<M> Ranks<M> {
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(crate) fn push(&mut self, priority: i32, message: M) {
        let turn = self.count;
        self.count += 1;
        self.heap.push(Waiting {
            priority,
            turn,
            message,
        });
    }

    pub(crate) fn pop(&mut self) -> Option<M> {
        self.heap.pop().map(|waiting| waiting.message)
    }

    /// True when the first comes before all messages without a priority.
    pub(crate) fn is_urgent(&self) -> bool {
        self.heap.peek().is_some_and(|first| first.priority < 0)
    }
}

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
        if ranks.heap.is_empty() {
            return RanksOf::new();
        }
        let mut taken: RanksOf = movers.map(|key| (key, Vec::new())).collect();
        let mut left = Vec::new();
        // The last in a sorted heap is the first to run.
        for waiting in mem::take(&mut ranks.heap)
            .into_sorted_vec()
            .into_iter()
            .rev()
        {
            let key = waiting.message.0;
            match key.and_then(|key| taken.get_mut(&key)) {
                Some(own) => own.push(waiting.message.1),
                None => left.push(waiting),
            }
        }
        ranks.heap = left.into();
        taken
    }
}
