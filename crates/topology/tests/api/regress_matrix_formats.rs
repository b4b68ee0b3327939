//! Matrices in the dialects of other programs: pandas, R, spreadsheets, Fortran, scipy, and `tar`
//! and `gzip` on tapes.
//!
//! Each of these files was once rejected although it is valid or common. The exception is a list of
//! three edges in three columns, which was read as a matrix, so that the numbers of parties became
//! bytes. Now the shape and the notation of a table are detected first, and a list of edges is
//! detected by the names of its columns.

use raddle_topology::Matrix;

use crate::matrix_support::{dense, packed, read, refuses};

const THREE: [f64; 9] = [0.0, 8.0, 1.0, 16.0, 0.0, 2.0, 3.0, 4.0, 0.0];

#[test]
fn a_list_of_as_many_edges_as_columns_is_not_a_matrix() {
    let edges = read("from,to,bytes\n0,1,8\n1,2,16\n2,0,4\n");
    assert_eq!(
        dense(&edges),
        [0.0, 8.0, 0.0, 0.0, 0.0, 16.0, 4.0, 0.0, 0.0]
    );
    assert!(edges.names().is_empty());
}

#[test]
fn lists_of_edges_are_detected_by_their_column_names() {
    let expected = [0.0, 8.0, 0.0, 0.0, 0.0, 16.0, 0.0, 0.0, 0.0];
    for text in [
        "Source;Target;Weight\n0;1;8\n1;2;16\n",
        "src_rank\tdst_rank\tsize\n0\t1\t5\n1\t2\t16\n0\t1\t3\n",
        // Other columns, and the index that pandas writes.
        ",sender,receiver,tag,bytes\n0,0,1,9,8\n1,1,2,9,16\n",
        "\"Source\",\"Target\",\"Type\",\"Id\",\"Label\",\"Weight\"\n\
         0,1,\"Directed\",0,,8\n1,2,\"Directed\",1,,16\n",
        "bytes,destination,source\n8,1,0\n16,2,1\n",
        // A matrix of three columns does not have four rows.
        "from,to,x\n0,1,8\n1,2,16\n1,2,0\n1,2,0\n",
    ] {
        assert_eq!(dense(&read(text)), expected, "{text:?}");
    }
    let counted = read("src,dst\n0,1\n0,1\n1,0\n");
    assert_eq!(dense(&counted), [0.0, 2.0, 1.0, 0.0]);
    let named = read("src,dst,bytes\nsim,io,8\nio,\"a, b\",16\n");
    assert_eq!(named.names(), ["sim", "io", "a, b"]);
    assert_eq!((named.get(0, 1), named.get(1, 2)), (8.0, 16.0));
}

#[test]
fn a_matrix_with_such_names_is_a_matrix() {
    let matrix = read("from,to,through\n0,8,1\n16,0,2\n3,4,0\n");
    assert_eq!(dense(&matrix), THREE);
    assert_eq!(matrix.names(), ["from", "to", "through"]);
}

#[test]
fn errors_in_lists_of_edges_name_the_position() {
    refuses(
        "src,dst,bytes\n0,1,8\n1\n",
        "m:3:1: found a line of 1 field, expected 3 fields, one for each column name",
    );
    refuses(
        "src,dst,bytes\n0,1,8\n1,2,3,4\n",
        "m:3:7: found \"4\", \
         expected the end of the line after 3 fields, one for each column name",
    );
    refuses(
        "src,dst,bytes\n0,1,-8\n",
        "m:2:5: found \"-8\", expected a number from 0 to 1e30",
    );
    refuses(
        "src,dst,bytes\n0,4000000000,8\n",
        "m:2:3: found \"4000000000\", expected a party from 0 to 1048575, or a name; \
         a name that looks like a number must be quoted",
    );
    refuses(
        "src,dst,bytes\na,b,8\n,a,1\n",
        "m:3:1: found nothing, expected a party",
    );
}

#[test]
fn names_may_be_numbers() {
    for text in [
        ",0,1,2\n0,0,8,1\n1,16,0,2\n2,3,4,0\n",
        "rank,0,1,2\n0,0,8,1\n1,16,0,2\n2,3,4,0\n",
        "0,1,2\n0,8,1\n16,0,2\n3,4,0\n",
        "0,0,8,1\n1,16,0,2\n2,3,4,0\n",
        "1,0,8,1\n2,16,0,2\n3,3,4,0\n",
        "\"0\",\"1\",\"2\"\n0,8,1\n16,0,2\n3,4,0\n",
    ] {
        assert_eq!(dense(&read(text)), THREE, "{text:?}");
    }
    let named = read(",10,20,30\n10,0,8,1\n20,16,0,2\n30,3,4,0\n");
    assert_eq!(
        (dense(&named), named.names()),
        (THREE.to_vec(), &["10", "20", "30"].map(String::from)[..])
    );
    let named = read("\"10\",\"20\"\n0,8\n16,0\n");
    assert_eq!(named.names(), ["10", "20"]);
}

#[test]
fn a_square_table_has_no_names() {
    let plain = read("0,1,2\n1,0,8\n2,4,0\n");
    assert_eq!(dense(&plain), [0.0, 1.0, 2.0, 1.0, 0.0, 8.0, 2.0, 4.0, 0.0]);
    refuses(
        "0,1\n1,0\n1,0\n",
        "m:3:1: found \"1\", expected the end of the file after 2 rows of 2 numbers",
    );
    refuses(
        ",8\n16,0\n",
        "m:1:1: found nothing, expected a number from 0 to 1e30",
    );
    refuses(
        ",0,1,2\n0,0,8,1\n1,16,0\n2,3,4,0\n",
        "m:3:1: found a row of 2 numbers, expected 3 numbers, one for each name",
    );
}

#[test]
fn tables_written_by_r_are_read() {
    for text in [
        "\"\",\"a\",\"b\"\n\"a\",0,8\n\"b\",16,0\n",
        "\"a\" \"b\"\n\"a\" 0 8\n\"b\" 16 0\n",
        "\"a\" \"b\"\n\"1\" 0 8\n\"2\" 16 0\n",
    ] {
        let matrix = read(text);
        assert_eq!(dense(&matrix), [0.0, 8.0, 16.0, 0.0], "{text:?}");
        assert_eq!(matrix.names(), ["a", "b"], "{text:?}");
    }
}

#[test]
fn values_may_be_quoted_and_have_thousands_separators() {
    assert_eq!(
        dense(&read("\"0\",\"8\"\n\"16\",\" 0 \"\n")),
        [0.0, 8.0, 16.0, 0.0]
    );
    for text in [
        "0,\"1,024\"\n\"2,048,000.5\",0\n",
        "0\t1,024\n2,048,000.5\t0\n",
        "0;1,024\n2,048,000.5;0\n",
        "0;1.024\n2.048.000,5;0\n",
        "0;1 024\n2\u{202f}048\u{202f}000,5;0\n",
        "0,1'024\n2'048'000.5,0\n",
    ] {
        assert_eq!(
            dense(&read(text)),
            [0.0, 1024.0, 2_048_000.5, 0.0],
            "{text:?}"
        );
    }
    refuses(
        "0,\"1,0245\"\n\"2,048\",\"1,2,3\"\n",
        "m:2:10: found \"1,2,3\", expected a number from 0 to 1e30",
    );
    refuses(
        "0;8,5\n16.25;0\n",
        "m:2:1: found \"16.25\", expected a number from 0 to 1e30",
    );
}

#[test]
fn decimals_may_follow_a_comma() {
    for text in [
        "0;8,5\n16,25;0\n",
        "\u{feff}0;8,5\r\n16,25;0\r\n",
        "sep=;\n0;8,5\n16,25;0\n",
        "0\t8,5\n16,25\t0\n",
        "\"0\",\"8,5\"\n\"16,25\",\"0\"\n",
        "0;8,5E+0\n1,625E+1;0\n",
    ] {
        assert_eq!(dense(&read(text)), [0.0, 8.5, 16.25, 0.0], "{text:?}");
    }
    // Between semicolons, a point is a decimal point as long as no number has a comma.
    assert_eq!(dense(&read("0;8.5\n16.25;0\n")), [0.0, 8.5, 16.25, 0.0]);
}

#[test]
fn cells_that_pad_the_table_are_ignored() {
    let text = "a,b,,\n0,8,,\n16,0,,\n,,,\n,,,\n";
    assert_eq!(dense(&read(text)), [0.0, 8.0, 16.0, 0.0]);
}

#[test]
fn matrix_market_is_read_like_in_scipy() {
    let head = "%%MatrixMarket matrix coordinate";
    for text in [
        format!("{head} unsigned-integer general\n2 2 1\n1 2 8\n"),
        format!("{head} real general\n2 2 1\n1 2 8.0D+00\n"),
        format!("{head} real general\n2 2 1\n1 2 .8d1\n"),
        "%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 8\n".to_owned(),
        "%%matrixmarket MATRIX Coordinate REAL General\n2 2 1\n1 2 8\n".to_owned(),
    ] {
        assert_eq!(dense(&read(&text)), [0.0, 8.0, 0.0, 0.0], "{text:?}");
    }
    let both = read(&format!("{head} real hermitian\n3 3 2\n2 1 8\n3 1 4\n"));
    assert_eq!(dense(&both), [0.0, 8.0, 4.0, 8.0, 0.0, 0.0, 4.0, 0.0, 0.0]);
    let pattern = read("%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 1\n");
    assert_eq!(
        dense(&pattern),
        [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    );
    let mut latin = format!("{head} real general\n% by M").into_bytes();
    latin.extend(b"\xfcller\n2 2 1\n1 2 8\n");
    let matrix = Matrix::from_bytes(&latin, "m").expect("a comment in Latin-1");
    assert_eq!(matrix.get(0, 1), 8.0);
    refuses(
        &format!("{head} real general\n2 2 1\n1 2 8.0D+zz\n"),
        "m:3:5: found \"8.0D+zz\", expected a number from 0 to 1e30",
    );
    refuses(
        &format!("{head} real skew-symmetric\n2 2 1\n2 1 8\n"),
        "m:1:39: found \"skew-symmetric\", expected general or symmetric or hermitian",
    );
}

#[test]
fn compressed_files_may_end_in_zeros() {
    let mut packed = packed("0,8\n16,0\n");
    packed.extend([0; 100]);
    let matrix = Matrix::from_bytes(&packed, "m").expect("zeros are no data");
    assert_eq!(dense(&matrix), [0.0, 8.0, 16.0, 0.0]);
}

#[test]
fn names_survive_writing_and_reading() {
    for names in [
        ["", "b"],
        ["3", "4"],
        [" a ", "b\"c"],
        ["-1", "2.5"],
        ["b", ""],
    ] {
        let mut matrix = Matrix::new(2)
            .with_names(names.map(String::from).to_vec())
            .expect("two");
        matrix.add(0, 1, 40.0);
        let again = Matrix::from_bytes(matrix.to_csv().as_bytes(), "m").expect("its own CSV");
        assert_eq!(again, matrix, "{names:?}");
    }
}
