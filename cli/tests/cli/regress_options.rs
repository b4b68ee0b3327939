//! A command accepts only the options that it uses.
//!
//! `topology`, `place`, `predict`, `simulate`, `launch` and `completions` listed all options for
//! workers in their help, and then refused or ignored them. Every help listed all 22 pools. Without
//! a command, `--show-binding` ignored `--stats`. Commands without messages accepted `--mailbox`,
//! and commands without tasks `--pool` and `--blocks`.

use crate::common::{Folder, json, run, run_well};

const FOR_WORKERS: [&[&str]; 7] = [
    &["--workers", "2"],
    &["--pool", "deque"],
    &["--blocks", "4x2"],
    &["--affinity", "none"],
    &["--idle", "park"],
    &["--task-memory", "cells"],
    &["--mailbox", "locked"],
];
const FOR_OUTPUT: [&[&str]; 4] = [&["--show-binding"], &["--stats"], &["--json"], &["--quiet"]];

/// Expects the error of the parser for an option that a command does not have.
#[track_caller]
fn is_unexpected(call: &[&str], option: &str) {
    let outcome = run(call);
    assert_eq!(outcome.code, Some(2), "{call:?}: {outcome:?}");
    let expected = format!("unexpected argument '{option}' found");
    assert!(outcome.errors.contains(&expected), "{call:?}: {outcome:?}");
    assert!(
        outcome.errors.contains("Usage: raddle "),
        "{call:?}: {outcome:?}"
    );
    assert_eq!(outcome.output, "", "{call:?}");
}

#[test]
fn options_without_effect_are_unknown_to_the_command_and_its_help() {
    let all = [&FOR_WORKERS[..], &FOR_OUTPUT].concat();
    let without = |left_out: &[&str]| {
        let names = all.iter().map(|option| option[0]);
        names
            .filter(|name| !left_out.contains(name))
            .collect::<Vec<_>>()
    };
    let [any, no_messages, no_tasks] =
        [&[][..], &["--mailbox"], &["--pool", "--blocks"]].map(without);
    // Each command, and the options that it has.
    let commands: [(&[&str], &[&str]); 17] = [
        (&[], &no_messages),
        (&["render", "a.ply", "-o", "a.png"], &no_messages),
        (&["sort", "9"], &no_messages),
        (&["kdtree", "a.ply"], &any),
        (&["lk23"], &any),
        (&["matmul"], &any),
        (&["kneighbor"], &no_tasks),
        (&["pingpong"], &no_tasks),
        (&["topology"], &["--json"]),
        (&["place", "--program", "lk23"], &["--json"]),
        (&["pools"], &["--json"]),
        (&["completions", "bash"], &[]),
        (
            &["predict"],
            &["--json", "--quiet", "--affinity", "--show-binding"],
        ),
        (&["simulate", "pingpong"], &["--json", "--quiet"]),
        (&["simulate", "symmetric"], &["--json", "--quiet"]),
        (&["simulate", "tracer"], &["--json", "--quiet"]),
        (
            &["launch", "-n", "2"],
            &[
                "--workers",
                "--pool",
                "--blocks",
                "--affinity",
                "--idle",
                "--task-memory",
                "--mailbox",
            ],
        ),
    ];
    for (command, known) in commands {
        let help = run_well([command, &["--help"]].concat());
        for option in &all {
            let name = option[0];
            // `--mailbox <NAME>` and `-q, --quiet`, each at the beginning of a line.
            let is_listed = help.lines().any(|line| {
                let line = line.trim_start().trim_start_matches("-q, ");
                line.split(' ').next() == Some(name)
            });
            assert_eq!(is_listed, known.contains(&name), "{command:?} {name}");
            if !known.contains(&name) {
                let call = [command, *option].concat();
                is_unexpected(&call, name);
                // The same before the command.
                is_unexpected(&[*option, command].concat(), name);
            }
        }
    }
}

#[test]
fn options_of_a_measurement_need_the_measurement() {
    for option in [&["--affinity", "0"][..], &["--show-binding"]] {
        let outcome = run([&["predict"], option].concat());
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.errors.contains("--calibrate"), "{outcome:?}");
    }
}

#[test]
fn the_binding_alone_has_no_statistics() {
    let outcome = run(["--show-binding", "--stats"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let expected = "--show-binding --stats: no worker is started";
    assert!(outcome.errors.contains(expected), "{outcome:?}");
}

#[test]
fn options_may_precede_or_follow_the_command() {
    let value = json(&run_well(
        "--workers 2 --json sort 1e3 --repeat 1".split(' '),
    ));
    assert_eq!(value["workers"], 2);
    assert_eq!(run_well("-q sort 1e3 --repeat 1".split(' ')), "");
    for call in [
        "--json simulate pingpong --trips 5",
        "simulate --json pingpong --trips 5",
        "simulate pingpong --trips 5 --json",
    ] {
        assert_eq!(json(&run_well(call.split(' ')))["trips"], 5, "{call}");
    }
    let twice = run("--workers 2 sort 1e3 --workers 3".split(' '));
    assert_eq!(twice.code, Some(2), "{twice:?}");
    assert!(twice.errors.contains("multiple times"), "{twice:?}");
}

#[test]
fn options_behind_a_launched_program_belong_to_the_program() {
    let script = [
        "launch",
        "-n",
        "2",
        "sh",
        "-c",
        "echo $RADDLE_WORKERS $@",
        "sh",
    ];
    let more = ["--workers", "7", "--json"];
    let text = run_well([&["--workers", "3"], &script[..], &more].concat());
    assert_eq!(text, "3 --workers 7 --json\n");
    is_unexpected(&["launch", "-n", "2", "--json", "sh"], "--json");
}

#[test]
fn the_usual_names_for_the_number_of_workers_suggest_workers() {
    let commands: [&[&str]; 4] = [&[], &["sort", "1e3"], &["launch", "-n", "2"], &["pingpong"]];
    for command in commands {
        for asked in [
            &["--threads", "4"][..],
            &["--threads=4"],
            &["--num-threads", "4"],
            &["--nthreads=4"],
            &["--jobs", "4"],
            &["-j", "4"],
            &["-j4"],
            &["--threads"],
        ] {
            let call = [command, asked].concat();
            let outcome = run(&call);
            assert_eq!(outcome.code, Some(2), "{call:?}: {outcome:?}");
            let name = asked[0].split('=').next().expect("a name");
            let name = if name.starts_with("-j") { "-j" } else { name };
            let unexpected = format!("unexpected argument '{name}' found");
            for part in [unexpected.as_str(), "'--workers'", "Usage: raddle"] {
                assert!(
                    outcome.errors.contains(part),
                    "{part}: {call:?}: {outcome:?}"
                );
            }
        }
    }
    // `lk23` has an option --threads of its own, but not the other names.
    let outcome = run("lk23 --num-threads 4".split(' '));
    assert!(outcome.errors.contains("'--workers'"), "{outcome:?}");
    // A command without workers has no option to suggest.
    let outcome = run("topology --threads 4".split(' '));
    assert!(!outcome.errors.contains("--workers"), "{outcome:?}");
}

#[test]
fn pools_are_listed_in_one_place() {
    for command in [&["--help"][..], &["sort", "--help"], &["launch", "--help"]] {
        let help = run_well(command);
        assert!(!help.contains("DQ-SL-TRY-PRIV-C"), "{help}");
        for part in ["auto, deque, central", "raddle pools"] {
            assert!(help.contains(part), "{part:?} is missing in: {help}");
        }
    }
    let list = run_well(["pools"]);
    for part in ["deque", "DQ-SL-TRY-PRIV-C", "central", "Chase and Lev"] {
        assert!(list.contains(part), "{part:?} is missing in: {list}");
    }
    let value = json(&run_well(["pools", "--json"]));
    let pools = value["pools"].as_array().expect("a list");
    for pool in pools {
        let name = pool["name"].as_str().expect("a name");
        assert!(list.contains(name), "{name} is missing in: {list}");
        let about = pool["about"].as_str().expect("a sentence");
        assert!(about.ends_with('.'), "{pool}");
        let call = [
            "sort", "100", "--repeat", "1", "--json", "--stats", "--pool",
        ];
        let found = json(&run_well(call.into_iter().chain([name])));
        assert_eq!(found["stats"]["pool"], name);
    }
    assert!(pools.len() > 20, "{value}");
    // A wrong name lists all of them.
    let outcome = run("sort 100 --pool lake".split(' '));
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.errors.contains("DQ-SL-TRY-PRIV-C"), "{outcome:?}");
}

#[test]
fn completions_offer_what_a_command_has_and_no_hints() {
    let folder = Folder::new("completed");
    let script = run_well(["completions", "bash"]);
    let script = folder.file("raddle.bash", script);
    let options = |words: &str| {
        let count = words.split(' ').count();
        let ask = format!(
            "set -e; source {}; COMP_WORDS=({words} --); COMP_CWORD={count}; \
             _raddle raddle -- raddle; echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let answer = std::process::Command::new("bash")
            .args(["-c", &ask])
            .output()
            .expect("bash is installed");
        assert!(answer.status.success(), "{answer:?}");
        String::from_utf8(answer.stdout).expect("UTF-8")
    };
    let topology = options("raddle topology");
    assert!(topology.contains("--synthetic"), "{topology}");
    for name in ["--workers", "--pool", "--stats", "--quiet"] {
        assert!(!topology.contains(name), "{topology}");
    }
    let sort = options("raddle sort");
    assert!(sort.contains("--workers"), "{sort}");
    assert!(
        !sort.contains("--threads") && !sort.contains("--jobs"),
        "{sort}"
    );
}
