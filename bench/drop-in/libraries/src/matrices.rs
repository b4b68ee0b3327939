//! Matrices: decompositions by `faer`, and a stencil with `ndarray`.

use std::mem;
use std::path::Path;

use faer::Mat;
use ndarray::{Array2, ArrayView2, Axis, Slice, Zip};

use crate::Outcome;
use crate::pictures::gray;

/// The number of steps of the stencil.
const STEPS: usize = 2_000;
/// All rows or columns but the two outer ones.
const MIDDLE: Slice = Slice {
    start: 1,
    end: Some(-1),
    step: 1,
};
/// All rows or columns but the last two.
const FIRST: Slice = Slice {
    start: 0,
    end: Some(-2),
    step: 1,
};
/// All rows or columns but the first two.
const LAST: Slice = Slice {
    start: 2,
    end: None,
    step: 1,
};

/// Computes decompositions of a picture as a matrix, which is made regular.
pub(crate) fn decompose(file: &Path) -> Outcome {
    let picture = gray(file)?;
    let side = picture.width() as usize;
    let matrix = Mat::<f64>::from_fn(side, side, |row, column| {
        let value = f64::from(picture.get_pixel(column as u32, row as u32)[0]);
        value + if row == column { 300.0 } else { 0.0 }
    });
    for _ in 0..4 {
        let svd = matrix.thin_svd().map_err(|error| format!("{error:?}"))?;
        println!("{:.6e}", svd.S().column_vector()[0]);
    }
    for _ in 0..20 {
        let lu = matrix.partial_piv_lu();
        println!("{:.6e}", lu.U()[(side - 1, side - 1)]);
        let qr = matrix.qr();
        println!("{:.6e}", qr.thin_R()[(0, 0)].abs());
    }
    Ok(())
}

/// Replaces each value of a picture by the mean of its four neighbours, again and again: Jacobi's
/// method for Laplace's equation.
pub(crate) fn relax(file: &Path) -> Outcome {
    let picture = gray(file)?;
    let side = picture.width() as usize;
    let mut now = Array2::from_shape_fn((side, side), |(row, column)| {
        f32::from(picture.get_pixel(column as u32, row as u32)[0])
    });
    let mut next = now.clone();
    for _ in 0..STEPS {
        let mut inner = next.view_mut();
        inner.slice_axis_inplace(Axis(0), MIDDLE);
        inner.slice_axis_inplace(Axis(1), MIDDLE);
        Zip::from(inner)
            .and(part(&now, FIRST, MIDDLE))
            .and(part(&now, LAST, MIDDLE))
            .and(part(&now, MIDDLE, FIRST))
            .and(part(&now, MIDDLE, LAST))
            .par_for_each(|next, &above, &below, &left, &right| {
                *next = 0.25 * (above + below + left + right);
            });
        mem::swap(&mut now, &mut next);
    }
    println!("{}", now.sum());
    Ok(())
}

/// Returns some rows and columns of an array.
fn part(values: &Array2<f32>, rows: Slice, columns: Slice) -> ArrayView2<'_, f32> {
    let mut part = values.view();
    part.slice_axis_inplace(Axis(0), rows);
    part.slice_axis_inplace(Axis(1), columns);
    part
}
