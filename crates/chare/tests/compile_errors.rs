//! Compiler errors for invalid programs: the compiler reports the actual mistake, and nothing else.
//!
//! Regressions: a chare without `nodes` in an array over several nodes was only detected by the
//! first message that crossed nodes. The error for an argument that cannot be serialised named a
//! missing constant of a private type. After an error in the attribute, each use of the proxies of
//! the type was an error as well.
//!
//! The test compiles each program against this build of the library, and compares its errors and
//! their lines in full.

#![cfg(not(any(loom, shuttle)))]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// Returns the folder where cargo has put the library and all its dependencies.
fn dependencies() -> PathBuf {
    let own = env::current_exe().expect("it runs");
    own.parent().expect("it lies in a folder").to_owned()
}

/// Returns the newest build of a library, which belongs to this test.
fn library(folder: &Path, name: &str) -> PathBuf {
    let begin = format!("lib{name}-");
    let files = fs::read_dir(folder).expect("it can be read");
    let files = files.map(|file| file.expect("it can be read").path());
    let builds = files.filter(|path| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(&begin) && file.ends_with(".rlib")
    });
    let changed = |path: &PathBuf| -> SystemTime {
        let metadata = path.metadata().expect("it is there");
        metadata.modified().expect("the system knows")
    };
    builds
        .max_by_key(changed)
        .expect("it was built for this test")
}

/// Returns the errors of a program, each with its line (counted from 1) and its text.
fn errors(name: &str, program: &str) -> Vec<(usize, String)> {
    let folder = folder_of(name);
    let file = folder.join("program.rs");
    fs::write(&file, program).expect("it can be written");
    let dependencies = dependencies();
    let own = |name: &str| {
        let mut external = OsString::from(format!("{name}="));
        external.push(library(&dependencies, name));
        external
    };
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
        ])
        .args(["--error-format", "short", "--cap-lints", "allow"])
        .arg("--extern")
        .arg(own("raddle_chare"))
        .arg("-L")
        .arg(&dependencies)
        .arg("--out-dir")
        .arg(&folder)
        .arg(&file)
        .output()
        .expect("there is a compiler");
    fs::remove_dir_all(&folder).expect("it can be removed");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines = said.lines();
    let found = lines.filter_map(|line| {
        let (place, error) = line.split_once(": error")?;
        let (_, error) = error.split_once(": ")?;
        let line = place.rsplit(':').nth(1)?.parse().ok()?;
        Some((line, error.to_owned()))
    });
    let found: Vec<_> = found.collect();
    assert_eq!(found.is_empty(), output.status.success(), "{said}");
    found
}

/// Returns the folder for one program.
fn folder_of(name: &str) -> PathBuf {
    let folder = env::temp_dir().join(format!("raddle-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

/// Checks the lines of the errors of a program, and the beginnings of their texts.
#[track_caller]
fn expect_errors(name: &str, program: &str, expected: &[(usize, &str)]) {
    let found = errors(name, program);
    let is_expected = |(found, expected): (&(usize, String), &(usize, &str))| {
        found.0 == expected.0 && found.1.starts_with(expected.1)
    };
    assert!(
        found.len() == expected.len() && found.iter().zip(expected).all(is_expected),
        "found {found:#?}; expected {expected:#?}"
    );
}

#[test]
fn an_array_over_nodes_requires_chares_with_nodes() {
    const PROGRAM: &str = r#"use raddle_chare::nodes::Setup;
struct Cell;
#[raddle_chare::chare]
impl Cell {
    #[entry]
    fn receive(&mut self, _word: u32) {}
}
fn setup(setup: &Setup<'_>) {
    setup.array(4, |_| Cell);
}
"#;
    let expected = [(9, "messages to a `Cell` cannot cross nodes")];
    expect_errors("plain", PROGRAM, &expected);
    let nodes = PROGRAM.replace("::chare]", "::chare(nodes)]");
    expect_errors("nodes", &nodes, &[]);
}

#[test]
fn an_argument_that_cannot_be_serialised_names_the_missing_trait() {
    const PROGRAM: &str = r#"struct Point(f64, f64);
struct Cell;
#[raddle_chare::chare(nodes)]
impl Cell {
    #[entry]
    fn receive(
        &mut self,
        _values: Vec<f64>,
        _point: Point,
    ) {
    }
    #[message]
    fn word(text: Point);
    #[entry]
    fn say(&self) -> Point {
        Point(0.0, 0.0)
    }
}
"#;
    let found = errors("unwritten", PROGRAM);
    assert!(!found.is_empty());
    for (line, error) in found {
        let is_of_serde = error.contains("Serialize") || error.contains("Deserialize");
        assert!(is_of_serde && error.contains("`Point"), "{error}");
        assert!([9, 13, 15].contains(&line), "{line}: {error}");
    }
}

#[test]
fn a_state_that_cannot_be_serialised_names_the_missing_trait() {
    const PROGRAM: &str = r#"struct Cell;
#[raddle_chare::chare(state)]
impl Cell {}
"#;
    for (_, error) in errors("state", PROGRAM) {
        let is_of_serde = error.contains("Serialize") || error.contains("Deserialize");
        assert!(is_of_serde && error.contains("`Cell"), "{error}");
    }
}

#[test]
fn an_error_in_the_attribute_is_the_only_error() {
    /// Returns the program: line 6 is an entry, and line 8 declares a message.
    fn program(options: &str, entry: &str, message: &str) -> String {
        format!(
            r#"use raddle_chare::{{Array, Cx, chare}};
pub struct Cell;
#[chare({options})]
impl Cell {{
    #[entry]
    {entry}
    #[message]
    {message}
    #[entry]
    async fn wait(&mut self, cx: &mut Cx<Self>) -> usize {{
        let _ = cx.next(Self::word).await;
        cx.index()
    }}
}}
pub fn uses(cells: Array<Cell>, cell: CellProxy) {{
    cells.at(0).receive(1);
    cells.all().receive(1);
    cell.word(String::new());
    let _ = cells.at(1).wait();
}}
pub struct Other(pub CellAll);
#[chare]
impl Other {{
    #[entry]
    fn tell(&mut self, cell: CellProxy) {{
        cell.receive(2);
        self.0.receive(3);
    }}
}}
"#
        )
    }
    const RECEIVE: &str = "fn receive(&mut self, _number: u32) {}";
    const WORD: &str = "fn word(text: String);";
    expect_errors("right", &program("", RECEIVE, WORD), &[]);
    let wrong = [
        ("node", RECEIVE, WORD, (3, "expected `index = TYPE`")),
        (
            "",
            "fn receive(_number: u32) {}",
            WORD,
            (6, "an entry begins"),
        ),
        (
            "",
            "fn receive<T: Send>(&mut self, _number: T) {}",
            WORD,
            (6, "the contents of a message have fixed types"),
        ),
        (
            "",
            "fn receive(&mut self, _number: u32, _cx: &mut Cx<Self>) {}",
            WORD,
            (6, "the parameter `cx"),
        ),
        (
            "",
            RECEIVE,
            "fn word(text: String) {}",
            (7, "a kind of message has no body"),
        ),
        (
            "",
            RECEIVE,
            "fn word(&self, text: String);",
            (8, "a kind of message has no `self`"),
        ),
    ];
    for (number, (options, entry, message, expected)) in wrong.into_iter().enumerate() {
        let name = format!("wrong-{number}");
        expect_errors(&name, &program(options, entry, message), &[expected]);
    }
}
