//! What the kernel starts from.

use super::values::Coefficients;
use crate::random;

/// A matrix of so many rows and columns, in a frame of fixed values, and its coefficients.
///
/// Everything is generated, as in the classic loops: values and `zz` are evenly spread over [0, 1), the other coefficients over [0, 1/4), so that
/// what a point takes from its neighbours is less than what they have, and nothing grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Rows that are swept over, without the frame.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// The same seed, the same numbers.
    pub seed: u64,
}

/// Numbers a position has: its value and its coefficients.
const NUMBERS: u64 = 6;

impl Input {
    /// The value in a row and a column, from 0 to the number of them and one more: the first and the last are the frame.
    #[must_use]
    pub fn value(&self, row: usize, column: usize) -> f64 {
        self.number(row, column, 0)
    }

    /// The coefficients of a point in a row and a column, counted in the same way.
    #[must_use]
    pub fn coefficients(&self, row: usize, column: usize) -> Coefficients {
        let [zr, zb, zu, zv] = [1, 2, 3, 4].map(|which| self.number(row, column, which) * 0.25);
        [zr, zb, zu, zv, self.number(row, column, 5)]
    }

    /// From 0 to below 1, in steps of 2⁻⁵³.
    fn number(&self, row: usize, column: usize, which: u64) -> f64 {
        let position = row as u64 * (self.columns as u64 + 2) + column as u64;
        let bits = random::number(self.seed, position * NUMBERS + which);
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}
