//! A block: its values, their coefficients, its sweeps, and what it takes from its neighbours.
//!
//! # Several sweeps in a turn
//! One sweep over a matrix that no cache holds takes as long as memory takes. So a block makes several in a turn, the *depth*, and its data come from memory
//! once in a turn. In each sweep it goes one row up and one column to the left:
//! ```text
//!   sweep 1    sweep 2    sweep 3      what is swept moves over the margin, which is the neighbours':
//!   · · · ·    · · · ·    ■ ■ ■ ·      a point in row r has been swept when its upper and left neighbours have been
//!   · · · ·    ■ ■ ■ ·    ■ ■ ■ ·      in the same sweep, and its lower and right ones in the sweep before. All of these
//!   ■ ■ ■ ·    ■ ■ ■ ·    · · · ·      are points of this block, or of those above, to the left, and above to the left,
//!   ■ ■ ■ ·    · · · ·    · · · ·      which have had their turn.
//! ```
//! A row is left where it is as the sweeps leave it, so that at the end of a turn the last rows of a block have been swept 0, 1, 2, … times: just
//! what the block below goes on with. When it has, it has the final values of those rows, and gives them back in the next turn. So go columns to
//! the right, and corners to the right below.
//!
//! | from | in the same turn | | from | in the turn before |
//! |---|---|---|---|---|
//! | above | its last rows, row `i` from below swept `i` times | | below | the last rows, swept to the end |
//! | the left | its last columns | | the right | the last columns |
//! | above left | its last corner | | below right | the last corner |
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

/// A part of the matrix, with as much of its neighbours as it sweeps over.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    rows: Option<Axis>,
    columns: Option<Axis>,
    depth: usize,
    za: Values,
    z: Paired,
}

/// Where values are taken from, by their positions in the matrix.
pub(super) trait Rows {
    fn row(&self, row: usize, columns: Range<usize>) -> impl ExactSizeIterator<Item = f64>;
}

/// What a block has given to a neighbour, row by row.
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
        self.rows.expect("it was made")
    }

    fn columns(&self) -> Axis {
        self.columns.expect("it was made")
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

    /// Reads all from memory in one stream. A strip goes through fourteen places at once, which is more than processors fetch ahead: of 4096² that
    /// took 3 to 7 % of the time.
    fn fetch(&self) {
        let lines = self.za.lines().chain(self.z.lines());
        black_box(lines.fold(0, |all, number| all ^ number.to_bits()));
    }

    /// Points in a turn of so many sweeps.
    pub(super) fn points(&self, sweeps: usize) -> u64 {
        let of = |sweep| {
            self.rows().swept(sweep).len() as u64 * self.columns().swept(sweep).len() as u64
        };
        (1..=sweeps).map(of).sum()
    }

    /// Writes the values that the neighbour on one side wants.
    pub(super) fn give(&self, side: Side, border: &mut Vec<f64>) {
        let columns = outgoing(self.columns(), side.across(), self.depth);
        border.clear();
        for row in outgoing(self.rows(), side.down(), self.depth) {
            border.extend(self.row(row, columns.clone()));
        }
    }

    /// What the neighbour on a side has given.
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

    /// Takes over what the neighbour on a side has: for a turn of `sweeps` sweeps from those above and to the left, after one of `sweeps` sweeps from
    /// those below and to the right.
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
                    // In row `start - i` those that were swept `i` times at least.
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

    /// Writes what it has swept over in its last turn, of `sweeps` sweeps, into the matrix.
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

/// The positions that go to a neighbour: behind, beside or in front.
pub(super) fn outgoing(axis: Axis, direction: i8, depth: usize) -> Range<usize> {
    match direction {
        0 => axis.held(),
        1 => axis.end - 1 - depth..axis.end,
        _ => axis.start - depth..axis.start,
    }
}

/// The positions that come from a neighbour: those that it sends this way.
fn incoming(axis: Axis, direction: i8, depth: usize) -> Range<usize> {
    match direction {
        0 => axis.held(),
        1 => axis.end - depth..axis.end,
        _ => axis.start - 1 - depth..axis.start,
    }
}
