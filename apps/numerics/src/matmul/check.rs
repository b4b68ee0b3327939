//! The reference product, and the largest difference from it that rounding allows.

use super::Input;

/// Computes A · B with three loops. The result is in row-major order.
#[must_use]
pub fn reference(input: &Input) -> Vec<f64> {
    let b = matrix_b(input);
    (0..input.rows)
        .flat_map(|row| row_of(input, &b, row).0)
        .collect()
}

/// The difference between a product and the reference, at the entry where it is largest relative to
/// the bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The row and the column of the entry.
    pub at: (usize, usize),
    /// The absolute difference.
    pub found: f64,
    /// The largest difference that rounding allows: twice γ(k) · Σ|a·b|.
    pub bound: f64,
}

impl Difference {
    /// Returns true if the difference is within the bound. A NaN is not.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.found <= self.bound
    }

    /// Returns the difference relative to the bound; 0 if both are 0.
    fn share(&self) -> f64 {
        if self.found == 0.0 {
            0.0
        } else if self.found.is_nan() {
            f64::INFINITY
        } else {
            self.found / self.bound
        }
    }
}

/// Compares a product in row-major order with the reference, on all workers. Takes twice as much
/// work as the reference.
///
/// # Panics
/// If `c` has a different number of entries than the product.
#[must_use]
pub fn difference(input: &Input, c: &[f64]) -> Difference {
    assert_eq!(
        c.len(),
        input.rows * input.columns,
        "entries of the product"
    );
    let b = matrix_b(input);
    let worst_of = |row: usize| {
        let (expected, magnitude) = row_of(input, &b, row);
        let found = &c[row * input.columns..][..input.columns];
        let unit = f64::EPSILON / 2.0 * input.inner as f64;
        let differences = found.iter().zip(&expected).zip(&magnitude).enumerate();
        let differences = differences.map(|(column, ((found, expected), magnitude))| Difference {
            at: (row, column),
            found: (found - expected).abs(),
            bound: 2.0 * unit / (1.0 - unit) * magnitude,
        });
        differences.fold(NONE, worse)
    };
    raddle::map_reduce(0..input.rows, || NONE, worst_of, worse)
}

const NONE: Difference = Difference {
    at: (0, 0),
    found: 0.0,
    bound: 0.0,
};

/// Returns the difference that is larger relative to its bound. On a tie, the one with the larger
/// bound wins.
fn worse(a: Difference, b: Difference) -> Difference {
    let is_worse = (b.share(), b.bound) > (a.share(), a.bound);
    if is_worse { b } else { a }
}

/// Returns B in row-major order.
fn matrix_b(input: &Input) -> Vec<f64> {
    (0..input.inner)
        .flat_map(|row| (0..input.columns).map(move |column| input.b(row, column)))
        .collect()
}

/// Returns a row of the product, and a row of the product of the absolute values.
fn row_of(input: &Input, b: &[f64], row: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut sums, mut magnitudes) = (vec![0.0; input.columns], vec![0.0; input.columns]);
    for (at, b) in b.chunks_exact(input.columns).enumerate() {
        let a = input.a(row, at);
        for ((sum, magnitude), b) in sums.iter_mut().zip(&mut magnitudes).zip(b) {
            let product = a * b;
            *sum += product;
            *magnitude += product.abs();
        }
    }
    (sums, magnitudes)
}
