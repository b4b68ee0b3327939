//! Helpers for tests that parse matrices or expect errors.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::Write;

use raddle_topology::Matrix;

/// Parses a matrix from a file with the name "m".
pub(crate) fn read(text: &str) -> Matrix {
    Matrix::from_bytes(text.as_bytes(), "m").unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// Checks that a text is rejected with this error.
#[track_caller]
pub(crate) fn refuses(text: &str, expected: &str) {
    let error = Matrix::from_bytes(text.as_bytes(), "m").expect_err("an error");
    assert_eq!(error.to_string(), expected);
}

/// Returns all entries of a matrix, row by row.
pub(crate) fn dense(matrix: &Matrix) -> Vec<f64> {
    let order = matrix.order();
    (0..order * order)
        .map(|index| matrix.get(index / order, index % order))
        .collect()
}

/// Returns a text compressed by `gzip`.
pub(crate) fn packed(text: &str) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(text.as_bytes()).expect("memory takes it");
    packer.finish().expect("memory takes it")
}
