//! The help, the completions and the exit codes of wrong calls.
//!
//! The help texts are snapshots under `tests/snapshots`; `RADDLE_BLESS=1 cargo test -p raddle-cli --test cli_help`
//! writes them anew, to be read in the diff.

mod common;

use std::fs;
use std::path::Path;

use common::{Folder, raddle, run, run_well};

/// Compares with the snapshot of that name, or writes it where `RADDLE_BLESS` is set.
#[track_caller]
fn matches_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/snapshots")
        .join(name);
    if std::env::var_os("RADDLE_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the snapshots' folder");
        fs::write(&path, text).expect("a snapshot");
    }
    let expected = fs::read_to_string(&path).expect("a snapshot; RADDLE_BLESS=1 writes it");
    assert_eq!(
        text, expected,
        "the help has changed; see the header of this file"
    );
}

#[test]
fn the_help_reads_as_it_was_written() {
    matches_snapshot("help.txt", &run_well(["--help"]));
    matches_snapshot("help-short.txt", &run_well(["-h"]));
    for command in [
        "render",
        "kdtree",
        "sort",
        "lk23",
        "matmul",
        "kneighbor",
        "pingpong",
        "launch",
        "predict",
        "simulate",
        "topology",
        "place",
        "pools",
        "completions",
    ] {
        matches_snapshot(
            &format!("help-{command}.txt"),
            &run_well([command, "--help"]),
        );
    }
    for program in ["pingpong", "symmetric", "tracer"] {
        let text = run_well(["simulate", program, "--help"]);
        matches_snapshot(&format!("help-simulate-{program}.txt"), &text);
    }
}

#[test]
fn no_line_of_the_help_is_wider_than_a_page() {
    for arguments in [
        &["--help"][..],
        &["render", "--help"],
        &["kdtree", "--help"],
        &["sort", "--help"],
        &["launch", "--help"],
        &["lk23", "--help"],
        &["matmul", "--help"],
        &["kneighbor", "--help"],
        &["pingpong", "--help"],
        &["place", "--help"],
        &["pools", "--help"],
        &["pools"],
        &["predict", "--help"],
        &["simulate", "--help"],
        &["simulate", "pingpong", "--help"],
        &["simulate", "symmetric", "--help"],
        &["simulate", "tracer", "--help"],
    ] {
        let text = run_well(arguments);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{widest:?} columns: {text}");
    }
}

#[test]
fn the_version_is_the_packages() {
    let expected = format!("raddle {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run_well(["--version"]), expected);
}

/// Expects exit code 2, and that part of what is right on standard error.
#[track_caller]
fn is_a_wrong_call(arguments: &[&str], part: &str) {
    let said = run(arguments);
    assert_eq!(said.code, Some(2), "{arguments:?}: {said:?}");
    assert!(said.errors.contains(part), "{arguments:?}: {said:?}");
    // What the parser says of a negative number that it takes for an option.
    assert!(!said.errors.contains("-- -"), "{arguments:?}: {said:?}");
    assert_eq!(said.output, "", "{arguments:?}");
}

#[test]
fn a_wrong_call_ends_with_code_2_and_says_what_is_right() {
    for (arguments, part) in [
        (&["paint"][..], "paint"),
        (&["render"], "--output"),
        (&["render", "a.ply"], "--output"),
        (&["render", "-o", "a.png"], "--scene"),
        (&["kdtree", "a.ply", "--scene", "knot"], "--scene"),
        (&["kdtree", "--scene", "sea"], "flake"),
        (&["kdtree", "a.ply", "--builder", "magic"], "sequential"),
        (&["kdtree", "a.ply", "--grain", "16"], "--builder messages"),
        (&["kdtree", "a.ply", "--arrays", "square"], "chunked"),
        (&["kdtree", "a.ply", "--grain", "0"], "tuned"),
        (
            &["kdtree", "a.ply", "--grain", "99999999999999999999999"],
            "from 1 to 18446744073709551615, or tuned",
        ),
        (
            &["kdtree", "a.ply", "--triangles-per-task", "0"],
            "expected a number of triangles from 1 on",
        ),
        (
            &["kdtree", "a.ply", "--triangles-per-task", "-5"],
            "expected a number of triangles from 1 on",
        ),
        (
            &["kdtree", "a.ply", "--depth", "-1"],
            "expected a number of levels from 0 to 64, auto or none",
        ),
        (
            &["kdtree", "a.ply", "--grain", "-3"],
            "expected a number of node tasks from 1 to",
        ),
        (&["kdtree", "a.ply", "--repeat", "-1"], "from 1 to 10000"),
        (&["--workers", "-2"], "from 1 to 4096"),
        (&["sort"], "N"),
        (&["sort", "many"], "2e7"),
        (&["sort", "0"], "2e7"),
        (&["sort", "1e3", "--cutoff", "0"], "--cutoff"),
        (&["kneighbor", "--elements", "0"], "1"),
        (&["kneighbor", "-k", "many"], "neighbours"),
        (&["kneighbor", "--bytes", "0"], "64K"),
        (&["kneighbor", "--iterations", "1e10"], "1e9"),
        (&["kneighbor", "--mailbox", "letter"], "producer-lock"),
        (&["pingpong", "--layer", "cake"], "chare"),
        (&["pingpong", "--bytes", "16,,1K"], "64K"),
        (&["pingpong", "--trips", "0"], "1e9"),
        (&["pingpong", "--wait", "long"], "eventfd"),
        (&["pingpong", "--wait", "all", "--layer", "post"], "--layer"),
        (&["pingpong", "--wait", "all", "--late", "5"], "500us"),
        (&["pingpong", "--late", "5ms"], "--wait"),
        (&["pingpong", "--nodes", "1"], "2..="),
        (&["pingpong", "--receive", "poll"], "--nodes"),
        (
            &["pingpong", "--nodes", "2", "--transport", "mail"],
            "socket",
        ),
        (&["pingpong", "--nodes", "2", "--workers", "3"], "--workers"),
        (
            &["pingpong", "--nodes", "2", "--compute", "1ms"],
            "--symmetric",
        ),
        (&["kneighbor", "--mode", "mail"], "socket"),
        (&["kneighbor", "--size", "16,"], "or all"),
        (&["kneighbor", "--progress", "thread"], "--mode"),
        (&["kneighbor", "--progress", "mail"], "pending"),
        (&["launch", "sh"], "--nodes"),
        (&["launch", "-n", "2"], "PROGRAM"),
        (&["launch", "-n", "0", "sh"], "1..="),
        (&["sort", "1e3", "--pool", "lake"], "deque"),
        (&["sort", "1e3", "--affinity", "here"], "scatter"),
        (&["topology", "--synthetic", "a", "--xml", "b"], "--xml"),
        (&["--workers", "0"], "0"),
        (&["completions", "tcl"], "bash"),
    ] {
        is_a_wrong_call(arguments, part);
    }
}

#[test]
fn a_wrong_question_ends_with_code_2_and_says_what_is_right() {
    for (arguments, part) in [
        (&["predict", "--nodes", "0"][..], "1..="),
        (&["predict", "--renderers", "0"], "1..="),
        (&["predict", "--figure", "71"], "imbalance"),
        (&["predict", "--slower", "wire=-1us"], "from 0 to 1s"),
        (&["predict", "--slower", "rain=1us"], "notification"),
        (&["predict", "--slower", "wire=1"], "500ns"),
        (&["predict", "--inline", "1.5"], "share"),
        (&["predict", "--svg", "here"], "--figure"),
        (&["predict", "--set", "network.rain=1"], "no parameter"),
        (&["predict", "--set", "nothing"], "expected"),
        (&["predict", "--figure", "3"], "from 50 to 70"),
        (&["simulate", "tracer", "--nodes", "1"], "nodes is 1"),
        (
            &["predict", "--set", "tracer.other_requests_per_us=5"],
            "grows without bound",
        ),
        (
            &["predict", "--figure", "52", "--svg", "Cargo.toml"],
            "expected a folder",
        ),
        (&["simulate"], "tracer"),
        (&["simulate", "rain"], "rain"),
        (&["simulate", "pingpong", "--trace", "t.json"], "--receive"),
        (&["simulate", "tracer", "--frames", "0"], "1..="),
    ] {
        is_a_wrong_call(arguments, part);
    }
}

#[test]
fn each_shell_gets_a_script_that_knows_our_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run_well(["completions", shell]);
        for word in [
            "render",
            "kdtree",
            "sort",
            "cutoff",
            "kneighbor",
            "mailbox",
            "topology",
            "show-binding",
        ] {
            assert!(script.contains(word), "{word} is missing for {shell}");
        }
    }
}

#[test]
fn bash_accepts_its_script_and_completes_a_command() {
    let folder = Folder::new("completion");
    let script = folder.file("raddle.bash", run_well(["completions", "bash"]));
    let ask = format!(
        "set -e; source {}; COMP_WORDS=(raddle kd); COMP_CWORD=1; _raddle raddle kd raddle; \
         echo \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    let answer = std::process::Command::new("bash")
        .args(["-c", &ask])
        .output()
        .expect("bash is there");
    assert!(answer.status.success(), "{answer:?}");
    assert_eq!(String::from_utf8_lossy(&answer.stdout).trim(), "kdtree");
}

#[test]
fn an_unwritable_folder_is_no_reason_to_fail_a_question() {
    let output = raddle().current_dir("/").arg("--version").output();
    assert!(output.expect("the program starts").status.success());
}
