//! Pages: what they contain, and that they refer to nothing outside.

use super::*;
use crate::recording::tests_support::recording;

#[test]
fn names_of_the_program_are_escaped_and_all_sections_are_there() {
    let recording = recording(&[
        ("task", "<script>alert(1)</script>", 10, 60),
        ("wait", "wait for scope", 20, 30),
    ]);
    let page = render(&Summary::of(&recording), "a & b");
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("a &amp; b"));
    for id in [
        "utilisation",
        "forecast",
        "grain",
        "off-cpu",
        "waits",
        "messages",
        "placement",
        "profile",
    ] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
}

#[test]
fn a_page_refers_to_nothing_outside() {
    let page = render(&Summary::of(&recording(&[])), "empty");
    for outside in ["http://", "https://", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}
