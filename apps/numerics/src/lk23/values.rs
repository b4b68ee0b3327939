//! Values and coefficients, stored in pairs of rows.
//!
//! Two rows form a *pair*: the two lanes of the shortest vectors that processors have. The lower
//! row is one column behind the upper row, so entry `k` of a pair contains column `k` of its upper
//! row and column `k - 1` of its lower row. The values that are computed in the same step are
//! therefore adjacent.
//! ```text
//!               entry 0   entry 1   entry 2   entry 3
//!   row 1       1,0       1,1       1,2       -
//!   row 2       -         2,0       2,1       2,2
//! ```
//! Row 0 is the frame. It is the lower row of the first pair.

use std::ops::Range;

/// The size of a cache line of most processors in bytes.
const LINE: usize = 64;

/// The coefficients `zr`, `zb`, `zu`, `zv` and `zz` of a point.
pub type Coefficients = [f64; 5];

/// Two lanes, aligned as a vector, so that an instruction can use them without a separate load.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Lanes(pub(super) [f64; 2]);

/// The coefficients of both points of an entry.
pub(super) type PairCoefficients = [Lanes; 5];

/// Values, addressed by rows and columns from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    pub(super) entries: Vec<Lanes>,
    /// The number of entries of a pair.
    pub(super) width: usize,
}

impl Values {
    /// Creates values; `of` returns the value at a row and a column.
    pub(super) fn new(rows: usize, columns: usize, of: impl Fn(usize, usize) -> f64) -> Self {
        let width = columns + 1;
        let mut values = Self {
            entries: vec![Lanes::default(); (rows / 2 + 1) * width],
            width,
        };
        for row in 0..rows {
            values.write(row, 0, (0..columns).map(|column| of(row, column)));
        }
        values
    }

    /// Returns one number of each cache line.
    pub(super) fn lines(&self) -> impl Iterator<Item = f64> {
        const PER_LINE: usize = LINE / size_of::<Lanes>();
        self.entries
            .iter()
            .step_by(PER_LINE)
            .map(|lanes| lanes.0[0])
    }

    /// Returns the values of a part of a row.
    pub(super) fn row(
        &self,
        row: usize,
        columns: Range<usize>,
    ) -> impl ExactSizeIterator<Item = f64> {
        let (first, lane) = self.place(row, columns.start);
        let entries = &self.entries[first..][..columns.len()];
        entries.iter().map(move |lanes| lanes.0[lane])
    }

    /// Overwrites a part of a row that begins at `column`.
    pub(super) fn write(
        &mut self,
        row: usize,
        column: usize,
        values: impl ExactSizeIterator<Item = f64>,
    ) {
        let (first, lane) = self.place(row, column);
        let entries = &mut self.entries[first..][..values.len()];
        for (entry, value) in entries.iter_mut().zip(values) {
            entry.0[lane] = value;
        }
    }

    /// Returns the index of the entry of a value, and its lane.
    fn place(&self, row: usize, column: usize) -> (usize, usize) {
        let (pair, lane) = (row.div_ceil(2), (row + 1) % 2);
        (pair * self.width + column + lane, lane)
    }
}

/// Coefficients. The value at row `r` and column `c` belongs to the coefficients at row `r - 1` and
/// column `c - 1`.
#[derive(Clone, Debug, Default)]
pub(super) struct Paired {
    pub(super) entries: Vec<PairCoefficients>,
    /// The number of entries of a pair.
    pub(super) width: usize,
}

impl Paired {
    /// Creates coefficients; `of` returns those at a row and a column, counted from 0.
    pub(super) fn new(
        rows: usize,
        columns: usize,
        of: impl Fn(usize, usize) -> Coefficients,
    ) -> Self {
        let width = columns + 1;
        let mut entries = vec![PairCoefficients::default(); rows.div_ceil(2) * width];
        for row in 0..rows {
            for column in 0..columns {
                let entry = &mut entries[row / 2 * width + column + row % 2];
                for (lanes, number) in entry.iter_mut().zip(of(row, column)) {
                    lanes.0[row % 2] = number;
                }
            }
        }
        Self { entries, width }
    }

    /// Returns at least one number of each cache line. An entry spans at most two cache lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = f64> {
        self.entries
            .iter()
            .flat_map(|[first, .., last]| [first.0[0], last.0[1]])
    }
}
