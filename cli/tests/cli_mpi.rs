//! The commands between nodes that MPI has started.
#![cfg(feature = "mpi")]

mod common;
#[path = "../../crates/net/tests/mpirun/mod.rs"]
mod mpirun;

use std::process::Output;

use common::run_badly;

/// What lets Open MPI's `mpirun` start programs for whom everything is allowed: in a container.
const AS_ROOT: [(&str, &str); 2] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
];

/// Has MPI start the program twice.
fn by_mpi(arguments: &[&str]) -> Output {
    mpirun::mpirun(2, env!("CARGO_BIN_EXE_raddle"), arguments, [])
}

#[track_caller]
fn expect(output: &Output, parts: &[&str]) {
    let told = mpirun::printed(output);
    assert!(output.status.success(), "{told}");
    for part in parts {
        assert_eq!(told.matches(part).count(), 1, "{part:?} in:\n{told}");
    }
}

#[test]
fn a_message_goes_from_process_to_process_and_back() {
    let few = [
        "--trips",
        "50",
        "--size",
        "1,64K,200000",
        "--receive",
        "all",
    ];
    let said = by_mpi(
        &[
            &["pingpong", "--nodes", "2", "--transport", "mpi"],
            &few[..],
        ]
        .concat(),
    );
    expect(&said, &["2 nodes by mpi", "99.9 %"]);
    let by_messages = ["pingpong", "--nodes", "2", "--transport", "mpi-messages"];
    let said = by_mpi(&[&by_messages, &few[..]].concat());
    expect(&said, &["2 nodes by mpi-messages", "99.9 %"]);
    // The same where nothing is said but that MPI has started it.
    let said = by_mpi(&["pingpong", "--trips", "50", "--size", "1,3456"]);
    expect(&said, &["2 nodes by mpi"]);
}

#[test]
fn another_number_of_nodes_than_processes_is_told() {
    let said = by_mpi(&["pingpong", "--nodes", "3"]);
    let told = mpirun::printed(&said);
    assert!(!said.status.success(), "{told}");
    let expected = "error: --transport mpi: 2 processes were started by MPI, for 3 nodes";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_ring_of_processes_exchanges_messages() {
    let few = ["--iterations", "50", "--repeat", "1", "--size", "16,4K"];
    for mode in ["mpi", "mpi-messages", "all"] {
        let said = by_mpi(&[&["kneighbor", "--mode", mode], &few[..]].concat());
        expect(&said, &[]);
    }
}

/// Each process brought up nodes of its own, and all of them reported.
#[test]
fn nodes_of_another_kind_are_refused_to_processes_of_mpi() {
    for call in [
        &["kneighbor", "--mode", "shm"][..],
        &["pingpong", "--nodes", "2", "--transport", "socket"],
    ] {
        let said = by_mpi(call);
        let told = mpirun::printed(&said);
        assert!(!said.status.success(), "{told}");
        let expected = "each of which would have its own nodes by ";
        assert!(told.contains(expected), "{told}");
        assert!(told.contains("; expected mpi"), "{told}");
    }
}

/// It said that MPI had been started before.
#[test]
fn more_than_one_measurement_by_mpi_is_refused_to_a_process_of_it() {
    let said = by_mpi(&["kneighbor", "--mode", "mpi", "--progress", "all"]);
    let told = mpirun::printed(&said);
    assert!(!said.status.success(), "{told}");
    let expected = "a process can be a node by MPI once; expected one of them";
    assert!(told.contains(expected), "{told}");
}

/// `mpirun` is started where this process is none of its own.
#[test]
fn all_modes_are_in_one_table() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args([
            "kneighbor",
            "--mode",
            "all",
            "--progress",
            "all",
            "--iterations",
            "30",
        ])
        .args(["--repeat", "1", "--size", "16,4K", "--json"])
        .envs(AS_ROOT)
        .output()
        .expect("it starts");
    let told = mpirun::printed(&output);
    assert!(output.status.success(), "{told}");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&told);
    for line in value["sizes"].as_array().expect(&told) {
        let modes = line["modes"].as_array().expect(&told).iter();
        let names: Vec<_> = modes
            .map(|mode| mode["mode"].as_str().expect(&told))
            .collect();
        let expected = [
            "threads",
            "shm",
            "shm",
            "shm",
            "socket",
            "socket",
            "socket",
            "mpi",
            "mpi",
            "mpi",
            "mpi-messages",
            "mpi-messages",
            "mpi-messages",
        ];
        assert_eq!(names, expected);
    }
    assert_eq!(
        value["left_out"].as_array().map(Vec::len),
        Some(0),
        "{told}"
    );
}

/// Each saw only its own workers, so that all were on the first CPU.
#[test]
fn workers_of_two_processes_are_on_two_cpus() {
    if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2 {
        // There is one for both.
        return;
    }
    let mut run = std::process::Command::new("mpirun")
        .args(["-n", "2", "--bind-to", "none", env!("CARGO_BIN_EXE_raddle")])
        .args([
            "kneighbor",
            "--mode",
            "mpi",
            "--iterations",
            "1e9",
            "--size",
            "16",
        ])
        .envs(AS_ROOT)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let mut cpus = Vec::new();
    for _ in 0..1_000 {
        cpus = worker_cpus(run.id());
        if cpus.len() == 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Killed, MPI would leave its own files.
    let mut end = std::process::Command::new("kill");
    let ended = end.args(["-TERM", &run.id().to_string()]).status();
    assert!(ended.is_ok_and(|status| status.success()));
    run.wait().expect("it was started here");
    assert_eq!(cpus.len(), 2, "{cpus:?}");
    assert_ne!(cpus[0], cpus[1]);
}

/// Of the bound first workers of a process's children, the CPUs.
fn worker_cpus(parent: u32) -> Vec<String> {
    let line = |status: &str, name: &str| {
        let found = status.lines().find_map(|line| line.strip_prefix(name));
        found.map_or_else(String::new, |value| value.trim().to_owned())
    };
    let mut cpus = Vec::new();
    for process in std::fs::read_dir("/proc").expect("proc").flatten() {
        let folder = process.path();
        let status = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
        if line(&status, "PPid:") != parent.to_string() {
            continue;
        }
        // What ends meanwhile is passed over.
        for thread in std::fs::read_dir(folder.join("task"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
            let cpu = line(&status, "Cpus_allowed_list:");
            if line(&status, "Name:") == "raddle-0" && cpu.parse::<u32>().is_ok() {
                cpus.push(cpu);
            }
        }
    }
    cpus
}

#[test]
fn who_was_not_started_by_mpi_is_told_how() {
    let told = run_badly(["pingpong", "--nodes", "2", "--transport", "mpi"]);
    assert!(told.contains("mpirun -n 2 PROGRAM"), "{told}");
}

/// The transport was taken from the command line alone: the program was started once, and said that MPI had not started it.
#[test]
fn what_the_environment_says_is_launched() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["launch", "-n", "2", "sh", "-c", "echo one of $RADDLE_NODES"])
        .envs(AS_ROOT)
        .env("RADDLE_TRANSPORT", "mpi-messages")
        .output()
        .expect("it starts");
    let told = mpirun::printed(&output);
    assert!(output.status.success(), "{told}");
    assert_eq!(told.matches("one of 2").count(), 2, "{told}");
}

/// `mpirun` refused more nodes than there are CPUs, and bound those of which there were as many to one each.
#[test]
fn a_program_is_launched_on_more_nodes_than_cpus() {
    let nodes = std::thread::available_parallelism().map_or(4, |cpus| cpus.get() + 2);
    let script = "echo $RADDLE_NODES $RADDLE_TRANSPORT; grep Cpus_allowed_list /proc/self/status";
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["launch", "--transport", "mpi", "-n", &nodes.to_string()])
        .args(["sh", "-c", script])
        .envs(AS_ROOT)
        .output()
        .expect("it starts");
    let told = mpirun::printed(&output);
    assert!(output.status.success(), "{told}");
    assert_eq!(
        told.matches(&format!("{nodes} mpi")).count(),
        nodes,
        "{told}"
    );
    let own = std::fs::read_to_string("/proc/self/status").expect("the system tells");
    let own = own
        .lines()
        .find(|line| line.starts_with("Cpus_allowed_list"));
    let own = own.expect("it tells which CPUs");
    assert_eq!(told.matches(own).count(), nodes, "{told}");
}
