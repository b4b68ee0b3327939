//! Environment variables that are misspelt, wrong, or not used by a command.
//!
//! A misspelt variable was silently ignored, `RADDLE_WORKERS=0` ended with code 1 although
//! `--workers 0` ends with code 2, and commands that run on one node silently ignored
//! `RADDLE_NODES`. Errors named other ranges than the options, and different ranges for different
//! values.

use std::path::Path;

use crate::common::{Outcome, json, raddle};

fn run_with(variables: &[(&str, &str)], call: &str) -> Outcome {
    raddle()
        .envs(variables.iter().copied())
        .args(call.split(' '))
        .output()
        .expect("the program starts")
        .into()
}

const SORT: &str = "sort 1e3 --repeat 1";

#[test]
fn a_misspelt_variable_is_reported_in_one_line_with_the_nearest_name() {
    let outcome = run_with(&[("RADDLE_WORKER", "2")], SORT);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines: Vec<_> = outcome.errors.lines().collect();
    assert_eq!(lines.len(), 1, "{outcome:?}");
    for part in ["warning: ", "RADDLE_WORKER ", "RADDLE_WORKERS"] {
        assert!(lines[0].contains(part), "{part:?} is missing: {outcome:?}");
    }
    let outcome = run_with(&[("RADDLE_WORKER", "2"), ("RADDLE_POLL", "deque")], SORT);
    assert_eq!(outcome.errors.lines().count(), 2, "{outcome:?}");
    let outcome = run_with(&[("RADDLE_WORKER", "2")], "sort 1e3 --repeat 1 --quiet");
    assert_eq!(outcome.errors, "", "{outcome:?}");
}

#[test]
fn processes_that_are_started_as_nodes_do_not_repeat_a_warning() {
    let call = "pingpong --nodes 2 --trips 5 --receive poll --size 16";
    let outcome = run_with(&[("RADDLE_WORKER", "2")], call);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(
        outcome.errors.matches("RADDLE_WORKER ").count(),
        1,
        "{outcome:?}"
    );
}

#[test]
fn variables_that_are_read_cause_no_warning() {
    for (name, value) in [
        ("RADDLE_WORKERS", "1"),
        ("RADDLE_POOL", "deque"),
        ("RADDLE_BLOCKS", "4x2"),
        ("RADDLE_AFFINITY", "none"),
        ("RADDLE_IDLE", "park"),
        ("RADDLE_TASK_MEMORY", "cells"),
        ("RADDLE_MAILBOX", "locked"),
        ("RADDLE_SEED", "7"),
        ("RADDLE_SEEDS", "ring"),
        ("RADDLE_CLAIMS", "mine"),
        ("RADDLE_TRANSPORT", "socket"),
        ("RADDLE_PROGRESS", "thread"),
        ("RADDLE_PARAMETERS", "parker-2013"),
        ("RADDLE_DATA", "/tmp"),
    ] {
        let outcome = run_with(&[(name, value)], SORT);
        assert_eq!(
            (outcome.code, &*outcome.errors),
            (Some(0), ""),
            "{name}: {outcome:?}"
        );
    }
}

/// Compares a value in a variable with the same value in the option that the variable replaces.
#[test]
fn a_wrong_variable_ends_with_the_code_of_the_wrong_option() {
    for (name, option, value) in [
        ("RADDLE_WORKERS", "--workers", "0"),
        ("RADDLE_WORKERS", "--workers", "many"),
        ("RADDLE_WORKERS", "--workers", "5000"),
        ("RADDLE_POOL", "--pool", "lake"),
        ("RADDLE_BLOCKS", "--blocks", "4"),
        ("RADDLE_AFFINITY", "--affinity", "here"),
        ("RADDLE_AFFINITY", "--affinity", "65535"),
        ("RADDLE_IDLE", "--idle", "never"),
        ("RADDLE_TASK_MEMORY", "--task-memory", "heap"),
        ("RADDLE_MAILBOX", "--mailbox", "envelope"),
    ] {
        for command in [SORT, "kneighbor --mode shm --iterations 5 --repeat 1"] {
            let by_option = run_with(&[], &format!("{command} {option} {value}"));
            assert_eq!(by_option.code, Some(2), "{option} {value}: {by_option:?}");
            let by_variable = run_with(&[(name, value)], command);
            assert_eq!(by_variable.code, Some(2), "{name}={value}: {by_variable:?}");
            assert!(by_variable.errors.contains(name), "{by_variable:?}");
            assert_eq!(by_variable.errors.lines().count(), 1, "{by_variable:?}");
        }
    }
    // A variable without an option. The first command starts no chares, the last one starts nodes.
    let (threads, nodes) = (
        "kneighbor --iterations 5 --repeat 1",
        "kneighbor --mode shm",
    );
    for command in [SORT, threads, &format!("{nodes} --iterations 5 --repeat 1")] {
        let seeds = run_with(&[("RADDLE_SEEDS", "nearest")], command);
        assert_eq!(seeds.code, Some(2), "{command}: {seeds:?}");
        assert!(seeds.errors.contains("RADDLE_SEEDS"), "{seeds:?}");
        assert_eq!(seeds.errors.lines().count(), 1, "{seeds:?}");
    }
    let nodes = [
        ("RADDLE_NODES", "0"),
        ("RADDLE_NODES", "many"),
        // More than --nodes takes.
        ("RADDLE_NODES", "257"),
        ("RADDLE_TRANSPORT", "mail"),
        ("RADDLE_PROGRESS", "never"),
        ("RADDLE_WATCH", "soon"),
    ];
    for (name, value) in nodes {
        for call in ["kneighbor --iterations 5", "pingpong --trips 5"] {
            let outcome = run_with(&[(name, value)], call);
            assert_eq!(outcome.code, Some(2), "{name}={value}: {outcome:?}");
            assert!(outcome.errors.contains(name), "{outcome:?}");
        }
    }
    let call = "kdtree --scene knot:200 --builder messages";
    let outcome = run_with(&[("RADDLE_WATCH", "soon")], call);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.errors.contains("RADDLE_WATCH"), "{outcome:?}");
    assert_eq!(outcome.errors.lines().count(), 1, "{outcome:?}");
}

// Regression: `RADDLE_WORKERS` was not read if runs between nodes were compared.
#[test]
fn the_number_of_workers_of_each_node_comes_from_the_variable_too() {
    let call = "kneighbor --mode shm --iterations 5 --repeat 1 --json";
    let workers = |variables: &[(&str, &str)], call: &str| {
        let outcome = run_with(variables, call);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        json(&outcome.output)["workers"].clone()
    };
    assert_eq!(workers(&[], call), 1);
    assert_eq!(workers(&[("RADDLE_WORKERS", "2")], call), 2);
    let option = format!("{call} --workers 1");
    assert_eq!(workers(&[("RADDLE_WORKERS", "2")], &option), 1);
}

#[test]
fn a_missing_file_of_parameters_is_the_same_error_by_variable_and_option() {
    let missing = Path::new("no-such-machine.toml");
    assert!(!missing.exists());
    let outcome = run_with(&[("RADDLE_PARAMETERS", "no-such-machine.toml")], "predict");
    let by_option = run_with(&[], "predict --parameters no-such-machine.toml");
    assert_eq!(
        (outcome.code, by_option.code),
        (Some(1), Some(1)),
        "{outcome:?}"
    );
    assert_eq!(outcome.errors, by_option.errors);
}

#[test]
fn commands_of_one_node_warn_that_they_ignore_nodes() {
    for call in [
        SORT,
        "kdtree --scene knot:500",
        "lk23 --size 64 --turns 1",
        "matmul --size 32",
        "pingpong --trips 5 --workers 2",
    ] {
        let outcome = run_with(&[("RADDLE_NODES", "4")], call);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert_eq!(outcome.errors.lines().count(), 1, "{outcome:?}");
        assert!(
            outcome.errors.starts_with("warning: RADDLE_NODES is 4"),
            "{outcome:?}"
        );
    }
    for (nodes, call) in [
        ("1", SORT),
        ("2", "kneighbor --iterations 5 --repeat 1"),
        ("2", "topology"),
        ("2", "predict"),
    ] {
        let outcome = run_with(&[("RADDLE_NODES", nodes)], call);
        assert_eq!(
            (outcome.code, &*outcome.errors),
            (Some(0), ""),
            "{outcome:?}"
        );
    }
}

// The error for a wrong value of a variable names the range of the option.
#[test]
fn variables_and_options_name_the_same_range() {
    for (name, option, range, values) in [
        (
            "RADDLE_NODES",
            "--nodes",
            (1, 256),
            ["0", "many", "1000", "70000"],
        ),
        (
            "RADDLE_WORKERS",
            "--workers",
            (1, 4096),
            ["0", "many", "5000", "1e3"],
        ),
    ] {
        let expected = format!("expected a number from {} to {}", range.0, range.1);
        for value in values {
            let call = "kneighbor --iterations 5 --mode shm";
            let by_variable = run_with(&[(name, value)], call);
            let expected = format!("{name}: found {value:?}; {expected}");
            assert!(
                by_variable.errors.contains(&expected),
                "{expected}: {by_variable:?}"
            );
            let by_option = run_with(&[], &format!("{call} {option} {value}"));
            assert_eq!(by_option.code, Some(2), "{option} {value}: {by_option:?}");
            assert!(by_option.errors.contains(option), "{by_option:?}");
            assert!(
                by_option.errors.contains(&range.1.to_string()) || value == "many",
                "{by_option:?}"
            );
        }
    }
}
