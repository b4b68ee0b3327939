//! What waits for its turn by rank, the lowest first: of those that are equal, whoever came first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fmt;

/// Things that wait for their turn. Cost: logarithmic in their number, for each that comes or goes.
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
    /// How many have come.
    count: u64,
}

struct Waiting<R, T> {
    /// The greatest is the first in a heap.
    order: Reverse<(R, u64)>,
    thing: T,
}

impl<R: Ord, T> Ranks<R, T> {
    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// True when nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Puts one behind all of its rank.
    pub fn push(&mut self, rank: R, thing: T) {
        let order = Reverse((rank, self.count));
        self.count += 1;
        self.heap.push(Waiting { order, thing });
    }

    /// Takes the first.
    pub fn pop(&mut self) -> Option<T> {
        self.heap.pop().map(|waiting| waiting.thing)
    }

    /// The rank of the first.
    #[must_use]
    pub fn first(&self) -> Option<&R> {
        self.heap.peek().map(|waiting| &waiting.order.0.0)
    }

    /// Takes all, in their order.
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
