//! Messages with priorities: they wait at their worker for their turn.
//!
//! All lie in one heap, and each has the worker send itself a message that runs the first of the heap. Those for messages more urgent than most
//! are urgent themselves, and so come before all ordinary messages that have arrived; those for the others come after them. An element that
//! moves takes those for itself along.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fmt;
use std::mem;

use crate::local::Local;
use crate::number::Number;

/// What a message does when it has its turn.
pub(crate) type Arrival = Box<dyn FnOnce(&Local) + Send>;

/// The element that a message is for, with its collection.
type Key = (u32, Number);

/// Messages that wait for their turn.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    heap: BinaryHeap<Waiting>,
    count: u64,
}

struct Waiting {
    priority: i32,
    /// The order of arrival, among those of the same priority.
    turn: u64,
    to: Key,
    arrival: Arrival,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.priority, self.turn)
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    /// The greatest runs first.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.priority, other.turn).cmp(&(self.priority, self.turn))
    }
}

/// What a message of this priority for an element does when it arrives: it waits for its turn to call `arrival`.
pub(crate) fn ranked(
    priority: i32,
    to: Key,
    arrival: impl FnOnce(&Local) + Send + 'static,
) -> impl FnOnce(&Local) + Send + 'static {
    move |local| {
        let mut ranks = local.ranks.borrow_mut();
        let turn = ranks.count;
        ranks.count += 1;
        ranks.heap.push(Waiting {
            priority,
            turn,
            to,
            arrival: Box::new(arrival),
        });
        drop(ranks);
        if priority < 0 {
            local.post_urgent(local.worker, Local::run_first);
        } else {
            local.post(local.worker, Local::run_first);
        }
    }
}

impl Local {
    fn run_first(&self) {
        let first = self.ranks.borrow_mut().heap.pop();
        // Elements that have moved took theirs along.
        if let Some(first) = first {
            (first.arrival)(self);
        }
    }

    /// What waits for its turn at an element that moves, the first to run first.
    pub(crate) fn take_ranked(&self, to: Key) -> Vec<Arrival> {
        let mut ranks = self.ranks.borrow_mut();
        if ranks.heap.is_empty() {
            return Vec::new();
        }
        let in_turn = mem::take(&mut ranks.heap)
            .into_sorted_vec()
            .into_iter()
            .rev();
        let (taken, left): (Vec<_>, Vec<_>) = in_turn.partition(|waiting| waiting.to == to);
        ranks.heap = left.into();
        taken.into_iter().map(|waiting| waiting.arrival).collect()
    }
}
