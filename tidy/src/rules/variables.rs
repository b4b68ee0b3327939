//! Every environment variable that the source code reads is in the list of known variables.
//!
//! A program warns about variables that are not in the list, so a variable that is missing there
//! works and is reported as one that does not.

use crate::tree::{Finding, SourceFile, Tree};

/// The file that holds the list.
const LIST: &str = "crates/runtime/src/config/variables.rs";
/// The text before the list, and the text at its end.
const LIST_START: &str = "const KNOWN: ";
const LIST_END: &str = "];";
/// The beginning of a literal with the name of a variable. It is written in two halves so that this
/// file passes its own rule.
const OPENING: (&str, &str) = ("\"RAD", "DLE_");
/// Names with this start are for the tests of Raddle alone, and known.
const TEST_START: &str = "TEST_";
/// Calls that read a variable.
const READS: [&str; 2] = ["var(", "var_os("];

/// Checks the names of variables: in tests those that are read, in other code all that stand alone
/// in a literal.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    let Some(list) = tree.files().iter().find(|file| file.path == LIST) else {
        return vec![Finding::new(LIST, 1, "the list of known variables is gone")];
    };
    let known: Vec<&str> = known_names(&list.text);
    tree.rust_files()
        .filter(|file| file.path != LIST && !file.path.starts_with("tidy/"))
        .flat_map(|file| check_file(file, &known))
        .collect()
}

fn check_file<'file>(
    file: &'file SourceFile,
    known: &'file [&str],
) -> impl Iterator<Item = Finding> + 'file {
    let unknown = names(&file.text).filter(|&(at, name)| {
        let before = &file.text[..at];
        let counts = !file.is_test() || READS.iter().any(|read| before.ends_with(read));
        counts && !name.starts_with(TEST_START) && !known.contains(&name)
    });
    unknown.map(|(at, name)| {
        let line = file.text[..at].matches('\n').count() + 1;
        let what = format!("variable …{name} is not in the list of {LIST}");
        Finding::new(&file.path, line, what)
    })
}

fn known_names(text: &str) -> Vec<&str> {
    let list = text.split_once(LIST_START);
    let list = list.and_then(|(_, rest)| rest.split_once(LIST_END));
    let list = list.map_or("", |(list, _)| list);
    names(list).map(|(_, name)| name).collect()
}

/// Returns the literals that consist only of the name of a variable: the position of each, and the
/// name without its start.
fn names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let opening = format!("{}{}", OPENING.0, OPENING.1);
    let begin = opening.len();
    text.match_indices(&opening)
        .map(|(at, _)| at)
        .collect::<Vec<_>>()
        .into_iter()
        .filter_map(move |at| {
            let (name, _) = text[at + begin..].split_once('"')?;
            let is_name = |character: char| character.is_ascii_uppercase() || character == '_';
            name.chars().all(is_name).then_some((at, name))
        })
}

#[cfg(test)]
mod tests;
