//! The partition of a large part by as many workers as have nothing else to do.
//!
//! The first parts of a quicksort leave most workers idle: while one partitions, nobody else has anything. Here they
//! help. Everybody takes a block from the front of what is left and one from its back, partitions each with
//! the sequential partition, and exchanges what is on the wrong side of both. One of the two has only items of
//! its side then and is done, and the next block of that side is taken.
//!
//! ```text
//!        front block             back block                  front block      back block
//!  [ <<<<<<<< >>>>>>>> ] … [ <<<<< >>>>>>>>>>> ]   ───►   [ <<<<<<<<<<<<< >>> ] … [ >>>>>>>>>>>>>>>> ]
//!             └─────┴─ exchange ─┘                                 open                   done
//! ```
//!
//! When nothing is left everybody has at most one open block. The items of these that stand on the wrong side of the
//! border are exchanged at the end: a few blocks, however long the part.
//!
//! Whoever comes late takes what is left, and whoever finds nothing goes: each share is one half of a
//! [`raddle::join`], which costs a few nanoseconds when nobody has time for it. So nobody needs to know beforehand how
//! many will come.
//!
//! # Source
//! Blocks from both ends, neutralised in pairs: P. Tsigas, Y. Zhang: A simple, fast parallel implementation of quicksort
//! and its performance evaluation on SUN Enterprise 10000. PDP 2003.

use std::mem::{self, size_of};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::partition::{self, Partition};

/// Two of them fit into every second-level cache, and each worker takes the lock once in some microseconds.
const BLOCK_BYTES: usize = 64 * 1024;
/// A part of fewer blocks than this is not worth a second worker's coming.
const BLOCK_COUNT_MIN: usize = 16;

/// Up to so many workers partition a part of at least that length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Together {
    worker_count: usize,
    len_min: usize,
}

impl Together {
    /// For parts of a sort of `len` items on so many workers.
    ///
    /// Parts of more than `len / worker_count` items are fewer than the workers, so somebody is idle while one of
    /// them is partitioned, unless there is other work. Half as many again are asked for: of two parts of nearly
    /// that length neither needs help.
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

impl<T: Copy + Send> Partition<T> for Together {
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

/// As [`partition::partition`], by up to so many workers.
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
    let mut open = everybody(&middle, goes_left, worker_count);
    let frontier = middle
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .first;
    open.sort_unstable_by_key(|block| block.range.start);
    settle(items, &runs(&open, frontier, len))
}

/// What nobody has taken yet.
#[derive(Debug)]
struct Middle<'items, T> {
    items: &'items mut [T],
    /// The index of its first item in the whole part: everything before it was taken from the front.
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

/// A block in one worker's hands, partitioned.
#[derive(Debug)]
struct Block<'items, T> {
    items: &'items mut [T],
    first: usize,
    /// How many of its items go left; they come first.
    left_count: usize,
}

impl<'items, T> Block<'items, T> {
    /// `None` for a block of nothing.
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

/// A block that still has items of both sides, by its place in the whole part.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    range: Range<usize>,
    left_count: usize,
}

/// Lets this worker and as many more as come take part; returns the blocks that stay open.
fn everybody<T, F>(middle: &Mutex<Middle<'_, T>>, goes_left: F, worker_count: usize) -> Vec<Open>
where
    T: Copy + Send,
    F: Fn(T) -> bool + Copy + Send,
{
    if worker_count == 1 {
        return take_part(middle, goes_left).into_iter().collect();
    }
    let (own, mut open) = raddle::join(
        move || take_part(middle, goes_left),
        move || everybody(middle, goes_left, worker_count - 1),
    );
    open.extend(own);
    open
}

/// Takes blocks until nothing is left.
fn take_part<'items, T, F>(middle: &Mutex<Middle<'items, T>>, goes_left: F) -> Option<Open>
where
    T: Copy + Send,
    F: Fn(T) -> bool + Copy + Send,
{
    // The lock is gone before a block is looked at: the two never share a statement.
    let take = |take: for<'a> fn(&'a mut Middle<'items, T>) -> Option<Block<'items, T>>| {
        take(&mut middle.lock().unwrap_or_else(PoisonError::into_inner))
    };
    let (mut front, mut back) = (None, None);
    loop {
        if front.is_none() {
            let block = take(Middle::take_front);
            front = parted(block, goes_left);
        }
        if back.is_none() {
            let block = take(Middle::take_back);
            back = parted(block, goes_left);
        }
        let (Some(left), Some(right)) = (&mut front, &mut back) else {
            // One of them at most is there.
            return front.or(back).map(Block::open);
        };
        exchange(left, right);
        front = front.filter(|block| !block.all_go_left());
        back = back.filter(|block| block.left_count > 0);
    }
}

/// Partitions a block. It is one half of a join, of which the other is nothing: where somebody has become hungry since
/// the last fork, this one makes the oldest a task, and that is the share of those who have not come yet.
fn parted<'items, T, F>(block: Option<Block<'items, T>>, goes_left: F) -> Option<Block<'items, T>>
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

/// Exchanges as many items as both blocks have on the wrong side, next to each block's border.
fn exchange<T>(front: &mut Block<'_, T>, back: &mut Block<'_, T>) {
    let count = (front.items.len() - front.left_count).min(back.left_count);
    let wrong_in_front = &mut front.items[front.left_count..][..count];
    let wrong_in_back = &mut back.items[back.left_count - count..back.left_count];
    wrong_in_front.swap_with_slice(wrong_in_back);
    front.left_count += count;
    back.left_count -= count;
}

/// Where items of either side stand, in order of their place.
#[derive(Debug, Default, PartialEq, Eq)]
struct Runs {
    left: Vec<Range<usize>>,
    right: Vec<Range<usize>>,
}

/// The runs of a part of `len` items, whose blocks below `frontier` were taken from the front: what is not
/// open goes left below it and right above it.
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
    /// Adds blocks that are done.
    fn push_whole(&mut self, blocks: Range<usize>, frontier: usize) {
        let Range { start, end } = blocks;
        self.left.push(start.min(frontier)..end.min(frontier));
        self.right.push(start.max(frontier)..end.max(frontier));
    }
}

/// Exchanges what stands on the wrong side of the border, and returns the border.
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
                unreachable!("as many stand wrong above the border as below it");
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
