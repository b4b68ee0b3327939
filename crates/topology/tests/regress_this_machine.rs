//! This machine is loaded correctly regardless of environment variables and system call filters.
//!
//! Two bugs made the runtime start with a wrong number of workers, or not at all:
//! - hwloc mistakes a refusal of `sched_getaffinity` for a buffer that is too small. Under a filter
//!   that refuses the call, as in a sandbox, the first use of the runtime tried larger and larger
//!   buffers forever.
//! - `HWLOC_SYNTHETIC`, `HWLOC_XMLFILE` and similar variables are meant for `lstopo`. With them, a
//!   runtime started unbound workers for a machine that did not exist. With `HWLOC_THISSYSTEM`, it
//!   would even have bound them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_topology::{BindError, Source, Topology};

/// The variable that is set in a child process of a test. Its value is the summary of the machine
/// that the parent has loaded.
const CHILD: &str = "RADDLE_TEST_MACHINE";

/// Summarises everything in the machine that affects where workers run.
fn counts(topology: &Topology) -> String {
    format!(
        "{} CPUs {}, {} cores, {} packages, nodes {:?}, {} workers",
        topology.cpu_count(),
        topology.allowed_set(),
        topology.core_count(),
        topology.package_count(),
        topology
            .numa_nodes()
            .iter()
            .map(|node| node.cpus.to_string())
            .collect::<Vec<_>>(),
        topology.worker_count_default(),
    )
}

fn this_machine() -> &'static Topology {
    Topology::this_machine().unwrap_or_else(|error| panic!("{error}"))
}

/// Runs one test of this file in a child process. `command` precedes the test program.
fn run_child(command: &[&OsStr], name: &str, variables: &[(&str, &str)]) {
    let program = std::env::current_exe().expect("this test's own program");
    let mut words = command.to_vec();
    words.push(program.as_os_str());
    let output = Command::new(words[0])
        .args(&words[1..])
        .args(["--exact", name, "--nocapture"])
        .envs(variables.iter().copied())
        .env(CHILD, counts(this_machine()))
        .output()
        .expect("the child starts");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success() && out.contains("1 passed"),
        "{variables:?}: {}\n{out}{err}",
        output.status
    );
}

/// Checks in the child that the machine matches the summary of the parent, that the notes contain
/// `noted`, and that threads can be bound.
fn check(expected: &str, noted: &str) {
    let topology = this_machine();
    assert_eq!(topology.source(), &Source::ThisMachine);
    assert_eq!(counts(topology), expected);
    let notes = topology.limits().notes.join("\n");
    assert!(notes.contains(noted), "{notes:?}");
    let cpu = topology.allowed_cpus().last().expect("one CPU").id;
    topology.bind_this_thread(cpu).expect("an allowed CPU");
    assert_eq!(topology.this_thread_last_cpu(), Ok(cpu));
    topology
        .unbind_this_thread()
        .expect("the process's own CPUs");
}

#[test]
fn hwloc_variables_do_not_replace_this_machine() {
    const NAME: &str = "hwloc_variables_do_not_replace_this_machine";
    if let Ok(expected) = std::env::var(CHILD) {
        check(&expected, "HWLOC_");
        let topology = this_machine();
        let cpu = topology.allowed_cpus().next().expect("one CPU").id;
        topology.bind_this_thread(cpu).expect("an allowed CPU");
        let bound = topology.this_thread_cpus().expect("it can be read");
        assert_eq!(bound.to_string(), cpu.to_string());
        return;
    }
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("other-machine.xml");
    let sets =
        "cpuset=\"0x1\" complete_cpuset=\"0x1\" online_cpuset=\"0x1\" allowed_cpuset=\"0x1\"";
    let other = format!(
        "<?xml version=\"1.0\"?>\n<topology>\n\
         <object type=\"Machine\" os_index=\"0\" {sets}>\n\
         <object type=\"PU\" os_index=\"0\" {sets}/>\n\
         </object>\n</topology>\n"
    );
    fs::write(&file, other).expect("a new file");
    let xml = file.to_str().expect("the folder is ours");
    let synthetic = ("HWLOC_SYNTHETIC", "package:2 core:3 pu:7");
    for variables in [
        &[synthetic][..],
        &[synthetic, ("HWLOC_THISSYSTEM", "1")],
        &[("HWLOC_XMLFILE", xml)],
        &[
            ("HWLOC_XMLFILE", xml),
            ("HWLOC_THISSYSTEM", "1"),
            ("HWLOC_THISSYSTEM_ALLOWED_RESOURCES", "1"),
        ],
        &[("HWLOC_FSROOT", env!("CARGO_TARGET_TMPDIR"))],
        &[("HWLOC_CPUID_PATH", env!("CARGO_TARGET_TMPDIR"))],
        &[("HWLOC_COMPONENTS", "-linux,-x86")],
        &[synthetic, ("HWLOC_COMPONENTS", "synthetic,stop")],
        &[("HWLOC_THISSYSTEM", "0")],
        &[("HWLOC_ALLOW", "all")],
    ] {
        run_child(&[], NAME, variables);
    }
    fs::remove_file(&file).expect("it exists");
}

/// A C program that installs a filter which refuses `sched_getaffinity`, and then executes another
/// program.
const REFUSING: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **words) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof rules / sizeof rules[0], rules };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("prctl");
        return 2;
    }
    /* End a program that loops forever, so that the test does not wait for it. */
    alarm(300);
    execv(words[1], words + 1);
    perror(words[1]);
    return count;
}
"#;

/// Compiles the program with the compiler that links this test.
fn compile(folder: &Path) -> PathBuf {
    let (source, program) = (folder.join("refusing.c"), folder.join("refusing"));
    fs::write(&source, REFUSING).expect("a new file");
    let output = Command::new("cc")
        .arg("-o")
        .args([&program, &source])
        .output()
        .expect("cc is installed, because it links Rust programs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

#[test]
fn machine_is_loaded_under_a_filter_that_refuses_the_affinity_mask() {
    const NAME: &str = "machine_is_loaded_under_a_filter_that_refuses_the_affinity_mask";
    if let Ok(expected) = std::env::var(CHILD) {
        check(&expected, "sched_getaffinity");
        let refused = this_machine().this_thread_cpus();
        assert!(
            matches!(&refused, Err(BindError::Refused { .. })),
            "{refused:?}"
        );
        return;
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("refusing");
    fs::create_dir_all(&folder).expect("a new folder");
    run_child(&[compile(&folder).as_os_str()], NAME, &[]);
    fs::remove_dir_all(&folder).expect("it exists");
}
