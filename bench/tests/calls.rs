//! Calls of the program that measure nothing: output and exit code.

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

/// Runs a call that fails, and returns its error message, which must be its only output.
#[track_caller]
fn error_of(arguments: &[&str]) -> String {
    let output = bench(arguments, Stdio::piped());
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert_eq!(output.stdout, b"", "{arguments:?}: no table was begun");
    single_line_of(&output)
}

#[track_caller]
fn single_line_of(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("raddle-bench: "), "{text}");
    text
}

#[test]
fn a_full_disk_is_reported() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let full = || File::options().write(true).open("/dev/full");
    let full = full().expect("/dev/full is writable");
    let output = bench(&["locks", "--case", "simple"], full.into());
    assert_eq!(output.status.code(), Some(1));
    let line = single_line_of(&output);
    assert!(line.contains("standard output: "), "{line}");
}

#[test]
fn all_meshes_are_checked_before_any_is_measured() {
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
        let line = error_of(&["kdtree", "--mesh", &good, "--mesh", mesh]);
        assert!(
            line.contains(mesh.as_str()) && line.contains(found),
            "{line}"
        );
        assert!(!line.contains("RADDLE_DATA"), "{line}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder still exists");
}

#[test]
fn missing_data_is_an_error_before_anything_runs() {
    for case in ["dragon-d15", "bunny-d15", "grain"] {
        let line = error_of(&["kdtree", "--case", case]);
        assert!(line.contains("set RADDLE_DATA"), "{line}");
    }
    let line = error_of(&["view", "--case", "rest"]);
    assert!(line.contains("set RADDLE_DATA"), "{line}");
}

#[test]
fn the_suite_view_needs_the_program_beside_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-raddle");
    let volumes = folder.join("volume");
    std::fs::create_dir_all(&volumes).expect("a new folder");
    let volume = volumes.join("heptane_302x302x302_u8.raw.zst");
    std::fs::write(volume, "").expect("a new file");
    let program = folder.join("raddle-bench");
    // A program of an earlier run.
    let _missing = std::fs::remove_file(&program);
    std::fs::hard_link(env!("CARGO_BIN_EXE_raddle-bench"), &program).expect("the same disk");
    let output = Command::new(&program)
        .arg("view")
        .env("RADDLE_DATA", &folder)
        .output()
        .expect("the program starts");
    assert_eq!(
        (output.status.code(), &output.stdout[..]),
        (Some(1), &b""[..])
    );
    let line = single_line_of(&output);
    assert!(line.contains("raddle: not found; build it"), "{line}");
    std::fs::remove_dir_all(&folder).expect("the folder still exists");
}
