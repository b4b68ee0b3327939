//! Tests hold on a slow machine too, and none is left out in silence.

use crate::code::has_word;
use crate::tree::{Finding, SourceFile, Tree};

const CLOCK_WORDS: [&str; 3] = ["elapsed", "duration_since", "checked_duration_since"];
const ASSERTIONS: [&str; 9] = [
    "assert!(",
    "assert_eq!(",
    "assert_ne!(",
    "debug_assert!(",
    "debug_assert_eq!(",
    "debug_assert_ne!(",
    "prop_assert!(",
    "prop_assert_eq!(",
    "prop_assert_ne!(",
];

/// Checks that no test is ignored.
#[must_use]
pub fn check_ignored(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .flat_map(|file| {
            file.code
                .lines()
                .enumerate()
                .filter(|(_, line)| line.contains("#[ignore"))
                .map(|(index, _)| Finding::new(&file.path, index + 1, "a test left out in silence"))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Checks that only integration tests read real data, each in a program of its own.
///
/// Without real data, `./test` leaves out each test program that reads the variable as a whole. It
/// could leave out neither single unit tests nor a program like `tests/api`, which has a name that
/// other crates use as well.
#[must_use]
pub fn check_real_data(tree: &Tree) -> Vec<Finding> {
    let mut findings = unit_tests_on_real_data(tree);
    let programs = tree.rust_files().filter(|file| {
        let folder = file.path.strip_suffix("/main.rs");
        folder.is_some_and(|folder| folder.contains("/tests/"))
    });
    for program in programs.filter(|program| reads_real_data(tree, program)) {
        let what = "a program of several modules reads real data; expected a file under tests/";
        findings.push(Finding::new(&program.path, 1, what));
    }
    findings
}

/// Returns true if a module of a test program reads the variable.
fn reads_real_data(tree: &Tree, program: &SourceFile) -> bool {
    let folder = program.path.trim_end_matches("main.rs");
    let elsewhere = program.text.lines().filter_map(|line| {
        let path = line.strip_prefix("#[path = \"../")?.strip_suffix("\"]")?;
        let (tests, _) = folder.trim_end_matches('/').rsplit_once('/')?;
        Some(format!("{tests}/{path}"))
    });
    let elsewhere: Vec<String> = elsewhere.collect();
    let mut modules = tree.rust_files().filter(|file| {
        let path = &file.path;
        path.starts_with(folder) || elsewhere.contains(path)
    });
    modules.any(|file| {
        let mut readers = ["var(\"RADDLE_DATA\")", "var_os(\"RADDLE_DATA\")"].iter();
        readers.any(|reader| file.text.contains(reader))
    })
}

fn unit_tests_on_real_data(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| file.path.ends_with("/tests.rs") && file.path.contains("/src/"))
        // The tests of this rule speak of the variable and never read it.
        .filter(|file| !file.path.starts_with("tidy/"))
        .filter_map(|file| {
            let index = file
                .text
                .lines()
                .position(|line| line.contains("RADDLE_DATA"))?;
            let what = "a unit test on real data; expected an integration test under tests/";
            Some(Finding::new(&file.path, index + 1, what))
        })
        .collect()
}

/// Checks that no assertion is about a time that a clock measured.
///
/// Clock readings inside an assertion are found, and assertions on a variable that a clock reading
/// was bound to in the same file.
#[must_use]
pub fn check_times(tree: &Tree) -> Vec<Finding> {
    tree.rust_files()
        .filter(|file| file.is_test())
        .flat_map(check_times_of)
        .collect()
}

fn check_times_of(file: &SourceFile) -> Vec<Finding> {
    let measured = measured_variables(&file.code);
    assertions(&file.code)
        .filter(|(_, arguments)| {
            CLOCK_WORDS.iter().any(|word| has_word(arguments, word))
                || measured.iter().any(|name| has_word(arguments, name))
        })
        .map(|(at, _)| {
            let line = file.code[..at].matches('\n').count() + 1;
            Finding::new(&file.path, line, "an assertion about elapsed time")
        })
        .collect()
}

/// Returns the names in statements such as `let NAME = … elapsed() …;`.
fn measured_variables(code: &str) -> Vec<&str> {
    code.match_indices("let ")
        .filter_map(|(at, _)| {
            let statement = &code[at..at + code[at..].find(';')?];
            let (pattern, value) = statement.split_once('=')?;
            CLOCK_WORDS
                .iter()
                .any(|word| has_word(value, word))
                .then_some(pattern)
        })
        .filter_map(|pattern| {
            pattern
                .split(|character: char| !(character.is_alphanumeric() || character == '_'))
                .find(|word| !["let", "mut", ""].contains(word))
        })
        .collect()
}

/// Returns the position and the arguments of each assertion.
fn assertions(code: &str) -> impl Iterator<Item = (usize, &str)> {
    ASSERTIONS.iter().flat_map(move |opening| {
        code.match_indices(opening)
            .filter(move |&(at, _)| {
                // `debug_assert!(` also ends in `assert!(`.
                !code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
            })
            .map(move |(at, _)| (at, up_to_closing(&code[at + opening.len()..])))
    })
}

fn up_to_closing(code: &str) -> &str {
    let mut depth = 1_usize;
    for (at, character) in code.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &code[..at];
        }
    }
    code
}

#[cfg(test)]
mod tests;
