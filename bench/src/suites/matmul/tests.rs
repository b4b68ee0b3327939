//! A product passes with any order of summation. A product with exchanged rows or columns fails.

use raddle_numerics::matmul::reference;

use super::*;

const SIZE: usize = 64;

#[test]
fn products_with_rows_or_columns_in_another_order_fail() {
    let input = Input {
        rows: SIZE,
        inner: SIZE,
        columns: SIZE,
        seed: SEED,
    };
    let places = || (0..SIZE).flat_map(|row| (0..SIZE).map(move |column| (row, column)));
    let a: Vec<f64> = places().map(|(row, column)| input.a(row, column)).collect();
    let b: Vec<f64> = places().map(|(row, column)| input.b(row, column)).collect();
    let check = Check::of(&a, &b, SIZE);
    let expected = check.expected(&a, &b);
    let c = reference(&input);
    let passes = |c: &[f64]| check.result(c).abs_diff(expected) <= TOLERANCE;
    assert!(passes(&c));
    // Exchange the halves of the columns or rows, or neighbouring columns or rows.
    let half = SIZE / 2;
    let orders: [fn(usize) -> usize; 2] = [|at| at ^ (SIZE / 2), |at| at ^ 1];
    for order in orders {
        let columns = places().map(|(row, column)| c[row * SIZE + order(column)]);
        assert!(!passes(&columns.collect::<Vec<_>>()));
        let rows = places().map(|(row, column)| c[order(row) * SIZE + column]);
        assert!(!passes(&rows.collect::<Vec<_>>()));
    }
    let around = places().map(|(row, column)| c[row * SIZE + (column + half / 2) % SIZE]);
    assert!(!passes(&around.collect::<Vec<_>>()));
}
