//! Reduction in an order that depends on the number of items alone.
//!
//! The items are cut into at most [`BLOCK_COUNT`] blocks of equal length; a block is folded from left to right, and the
//! blocks are combined in a balanced binary tree. Who evaluates which part of that tree changes from run to run, the
//! tree does not. So floating-point sums are the same bits on any number of workers.

use std::ops::Range;

use super::on_worker;
use super::stop::Stop;
use crate::fork::{Offer, Offered, join};
use crate::worker::current_worker;

/// Leaves of the tree at most: enough for balance on hundreds of workers.
const BLOCK_COUNT: usize = 1024;
/// Above this many leaves a node always forks. Below, it forks when another worker asks, and offers its right half otherwise.
const FORK_BLOCKS: usize = 16;
/// In trees of many leaves, a node with fewer than this neither forks nor offers: a leaf may be a single short item there.
const OFFER_BLOCKS: usize = 4;
/// Items of a leaf between two looks whether the loop ends with a panic.
const LOOK_ITEMS: usize = 1024;
/// A tree with more leaves has many.
const MANY_BLOCKS: usize = 64;

/// Combines `map(i)` for all `i` in `range` with `combine`, an associative operation; `identity()` for an empty range.
///
/// The result does not depend on the number of workers, nor on timing, not even in its last bit: the order in which
/// results are combined is a function of `range.len()`.
///
/// # Panics
/// With the panic of one of the closures. Values that were made are dropped then: a destructor that
/// panics as well ends the process, as it does without Raddle.
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
    on_worker(|| tree.node(0..block_count)).expect("without a panic, every node has a value")
}

struct Tree<M, C> {
    range: Range<usize>,
    block_len: usize,
    offer_blocks: usize,
    stop: Stop,
    map: M,
    combine: C,
}

impl<M: Sync, C: Sync> Tree<M, C> {
    /// The value of the subtree over `blocks`, which is not empty; none once a closure has panicked.
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
            let during = || {
                if let Some(worker) = current_worker() {
                    worker.call_watch();
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

    /// The value of one block; none once a closure has panicked elsewhere.
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

fn is_asked() -> bool {
    current_worker().is_some_and(|worker| worker.forks().gates().are_closed())
}
