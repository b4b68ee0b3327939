//! The initial values and the coefficients of the kernel.

use super::values::Coefficients;
use crate::random;

/// A matrix in a frame of fixed values, and its coefficients.
///
/// All numbers are generated, as in the original loops. Values and `zz` are uniformly distributed
/// over [0, 1), and the other coefficients over [0, 1/4). The weights of the four neighbours of a
/// point therefore add up to less than 1, and the values do not grow without bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The number of rows that are swept over, without the frame.
    pub rows: usize,
    /// The number of columns that are swept over, without the frame.
    pub columns: usize,
    /// The seed. The same seed generates the same numbers.
    pub seed: u64,
}

/// The number of numbers of a position: its value and its coefficients.
const NUMBERS: u64 = 6;

impl Input {
    /// Returns the value at a row and a column. The first index, 0, and the last, the number of
    /// rows or columns plus one, are the frame.
    #[must_use]
    pub fn value(&self, row: usize, column: usize) -> f64 {
        self.number(row, column, 0)
    }

    /// Returns the coefficients of the point at a row and a column, which are counted as for
    /// [`value`](Self::value).
    #[must_use]
    pub fn coefficients(&self, row: usize, column: usize) -> Coefficients {
        let [zr, zb, zu, zv] = [1, 2, 3, 4].map(|which| self.number(row, column, which) * 0.25);
        [zr, zb, zu, zv, self.number(row, column, 5)]
    }

    /// Returns a number in [0, 1), a multiple of 2⁻⁵³.
    fn number(&self, row: usize, column: usize, which: u64) -> f64 {
        let position = row as u64 * (self.columns as u64 + 2) + column as u64;
        let bits = random::number(self.seed, position * NUMBERS + which);
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}
