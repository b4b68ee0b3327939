//! Texts that become matrices, and the errors of those that do not.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::Write;

use raddle_topology::Matrix;

/// Reads a matrix, whose file is called "m".
pub(crate) fn read(text: &str) -> Matrix {
    Matrix::from_bytes(text.as_bytes(), "m").unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// Expects that a text is no matrix, and that the error says so in these words.
#[track_caller]
pub(crate) fn refuses(text: &str, expected: &str) {
    let error = Matrix::from_bytes(text.as_bytes(), "m").expect_err("an error");
    assert_eq!(error.to_string(), expected);
}

/// Returns all entries, row by row.
pub(crate) fn dense(matrix: &Matrix) -> Vec<f64> {
    let order = matrix.order();
    (0..order * order)
        .map(|index| matrix.get(index / order, index % order))
        .collect()
}

/// Returns a text as `gzip` packs it.
pub(crate) fn packed(text: &str) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(text.as_bytes()).expect("memory takes it");
    packer.finish().expect("memory takes it")
}
