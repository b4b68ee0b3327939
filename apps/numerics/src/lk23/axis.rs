//! The division of a side of the matrix into blocks, and the positions that a block covers in each
//! sweep.
//!
//! Positions include the frame: the first and the last position are the fixed values around the
//! matrix.

use std::ops::Range;

/// A block's part of one side of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// The first position of the block.
    pub(super) start: usize,
    /// The end of the positions of the block.
    pub(super) end: usize,
    /// The first position of which the block holds values. It holds all positions that it sweeps
    /// over, and one more at each end.
    pub(super) origin: usize,
    /// The end of the positions of which the block holds values.
    pub(super) limit: usize,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}

impl Axis {
    /// Cuts `len` positions into `parts` parts, for turns of `depth` sweeps. Each part has at least
    /// `depth` positions.
    ///
    /// On average, the sweeps of a part are shifted by half the depth towards the first position.
    /// To balance this, the first part has that many more positions, and the last part has fewer.
    ///
    /// # Panics
    /// If there are too many parts.
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

    /// Returns the positions of sweep `sweep` of a turn, counted from 1. Each sweep begins and ends
    /// one position before the previous one.
    pub(super) fn swept(&self, sweep: usize) -> Range<usize> {
        self.first_of(sweep)..self.end_of(sweep)
    }

    /// Returns the first position of sweep `sweep`.
    pub(super) fn first_of(&self, sweep: usize) -> usize {
        if self.is_first {
            self.start
        } else {
            self.start - sweep
        }
    }

    /// Returns the end of the positions of sweep `sweep`.
    pub(super) fn end_of(&self, sweep: usize) -> usize {
        if self.is_last {
            self.end
        } else {
            self.end - sweep
        }
    }

    /// Returns the positions of which the block holds values.
    pub(super) fn held(&self) -> Range<usize> {
        self.origin..self.limit
    }
}
