//! The division of a matrix into blocks, and of the turns of the kernel into turns of the program.

use std::num::NonZeroUsize;

use thiserror::Error;

use super::axis::Axis;

/// The number of bytes that a sweep accesses for each point: five coefficients and a value.
const BYTES_PER_POINT: usize = 48;
/// The size of the nine operations of a block with their handles and locations, measured with
/// blocks of one point.
const BYTES_PER_BLOCK: u64 = 28 << 10;
/// The largest number of sweeps in a turn that is chosen. More sweeps save little memory traffic,
/// but widen the margins.
const DEPTH_MAX: usize = 32;
/// The smallest number of blocks along a side that is chosen. It makes waves wide, and keeps their
/// narrow beginning and end short.
const BLOCKS_PER_SIDE_MIN: usize = 8;

/// The requested properties of a [`Plan`]. Properties that are `None` are chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// The approximate number of rows and columns of a block.
    pub block: Option<(NonZeroUsize, NonZeroUsize)>,
    /// The number of sweeps in a turn of the program; 1 is the program of the study.
    pub depth: Option<NonZeroUsize>,
    /// The size in bytes of the cache that a worker has for itself.
    pub cache_bytes: Option<usize>,
    /// True if each operation has its own thread. Fewer blocks are chosen then.
    pub has_threads: bool,
}

/// An impossible division into blocks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The matrix is empty, or larger than the address space.
    #[error("{rows} × {columns} points; expected at least 1 × 1, and a size that fits into memory")]
    Size {
        /// The requested number of rows.
        rows: usize,
        /// The requested number of columns.
        columns: usize,
    },
    /// A block is larger than the matrix.
    #[error("blocks of {block} {side} in a matrix of {len}; expected at most {len}")]
    Block {
        /// The number of rows or columns of the block.
        block: usize,
        /// `"rows"` or `"columns"`.
        side: &'static str,
        /// The number of rows or columns of the matrix.
        len: usize,
    },
    /// A block is smaller than its margin.
    #[error("{depth} sweeps in a turn, with blocks of {block} {side}; expected at most {block}")]
    Depth {
        /// The number of sweeps.
        depth: usize,
        /// The number of rows or columns of the block.
        block: usize,
        /// `"rows"` or `"columns"`.
        side: &'static str,
    },
}

/// A division of a matrix into blocks, and of the turns of the kernel into turns of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) rows: Vec<Axis>,
    pub(super) columns: Vec<Axis>,
    pub(super) depth: usize,
    sweeps: u64,
    turns: u64,
}

impl Plan {
    /// Plans `sweeps` turns of the kernel over `rows` × `columns` points.
    ///
    /// # Errors
    /// [`PlanError`] if the requested properties are impossible.
    pub fn new(
        rows: usize,
        columns: usize,
        sweeps: u64,
        wanted: &Wanted,
    ) -> Result<Self, PlanError> {
        let is_there =
            |points: usize| points > 0 && points.checked_mul(2 * BYTES_PER_POINT).is_some();
        if !rows.checked_mul(columns).is_some_and(is_there) {
            return Err(PlanError::Size { rows, columns });
        }
        let (block_rows, block_columns) = match wanted.block {
            Some((block_rows, block_columns)) => (block_rows.get(), block_columns.get()),
            None => choose_block(rows, columns, wanted),
        };
        for (block, side, len) in [
            (block_rows, "rows", rows),
            (block_columns, "columns", columns),
        ] {
            if block > len {
                return Err(PlanError::Block { block, side, len });
            }
        }
        let (parts_down, parts_across) = (rows / block_rows, columns / block_columns);
        // The smallest block limits the width of the margin. A side with only one block has no
        // margin.
        let side_of = |len: usize, parts: usize| if parts == 1 { usize::MAX } else { len / parts };
        let (down, across) = (side_of(rows, parts_down), side_of(columns, parts_across));
        let most = down.min(across);
        let depth = match wanted.depth {
            Some(depth) if depth.get() > most => {
                let side = if down <= across { "rows" } else { "columns" };
                return Err(PlanError::Depth {
                    depth: depth.get(),
                    block: most,
                    side,
                });
            }
            Some(depth) => depth.get(),
            None => DEPTH_MAX.min(most.div_ceil(4)),
        };
        let turns = sweeps.div_ceil(depth as u64).max(1);
        let depth = sweeps.div_ceil(turns).max(1) as usize;
        Ok(Self {
            rows: Axis::cut(rows, parts_down, depth),
            columns: Axis::cut(columns, parts_across, depth),
            depth,
            sweeps,
            turns,
        })
    }

    /// Returns the number of turns of the program.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// Returns the number of turns of the kernel. Each is a sweep over all points.
    #[must_use]
    pub fn sweeps(&self) -> u64 {
        self.sweeps
    }

    /// Returns the largest number of sweeps in a turn of the program.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the number of blocks from top to bottom, and from left to right.
    #[must_use]
    pub fn blocks(&self) -> (usize, usize) {
        (self.rows.len(), self.columns.len())
    }

    /// Returns the number of points that are swept over.
    #[must_use]
    pub fn points(&self) -> u64 {
        let of = |axes: &[Axis]| {
            axes.iter()
                .map(|axis| (axis.end - axis.start) as u64)
                .sum::<u64>()
        };
        of(&self.rows) * of(&self.columns)
    }

    /// Returns the memory of the program in bytes: blocks, borders and operations.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let held = |axes: &[Axis]| {
            axes.iter()
                .map(|axis| axis.held().len() as u64)
                .sum::<u64>()
        };
        let (down, across) = (self.rows.len() as u64, self.columns.len() as u64);
        let (rows, columns) = (held(&self.rows), held(&self.columns));
        let points = rows
            .saturating_mul(columns)
            .saturating_mul(BYTES_PER_POINT as u64);
        // Each block gives an edge on each of its four sides.
        let edges = (rows * across).saturating_add(columns * down);
        let borders = edges.saturating_mul(2 * 8 * (self.depth as u64 + 1));
        let operations = (down * across).saturating_mul(BYTES_PER_BLOCK);
        points.saturating_add(borders).saturating_add(operations)
    }

    /// Returns the number of sweeps in turn `turn` of the program. The turns differ by at most one
    /// sweep.
    pub(super) fn sweeps_of(&self, turn: u64) -> usize {
        let before = |turn: u64| {
            (u128::from(self.sweeps) * u128::from(turn) / u128::from(self.turns)) as u64
        };
        (before(turn + 1) - before(turn)) as usize
    }

    /// Returns the number of sweeps in the turn before `turn`; 0 before the first.
    pub(super) fn sweeps_before(&self, turn: u64) -> usize {
        turn.checked_sub(1).map_or(0, |turn| self.sweeps_of(turn))
    }
}

/// Returns a size of blocks that stay in the cache of a worker during a turn, and are numerous
/// enough for a wave.
fn choose_block(rows: usize, columns: usize, wanted: &Wanted) -> (usize, usize) {
    let (cache, per_side) = if wanted.has_threads {
        (usize::MAX, 4)
    } else {
        (wanted.cache_bytes.unwrap_or(1 << 20), BLOCKS_PER_SIDE_MIN)
    };
    // A quarter of the cache is left for margins and borders.
    let fits = (cache / 4 * 3 / BYTES_PER_POINT).isqrt();
    let side = |len: usize| {
        let parts = len.div_ceil(fits).max(per_side).min(len.div_ceil(4)).max(1);
        len / parts
    };
    (side(rows), side(columns))
}
