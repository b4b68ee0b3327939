//! Files without a header, and files that are too long.

use super::*;

fn headers(text: &str) -> usize {
    check_headers(&Tree::made_up(&[("a.rs", text)])).len()
}

#[test]
fn a_file_without_a_header_is_found() {
    for text in [
        "",
        "use a;",
        "// not a doc comment\n//! late",
        "//!\n",
        "/// outer",
    ] {
        assert_eq!(headers(text), 1, "{text:?}");
    }
}

#[test]
fn a_header_at_the_top_or_below_inner_attributes_passes() {
    assert_eq!(headers("//! What it is.\n"), 0);
    assert_eq!(headers("#![cfg(loom)]\n//! What it is.\n"), 0);
}

#[test]
fn a_file_of_801_lines_is_found_and_one_of_800_is_not() {
    let lengths = |lines: usize| {
        let text = "x\n".repeat(lines);
        check_lengths(&Tree::made_up(&[("a.rs", text.as_str())])).len()
    };
    assert_eq!((lengths(LINES_MAX), lengths(LINES_MAX + 1)), (0, 1));
}
