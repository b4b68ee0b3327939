//! A priority queue: the lowest rank comes first, and equal ranks keep their insertion order.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fmt;

/// A queue of things ordered by rank. Inserting and removing take logarithmic time.
///
/// # Examples
/// ```
/// use raddle_sync::ranks::Ranks;
/// let mut ranks = Ranks::default();
/// ranks.push(1, "later");
/// ranks.push(-1, "first");
/// ranks.push(1, "last");
/// assert_eq!(ranks.first(), Some(&-1));
/// assert_eq!(ranks.pop(), Some("first"));
/// assert_eq!(ranks.drain().collect::<Vec<_>>(), [(1, "later"), (1, "last")]);
/// ```
pub struct Ranks<R, T> {
    heap: BinaryHeap<Waiting<R, T>>,
    /// The number of things pushed so far.
    count: u64,
}

struct Waiting<R, T> {
    /// The rank and the insertion number, reversed because the heap pops its greatest element
    /// first.
    order: Reverse<(R, u64)>,
    thing: T,
}

impl<R: Ord, T> Ranks<R, T> {
    /// Returns the number of waiting things.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns true if nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Inserts `thing` behind all others of the same rank.
    pub fn push(&mut self, rank: R, thing: T) {
        let order = Reverse((rank, self.count));
        self.count += 1;
        self.heap.push(Waiting { order, thing });
    }

    /// Removes and returns the first thing.
    pub fn pop(&mut self) -> Option<T> {
        self.heap.pop().map(|waiting| waiting.thing)
    }

    /// Returns the rank of the first thing.
    #[must_use]
    pub fn first(&self) -> Option<&R> {
        self.heap.peek().map(|waiting| &waiting.order.0.0)
    }

    /// Removes all things and returns them in order.
    pub fn drain(&mut self) -> impl Iterator<Item = (R, T)> {
        let sorted = std::mem::take(&mut self.heap).into_sorted_vec();
        let rank = |waiting: Waiting<R, T>| (waiting.order.0.0, waiting.thing);
        sorted.into_iter().rev().map(rank)
    }
}

impl<R: Ord, T> Default for Ranks<R, T> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
            count: 0,
        }
    }
}

impl<R, T> fmt::Debug for Ranks<R, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Ranks({})", self.heap.len())
    }
}

impl<R: Ord, T> PartialEq for Waiting<R, T> {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl<R: Ord, T> Eq for Waiting<R, T> {}

impl<R: Ord, T> PartialOrd for Waiting<R, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R: Ord, T> Ord for Waiting<R, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.cmp(&other.order)
    }
}
