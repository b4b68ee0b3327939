//! How a side of the matrix is cut, and which part of it a block sweeps over when.
//!
//! Positions count the frame: the first and the last are fixed values around the matrix.

use std::ops::Range;

/// A block's part of one side of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// Its own positions,
    pub(super) start: usize,
    /// and the end of them.
    pub(super) end: usize,
    /// The positions of which it has values: those that it sweeps over, and one more at either end.
    pub(super) origin: usize,
    pub(super) limit: usize,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}

impl Axis {
    /// Cuts `len` positions into `parts` for turns of `depth` sweeps. No part has fewer than `depth`.
    ///
    /// A part sweeps on average half a depth in front of its own positions, so the first part has that many more, and the last one fewer.
    ///
    /// # Panics
    /// When parts are more than that allows.
    pub(super) fn cut(len: usize, parts: usize, depth: usize) -> Vec<Self> {
        assert!(
            parts > 0 && (parts == 1 || len / parts >= depth),
            "{len} positions, {parts} parts, depth {depth}"
        );
        let shift = if len / parts > 2 * depth {
            depth / 2
        } else {
            0
        };
        let cut = |index: usize| match index {
            0 => 1,
            _ if index == parts => len + 1,
            _ => 1 + len * index / parts + shift,
        };
        let part = |index: usize| {
            let (is_first, is_last) = (index == 0, index + 1 == parts);
            let (start, end) = (cut(index), cut(index + 1));
            Self {
                start,
                end,
                origin: if is_first { 0 } else { start - depth - 1 },
                limit: if is_last { end + 1 } else { end },
                is_first,
                is_last,
            }
        };
        (0..parts).map(part).collect()
    }

    /// What it has swept over in sweep `sweep` of a turn, from 1: each time one position further in front.
    pub(super) fn swept(&self, sweep: usize) -> Range<usize> {
        self.first_of(sweep)..self.end_of(sweep)
    }

    /// The first position of sweep `sweep`.
    pub(super) fn first_of(&self, sweep: usize) -> usize {
        if self.is_first {
            self.start
        } else {
            self.start - sweep
        }
    }

    /// The end of sweep `sweep`.
    pub(super) fn end_of(&self, sweep: usize) -> usize {
        if self.is_last {
            self.end
        } else {
            self.end - sweep
        }
    }

    /// The positions of which it has values.
    pub(super) fn held(&self) -> Range<usize> {
        self.origin..self.limit
    }
}
