//! The product of two blocks, by a library.
//!
//! faer's is the best of the crates there are: of `matrixmultiply`, `gemm` and `faer`, single thread, 1024 × 4096 by 4096 × 1024 on a Zen 4, it takes
//! the least processor time, by 16 and 9 %. With the feature `openblas` it is OpenBLAS's, which then has to keep to one thread
//! (`OPENBLAS_NUM_THREADS=1`): who multiplies what is decided here.

/// A factor, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Factor<'a> {
    /// Its numbers.
    pub values: &'a [f64],
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
}

/// Whose block product it is.
pub const BLOCK_PRODUCT: &str = if cfg!(feature = "openblas") {
    "OpenBLAS"
} else {
    "faer"
};

/// Adds `a · b` to columns of `c`, which has `c_width` of them: those from `first` on.
///
/// # Panics
/// When the factors do not go together, or do not fit into `c`.
pub fn multiply_add(c: &mut [f64], c_width: usize, first: usize, a: Factor<'_>, b: Factor<'_>) {
    assert_eq!(a.columns, b.rows, "columns of a, rows of b");
    assert!(
        first + b.columns <= c_width && c.len() == a.rows * c_width,
        "{} columns from {first} on, of {c_width}",
        b.columns
    );
    if a.rows > 0 && a.columns > 0 && b.columns > 0 {
        add(c, c_width, first, a, b);
    }
}

#[cfg(not(feature = "openblas"))]
fn add(c: &mut [f64], c_width: usize, first: usize, a: Factor<'_>, b: Factor<'_>) {
    use faer::linalg::matmul::matmul;
    use faer::{Accum, MatMut, MatRef, Par};

    let view = |factor: Factor<'_>| factor.values.len() == factor.rows * factor.columns;
    assert!(view(a) && view(b), "numbers of the factors");
    let c = MatMut::from_row_major_slice_mut(c, a.rows, c_width);
    let a = MatRef::from_row_major_slice(a.values, a.rows, a.columns);
    let b = MatRef::from_row_major_slice(b.values, b.rows, b.columns);
    matmul(
        c.subcols_mut(first, b.ncols()),
        Accum::Add,
        a,
        b,
        1.0,
        Par::Seq,
    );
}

#[cfg(feature = "openblas")]
fn add(c: &mut [f64], c_width: usize, first: usize, a: Factor<'_>, b: Factor<'_>) {
    use ndarray::linalg::general_mat_mul;
    use ndarray::{ArrayView2, ArrayViewMut2, Axis, Slice};

    fn view(factor: Factor<'_>) -> ArrayView2<'_, f64> {
        ArrayView2::from_shape((factor.rows, factor.columns), factor.values)
            .expect("numbers of the factors")
    }
    let mut c = ArrayViewMut2::from_shape((a.rows, c_width), c).expect("it was looked at");
    let mut c = c.slice_axis_mut(Axis(1), Slice::from(first..first + b.columns));
    general_mat_mul(1.0, &view(a), &view(b), 1.0, &mut c);
}
