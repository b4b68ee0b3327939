//! Imports of made-up crates, and the cycles and layers that they form.

use super::*;

fn level(files: &[(&str, &str)], parent: &str) -> Level {
    scope(files, &Scope::Children(parent.to_owned()))
}

fn scope(files: &[(&str, &str)], scope: &Scope) -> Level {
    let levels = levels(&Tree::made_up(files));
    let found = levels.into_iter().find(|level| level.scope == *scope);
    found.expect("the crate has such modules")
}

#[test]
fn a_chain_has_layers_and_no_cycle() {
    let files = [
        ("crates/a/src/lib.rs", "mod top;\nmod middle;\nmod low;"),
        ("crates/a/src/top.rs", "use crate::middle::{self, Thing};"),
        (
            "crates/a/src/middle.rs",
            "fn f() { crate::low::g::<u8>(); }",
        ),
        ("crates/a/src/low.rs", "use std::fmt;"),
    ];
    let level = level(&files, "");
    assert_eq!((level.module_count, level.edge_count), (3, 2));
    assert_eq!((level.layer_count, level.largest_cycle()), (3, 1));
}

#[test]
fn paths_in_lists_and_from_parents_are_imports() {
    let files = [
        (
            "crates/a/src/one.rs",
            "use crate::{two::A, three::{B as C, sub::D}};",
        ),
        ("crates/a/src/two.rs", ""),
        ("crates/a/src/three.rs", ""),
        ("crates/a/src/three/sub.rs", "use super::super::one::E;"),
    ];
    let level = level(&files, "");
    assert_eq!(level.edge_count, 3);
    assert_eq!(level.cycles, [["one", "three"]]);
}

#[test]
fn names_that_a_parent_takes_from_a_child_lead_to_the_child() {
    let files = [
        (
            "crates/a/src/p.rs",
            "pub(crate) use b::B;\nuse self::c::{C as D};",
        ),
        ("crates/a/src/p/a.rs", "use super::B;"),
        ("crates/a/src/p/b.rs", "use super::a::A;"),
        ("crates/a/src/p/c.rs", "use super::b::E;"),
        ("crates/a/src/p/d.rs", "fn f() { super::D::new() }"),
        ("crates/a/src/q.rs", "pub use crate::p::B;"),
        ("crates/a/src/lib.rs", "pub use q::B;"),
        ("crates/a/src/r.rs", "use crate::B;"),
    ];
    let inner = level(&files, "p");
    assert_eq!(inner.cycles, [["a", "b"]]);
    assert_eq!(inner.edge_count, 4);
    // `r` imports `p`, where `B` is, through the root and `q`.
    let root = level(&files, "");
    assert_eq!((root.edge_count, root.layer_count), (2, 2));
}

#[test]
fn siblings_of_a_folder_are_compared_among_themselves() {
    let files = [
        ("crates/a/src/pool.rs", ""),
        ("crates/a/src/pool/kind.rs", "use super::deque::Deque;"),
        ("crates/a/src/pool/deque.rs", "use crate::pool::kind::Kind;"),
    ];
    assert_eq!(level(&files, "pool").cycles, [["deque", "kind"]]);
    assert_eq!(level(&files, "").edge_count, 0);
}

#[test]
fn files_are_compared_across_folders() {
    let files = [
        ("crates/a/src/low.rs", "mod part;\nuse part::P;"),
        ("crates/a/src/low/part.rs", "use crate::high::user::U;"),
        ("crates/a/src/high.rs", "mod user;\nmod other;"),
        ("crates/a/src/high/user.rs", "use crate::low::part::P;"),
        ("crates/a/src/high/other.rs", "use crate::low::part::P;"),
    ];
    let files = scope(&files, &Scope::Files);
    assert_eq!(files.cycles, [["high::user", "low::part"]]);
    // `low` imports its child, too.
    assert_eq!((files.module_count, files.edge_count), (5, 4));
}

#[test]
fn a_file_and_a_child_that_import_each_other_form_a_cycle() {
    let files = |parent| {
        let files = [
            ("crates/a/src/part.rs", parent),
            ("crates/a/src/part/slots.rs", "use super::Part;"),
        ];
        scope(&files, &Scope::Files)
    };
    for parent in [
        "mod slots;\nuse slots::Slots;",
        "mod slots;\nuse self::slots::{Slots, new};",
        "mod slots;\npub use slots::Slots;",
    ] {
        let files = files(parent);
        assert_eq!(files.cycles, [["part", "part::slots"]], "{parent}");
        assert_eq!(files.edge_count, 2, "{parent}");
    }
    // A declaration alone is no import.
    assert_eq!(files("mod slots;").largest_cycle(), 1);
}

#[test]
fn a_child_that_takes_a_name_by_way_of_its_parent_imports_a_sibling() {
    let files = [
        ("crates/a/src/p.rs", "pub use low::Low;\nuse high::High;"),
        ("crates/a/src/p/low.rs", ""),
        ("crates/a/src/p/high.rs", "use super::Low;"),
    ];
    let files = scope(&files, &Scope::Files);
    assert_eq!((files.edge_count, files.largest_cycle()), (3, 1));
    assert_eq!(files.layer_count, 3);
}

#[test]
fn a_visibility_imports_nothing() {
    let files = [
        ("crates/a/src/p.rs", "use part::Part;"),
        (
            "crates/a/src/p/part.rs",
            "pub(in crate::p) struct Part;\npub(in super::super::p) fn f() {}",
        ),
    ];
    let files = scope(&files, &Scope::Files);
    assert_eq!((files.edge_count, files.largest_cycle()), (1, 1));
}

#[test]
fn a_file_in_a_large_cycle_with_its_children_is_found() {
    let names = ["a", "b", "c", "d", "e"];
    let parent: String = names.map(|name| format!("use {name}::T;\n")).concat();
    let mut files = vec![("crates/x/src/p.rs".to_owned(), parent)];
    for name in names {
        let path = format!("crates/x/src/p/{name}.rs");
        files.push((path, "use super::Parent;".to_owned()));
    }
    let files: Vec<_> = files
        .iter()
        .map(|(p, t)| (p.as_str(), t.as_str()))
        .collect();
    let found = check(&Tree::made_up(&files));
    assert_eq!(found.len(), 1);
    let text = found[0].to_string();
    assert!(text.contains("6 files import each other"), "{text}");
    assert!(text.contains("p, p::a, p::b"), "{text}");
}

#[test]
fn tests_and_comments_import_nothing() {
    let files = [
        (
            "crates/a/src/one.rs",
            "// crate::two::A\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::two::A;\n}\n",
        ),
        ("crates/a/src/one/tests.rs", "use crate::two::A;"),
        ("crates/a/src/two.rs", "use crate::one::f;"),
    ];
    assert_eq!(level(&files, "").cycles, Vec::<Vec<String>>::new());
}

#[test]
fn a_large_cycle_is_found() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let ring = |count: usize| {
        let mut files = Vec::new();
        for at in 0..count {
            let path = format!("crates/x/src/{}.rs", names[at]);
            files.push((path, format!("use crate::{}::T;", names[(at + 1) % count])));
        }
        let files: Vec<_> = files
            .iter()
            .map(|(p, t)| (p.as_str(), t.as_str()))
            .collect();
        check(&Tree::made_up(&files))
    };
    assert!(ring(CYCLE_MAX).is_empty());
    let found = ring(CYCLE_MAX + 1);
    // As modules of the root and as files.
    assert_eq!(found.len(), 2);
    for finding in found {
        assert!(finding.what.contains("a, b, c, d, e, f"), "{finding}");
    }
}

#[test]
fn functions_that_serde_calls_are_imports() {
    let files = [
        (
            "crates/a/src/one.rs",
            "#[serde(serialize_with = \"crate::two::f\")]\nstruct A;",
        ),
        ("crates/a/src/two.rs", ""),
    ];
    assert_eq!(level(&files, "").edge_count, 1);
}
