//! Messages with priorities: they wait at their worker for their turn.
//!
//! They lie in a heap, and each has the worker send itself a message that runs the first of the heap: that message comes after all that have
//! arrived by then. An element that moves takes those for itself along.

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
pub(crate) struct Urgent {
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

impl Local {
    /// Runs a message that has arrived for an element, in its turn.
    #[inline]
    pub(crate) fn arrive_at_rank(
        &self,
        priority: i32,
        to: Key,
        arrival: impl FnOnce(&Self) + Send + 'static,
    ) {
        if priority == 0 {
            arrival(self);
        } else {
            self.arrive_in_turn(priority, to, Box::new(arrival));
        }
    }

    #[cold]
    fn arrive_in_turn(&self, priority: i32, to: Key, arrival: Arrival) {
        let mut urgent = self.urgent.borrow_mut();
        let turn = urgent.count;
        urgent.count += 1;
        urgent.heap.push(Waiting {
            priority,
            turn,
            to,
            arrival,
        });
        drop(urgent);
        self.post(self.worker, Self::run_first);
    }

    fn run_first(&self) {
        let first = self.urgent.borrow_mut().heap.pop();
        // Elements that have moved took theirs along.
        if let Some(first) = first {
            (first.arrival)(self);
        }
    }

    /// What waits for its turn at an element that moves, the first to run first.
    pub(crate) fn take_urgent(&self, to: Key) -> Vec<Arrival> {
        let mut urgent = self.urgent.borrow_mut();
        if urgent.heap.is_empty() {
            return Vec::new();
        }
        let in_turn = mem::take(&mut urgent.heap)
            .into_sorted_vec()
            .into_iter()
            .rev();
        let (taken, left): (Vec<_>, Vec<_>) = in_turn.partition(|waiting| waiting.to == to);
        urgent.heap = left.into();
        taken.into_iter().map(|waiting| waiting.arrival).collect()
    }
}
