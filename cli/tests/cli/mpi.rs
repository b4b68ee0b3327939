//! Commands between nodes that MPI has started.
#![cfg(feature = "mpi")]

#[path = "../../../crates/net/tests/mpirun/mod.rs"]
mod mpirun;

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::process::Output;

use crate::common::{Folder, json, run_badly, run_well};

/// The variables that allow the `mpirun` of Open MPI to start programs as root, as in a container.
const AS_ROOT: [(&str, &str); 2] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
];

/// Starts the program twice with MPI.
fn by_mpi(arguments: &[&str]) -> Output {
    mpirun::mpirun(2, env!("CARGO_BIN_EXE_raddle"), arguments, [])
}

#[track_caller]
fn expect(output: &Output, parts: &[&str]) {
    let printed = mpirun::printed(output);
    assert!(output.status.success(), "{printed}");
    for part in parts {
        assert_eq!(printed.matches(part).count(), 1, "{part:?} in:\n{printed}");
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
    let outcome = by_mpi(
        &[
            &["pingpong", "--nodes", "2", "--transport", "mpi"],
            &few[..],
        ]
        .concat(),
    );
    expect(&outcome, &["2 nodes by mpi", "99.9 %"]);
    let by_messages = ["pingpong", "--nodes", "2", "--transport", "mpi-messages"];
    let outcome = by_mpi(&[&by_messages, &few[..]].concat());
    expect(&outcome, &["2 nodes by mpi-messages", "99.9 %"]);
    // Without options, the start by MPI selects the transport.
    let outcome = by_mpi(&["pingpong", "--trips", "50", "--size", "1,3456"]);
    expect(&outcome, &["2 nodes by mpi"]);
}

// The second process has a clock that is 5,000 s ahead, as on a machine that was started earlier.
#[test]
fn recordings_of_machines_with_different_clocks_have_one_time() {
    let folder = Folder::new("mpi-clocks");
    let file = folder.path("job.pftrace");
    let program = env!("CARGO_BIN_EXE_raddle");
    let file_name = file.display().to_string();
    let call = [
        "kneighbor",
        "--mode",
        "mpi",
        "--iterations",
        "100",
        "--repeat",
        "1",
        "--trace",
        &file_name,
    ];
    // Only root may make a namespace; another user is root in one of its own.
    let own = std::fs::metadata("/proc/self").expect("a process");
    let user = match own.uid() {
        0 => &[][..],
        _ => &["--map-root-user"],
    };
    let ahead = ["--time", "--monotonic", "5000", "--fork", program];
    let mut arguments = vec!["-n", "1", program];
    arguments.extend(call);
    arguments.extend([":", "-n", "1", "unshare"]);
    arguments.extend(user);
    arguments.extend(ahead);
    arguments.extend(call);
    let arguments: Vec<_> = arguments.into_iter().map(OsString::from).collect();
    let outcome = mpirun::mpirun_with(&arguments, []);
    expect(&outcome, &[]);
    let value = json(&run_well(["report", &file_name, "--json", "--quiet"]));
    let length_ns = value["length_ns"].as_f64().expect("a number");
    assert!(length_ns < 1e12, "{length_ns}");
    // Messages have arrows to their runs, in both directions.
    let flows = value["messages"]["between_nodes"].as_array();
    assert_eq!(flows.map(Vec::len), Some(2), "{}", value["messages"]);
    let entries = value["messages"]["entries"].as_array().expect("a list");
    for entry in entries
        .iter()
        .filter(|entry| entry["traffic"]["messages"] == 200)
    {
        let run = entry["run"][0].as_u64().expect("a number");
        assert!(run >= 190, "{entry}");
    }
}

#[test]
fn a_number_of_nodes_other_than_that_of_processes_is_an_error() {
    let outcome = by_mpi(&["pingpong", "--nodes", "3"]);
    let printed = mpirun::printed(&outcome);
    assert!(!outcome.status.success(), "{printed}");
    let expected = "error: --transport mpi: 2 processes were started by MPI, for 3 nodes";
    assert!(printed.contains(expected), "{printed}");
}

#[test]
fn a_ring_of_processes_exchanges_messages() {
    let few = ["--iterations", "50", "--repeat", "1", "--size", "16,4K"];
    for mode in ["mpi", "mpi-messages", "all"] {
        let outcome = by_mpi(&[&["kneighbor", "--mode", mode], &few[..]].concat());
        expect(&outcome, &[]);
    }
}

// Regression: each process started nodes of its own, and all of them reported.
#[test]
fn processes_of_mpi_refuse_nodes_of_another_kind() {
    for call in [
        &["kneighbor", "--mode", "shm"][..],
        &["pingpong", "--nodes", "2", "--transport", "socket"],
    ] {
        let outcome = by_mpi(call);
        let printed = mpirun::printed(&outcome);
        assert!(!outcome.status.success(), "{printed}");
        let expected = "each of which would have its own nodes by ";
        assert!(printed.contains(expected), "{printed}");
        assert!(printed.contains("; expected mpi"), "{printed}");
    }
}

// Regression: the error only said that MPI had been started before.
#[test]
fn a_process_of_mpi_refuses_more_than_one_measurement_with_mpi() {
    let outcome = by_mpi(&["kneighbor", "--mode", "mpi", "--progress", "all"]);
    let printed = mpirun::printed(&outcome);
    assert!(!outcome.status.success(), "{printed}");
    let expected = "a process can be a node by MPI once; expected one of them";
    assert!(printed.contains(expected), "{printed}");
}

// `mpirun` has not started this process, so the process starts `mpirun`.
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
    let printed = mpirun::printed(&output);
    assert!(output.status.success(), "{printed}");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&printed);
    for line in value["sizes"].as_array().expect(&printed) {
        let modes = line["modes"].as_array().expect(&printed).iter();
        let names: Vec<_> = modes
            .map(|mode| mode["mode"].as_str().expect(&printed))
            .collect();
        // Each mode with several processes is run with each way to receive.
        let mut expected = vec!["threads"];
        for mode in ["shm", "socket", "mpi", "mpi-messages"] {
            expected.extend([mode; 4]);
        }
        assert_eq!(names, expected);
    }
    assert_eq!(
        value["left_out"].as_array().map(Vec::len),
        Some(0),
        "{printed}"
    );
}

// Regression: each process saw only its own workers, so all workers were on the first CPU.
#[test]
fn workers_of_two_processes_are_on_two_cpus() {
    if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2 {
        // Both have to share one CPU.
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
    // If it were killed, MPI would not remove its files.
    let mut end = std::process::Command::new("kill");
    let ended = end.args(["-TERM", &run.id().to_string()]).status();
    assert!(ended.is_ok_and(|status| status.success()));
    run.wait().expect("it was started here");
    assert_eq!(cpus.len(), 2, "{cpus:?}");
    assert_ne!(cpus[0], cpus[1]);
}

/// Returns the CPUs of the first workers of all children of a process, if they are bound.
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
        // A process that ends meanwhile is skipped.
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
fn a_process_that_mpi_has_not_started_explains_how_to_start_it() {
    let printed = run_badly(["pingpong", "--nodes", "2", "--transport", "mpi"]);
    assert!(printed.contains("mpirun -n 2 PROGRAM"), "{printed}");
}

// Regression: `RADDLE_TRANSPORT` was not read, so the program was started without `mpirun`. It
// failed because MPI had not started it.
#[test]
fn launch_uses_the_transport_of_the_environment() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_raddle"))
        .args(["launch", "-n", "2", "sh", "-c", "echo one of $RADDLE_NODES"])
        .envs(AS_ROOT)
        .env("RADDLE_TRANSPORT", "mpi-messages")
        .output()
        .expect("it starts");
    let printed = mpirun::printed(&output);
    assert!(output.status.success(), "{printed}");
    assert_eq!(printed.matches("one of 2").count(), 2, "{printed}");
}

// Regression: `mpirun` refused more nodes than CPUs. With enough CPUs it bound each node to one.
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
    let printed = mpirun::printed(&output);
    assert!(output.status.success(), "{printed}");
    assert_eq!(
        printed.matches(&format!("{nodes} mpi")).count(),
        nodes,
        "{printed}"
    );
    let own = std::fs::read_to_string("/proc/self/status").expect("the status");
    let own = own
        .lines()
        .find(|line| line.starts_with("Cpus_allowed_list"));
    let own = own.expect("the CPUs");
    assert_eq!(printed.matches(own).count(), nodes, "{printed}");
}

// The processes share no memory with `mpi-messages`, so bricks travel by messages of MPI.
#[test]
fn pictures_of_several_nodes_are_those_of_one() {
    let folder = Folder::new("mpi-dirt");
    let scene = ["--scene", "spheres:40", "--iso=-5000", "--size", "60x50"];
    let path = |name: &str| folder.path(name).into_os_string().into_string();
    let expected = path("expected.ppm").expect("a plain path");
    run_well([&["isosurface", "-q", "-o", &expected], &scene[..]].concat());
    let expected = std::fs::read(expected).expect("written");
    for (transport, answers) in [
        ("mpi", "get"),
        ("mpi-messages", "get"),
        ("mpi-messages", "direct"),
        ("mpi-messages", "handler"),
    ] {
        let found = path("found.ppm").expect("a plain path");
        let nodes = ["--transport", transport, "--answers", answers, "-o", &found];
        let call = [&["dirt"], &scene[..], &nodes, &["--cache", "9K"]].concat();
        let output = mpirun::mpirun(4, env!("CARGO_BIN_EXE_raddle"), &call, []);
        expect(&output, &[&format!("3 by {transport},")]);
        let found = std::fs::read(found).expect("written");
        assert!(found == expected, "{transport}, {answers}");
    }
    // Without options, the start by MPI selects the transport. A file that cannot be read is one
    // error.
    let missing = ["dirt", "missing.nrrd", "--iso", "1", "-o", "a.png"];
    let output = mpirun::mpirun(3, env!("CARGO_BIN_EXE_raddle"), &missing, []);
    assert!(!output.status.success());
    let printed = mpirun::printed(&output);
    assert_eq!(printed.matches("error: ").count(), 1, "{printed}");
    assert!(printed.contains("missing.nrrd"), "{printed}");
}
