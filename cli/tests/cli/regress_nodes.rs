//! Nodes that do not run, and nodes without enough threads.
//!
//! - A stopped node was waited for forever and without a message, even after another one had been
//!   killed.
//! - A thread that the system refused caused a panic. Nodes that ended because another one had
//!   ended reported an error too, and each node that lacked a thread had an error line of its own.
//! - Elements of `kneighbor` that began after such a failure did not find their neighbours, and
//!   panicked.
//! - `kneighbor --iterations 1e8` between nodes ran 48,828 iterations, and only the JSON showed it.
//!   Now all iterations are run.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::common::{Folder, Outcome, expect_one_line, run_well};
use crate::processes::{expect_gone, signal, start};

/// Waits for the first node. Expects an error, and no other node left.
fn ends_badly(first: Child, others: &[u32]) -> Outcome {
    let outcome: Outcome = first.wait_with_output().expect("it ends").into();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.errors.contains("error: "), "{outcome:?}");
    assert!(!outcome.errors.contains("panicked"), "{outcome:?}");
    expect_gone(others);
    outcome
}

/// A program that does not end by itself, to be stopped.
const PINGPONG: [&str; 5] = ["pingpong", "--nodes", "3", "--trips", "1e9"];

fn a_stopped_node_is_not_waited_for_after_another_was_killed(program: &[&str]) {
    let (first, others) = start(program, 2);
    signal("STOP", others[0]);
    signal("KILL", others[1]);
    let outcome = ends_badly(first, &others);
    let expected = ["has died", "has not answered"];
    assert!(
        expected.iter().any(|part| outcome.errors.contains(part)),
        "{outcome:?}"
    );
}

fn a_stopped_node_is_named(transport: &str) {
    let program = [&PINGPONG[..], &["--transport", transport]].concat();
    let (first, others) = start(&program, 2);
    others.iter().for_each(|&other| signal("STOP", other));
    let outcome = ends_badly(first, &others);
    let expected = "has not answered for 10 s: it is stopped, or does not get to run";
    assert!(outcome.errors.contains(expected), "{outcome:?}");
}

// All cases run at the same time: each takes the ten seconds for which a node may be silent, and
// no CPU time meanwhile.
#[test]
fn stopped_nodes_are_named_and_not_waited_for() {
    let kneighbor = [
        "kneighbor",
        "--mode",
        "shm",
        "--nodes",
        "3",
        "--repeat",
        "1",
        "--iterations",
        "1e9",
    ];
    thread::scope(|scope| {
        for program in [&PINGPONG[..], &kneighbor] {
            scope.spawn(|| a_stopped_node_is_not_waited_for_after_another_was_killed(program));
        }
        for transport in ["shm", "socket"] {
            scope.spawn(|| a_stopped_node_is_named(transport));
        }
    });
}

/// Returns a user without processes, if this process may start programs as another user.
fn fresh_user() -> Option<u32> {
    let own = fs::metadata("/proc/self").expect("it is there").uid();
    (own == 0).then_some(61_234)
}

/// Copies the program to a place where any user may run it.
fn copy_for_all(folder: &Folder) -> PathBuf {
    let program = folder.path("raddle");
    fs::copy(env!("CARGO_BIN_EXE_raddle"), &program).expect("a copy");
    for path in [folder.as_ref(), &program] {
        let all = fs::Permissions::from_mode(0o755);
        fs::set_permissions(path, all).expect("it is ours");
    }
    program
}

// With any limit on the number of threads, a program runs, or reports in one line what it lacks.
#[test]
fn too_few_threads_are_one_line() {
    let folder = Folder::new("threads");
    let program = copy_for_all(&folder);
    let calls = [
        &[
            "pingpong", "--nodes", "2", "--trips", "1", "--size", "16", "--quiet",
        ][..],
        &[
            "pingpong",
            "--nodes",
            "2",
            "--trips",
            "1",
            "--size",
            "16",
            "--quiet",
            "--transport",
            "threads",
        ],
        &[
            "pingpong",
            "--nodes",
            "2",
            "--symmetric",
            "--trips",
            "1",
            "--quiet",
        ],
        &[
            "kneighbor",
            "--mode",
            "shm",
            "--nodes",
            "3",
            "--iterations",
            "1",
            "--repeat",
            "1",
            "--quiet",
        ],
        &[
            "kneighbor",
            "--mode",
            "shm",
            "--iterations",
            "1",
            "--repeat",
            "1",
            "--quiet",
            "--progress",
            "thread",
        ],
    ];
    for call in calls {
        let mut refused = 0;
        for limit in 1..12 {
            // Shells differ in the name of the option.
            let script = "ulimit -p \"$0\" 2>/dev/null || ulimit -u \"$0\"; exec \"$@\"";
            let mut command = Command::new("sh");
            command
                .args(["-c", script, &limit.to_string()])
                .arg(&program)
                .args(call)
                .stdin(Stdio::null());
            if let Some(user) = fresh_user() {
                command.uid(user).gid(user);
            }
            let outcome: Outcome = command.output().expect("there is a shell").into();
            assert!(
                !outcome.errors.contains("panicked"),
                "{call:?}, {limit}: {outcome:?}"
            );
            match outcome.code {
                Some(0) => assert_eq!(outcome.errors, "", "{call:?}, {limit}"),
                Some(1) => {
                    refused += 1;
                    // One line, whichever node lacks something: the first node reports for all.
                    expect_one_line(&outcome);
                }
                code => panic!("{call:?}, {limit}: {code:?}, {outcome:?}"),
            }
        }
        assert!(refused > 0, "{call:?}");
    }
}

#[test]
fn the_requested_iterations_are_run() {
    // An element sends more bytes than in a run without this option.
    let text = run_well([
        "kneighbor",
        "--mode",
        "socket",
        "--size",
        "1M",
        "--iterations",
        "320",
        "--repeat",
        "1",
        "--json",
    ]);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["sizes"][0]["iterations"], 320, "{text}");
}
