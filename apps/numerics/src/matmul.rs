//! Matrix products with locations: C = A · B, where the columns of B circulate among the rows.
//!
//! Each *row task* owns some rows of A and of C. B is cut into the same number of column blocks.
//! Each block is in a location, and each row task has one such location. In a turn, each row task
//! multiplies its rows with the block in its location. Then every block moves to the location of
//! the next row task. After as many turns as there are blocks, each row task has used all of them.
//! A block moves between locations as a pointer, so no part of B is copied.
//!
//! The blocks move by a chain of swaps, `0 ↔ 1`, `1 ↔ 2`, … up to the last, which takes the first
//! block to the end. Each swap is an operation, declared after all products. A row task waits only
//! for the previous row tasks and for the next one, so row tasks may be one turn apart.
//!
//! | item | method | purpose |
//! |---|---|---|
//! | [`reference()`] | three loops | the reference result |
//! | [`Product`] | row tasks and locations | parallel products |
//!
//! # Accuracy
//! A block product sums in a different order than the three loops, so the results differ. The
//! difference is at most [`Difference::bound`]: for a sum of k products, each of the two results is
//! within γ(k) · Σ|a·b| of the exact value, where γ(k) = k·u / (1 - k·u) and u = 2⁻⁵³.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. Inria
//! RR-8993, 2016, section 5.2 and figure 4. The bound: N. Higham: Accuracy and Stability of
//! Numerical Algorithms, 2nd ed. 2002, section 3.5.

mod check;
mod gemm;
mod program;
mod sketch;

pub use check::{Difference, difference, reference};
pub use gemm::{BLOCK_PRODUCT, Factor, multiply_add};
pub use program::{Product, Ran};

use crate::random;

/// The factors of a product: A has `rows` × `inner` entries, and B has `inner` × `columns`. The
/// entries are generated, uniformly distributed over [-1, 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The number of rows of A and of C.
    pub rows: usize,
    /// The number of columns of A and of rows of B.
    pub inner: usize,
    /// The number of columns of B and of C.
    pub columns: usize,
    /// The seed. The same seed generates the same entries.
    pub seed: u64,
}

impl Input {
    /// Returns an entry of A.
    #[must_use]
    pub fn a(&self, row: usize, column: usize) -> f64 {
        self.number((row * self.inner + column) as u64 * 2)
    }

    /// Returns an entry of B.
    #[must_use]
    pub fn b(&self, row: usize, column: usize) -> f64 {
        self.number((row * self.columns + column) as u64 * 2 + 1)
    }

    /// Returns the number of floating-point operations of the product.
    #[must_use]
    pub fn flops(&self) -> f64 {
        2.0 * self.rows as f64 * self.inner as f64 * self.columns as f64
    }

    /// Returns the total size of the three matrices in bytes.
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
