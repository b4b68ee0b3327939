//! The partition of a large part by all workers that are idle.
//!
//! While one worker partitions the first parts of a quicksort, most workers have nothing to do.
//! Here they help. Each worker takes a block from the front of the remaining items and one from the
//! back. It partitions each block sequentially, and exchanges items that are on the wrong side of
//! the two. After that, at least one of the two blocks only has items of its side. That block is
//! done, and the worker takes the next block from the same end.
//!
//! ```text
//!        front block             back block              front block      back block
//!  [ <<<<<<<< >>>>>>>> ] … [ <<<<< >>>>>>>>>>> ]  ─►  [ <<<<<<<<<<<<< >>> ] … [ >>>>>>>>>>>>>>>> ]
//!             └─────┴─ exchange ─┘                             open                   done
//! ```
//!
//! When no items remain, each worker has at most one open block. At the end, the items of the open
//! blocks that are on the wrong side of the border are exchanged. These are only a few blocks, no
//! matter how long the part is.
//!
//! A worker may join at any time, and leaves when no blocks remain. The share of each worker is one
//! half of a [`raddle::join`], which costs a few nanoseconds if no other worker takes it. The
//! number of helpers therefore need not be known in advance.
//!
//! # Invariants
//! 1. Blocks are taken under the lock and partitioned without it.
//!
//! # Source
//! Blocks from both ends, neutralised in pairs: P. Tsigas, Y. Zhang: A simple, fast parallel
//! implementation of quicksort and its performance evaluation on SUN Enterprise 10000. PDP 2003.

use std::mem::{self, size_of};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::partition::{self, Partition};

/// The size of a block. Two blocks fit into the L2 cache of any processor, and each worker takes
/// the lock only once in several microseconds.
const BLOCK_BYTES: usize = 64 * 1024;
/// The smallest number of blocks for which a second worker is worthwhile.
const BLOCK_COUNT_MIN: usize = 16;

/// The partition of parts of at least `len_min` items by up to `worker_count` workers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parallel {
    worker_count: usize,
    len_min: usize,
}

impl Parallel {
    /// Creates the partition for a sort of `len` items on `worker_count` workers.
    ///
    /// There are fewer parts of more than `len / worker_count` items than workers. Unless there is
    /// other work, some worker is therefore idle while such a part is partitioned. The smallest
    /// length is 1.5 times as large, because two parts of about `len / worker_count` items need no
    /// help.
    pub(super) fn new(worker_count: usize, len: usize) -> Self {
        let len_min = if worker_count == 1 {
            usize::MAX
        } else {
            len / worker_count + len / worker_count / 2
        };
        Self {
            worker_count,
            len_min,
        }
    }
}

impl<T: Copy + Send> Partition<T> for Parallel {
    #[inline]
    fn partition<F>(&self, items: &mut [T], goes_left: F) -> usize
    where
        F: Fn(T) -> bool + Copy + Send,
    {
        let block_len = block_len::<T>();
        if items.len() < self.len_min || items.len() < BLOCK_COUNT_MIN * block_len {
            partition::partition(items, goes_left)
        } else {
            partition_in_blocks(items, goes_left, block_len, self.worker_count)
        }
    }
}

fn block_len<T>() -> usize {
    (BLOCK_BYTES / size_of::<T>().max(1)).max(1)
}

/// Partitions `items` like [`partition::partition`], with up to `worker_count` workers.
#[cold]
fn partition_in_blocks<T, F>(
    items: &mut [T],
    goes_left: F,
    block_len: usize,
    worker_count: usize,
) -> usize
where
    T: Copy + Send,
    F: Fn(T) -> bool + Copy + Send,
{
    let len = items.len();
    let middle = Mutex::new(Middle {
        items: &mut *items,
        first: 0,
        block_len,
    });
    let mut open = share(&middle, goes_left, worker_count);
    let frontier = middle
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .first;
    open.sort_unstable_by_key(|block| block.range.start);
    settle(items, &runs(&open, frontier, len))
}

/// The items that no worker has taken yet.
#[derive(Debug)]
struct Middle<'items, T> {
    items: &'items mut [T],
    /// The index of the first of these items in the whole part. All items before it were taken from
    /// the front.
    first: usize,
    block_len: usize,
}

impl<'items, T> Middle<'items, T> {
    fn take_front(&mut self) -> Option<Block<'items, T>> {
        let len = self.block_len.min(self.items.len());
        let (items, rest) = mem::take(&mut self.items).split_at_mut(len);
        self.items = rest;
        let first = self.first;
        self.first += len;
        Block::new(items, first)
    }

    fn take_back(&mut self) -> Option<Block<'items, T>> {
        let len = self.block_len.min(self.items.len());
        let at = self.items.len() - len;
        let (rest, items) = mem::take(&mut self.items).split_at_mut(at);
        self.items = rest;
        Block::new(items, self.first + at)
    }
}

/// A block that one worker has taken.
#[derive(Debug)]
struct Block<'items, T> {
    items: &'items mut [T],
    /// The index of its first item in the whole part.
    first: usize,
    /// The number of items that go left, which come first.
    left_count: usize,
}

impl<'items, T> Block<'items, T> {
    /// Creates a block that is not partitioned yet; `None` if it has no items.
    fn new(items: &'items mut [T], first: usize) -> Option<Self> {
        (!items.is_empty()).then_some(Self {
            items,
            first,
            left_count: 0,
        })
    }

    fn all_go_left(&self) -> bool {
        self.left_count == self.items.len()
    }

    fn open(self) -> Open {
        Open {
            range: self.first..self.first + self.items.len(),
            left_count: self.left_count,
        }
    }
}

/// A block that still has items of both sides, with its place in the whole part.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    range: Range<usize>,
    left_count: usize,
}

/// Shares the work among this worker and all workers that join. Returns the blocks that stay open.
fn share<T, F>(middle: &Mutex<Middle<'_, T>>, goes_left: F, worker_count: usize) -> Vec<Open>
where
    T: Copy + Send,
    F: Fn(T) -> bool + Copy + Send,
{
    if worker_count == 1 {
        return take_blocks(middle, goes_left).into_iter().collect();
    }
    let (own, mut open) = raddle::join(
        move || take_blocks(middle, goes_left),
        move || share(middle, goes_left, worker_count - 1),
    );
    open.extend(own);
    open
}

/// Takes and partitions blocks until none remains. Returns the block that stays open, if any.
fn take_blocks<'items, T, F>(middle: &Mutex<Middle<'items, T>>, goes_left: F) -> Option<Open>
where
    T: Copy + Send,
    F: Fn(T) -> bool + Copy + Send,
{
    // The lock is released before a block is processed, because `take` and the processing are
    // always separate statements.
    let take = |take: for<'a> fn(&'a mut Middle<'items, T>) -> Option<Block<'items, T>>| {
        take(&mut middle.lock().unwrap_or_else(PoisonError::into_inner))
    };
    let (mut front, mut back) = (None, None);
    loop {
        if front.is_none() {
            let block = take(Middle::take_front);
            front = partition_block(block, goes_left);
        }
        if back.is_none() {
            let block = take(Middle::take_back);
            back = partition_block(block, goes_left);
        }
        let (Some(left), Some(right)) = (&mut front, &mut back) else {
            // At most one of the two is a block.
            return front.or(back).map(Block::open);
        };
        exchange(left, right);
        front = front.filter(|block| !block.all_go_left());
        back = back.filter(|block| block.left_count > 0);
    }
}

/// Partitions a block, as one half of a join with an empty other half.
///
/// A join is a point at which idle workers are served: if a worker has become idle since the last
/// one, the oldest waiting half becomes a task. That is the share of the workers that have not
/// joined yet.
fn partition_block<'items, T, F>(
    block: Option<Block<'items, T>>,
    goes_left: F,
) -> Option<Block<'items, T>>
where
    T: Copy + Send,
    F: Fn(T) -> bool + Copy + Send,
{
    let mut block = block?;
    let items = &mut *block.items;
    let (left_count, ()) = raddle::join(move || partition::partition(items, goes_left), || ());
    block.left_count = left_count;
    Some(block)
}

/// Exchanges items on the wrong side, as many as both blocks have. They are next to the border of
/// each block.
fn exchange<T>(front: &mut Block<'_, T>, back: &mut Block<'_, T>) {
    let count = (front.items.len() - front.left_count).min(back.left_count);
    let wrong_in_front = &mut front.items[front.left_count..][..count];
    let wrong_in_back = &mut back.items[back.left_count - count..back.left_count];
    wrong_in_front.swap_with_slice(wrong_in_back);
    front.left_count += count;
    back.left_count -= count;
}

/// The positions of the items of each side, in ascending order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Runs {
    left: Vec<Range<usize>>,
    right: Vec<Range<usize>>,
}

/// Returns the runs of a part of `len` items. The blocks below `frontier` were taken from the
/// front. Items outside the open blocks go left if they are below it, and right otherwise.
fn runs(open: &[Open], frontier: usize, len: usize) -> Runs {
    let mut runs = Runs::default();
    let mut seen = 0;
    for block in open {
        let border = block.range.start + block.left_count;
        runs.push_whole(seen..block.range.start, frontier);
        runs.left.push(block.range.start..border);
        runs.right.push(border..block.range.end);
        seen = block.range.end;
    }
    runs.push_whole(seen..len, frontier);
    runs
}

impl Runs {
    /// Adds a range of blocks that are done.
    fn push_whole(&mut self, blocks: Range<usize>, frontier: usize) {
        let Range { start, end } = blocks;
        self.left.push(start.min(frontier)..end.min(frontier));
        self.right.push(start.max(frontier)..end.max(frontier));
    }
}

/// Exchanges the items that are on the wrong side of the border, and returns the border.
fn settle<T>(items: &mut [T], runs: &Runs) -> usize {
    let border = runs.left.iter().map(ExactSizeIterator::len).sum();
    let (below, above) = items.split_at_mut(border);
    let mut wrong_below = runs
        .right
        .iter()
        .map(|run| run.start.min(border)..run.end.min(border))
        .filter(|run| !run.is_empty());
    let mut wrong_above = runs
        .left
        .iter()
        .map(|run| run.start.max(border) - border..run.end.max(border) - border)
        .filter(|run| !run.is_empty());
    let (mut low, mut high) = (0..0, 0..0);
    loop {
        if low.is_empty() {
            let Some(next) = wrong_below.next() else {
                return border;
            };
            low = next;
        }
        if high.is_empty() {
            let Some(next) = wrong_above.next() else {
                unreachable!("as many items are wrong above the border as below it");
            };
            high = next;
        }
        let count = low.len().min(high.len());
        below[low.start..low.start + count]
            .swap_with_slice(&mut above[high.start..high.start + count]);
        low.start += count;
        high.start += count;
    }
}

#[cfg(test)]
mod tests;
