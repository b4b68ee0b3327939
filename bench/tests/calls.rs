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
