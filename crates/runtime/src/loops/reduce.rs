//! Reduction in an order that depends only on the number of items.
//!
//! The items are cut into at most [`BLOCK_COUNT`] blocks of equal length. Each block is folded from
//! left to right, and the blocks are combined in a balanced binary tree. The workers that evaluate
//! the parts of the tree differ from run to run, but the tree does not. So floating-point sums have
//! the same bits on any number of workers.

use std::any::type_name_of_val;
use std::ops::Range;

use raddle_trace::record::Loop;

use super::on_worker;
use super::stop::Stop;
use crate::fork::{Offer, Offered, join};
use crate::worker::current_worker;

/// The largest number of leaves of the tree. It is enough for balance on hundreds of workers.
const BLOCK_COUNT: usize = 1024;
/// A node with more leaves than this always forks. A smaller one forks if another worker asks, and
/// offers its right half otherwise.
const FORK_BLOCKS: usize = 16;
/// In trees with many leaves, a node with fewer leaves than this neither forks nor offers: a leaf
/// may be a single short item there.
const OFFER_BLOCKS: usize = 4;
/// The number of items of a leaf between two checks of whether the loop ends with a panic.
const LOOK_ITEMS: usize = 1024;
/// A tree with more leaves than this has many leaves.
const MANY_BLOCKS: usize = 64;

/// Combines `map(i)` for all `i` in `range` with `combine`, an associative operation.
///
/// Returns `identity()` for an empty range. The result depends neither on the number of workers nor
/// on timing, not even in its last bit: the order in which results are combined is a function of
/// `range.len()`.
///
/// # Panics
/// With the panic of one of the closures. Values that exist by then are dropped. If a destructor
/// panics as well, the process ends, as it does without Raddle.
///
/// # Examples
/// ```
/// let harmonic = |n| raddle_runtime::map_reduce(1..n, || 0.0, |i| 1.0 / i as f64, |a, b| a + b);
/// assert_eq!(harmonic(10_000).to_bits(), harmonic(10_000).to_bits());
/// ```
pub fn map_reduce<T: Send>(
    range: Range<usize>,
    identity: impl Fn() -> T + Sync,
    map: impl Fn(usize) -> T + Sync,
    combine: impl Fn(T, T) -> T + Sync,
) -> T {
    if range.is_empty() {
        return identity();
    }
    let block_len = range.len().div_ceil(BLOCK_COUNT);
    let block_count = range.len().div_ceil(block_len);
    let tree = Tree {
        range,
        block_len,
        offer_blocks: if block_count > MANY_BLOCKS {
            OFFER_BLOCKS
        } else {
            0
        },
        stop: Stop::new(),
        map,
        combine,
    };
    let value = on_worker(|| {
        let _recorded = Loop::begin(type_name_of_val(&tree.map), tree.range.len());
        tree.node(0..block_count)
    });
    value.expect("without a panic, every node has a value")
}

/// The tree of one reduction.
struct Tree<M, C> {
    range: Range<usize>,
    block_len: usize,
    /// A node with fewer leaves than this neither forks nor offers.
    offer_blocks: usize,
    stop: Stop,
    map: M,
    combine: C,
}

impl<M: Sync, C: Sync> Tree<M, C> {
    /// Returns the value of the subtree over `blocks`, which is not empty. Returns `None` once a
    /// closure has panicked.
    fn node<T: Send>(&self, blocks: Range<usize>) -> Option<T>
    where
        M: Fn(usize) -> T,
        C: Fn(T, T) -> T,
    {
        if self.stop.is_set() {
            return None;
        }
        if blocks.len() == 1 {
            return self.stop.unless_panics(|| self.block(blocks.start));
        }
        let middle = blocks.start + blocks.len() / 2;
        let (left, right) = (blocks.start..middle, middle..blocks.end);
        let (left, right) = if blocks.len() > FORK_BLOCKS || is_asked() {
            join(|| self.node(left), || self.node(right))
        } else if blocks.len() >= self.offer_blocks {
            // Evaluate the left half here. Meanwhile another worker may take the right half.
            let during = || {
                if let Some(worker) = current_worker() {
                    worker.call_stall_watch();
                }
                self.node(left)
            };
            let (left, offered) = Offer::of(|right| self.node(right)).during(right, during);
            let right = match offered {
                Offered::Kept(right) => self.node(right),
                Offered::Taken(right) => right,
            };
            (left, right)
        } else {
            (self.node(left), self.node(right))
        };
        let (left, right) = (left?, right?);
        Some(self.stop.unless_panics(|| (self.combine)(left, right)))
    }

    /// Returns the value of one block. Returns `None` once a closure has panicked elsewhere.
    fn block<T>(&self, index: usize) -> Option<T>
    where
        M: Fn(usize) -> T,
        C: Fn(T, T) -> T,
    {
        let start = self.range.start + index * self.block_len;
        let end = self.range.end.min(start.saturating_add(self.block_len));
        let mut sum = (self.map)(start);
        let mut next = start + 1;
        while next < end {
            let stop = end.min(next.saturating_add(LOOK_ITEMS));
            sum = (next..stop).fold(sum, |sum, index| (self.combine)(sum, (self.map)(index)));
            next = stop;
            if self.stop.is_set() {
                return None;
            }
        }
        Some(sum)
    }
}

/// Returns true if another worker has asked this one for work.
fn is_asked() -> bool {
    current_worker().is_some_and(|worker| worker.forks().gates().are_closed())
}
