//! Messages with priorities: they wait at their worker for their turn.
//!
//! One more urgent than most is run as soon as it is seen. Others lie in a heap, and each has the worker send itself a message that runs the first
//! of the heap: that message comes after all that have arrived by then.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fmt;

use crate::local::Local;

type Arrival = Box<dyn FnOnce(&Local)>;

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
    /// Runs a message that has arrived, in its turn.
    #[inline]
    pub(crate) fn arrive_at_rank(&self, priority: i32, arrival: impl FnOnce(&Self) + 'static) {
        if priority == 0 {
            arrival(self);
        } else {
            self.arrive_in_turn(priority, Box::new(arrival));
        }
    }

    #[cold]
    fn arrive_in_turn(&self, priority: i32, arrival: Arrival) {
        let mut urgent = self.urgent.borrow_mut();
        let turn = urgent.count;
        urgent.count += 1;
        urgent.heap.push(Waiting {
            priority,
            turn,
            arrival,
        });
        drop(urgent);
        self.post(self.worker, Self::run_first);
    }

    fn run_first(&self) {
        let first = self.urgent.borrow_mut().heap.pop();
        let first = first.expect("each message in the heap has a call of its own");
        (first.arrival)(self);
    }
}
