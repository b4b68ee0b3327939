//! A file that would be larger than the process may write (`ulimit -f`) ended the program by a
//! signal, without a word, and what it had begun stayed beside the picture; nodes ended so, too,
//! for the memory that they share. (nodejs/node pull request 27798 tells of the same.)
//!
//! The signal is blocked now. A program that is launched must not inherit that, as programs did in
//! pocoproject/poco issue 3398.

mod common;

use std::process::Command;

use common::{Folder, Said, expect_one_line};

/// Runs the program where files may have so many blocks of 512 bytes.
fn run_with_blocks(folder: &Folder, blocks: u32, arguments: &[&str]) -> Said {
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
fn a_picture_that_may_not_be_so_large_is_one_line_and_leaves_nothing_behind() {
    let folder = Folder::new("file-size");
    let call = [
        "render", "--scene", "knot:100", "--size", "64x64", "-o", "a.png",
    ];
    let said = run_with_blocks(&folder, 1, &call);
    expect_one_line(&said);
    assert!(said.errors.contains("a.png: File too large"), "{said:?}");
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn nodes_whose_memory_may_not_be_so_large_say_so() {
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
    let said = run_with_blocks(&folder, 8, &call);
    expect_one_line(&said);
    assert!(said.errors.contains("File too large"), "{said:?}");
}

#[test]
fn a_program_that_is_launched_has_the_signals_of_its_caller() {
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
