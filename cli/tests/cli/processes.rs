//! Helpers for programs of several processes: their processes, and signals to them.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::raddle;

/// Returns the ids of the child processes of a process.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let parent = format!("\nPPid:\t{parent}\n");
    let entries = fs::read_dir("/proc").expect("it is there").flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let is_child = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status"));
        status.is_ok_and(|status| status.contains(&parent))
    };
    let mut found: Vec<_> = entries.filter_map(number).filter(is_child).collect();
    found.sort_unstable();
    found
}

/// Sends a signal, such as `KILL` or `STOP`.
pub(crate) fn signal(name: &str, process: u32) {
    let kill = Command::new("sh")
        .args(["-c", "kill -\"$0\" \"$1\"", name, &process.to_string()])
        .status();
    assert!(kill.expect("there is a shell").success());
}

/// Starts the program. Returns it and its other nodes when all have started.
pub(crate) fn start(arguments: &[&str], others: usize) -> (Child, Vec<u32>) {
    let mut first = raddle()
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    loop {
        let found = children(first.id());
        // Between fork and exec, a child does not run the program yet.
        let is_up = |process: &u32| {
            let name = fs::read_to_string(format!("/proc/{process}/cmdline"));
            name.is_ok_and(|name| name.contains("raddle"))
        };
        if found.len() == others && found.iter().all(is_up) {
            return (first, found);
        }
        let ended = first.try_wait().expect("it was started here");
        assert!(ended.is_none(), "{arguments:?} ended: {ended:?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Expects that processes are gone.
#[track_caller]
pub(crate) fn expect_gone(processes: &[u32]) {
    for process in processes {
        let is_there = fs::exists(format!("/proc/{process}")).expect("it can be asked");
        assert!(!is_there, "{process} is still there");
    }
}
