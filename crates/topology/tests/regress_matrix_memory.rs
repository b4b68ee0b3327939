//! Small compressed files that once took hundreds of megabytes before they were rejected.
//!
//! A gzip file of 200 kB took 680 MB if it contained one endless number, and more than 10 GB if it
//! contained one endless line of numbers. Lines, fields and parties now have limits, which are
//! checked before memory is allocated.

mod matrix_support;

use std::io::Write;

use raddle_topology::Matrix;

/// Compresses `head` followed by `times` copies of `body`.
fn bomb(head: &str, body: &str, times: usize) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(head.as_bytes()).expect("memory takes it");
    let piece = body.repeat(1 << 10);
    for _ in 0..times >> 10 {
        packer.write_all(piece.as_bytes()).expect("memory takes it");
    }
    packer.finish().expect("memory takes it")
}

/// Checks that a file is rejected with this error, and without much memory.
#[track_caller]
fn refuses(file: &[u8], expected: &str) {
    let error = Matrix::from_bytes(file, "m.gz").expect_err("an error");
    assert_eq!(error.to_string(), expected);
    assert!(peak_bytes() < 256 << 20, "{} bytes", peak_bytes());
}

/// Returns the peak memory of this process, or 0 if the system does not report it.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

#[test]
fn an_endless_line_is_refused_with_its_number_and_the_limit() {
    let shown = "1".repeat(40);
    for head in [
        "0,1\n",
        "%%MatrixMarket matrix coordinate real general\n",
        "0\n",
    ] {
        let expected = format!(
            "m.gz:2:1: found a longer line that begins with \"{shown}…\", \
             expected lines of at most 33554432 bytes"
        );
        refuses(&bomb(head, "1", 80 << 20), &expected);
    }
    // Uncompressed files have the same limit.
    let mut plain = b"0,1\n".to_vec();
    plain.resize(34 << 20, b'1');
    let error = Matrix::from_bytes(&plain, "m").expect_err("an error");
    let text = error.to_string();
    assert!(
        text.ends_with("expected lines of at most 33554432 bytes"),
        "{text}"
    );
}

#[test]
fn a_line_of_endless_fields_is_refused() {
    let expected = "found a row of more than 32768 fields, \
                    expected at most 32768, the columns of the largest matrix as CSV";
    refuses(&bomb("", "0,", 4 << 20), &format!("m.gz:1:1: {expected}"));
    refuses(&bomb("", "0 ", 4 << 20), &format!("m.gz:1:1: {expected}"));
    refuses(
        &bomb("0,1\n", "0,", 4 << 20),
        &format!("m.gz:2:1: {expected}"),
    );
}

#[test]
fn more_parties_than_the_file_can_describe_are_refused() {
    let head = "%%MatrixMarket matrix coordinate real general\n";
    let file = bomb(&format!("{head}9000000 9000000 0\n"), "%\n", 10 << 20);
    refuses(
        &file,
        "m.gz:2:1: found \"9000000\", expected a number of rows from 0 to 1048576",
    );
    let file = bomb("0\n9000000 0\n0 000\n", "0\n", 9_000_000);
    refuses(
        &file,
        "m.gz:2:1: found \"9000000\", expected a number of vertices from 0 to 1048576",
    );
}

#[test]
fn a_dense_matrix_of_zeros_is_read_although_it_compresses_well() {
    let order = 1 << 10;
    let row = format!("0{}\n", ",0".repeat(order - 1));
    let file = bomb("", &row, order);
    assert!(file.len() < 16 << 10, "{} bytes", file.len());
    let matrix = Matrix::from_bytes(&file, "m").expect("a matrix");
    assert_eq!((matrix.order(), matrix.entry_count()), (order, 0));
}
