//! How a matrix is cut into blocks, and turns of the kernel into turns of the program.

use std::num::NonZeroUsize;

use thiserror::Error;

use super::axis::Axis;

/// Bytes that a sweep touches for each point: five coefficients and a value.
const BYTES_PER_POINT: usize = 48;
/// Bytes that the nine operations of a block take with their handles and locations; measured with blocks of one point.
const BYTES_PER_BLOCK: u64 = 28 << 10;
/// More sweeps in a turn save little traffic, and make margins that are swept for nothing else.
const DEPTH_MAX: usize = 32;
/// Blocks along a side for each worker, so that waves are wide and short at both ends.
const BLOCKS_PER_SIDE_MIN: usize = 8;

/// What is asked for; what is left open is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Rows and columns of a block, about.
    pub block: Option<(NonZeroUsize, NonZeroUsize)>,
    /// Sweeps in a turn of the program; 1 is the study's program.
    pub depth: Option<NonZeroUsize>,
    /// Bytes of the cache that a worker has for itself.
    pub cache_bytes: Option<usize>,
    /// Each operation has a thread: blocks are few.
    pub has_threads: bool,
}

/// A call for blocks that there cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A matrix without rows or columns, or one that no memory holds.
    #[error(
        "{rows} × {columns} points; expected at least 1 × 1, and fewer than memory has addresses for"
    )]
    Size {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        columns: usize,
    },
    /// A block that is larger than the matrix.
    #[error("blocks of {block} {side} in a matrix of {len}; expected at most {len}")]
    Block {
        /// Rows or columns of the block.
        block: usize,
        /// Which of them.
        side: &'static str,
        /// Those of the matrix.
        len: usize,
    },
    /// A block that is smaller than its margin.
    #[error(
        "{depth} sweeps in a turn, with blocks of {block} {side}; expected at most as many sweeps as that"
    )]
    Depth {
        /// Sweeps.
        depth: usize,
        /// Rows or columns of the block.
        block: usize,
        /// Which of them.
        side: &'static str,
    },
}

/// How a matrix is cut into blocks, and turns of the kernel into turns of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) rows: Vec<Axis>,
    pub(super) columns: Vec<Axis>,
    pub(super) depth: usize,
    sweeps: u64,
    turns: u64,
}

impl Plan {
    /// Cuts `rows` × `columns` points for `sweeps` turns of the kernel.
    ///
    /// # Errors
    /// [`PlanError`] when what is wanted does not go together.
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
            None => chosen(rows, columns, wanted),
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
        // What goes over a margin is bounded by the smallest block; a block that has no neighbours has no margin.
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

    /// Turns of the program.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// Turns of the kernel, each a sweep over all points.
    #[must_use]
    pub fn sweeps(&self) -> u64 {
        self.sweeps
    }

    /// Sweeps in a turn of the program, at most.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Blocks from top to bottom, and from left to right.
    #[must_use]
    pub fn blocks(&self) -> (usize, usize) {
        (self.rows.len(), self.columns.len())
    }

    /// Points that are swept over.
    #[must_use]
    pub fn points(&self) -> u64 {
        let of = |axes: &[Axis]| {
            axes.iter()
                .map(|axis| (axis.end - axis.start) as u64)
                .sum::<u64>()
        };
        of(&self.rows) * of(&self.columns)
    }

    /// Bytes that the program takes: blocks, borders and operations.
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

    /// Sweeps in turn `turn` of the program: all turns have as many, give or take one.
    pub(super) fn sweeps_of(&self, turn: u64) -> usize {
        let before = |turn: u64| {
            (u128::from(self.sweeps) * u128::from(turn) / u128::from(self.turns)) as u64
        };
        (before(turn + 1) - before(turn)) as usize
    }

    /// Sweeps in the turn before; none before the first.
    pub(super) fn sweeps_before(&self, turn: u64) -> usize {
        turn.checked_sub(1).map_or(0, |turn| self.sweeps_of(turn))
    }
}

/// A block that stays in a worker's cache while it is swept over, and of which there are enough for a wave.
fn chosen(rows: usize, columns: usize, wanted: &Wanted) -> (usize, usize) {
    let (cache, per_side) = if wanted.has_threads {
        (usize::MAX, 4)
    } else {
        (wanted.cache_bytes.unwrap_or(1 << 20), BLOCKS_PER_SIDE_MIN)
    };
    // A quarter is left for margins and borders.
    let fits = (cache / 4 * 3 / BYTES_PER_POINT).isqrt();
    let side = |len: usize| {
        let parts = len.div_ceil(fits).max(per_side).min(len.div_ceil(4)).max(1);
        len / parts
    };
    (side(rows), side(columns))
}
