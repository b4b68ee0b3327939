//! A block: its values and coefficients, its sweeps, and the data that it exchanges with its
//! neighbours.
//!
//! # Several sweeps in a turn
//! The time of one sweep over a matrix that is larger than the caches is limited by the memory. A
//! block therefore makes several sweeps in a turn. Their number is called the *depth*. Its data are
//! read from memory only once per turn. Each sweep is shifted by one row up and one column to the
//! left:
//! ```text
//!   sweep 1    sweep 2    sweep 3      The swept area moves over the margin, which belongs to
//!   · · · ·    · · · ·    ■ ■ ■ ·      the neighbours. A point can be swept if its upper and
//!   · · · ·    ■ ■ ■ ·    ■ ■ ■ ·      left neighbours have been swept in the same sweep, and
//!   ■ ■ ■ ·    ■ ■ ■ ·    · · · ·      its lower and right neighbours in the previous sweep.
//!   ■ ■ ■ ·    · · · ·    · · · ·      These points are in this block, or in a block above,
//!                                      left or above left of it, which has had its turn.
//! ```
//! At the end of a turn, the last rows of a block have therefore been swept 0, 1, 2, … times. The
//! block below continues with exactly these rows. It computes their final values, and gives them
//! back in the next turn. Columns are passed to the right in the same way, and corners to the lower
//! right.
//!
//! A block takes the following data from its neighbours:
//!
//! | from | in the same turn | | from | in the turn before |
//! |---|---|---|---|---|
//! | above | last rows, row `i` from below swept `i` times | | below | last rows, fully swept |
//! | left | last columns | | right | last columns |
//! | above left | last corner | | below right | last corner |
//!
//! # Invariants
//! 1. A block copies from its neighbours the values that they have swept as often as it needs, and
//!    no others. So every value that a sweep reads has exactly one version.
//!
//! # Source
//! Skewing in time: M. Wolfe: More iteration space tiling. SC 1989.

use std::hint::black_box;
use std::ops::Range;

use raddle::orwl::Extent;

use super::axis::Axis;
use super::kernel::Plane;
use super::values::{Paired, Values};
use super::{Input, Side};

/// A part of the matrix, with the margin of the neighbours that it sweeps over.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    rows: Option<Axis>,
    columns: Option<Axis>,
    depth: usize,
    za: Values,
    z: Paired,
}

/// A source of values, addressed by their positions in the matrix.
pub(super) trait Rows {
    fn row(&self, row: usize, columns: Range<usize>) -> impl ExactSizeIterator<Item = f64>;
}

/// The values that a block has given to a neighbour, in row-major order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border<'a> {
    values: &'a [f64],
    row: usize,
    column: usize,
    width: usize,
}

impl Rows for Border<'_> {
    fn row(&self, row: usize, columns: Range<usize>) -> impl ExactSizeIterator<Item = f64> {
        let first = (row - self.row) * self.width + columns.start - self.column;
        self.values[first..][..columns.len()].iter().copied()
    }
}

impl Rows for Block {
    fn row(&self, row: usize, columns: Range<usize>) -> impl ExactSizeIterator<Item = f64> {
        let (top, left) = (self.rows().origin, self.columns().origin);
        let columns = columns.start - left..columns.end - left;
        self.za.row(row - top, columns)
    }
}

impl Extent for Block {
    fn bytes(&self) -> usize {
        self.rows().held().len() * self.columns().held().len() * size_of::<f64>()
    }
}

impl Block {
    pub(super) fn new(input: &Input, rows: Axis, columns: Axis, depth: usize) -> Self {
        let za = Values::new(rows.held().len(), columns.held().len(), |row, column| {
            input.value(rows.origin + row, columns.origin + column)
        });
        let inner = |axis: Axis| axis.held().len() - 1 - usize::from(axis.is_last);
        let z = Paired::new(inner(rows), inner(columns), |row, column| {
            input.coefficients(rows.origin + 1 + row, columns.origin + 1 + column)
        });
        Self {
            za,
            z,
            rows: Some(rows),
            columns: Some(columns),
            depth,
        }
    }

    fn rows(&self) -> Axis {
        self.rows.expect("the block is not a default one")
    }

    fn columns(&self) -> Axis {
        self.columns.expect("the block is not a default one")
    }

    /// Makes the sweeps of a turn.
    pub(super) fn sweep(&mut self, sweeps: usize) {
        let (rows, columns) = (self.rows(), self.columns());
        self.fetch();
        let mut plane = Plane {
            values: &mut self.za,
            z: &self.z,
        };
        let local =
            |range: Range<usize>, axis: Axis| range.start - axis.origin..range.end - axis.origin;
        for sweep in 1..=sweeps {
            plane.sweep(
                local(rows.swept(sweep), rows),
                local(columns.swept(sweep), columns),
            );
        }
    }

    /// Reads all data from memory in one stream. A strip reads from fourteen places at once, which
    /// is more than the prefetchers of processors can follow. For 4096² points, that took 3 to 7 %
    /// of the time.
    fn fetch(&self) {
        let lines = self.za.lines().chain(self.z.lines());
        black_box(lines.fold(0, |all, number| all ^ number.to_bits()));
    }

    /// Returns the number of points that are computed in a turn of `sweeps` sweeps.
    pub(super) fn points(&self, sweeps: usize) -> u64 {
        let of = |sweep| {
            self.rows().swept(sweep).len() as u64 * self.columns().swept(sweep).len() as u64
        };
        (1..=sweeps).map(of).sum()
    }

    /// Writes the values that the neighbour on `side` needs to `border`.
    pub(super) fn give(&self, side: Side, border: &mut Vec<f64>) {
        let columns = outgoing(self.columns(), side.across(), self.depth);
        border.clear();
        for row in outgoing(self.rows(), side.down(), self.depth) {
            border.extend(self.row(row, columns.clone()));
        }
    }

    /// Interprets `values` as the border that the neighbour on `side` has given.
    pub(super) fn border_of<'a>(&self, side: Side, values: &'a [f64]) -> Border<'a> {
        let rows = incoming(self.rows(), side.down(), self.depth);
        let columns = incoming(self.columns(), side.across(), self.depth);
        Border {
            values,
            row: rows.start,
            column: columns.start,
            width: columns.len(),
        }
    }

    /// Copies the values of the neighbour on `side` into the margin or the edge of this block. For
    /// a neighbour above or on the left, `sweeps` is the number of sweeps of the coming turn. For a
    /// neighbour below or on the right, it is the number of sweeps of the previous turn.
    pub(super) fn take(&mut self, side: Side, from: &impl Rows, sweeps: usize) {
        let (rows, columns) = (self.rows(), self.columns());
        match side {
            Side::N => {
                for sweep in 0..=sweeps {
                    self.copy(
                        from,
                        rows.start - 1 - sweep,
                        columns.first_of(sweep)..columns.end,
                    );
                }
            }
            Side::W => {
                for row in rows.first_of(sweeps)..rows.end {
                    // In row `start - i`, take the columns that were swept at least `i` times.
                    let least = rows.start.saturating_sub(row);
                    self.copy(from, row, columns.start - 1 - sweeps..columns.start - least);
                }
            }
            Side::Nw => {
                for sweep in 0..=sweeps {
                    let column = columns.start - 1 - sweep;
                    self.copy(from, rows.start - 1 - sweep, column..column + 1);
                }
            }
            Side::S => {
                (rows.end - sweeps..rows.end)
                    .for_each(|row| self.copy(from, row, columns.start..columns.end_of(sweeps)));
            }
            Side::E => {
                (rows.start..rows.end_of(sweeps))
                    .for_each(|row| self.copy(from, row, columns.end - sweeps..columns.end));
            }
            Side::Se => {
                (rows.end - sweeps..rows.end)
                    .for_each(|row| self.copy(from, row, columns.end - sweeps..columns.end));
            }
            Side::Ne | Side::Sw => {}
        }
    }

    fn copy(&mut self, from: &impl Rows, row: usize, columns: Range<usize>) {
        let (top, left) = (self.rows().origin, self.columns().origin);
        let column = columns.start - left;
        self.za.write(row - top, column, from.row(row, columns));
    }

    /// Writes the points of the last turn, which had `sweeps` sweeps, to the matrix.
    pub(super) fn write(&self, sweeps: usize, za: &mut [f64], width: usize) {
        let columns = self.columns().swept(sweeps);
        for row in self.rows().swept(sweeps) {
            let into = &mut za[row * width..][columns.clone()];
            for (into, value) in into.iter_mut().zip(self.row(row, columns.clone())) {
                *into = value;
            }
        }
    }
}

/// Returns the positions that are sent to a neighbour: after the block (`direction` 1), beside it
/// (0) or before it (-1).
pub(super) fn outgoing(axis: Axis, direction: i8, depth: usize) -> Range<usize> {
    match direction {
        0 => axis.held(),
        1 => axis.end - 1 - depth..axis.end,
        _ => axis.start - depth..axis.start,
    }
}

/// Returns the positions that are received from the neighbour in `direction`.
fn incoming(axis: Axis, direction: i8, depth: usize) -> Range<usize> {
    match direction {
        0 => axis.held(),
        1 => axis.end - depth..axis.end,
        _ => axis.start - 1 - depth..axis.start,
    }
}
