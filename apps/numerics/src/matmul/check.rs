//! What a product should be, and how far another may be from it.

use super::Input;

/// A · B by three loops, row by row.
#[must_use]
pub fn reference(input: &Input) -> Vec<f64> {
    let b = second(input);
    (0..input.rows)
        .flat_map(|row| row_of(input, &b, row).0)
        .collect()
}

/// How far a product is from the reference, where it is furthest compared with what rounding allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Row and column.
    pub at: (usize, usize),
    /// How far it is.
    pub found: f64,
    /// How far it may be: twice γ(k) · Σ|a·b|.
    pub bound: f64,
}

impl Difference {
    /// Whether it is within the bound. What is no number is not.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.found <= self.bound
    }

    /// The share of the bound, 0 where both are.
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

/// Compares a product, row by row, with the reference, on all workers. Cost: that of the reference, twice.
///
/// # Panics
/// When `c` has not as many entries as the product.
#[must_use]
pub fn difference(input: &Input, c: &[f64]) -> Difference {
    assert_eq!(
        c.len(),
        input.rows * input.columns,
        "entries of the product"
    );
    let b = second(input);
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

/// Where both have the same share of the bound, the one of which more is allowed.
fn worse(a: Difference, b: Difference) -> Difference {
    let is_worse = (b.share(), b.bound) > (a.share(), a.bound);
    if is_worse { b } else { a }
}

/// All of B, row by row.
fn second(input: &Input) -> Vec<f64> {
    (0..input.inner)
        .flat_map(|row| (0..input.columns).map(move |column| input.b(row, column)))
        .collect()
}

/// A row of the product, and of the product of the absolute values.
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
