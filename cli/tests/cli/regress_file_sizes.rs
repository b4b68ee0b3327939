//! A file that exceeded the size limit of the process (`ulimit -f`) ended the program by a signal,
//! without a message, and a temporary file remained beside the picture. Nodes ended in the same
//! way, because of the memory that they share. (nodejs/node pull request 27798 describes the same
//! fault.)
//!
//! The signal is blocked now. A launched program must not inherit the blocked signal, as programs
//! did in pocoproject/poco issue 3398.

use std::process::Command;

use crate::common::{Folder, Outcome, expect_one_line};

/// Runs the program with a limit of the file size, in blocks of 512 bytes.
fn run_with_blocks(folder: &Folder, blocks: u32, arguments: &[&str]) -> Outcome {
    let limited = format!("ulimit -f {blocks} && exec \"$0\" \"$@\"");
    Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_raddle")])
        .args(arguments)
        .current_dir(folder.path("."))
        .output()
        .expect("a shell")
        .into()
}

#[test]
fn a_picture_beyond_the_size_limit_is_one_line_and_leaves_no_file() {
    let folder = Folder::new("file-size");
    let call = [
        "render", "--scene", "knot:100", "--size", "64x64", "-o", "a.png",
    ];
    let outcome = run_with_blocks(&folder, 1, &call);
    expect_one_line(&outcome);
    assert!(
        outcome.errors.contains("a.png: File too large"),
        "{outcome:?}"
    );
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn shared_memory_beyond_the_size_limit_is_one_line() {
    let folder = Folder::new("segment-size");
    let call = [
        "kneighbor",
        "--nodes",
        "2",
        "--mode",
        "shm",
        "--iterations",
        "1",
        "--repeat",
        "1",
    ];
    let outcome = run_with_blocks(&folder, 8, &call);
    expect_one_line(&outcome);
    assert!(outcome.errors.contains("File too large"), "{outcome:?}");
}

#[test]
fn a_launched_program_has_the_signal_mask_of_its_caller() {
    let program = ["grep", "SigBlk", "/proc/self/status"];
    let alone = Command::new(program[0])
        .args(&program[1..])
        .output()
        .expect("it starts");
    let launched = Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["launch", "-n", "2"])
        .args(program)
        .output()
        .expect("it starts");
    assert_eq!(launched, alone);
}
