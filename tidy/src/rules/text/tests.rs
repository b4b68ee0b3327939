//! Made-up texts that break the rule, and some that keep it.

use super::*;

fn findings(path: &str, text: &str) -> Vec<String> {
    let found = check(&Tree::made_up(&[(path, text)]));
    found.iter().map(ToString::to_string).collect()
}

fn expect_one(text: &str, line: usize, part: &str) {
    let found = findings("crates/a/src/one.rs", text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(&format!(".rs:{line}: ")), "{}", found[0]);
    assert!(found[0].contains(part), "{}", found[0]);
}

#[test]
fn plain_text_has_no_findings() {
    let text = "//! A queue.\n\n/// Returns the number of workers.\nfn worker_count() {}\n";
    assert!(findings("crates/a/src/one.rs", text).is_empty());
}

#[test]
fn a_wide_line_is_found() {
    let wide = format!("// {}\n", "x".repeat(WIDTH_MAX - 2));
    expect_one(&wide, 1, "101 columns");
}

#[test]
fn a_summary_that_says_nothing_is_found() {
    expect_one("/// What a worker has.\nstruct A;\n", 1, "\"What\"");
    // Later lines may begin as they like.
    let later = "/// The state of a worker.\n/// What it owns is dropped with it.\nstruct A;\n";
    assert!(findings("crates/a/src/one.rs", later).is_empty());
}

#[test]
fn the_summary_of_a_function_begins_with_a_verb() {
    expect_one(
        "/// The number.\npub(crate) const fn f() {}\n",
        1,
        "\"The\"",
    );
    expect_one(
        "/// True if it is.\n#[inline]\nasync fn f() {}\n",
        1,
        "\"True\"",
    );
    let attribute = "/// Its name.\n#[cfg(all(\n    a,\n    b[0]\n))]\n// Why.\nfn f() {}\n";
    expect_one(attribute, 1, "\"Its\"");
    let others = "/// The number.\nstruct A;\n\n/// Returns it.\n///\n/// Its name.\nfn f() {}\n";
    assert!(findings("crates/a/src/one.rs", others).is_empty());
}

#[test]
fn persons_are_found_in_comments_and_literals() {
    let person = PERSONS[0];
    expect_one(&format!("fn f() {{}} // asks {person} runs\n"), 1, person);
    expect_one(&format!("const A: &str = \"{person} waits\";\n"), 1, person);
    // A name is no text.
    assert!(findings("crates/a/src/one.rs", &format!("let {person} = 1;\n")).is_empty());
}

#[test]
fn private_words_are_found_in_names_too() {
    let (word, usual) = PRIVATE[0];
    expect_one(&format!("fn take_{word}() {{}}\n"), 1, usual);
    let capital = format!("struct {}{}List;\n", word[..1].to_uppercase(), &word[1..]);
    expect_one(&capital, 1, usual);
}

#[test]
fn documents_may_have_wide_tables_and_programs() {
    let wide = "x ".repeat(WIDTH_MAX);
    let text = format!("| {wide} |\n\n```text\n{wide}\n```\n");
    assert!(findings("manual/a.md", &text).is_empty());
    assert_eq!(findings("manual/a.md", &wide).len(), 1);
}
