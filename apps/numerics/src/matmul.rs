//! Matrix products by locations: C = A · B, with the columns of B going from row to row.
//!
//! Each *row task* has some rows of A and of C. B is cut into as many blocks of columns, each in a location, one before each row task. In a turn each
//! row task multiplies its rows with the block that is before it; then all blocks go one row further. After as many turns as
//! there are blocks each row has met all of them. A block goes from location to location as a pointer: nothing of B is copied.
//!
//! Going further is a chain of swaps, `0 ↔ 1`, `1 ↔ 2`, … up to the last, which takes the first block to the end: an operation each, declared behind
//! all products. A row waits for the rows before it and for the next one, and for no other, so that rows may be a turn apart.
//!
//! | | how | for |
//! |---|---|---|
//! | [`reference()`] | three loops | what is right |
//! | [`Product`] | row tasks and locations | users |
//!
//! # Exactness
//! A product of blocks sums in another order than three loops do, so results differ, by no more than [`Difference::bound`] allows: for the sum of
//! k products, each way is within γ(k) · Σ|a·b| of the exact value, with γ(k) = k·u / (1 - k·u) and u = 2⁻⁵³.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. Inria RR-8993, 2016, section 5.2 and figure
//! 4. The bound: N. Higham: Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, section 3.5.

mod check;
mod gemm;
mod program;
mod sketch;

pub use check::{Difference, difference, reference};
pub use gemm::{BLOCK_PRODUCT, Factor, multiply_add};
pub use program::{Product, Ran};

use crate::random;

/// A · B for an A of `rows` × `inner` and a B of `inner` × `columns` numbers, which are generated: evenly spread over [-1, 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Rows of A and of C.
    pub rows: usize,
    /// Columns of A, rows of B.
    pub inner: usize,
    /// Columns of B and of C.
    pub columns: usize,
    /// The same seed, the same numbers.
    pub seed: u64,
}

impl Input {
    /// Entry of A.
    #[must_use]
    pub fn a(&self, row: usize, column: usize) -> f64 {
        self.number((row * self.inner + column) as u64 * 2)
    }

    /// Entry of B.
    #[must_use]
    pub fn b(&self, row: usize, column: usize) -> f64 {
        self.number((row * self.columns + column) as u64 * 2 + 1)
    }

    /// Floating-point operations of the product.
    #[must_use]
    pub fn flops(&self) -> f64 {
        2.0 * self.rows as f64 * self.inner as f64 * self.columns as f64
    }

    /// Bytes of all three matrices.
    #[must_use]
    pub fn bytes(&self) -> u128 {
        let (rows, inner, columns) = (self.rows as u128, self.inner as u128, self.columns as u128);
        8 * (rows * inner + inner * columns + rows * columns)
    }

    fn number(&self, index: u64) -> f64 {
        let bits = random::number(self.seed, index);
        (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests;
