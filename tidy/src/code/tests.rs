//! The scanner on everything that could fool it.

use super::*;

fn words(text: &str) -> Vec<String> {
    code_only(text)
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

#[test]
fn comments_vanish_and_lines_stay() {
    let code = code_only("a // unsafe\n/* b\n /* nested */ c */ d\n");
    assert_eq!(code.lines().count(), 3);
    assert_eq!(
        words("a // unsafe\n/* b\n /* nested */ c */ d\n"),
        ["a", "d"]
    );
}

#[test]
fn strings_of_every_kind_vanish() {
    for text in [
        r#"x "unsafe \" unsafe" y"#,
        r##"x r#"unsafe " unsafe"# y"##,
        r#"x br"unsafe" y"#,
        r#"x b"unsafe" y"#,
        r#"x c"unsafe" y"#,
        "x \"two\nlines\" y",
    ] {
        assert_eq!(words(text), ["x", "y"], "{text}");
    }
}

#[test]
fn characters_vanish_and_lifetimes_stay() {
    assert_eq!(words(r#"x '\'' '\\' 'u' b'"' y"#), ["x", "y"]);
    assert_eq!(words("x<'a> 'outer: y"), ["x<'a>", "'outer:", "y"]);
    assert_eq!(words(r"x '\u{1F600}' y"), ["x", "y"]);
}

#[test]
fn a_name_that_ends_in_r_starts_no_raw_string() {
    assert_eq!(words(r#"for"unsafe"y"#), ["for", "y"]);
}

#[test]
fn unfinished_literals_end_with_the_text() {
    assert_eq!(words("x \"never closed"), ["x"]);
    assert_eq!(words("x /* never closed"), ["x"]);
    assert_eq!(words("x r#\"never closed\""), ["x"]);
}

#[test]
fn a_word_is_whole() {
    assert!(has_word("unsafe { }", "unsafe"));
    assert!(!has_word("forbid(unsafe_code)", "unsafe"));
    assert_eq!(
        lines_with_word("a\nb unsafe\nunsafe", "unsafe").collect::<Vec<_>>(),
        [2, 3]
    );
}
