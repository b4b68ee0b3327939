//! The contents of matrices, and the formats that can be read.

use raddle_topology::Matrix;

use crate::matrix_support::{dense, packed, read, refuses};

#[test]
fn entries_are_added_in_any_order() {
    let mut matrix = Matrix::new(3);
    for (from, to, bytes) in [
        (0, 2, 1.0),
        (0, 0, 2.0),
        (0, 1, 3.0),
        (0, 2, 4.0),
        (2, 1, 0.0),
    ] {
        matrix.add(from, to, bytes);
    }
    let entries: Vec<_> = matrix.entries().collect();
    assert_eq!(entries, [(0, 0, 2.0), (0, 1, 3.0), (0, 2, 5.0)]);
    assert_eq!((matrix.get(7, 0), matrix.get(0, 7)), (0.0, 0.0));
}

#[test]
fn csv_may_have_any_separator_and_names_and_comments() {
    for text in [
        "0,1\n2,0\n",
        "0;1\n2;0",
        "0\t1\n2\t0\n",
        " 0 1\n 2  0 \n",
        "# x\n0, 1,\n\n2, 0,\n",
    ] {
        assert_eq!(dense(&read(text)), [0.0, 1.0, 2.0, 0.0], "{text:?}");
    }
    let named = read("a,\"b c\"\n0,1e3\n2,0\n");
    assert_eq!((named.name(0), named.name(1)), (Some("a"), Some("b c")));
    let named = read("\"a,b\"; 5\" disk\n0;1\n2;0\n");
    assert_eq!(
        (named.name(0), named.name(1)),
        (Some("a,b"), Some("5\" disk"))
    );
    let named = read(",a,b\na,0,1\nb,2,0\n");
    assert_eq!((named.name(1), named.get(1, 0)), (Some("b"), 2.0));
    let named = read("from,a,b\na,0,1\nb,2,0\n");
    assert_eq!(
        (named.order(), named.name(0), named.get(1, 0)),
        (2, Some("a"), 2.0)
    );
}

#[test]
fn errors_in_csv_name_the_position() {
    refuses(
        "0,1\n2\n",
        "m:2:1: found a row of 1 number, expected 2 numbers as in the rows before",
    );
    refuses(
        "0,1\n2,NaN\n",
        "m:2:3: found \"NaN\", expected a number from 0 to 1e30",
    );
    refuses(
        "0,-1\n2,0\n",
        "m:1:3: found \"-1\", expected a number from 0 to 1e30",
    );
    refuses(
        "0,inf\n2,0\n",
        "m:1:3: found \"inf\", expected a number from 0 to 1e30",
    );
    refuses(
        "0,1\n2,x\n",
        "m:2:3: found \"x\", expected a number from 0 to 1e30",
    );
    refuses(
        "0,,1\n2,0,0\n1,1,1",
        "m:1:3: found nothing, expected a number from 0 to 1e30",
    );
    refuses(
        "0,1\n",
        "m:1:4: found the end of the file, expected 2 rows to match the columns, not 1",
    );
    refuses(
        "",
        "m:1:1: found the end of the file, \
         expected a matrix as CSV, Matrix Market file or Scotch graph",
    );
    let error = Matrix::from_bytes(b"0,1\n2,\xff\n", "m").expect_err("an error");
    assert_eq!(
        error.to_string(),
        "m:2:3: found the byte 0xff, expected a text in UTF-8"
    );
}

#[test]
fn matrix_market_files_of_every_kind_are_read() {
    let head = "%%MatrixMarket matrix";
    let general = read(&format!(
        "{head} coordinate real general\n% x\n2 2 2\n1 2 1.5\n2 1 2\n"
    ));
    assert_eq!(dense(&general), [0.0, 1.5, 2.0, 0.0]);
    let symmetric = read(&format!(
        "{head} coordinate integer symmetric\n2 2 2\n2 1 3\n2 2 4\n"
    ));
    assert_eq!(dense(&symmetric), [0.0, 3.0, 3.0, 4.0]);
    let pattern = read(&format!("{head} coordinate pattern general\n2 2 1\n1 2\n"));
    assert_eq!(dense(&pattern), [0.0, 1.0, 0.0, 0.0]);
    let array = read(&format!("{head} array real general\n2 2\n0\n2\n1\n0\n"));
    assert_eq!(dense(&array), [0.0, 1.0, 2.0, 0.0]);
    let half = read(&format!("{head} array real symmetric\n2 2\n5 2 6\n"));
    assert_eq!(dense(&half), [5.0, 2.0, 2.0, 6.0]);
}

#[test]
fn errors_in_matrix_market_files_name_the_position() {
    let head = "%%MatrixMarket matrix";
    refuses(
        &format!("{head} coordinate complex general\n"),
        "m:1:34: found \"complex\", \
         expected real or integer or unsigned-integer or double or pattern",
    );
    refuses(
        &format!("{head} coordinate real general\n2 3 1\n"),
        "m:2:3: found \"3\", expected as many columns as rows, 2",
    );
    refuses(
        &format!("{head} coordinate real general\n2 2 1\n3 1 1\n"),
        "m:3:1: found \"3\", expected a row from 1 to 2",
    );
    refuses(
        &format!("{head} coordinate real general\n2 2 2\n1 1 1\n"),
        "m:3:6: found the end of the file, expected 2 entries, not 1",
    );
    refuses(
        &format!("{head} coordinate real general\n4000000000 4000000000 0\n"),
        "m:2:1: found \"4000000000\", expected a number of rows from 0 to 1048576",
    );
    refuses(
        &format!("{head} array real general\n4000 4000\n1\n"),
        "m:2:1: found \"4000\", \
         expected a number of rows that this file can hold, from 0 to 53",
    );
}

#[test]
fn scotch_graphs_are_read() {
    let plain = read("0\n3 4\n0 000\n1 1\n2 0 2\n1 1\n");
    assert_eq!(dense(&plain), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    // Numbers from 1, with loads of arcs, weights of vertices, and labels.
    let full = read("0\n2 2\n1 111\n7 5 1 30 9\n9 5 1 30 7\n");
    assert_eq!(dense(&full), [0.0, 30.0, 30.0, 0.0]);
    refuses(
        "0\n2 2\n0 000\n1 2\n1 0\n",
        "m:4:3: found \"2\", expected a vertex from 0 to 1",
    );
    refuses(
        "0\n2 4\n0 000\n1 1\n1 0\n",
        "m:2:3: found \"4\", expected 2, the sum over all vertices",
    );
}

#[test]
fn compressed_files_are_decompressed() {
    let packed = packed("0,1\n2,0\n");
    assert_eq!(
        dense(&Matrix::from_bytes(&packed, "m").unwrap()),
        [0.0, 1.0, 2.0, 0.0]
    );
    let error = Matrix::from_bytes(&packed[..12], "m").expect_err("an error");
    assert!(error.to_string().starts_with("m: "), "{error}");
}

#[test]
fn the_error_of_a_missing_file_names_it() {
    let error = Matrix::read("no such matrix")
        .expect_err("an error")
        .to_string();
    assert!(error.starts_with("no such matrix: "), "{error}");
    assert!(
        error.ends_with("; expected a matrix as CSV, Matrix Market file or Scotch graph"),
        "{error}"
    );
}

#[test]
fn rows_can_be_reversed_and_parties_named() {
    let matrix = read("0,1\n2,0\n").with_rows_reversed();
    assert_eq!(dense(&matrix), [2.0, 0.0, 0.0, 1.0]);
    let error = matrix
        .with_names(vec!["a".to_owned()])
        .expect_err("an error");
    assert_eq!(
        error.to_string(),
        "found 1 names, expected 2, one for each party"
    );
    let error = Matrix::from_dense(2, &[1.0; 3]).expect_err("an error");
    assert_eq!(
        error.to_string(),
        "found 3 numbers, expected the square of 2 for as many parties"
    );
}
