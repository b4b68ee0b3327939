//! The help, the completions and the exit codes of wrong calls.
//!
//! `tests/snapshots/help.txt` has all help texts. To write it anew, and read the changes in the
//! diff: `RADDLE_BLESS=1 cargo test -p raddle-cli --test cli help`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::{Folder, raddle, run, run_well};

/// Returns the calls for all help texts: of the program, of each command in the order of the list
/// of commands, and of each program of a command.
fn help_calls() -> Vec<String> {
    let mut calls = vec!["--help".to_owned(), "-h".to_owned()];
    for command in names_after("Commands:", &run_well(["--help"])) {
        let help = run_well([&command, "--help"]);
        calls.push(format!("{command} --help"));
        let programs = names_after("Commands:", &help).into_iter();
        calls.extend(programs.map(|program| format!("{command} {program} --help")));
    }
    calls
}

/// Returns the names in the list below a heading.
fn names_after(heading: &str, help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    lines
        // The other lines of a description are indented further.
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_help_matches_its_snapshot() {
    let mut text = String::new();
    for call in help_calls() {
        let help = run_well(call.split(' '));
        text += &format!("$ raddle {call}\n\n{help}\n");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/help.txt");
    if std::env::var_os("RADDLE_BLESS").is_some() {
        fs::write(&path, &text).expect("a snapshot");
    }
    let expected = fs::read_to_string(&path).expect("a snapshot; RADDLE_BLESS=1 writes it");
    assert!(
        text == expected,
        "the help has changed; see the header of this file. It is now:\n{text}"
    );
}

#[test]
fn no_line_of_the_help_is_wider_than_a_page() {
    let calls = help_calls();
    assert!(calls.len() > 18, "{calls:?}");
    for call in calls.into_iter().chain(["pools".to_owned()]) {
        let text = run_well(call.split(' '));
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{widest:?} columns: {text}");
    }
}

/// Returns the names of environment variables in a text, without prefixes of names.
fn variables_in(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_uppercase() || c == '_';
    let words = text.split(|c| !is_part(c));
    let names = words.filter(|word| word.starts_with("RADDLE_") && !word.ends_with('_'));
    names.map(str::to_owned).collect()
}

// Regression: the help left out RADDLE_WATCH, and said that a warning names variables that the help
// does not name.
#[test]
fn the_help_names_the_variables_that_cause_no_warning() {
    let list = "../crates/runtime/src/config/variables.rs";
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join(list);
    let list = fs::read_to_string(list).expect("the list of variables");
    let (_, known) = list.split_once("const KNOWN").expect("the list");
    let (known, _) = known.split_once("];").expect("the end of the list");
    let help = run_well(["--help"]);
    let (_, environment) = help.split_once("Environment:").expect("a section");
    assert_eq!(variables_in(environment), variables_in(known));
}

#[test]
fn the_version_is_the_packages() {
    let expected = format!("raddle {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run_well(["--version"]), expected);
}

/// Expects exit code 2, and `part` of the advice on standard error.
#[track_caller]
fn is_a_wrong_call(arguments: &[&str], part: &str) {
    let outcome = run(arguments);
    assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:?}");
    assert!(outcome.errors.contains(part), "{arguments:?}: {outcome:?}");
    // The advice of the parser for a negative number that it takes for an option.
    assert!(
        !outcome.errors.contains("-- -"),
        "{arguments:?}: {outcome:?}"
    );
    assert_eq!(outcome.output, "", "{arguments:?}");
}

#[test]
fn a_wrong_call_ends_with_code_2_and_advice() {
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
            "expected a number of triangles, at least 1",
        ),
        (
            &["kdtree", "a.ply", "--triangles-per-task", "-5"],
            "expected a number of triangles, at least 1",
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
        (&["kneighbor", "--mailbox", "envelope"], "producer-lock"),
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
        (&["kneighbor", "--size", "16,"], "or use all"),
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
fn a_wrong_question_ends_with_code_2_and_advice() {
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
fn the_script_of_each_shell_contains_the_commands() {
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
        .expect("bash is installed");
    assert!(answer.status.success(), "{answer:?}");
    assert_eq!(String::from_utf8_lossy(&answer.stdout).trim(), "kdtree");
}

#[test]
fn the_version_is_printed_in_a_folder_that_cannot_be_written() {
    let output = raddle().current_dir("/").arg("--version").output();
    assert!(output.expect("the program starts").status.success());
}
