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

use raddle::orwl::Extent;

use super::axis::Axis;
use super::kernel::{Paired, Plane};
use super::{Input, Side};

/// A part of the matrix, with as much of its neighbours as it sweeps over.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    rows: Option<Axis>,
    columns: Option<Axis>,
    depth: usize,
    za: Vec<f64>,
    z: Paired,
}

/// Values of a rectangle, row by row.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    values: &'a [f64],
    row: usize,
    column: usize,
    width: usize,
}

impl View<'_> {
    fn of(&self, row: usize, columns: std::ops::Range<usize>) -> &[f64] {
        let first = (row - self.row) * self.width + columns.start - self.column;
        &self.values[first..][..columns.len()]
    }
}

/// A rectangle of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rectangle {
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
}

impl Extent for Block {
    fn bytes(&self) -> usize {
        self.za.bytes()
    }
}

impl Block {
    pub(super) fn new(input: &Input, rows: Axis, columns: Axis, depth: usize) -> Self {
        let za = rows
            .held()
            .flat_map(|row| columns.held().map(move |column| input.value(row, column)));
        let inner = |axis: Axis| axis.held().len() - 1 - usize::from(axis.is_last);
        let z = Paired::new(inner(rows), inner(columns), |row, column| {
            input.coefficients(rows.origin + 1 + row, columns.origin + 1 + column)
        });
        Self {
            za: za.collect(),
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

    fn width(&self) -> usize {
        self.columns().held().len()
    }

    /// Makes the sweeps of a turn.
    pub(super) fn sweep(&mut self, sweeps: usize) {
        let (rows, columns, width) = (self.rows(), self.columns(), self.width());
        let mut plane = Plane {
            za: &mut self.za,
            width,
            z: &self.z,
        };
        let local = |range: std::ops::Range<usize>, axis: Axis| {
            range.start - axis.origin..range.end - axis.origin
        };
        for sweep in 1..=sweeps {
            plane.sweep(
                local(rows.swept(sweep), rows),
                local(columns.swept(sweep), columns),
            );
        }
    }

    /// Points in a turn of so many sweeps.
    pub(super) fn points(&self, sweeps: usize) -> u64 {
        let of = |sweep| {
            self.rows().swept(sweep).len() as u64 * self.columns().swept(sweep).len() as u64
        };
        (1..=sweeps).map(of).sum()
    }

    /// All of its values.
    pub(super) fn view(&self) -> View<'_> {
        View {
            values: &self.za,
            row: self.rows().origin,
            column: self.columns().origin,
            width: self.width(),
        }
    }

    /// Writes the values that the neighbour on one side wants.
    pub(super) fn give(&self, side: Side, border: &mut Vec<f64>) {
        let (rows, columns) = (self.rows(), self.columns());
        border.clear();
        let rectangle = Rectangle {
            rows: outgoing(rows, side.down(), self.depth),
            columns: outgoing(columns, side.across(), self.depth),
        };
        for row in rectangle.rows {
            border.extend_from_slice(self.view().of(row, rectangle.columns.clone()));
        }
    }

    /// The view of what the neighbour on a side has given.
    pub(super) fn view_of<'a>(&self, side: Side, border: &'a [f64]) -> View<'a> {
        let rows = incoming(self.rows(), side.down(), self.depth);
        let columns = incoming(self.columns(), side.across(), self.depth);
        View {
            values: border,
            row: rows.start,
            column: columns.start,
            width: columns.len(),
        }
    }

    /// Takes over what the neighbour on a side has: for a turn of `sweeps` sweeps from those above and to the left, after one of `sweeps` sweeps from
    /// those below and to the right.
    pub(super) fn take(&mut self, side: Side, from: View<'_>, sweeps: usize) {
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

    fn copy(&mut self, from: View<'_>, row: usize, columns: std::ops::Range<usize>) {
        let first =
            (row - self.rows().origin) * self.width() + columns.start - self.columns().origin;
        self.za[first..][..columns.len()].copy_from_slice(from.of(row, columns));
    }

    /// Writes what it has swept over in its last turn, of `sweeps` sweeps, into the matrix.
    pub(super) fn write(&self, sweeps: usize, za: &mut [f64], width: usize) {
        let columns = self.columns().swept(sweeps);
        for row in self.rows().swept(sweeps) {
            za[row * width..][columns.clone()]
                .copy_from_slice(self.view().of(row, columns.clone()));
        }
    }
}

/// The positions that go to a neighbour: behind, beside or in front.
pub(super) fn outgoing(axis: Axis, direction: i8, depth: usize) -> std::ops::Range<usize> {
    match direction {
        0 => axis.held(),
        1 => axis.end - 1 - depth..axis.end,
        _ => axis.start - depth..axis.start,
    }
}

/// The positions that come from a neighbour: those that it sends this way.
fn incoming(axis: Axis, direction: i8, depth: usize) -> std::ops::Range<usize> {
    match direction {
        0 => axis.held(),
        1 => axis.end - depth..axis.end,
        _ => axis.start - 1 - depth..axis.start,
    }
}
