//! Reduction in an order that depends on the number of items alone.
//!
//! The items are cut into at most [`BLOCK_COUNT`] blocks of equal length; a block is folded from left to right, and the
//! blocks are combined in a balanced binary tree. Who evaluates which part of that tree changes from run to run, the
//! tree does not. So floating-point sums are the same bits on any number of workers.

use std::ops::Range;

use super::on_worker;
use crate::fork::{current_worker, join};

/// Leaves of the tree at most: enough for balance on hundreds of workers.
const BLOCK_COUNT: usize = 1024;
/// Above this many leaves a node always forks; below, only when somebody asks.
const FORK_BLOCKS: usize = 16;

/// Combines `map(i)` for all `i` in `range` with `combine`, an associative operation; `identity()` for an empty range.
///
/// The result does not depend on the number of workers, nor on timing, not even in its last bit: the order in which
/// results are combined is a function of `range.len()`.
///
/// # Panics
/// With the panic of one of the closures.
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
    let tree = Tree {
        range,
        block_len,
        map,
        combine,
    };
    let blocks = 0..tree.range.len().div_ceil(block_len);
    on_worker(|| tree.node(blocks))
}

struct Tree<M, C> {
    range: Range<usize>,
    block_len: usize,
    map: M,
    combine: C,
}

impl<M: Sync, C: Sync> Tree<M, C> {
    /// The value of the subtree over `blocks`, which is not empty.
    fn node<T: Send>(&self, blocks: Range<usize>) -> T
    where
        M: Fn(usize) -> T,
        C: Fn(T, T) -> T,
    {
        if blocks.len() == 1 {
            return self.block(blocks.start);
        }
        let middle = blocks.start + blocks.len() / 2;
        let (left, right) = (blocks.start..middle, middle..blocks.end);
        let (left, right) = if blocks.len() > FORK_BLOCKS || is_asked() {
            join(|| self.node(left), || self.node(right))
        } else {
            (self.node(left), self.node(right))
        };
        (self.combine)(left, right)
    }

    fn block<T>(&self, index: usize) -> T
    where
        M: Fn(usize) -> T,
        C: Fn(T, T) -> T,
    {
        let start = self.range.start + index * self.block_len;
        let end = self.range.end.min(start.saturating_add(self.block_len));
        let first = (self.map)(start);
        (start + 1..end).fold(first, |sum, index| (self.combine)(sum, (self.map)(index)))
    }
}

fn is_asked() -> bool {
    current_worker().is_some_and(|worker| worker.forks().gates().are_closed())
}
