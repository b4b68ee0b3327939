//! Parties of a list of edges that are numbers, but not indices.
//!
//! A party `-1` or `1.5` was once treated as a name. Then all other parties became names too, and
//! `7` became the party that appears first. A wrong number is now an error that names its position
//! and the remedy.

use crate::matrix_support::{read, refuses};

const EXPECTED: &str =
    "expected a party from 0 to 1048575, or a name; a name that looks like a number must be quoted";

#[test]
fn a_number_that_is_not_an_index_is_an_error_with_its_position() {
    for (party, shown) in [
        ("-1", "-1"),
        ("1.5", "1.5"),
        ("+2.0", "+2.0"),
        ("1e3", "1e3"),
        ("  -7", "-7"),
        ("1048576", "1048576"),
        ("99999999999999999999", "99999999999999999999"),
    ] {
        let column = 3 + party.len() - shown.len();
        refuses(
            &format!("src,dst,bytes\n0,1,8\n1,{party},8\n"),
            &format!("m:3:{column}: found {shown:?}, {EXPECTED}"),
        );
    }
    refuses(
        "src;dst;bytes\n0;1;8,5\n1,5;0;8,5\n",
        &format!("m:3:1: found \"1,5\", {EXPECTED}"),
    );
}

#[test]
fn a_wrong_number_beside_names_is_an_error_too() {
    refuses(
        "src,dst,bytes\nsim,io,8\nio,-1,16\n",
        &format!("m:3:4: found \"-1\", {EXPECTED}"),
    );
    refuses(
        "src,dst,bytes\nsim,1.5,8\n",
        &format!("m:2:5: found \"1.5\", {EXPECTED}"),
    );
}

#[test]
fn names_that_resemble_numbers_are_names() {
    for names in [
        ["node-1", "node-2"],
        ["-x", "+y"],
        ["10.0.0.1", "10.0.0.2"],
        ["nan", "inf"],
        ["3e10", "a4f1"],
        ["7", "sim"],
        ["\"-1\"", "\"1.5\""],
        ["\"4000000000\"", "\"5000000000\""],
    ] {
        let [from, to] = names;
        let matrix = read(&format!("src,dst,bytes\n{from},{to},8\n"));
        let expected = names.map(|name| name.trim_matches('"').to_owned());
        assert_eq!(matrix.names(), expected);
        assert_eq!((matrix.order(), matrix.get(0, 1)), (2, 8.0));
    }
    // Some programs quote all fields.
    let numbers = read("\"src\",\"dst\",\"bytes\"\n\"1\",\"0\",\"8\"\n");
    assert!(numbers.names().is_empty());
    assert_eq!(numbers.get(1, 0), 8.0);
}
