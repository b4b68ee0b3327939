//! Files that name one machine or a registry.

use super::*;

#[test]
fn each_forbidden_word_is_found_in_any_file() {
    for (first, second, _) in FORBIDDEN {
        for path in ["README.md", "run", "a/src/b.rs"] {
            let text = format!("fine\nsee {first}{second} there\n");
            let found = check(&Tree::made_up(&[(path, text.as_str())]));
            assert_eq!(found.len(), 1, "{first}{second} in {path}");
            assert_eq!(found[0].line, 2);
        }
    }
}

#[test]
fn the_lock_file_may_name_registries() {
    let text = format!("source = \"{}{}\"", "crates", ".io");
    assert!(check(&Tree::made_up(&[("Cargo.lock", text.as_str())])).is_empty());
}
