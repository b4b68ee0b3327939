//! The program as it is called: what it says, and its exit code, where nothing is measured.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn bench(arguments: &[&str], stdout: Stdio) -> Output {
    Command::new(env!("CARGO_BIN_EXE_raddle-bench"))
        .args(arguments)
        .env("RADDLE_DATA", "/nowhere")
        .stdout(stdout)
        .output()
        .expect("the program starts")
}

/// The one line that a failed call ends with, and nothing else.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let said = bench(arguments, Stdio::piped());
    assert_eq!(said.status.code(), Some(1), "{arguments:?}");
    assert_eq!(said.stdout, b"", "{arguments:?}: no table has begun");
    line_of(&said)
}

#[track_caller]
fn line_of(said: &Output) -> String {
    let text = String::from_utf8_lossy(&said.stderr).into_owned();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("raddle-bench: "), "{text}");
    text
}

#[test]
fn a_full_disk_is_named() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let full = || File::options().write(true).open("/dev/full");
    let full = full().expect("whoever wants to may write there");
    let said = bench(&["locks", "--case", "simple"], full.into());
    assert_eq!(said.status.code(), Some(1));
    let line = line_of(&said);
    assert!(line.contains("standard output: "), "{line}");
}

#[test]
fn meshes_are_looked_at_before_any_is_measured() {
    let folder = std::env::temp_dir().join(format!("raddle-bench-calls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a new folder");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a new file");
        path.display().to_string()
    };
    let good = file("good.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let bad = file("bad.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n");
    let missing = folder.join("missing.ply").display().to_string();
    let directory = folder.display().to_string();
    for (mesh, found) in [
        (&missing, "No such file"),
        (&directory, "a directory"),
        (&bad, "line 4"),
    ] {
        let line = refused(&["kdtree", "--mesh", &good, "--mesh", mesh]);
        assert!(
            line.contains(mesh.as_str()) && line.contains(found),
            "{line}"
        );
        assert!(!line.contains("RADDLE_DATA"), "{line}");
    }
    std::fs::remove_dir_all(&folder).expect("it is still there");
}

#[test]
fn without_data_nothing_begins() {
    for case in ["dragon-d15", "bunny-d15", "grain"] {
        let line = refused(&["kdtree", "--case", case]);
        assert!(line.contains("set RADDLE_DATA"), "{line}");
    }
}
