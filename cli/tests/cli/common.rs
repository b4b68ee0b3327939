//! Helpers that the tests of the program share: temporary folders, runs of the real binary, and
//! checks of its output.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A folder that is removed when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes a folder. `name` must differ between tests.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("raddle-cli-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    /// Returns the path of a file in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file into the folder and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("a file in a temporary folder");
        path
    }

    /// Returns the names of all files and folders in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .expect("the folder is there")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A test that failed may have left the folder in any state.
        let _gone = fs::remove_dir_all(&self.0);
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

/// Returns a command that runs the program without `RADDLE_` variables, and with a fixed width of
/// its help.
pub(crate) fn raddle() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RADDLE_") {
            command.env_remove(name);
        }
    }
    command.env("COLUMNS", "100").stdin(Stdio::null());
    command
}

/// The output and the exit code of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Standard output.
    pub(crate) output: String,
    /// Standard error.
    pub(crate) errors: String,
    /// The exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            output: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            errors: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
            code: output.status.code(),
        }
    }
}

/// Runs the program.
pub(crate) fn run(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Outcome {
    raddle()
        .args(arguments)
        .output()
        .expect("the program starts")
        .into()
}

/// Runs the program, expects success and nothing on standard error, and returns its output.
#[track_caller]
pub(crate) fn run_well(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    let outcome = run(arguments);
    assert_eq!(
        (outcome.code, outcome.errors.as_str()),
        (Some(0), ""),
        "{outcome:?}"
    );
    outcome.output
}

/// Runs the program, expects exit code 1 and one line on standard error, and returns that line.
#[track_caller]
pub(crate) fn run_badly(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    let outcome = run(arguments);
    expect_one_line(&outcome);
    outcome.errors
}

/// Expects exit code 1, nothing on standard output and one line that begins with `error: `.
#[track_caller]
pub(crate) fn expect_one_line(outcome: &Outcome) {
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.errors.starts_with("error: "), "{outcome:?}");
    assert_eq!(outcome.errors.matches('\n').count(), 1, "{outcome:?}");
    assert!(outcome.errors.ends_with('\n'), "{outcome:?}");
    assert!(!outcome.errors.contains("panicked"), "{outcome:?}");
}

/// A small valid mesh: a tetrahedron as an OBJ file.
pub(crate) const TETRAHEDRON: &str =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// Parses the only line as an object, and checks its schema and its keys.
#[track_caller]
pub(crate) fn json(text: &str) -> Value {
    assert_eq!(
        text.matches('\n').count(),
        1,
        "one object on one line: {text}"
    );
    let value = serde_json::from_str(text).expect("JSON");
    assert_eq!(check_object(&value), Ok(()), "{value}");
    value
}

/// Checks an object that a command prints. Returns an error for a wrong schema, or for a key that
/// is not made of plain words.
pub(crate) fn check_object(value: &Value) -> Result<(), String> {
    let schema = value.get("schema");
    if schema != Some(&Value::from(1)) {
        return Err(format!("found the schema {schema:?}; expected 1"));
    }
    check_keys(value)
}

fn check_keys(value: &Value) -> Result<(), String> {
    match value {
        Value::Array(values) => values.iter().try_for_each(check_keys),
        Value::Object(entries) => entries.iter().try_for_each(|(key, value)| {
            if !is_plain(key) {
                return Err(format!("found the key {key:?}; expected plain words"));
            }
            check_keys(value)
        }),
        _ => Ok(()),
    }
}

/// Returns true for words of lower-case characters and digits, joined by `_`. A single character is
/// a word only if it is a digit, the unit of seconds or an axis of a figure.
fn is_plain(key: &str) -> bool {
    let is_word = |word: &str| {
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_symbol = word.len() == 1 && !"sxy0123456789".contains(word);
        !word.is_empty() && word.chars().all(is_allowed) && !is_symbol
    };
    key.starts_with(|first: char| first.is_ascii_lowercase()) && key.split('_').all(is_word)
}

/// Checks that each path of keys, such as `a.b`, leads to a value that is not null.
#[track_caller]
pub(crate) fn has(value: &Value, paths: &[&str]) {
    for path in paths {
        let pointer = format!("/{}", path.replace('.', "/"));
        let found = value.pointer(&pointer);
        assert!(
            found.is_some_and(|found| !found.is_null()),
            "{path} is missing in {value}"
        );
    }
}
