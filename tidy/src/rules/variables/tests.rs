//! Names that are in the list, and names that are not.

use super::*;

const KNOWN: &str =
    "const KNOWN: &[&str] = &[\n \"RADDLE_POOL\",\n \"RADDLE_NODES\",\n];\n\"RADDLE_LATER\"\n";

fn findings(path: &str, text: &str) -> Vec<Finding> {
    check(&Tree::made_up(&[(LIST, KNOWN), (path, text)]))
}

#[test]
fn unknown_name_in_code_is_found() {
    let text = "fn a() {\n    read(\"RADDLE_LATER\");\n}\n";
    let found = findings("cli/src/a.rs", text);
    assert_eq!(found.len(), 1);
    assert_eq!((&*found[0].path, found[0].line), ("cli/src/a.rs", 2));
}

#[test]
fn known_names_and_other_texts_pass() {
    for text in [
        "read(\"RADDLE_POOL\"); read(\"RADDLE_NODES\")",
        "read(\"RADDLE_TEST_CHILD\")",
        "say(\"RADDLE_LATER is not read\")",
        "// RADDLE_LATER",
    ] {
        assert_eq!(findings("cli/src/a.rs", text), []);
    }
}

#[test]
fn tests_may_set_names_that_nothing_reads() {
    let path = "cli/tests/a.rs";
    assert_eq!(findings(path, "command.env(\"RADDLE_LATER\", \"1\")"), []);
    for read in [
        "env::var(\"RADDLE_LATER\")",
        "env::var_os(\"RADDLE_LATER\")",
    ] {
        assert_eq!(findings(path, read).len(), 1, "{read}");
    }
}

#[test]
fn list_that_is_gone_is_found() {
    assert_eq!(check(&Tree::made_up(&[])).len(), 1);
}
