//! What the tests of the program share: a folder of their own, the real binary, and what it said.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A folder that is gone when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes a folder; `name` tells the tests apart.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("raddle-cli-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    /// A path inside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file inside and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("a file in a temporary folder");
        path
    }

    /// The names of everything inside, sorted.
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

/// The program, with no variable of ours set and a fixed width for its help.
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

/// What a run said and how it ended.
#[derive(Debug)]
pub(crate) struct Said {
    /// Standard output.
    pub(crate) output: String,
    /// Standard error.
    pub(crate) errors: String,
    /// The exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            output: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            errors: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
            code: output.status.code(),
        }
    }
}

/// Runs the program.
pub(crate) fn run(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Said {
    raddle()
        .args(arguments)
        .output()
        .expect("the program starts")
        .into()
}

/// Runs the program and expects success and silence on standard error.
#[track_caller]
pub(crate) fn run_well(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    let said = run(arguments);
    assert_eq!((said.code, said.errors.as_str()), (Some(0), ""), "{said:?}");
    said.output
}

/// Runs the program and expects exit code 1 and one line on standard error, which is returned.
#[track_caller]
pub(crate) fn run_badly(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    let said = run(arguments);
    expect_one_line(&said);
    said.errors
}

/// Expects exit code 1, nothing on standard output and one line that begins with `error: `.
#[track_caller]
pub(crate) fn expect_one_line(said: &Said) {
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.errors.starts_with("error: "), "{said:?}");
    assert_eq!(said.errors.matches('\n').count(), 1, "{said:?}");
    assert!(said.errors.ends_with('\n'), "{said:?}");
    assert!(!said.errors.contains("panicked"), "{said:?}");
}

/// A small mesh that loads: a tetrahedron as an OBJ file.
pub(crate) const TETRAHEDRON: &str =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// Reads the one object that stands on one line, and checks its schema and its keys.
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

/// Returns what is wrong with an object that a command prints: its schema, or a key that is not made of
/// plain words.
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

/// Words of lower-case letters and digits, joined by `_`. Of single letters only the unit of seconds and the
/// axes of a figure are words.
fn is_plain(key: &str) -> bool {
    let is_word = |word: &str| {
        let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        let is_symbol = word.len() == 1 && !"sxy0123456789".contains(word);
        !word.is_empty() && word.chars().all(is_letter) && !is_symbol
    };
    key.starts_with(|first: char| first.is_ascii_lowercase()) && key.split('_').all(is_word)
}

/// Checks that each path of keys, `a.b`, leads to something that is not null.
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
