//! Binding threads on this machine takes effect, as reading the binding back shows.

use std::ffi::OsStr;
use std::process::Command;
use std::thread;

use raddle_topology::{Affinity, BindError, CpuId, PlanError, Source, Topology, format, plan};

fn this_machine() -> &'static Topology {
    Topology::this_machine().expect("hwloc knows this machine")
}

#[test]
fn this_machine_is_loaded_once() {
    assert!(std::ptr::eq(this_machine(), this_machine()));
    assert!(this_machine().is_this_machine());
    assert_eq!(this_machine().source(), &Source::ThisMachine);
    assert!(this_machine().allowed_cpus().count() >= 1);
    assert_eq!(this_machine().root().cpus.len(), this_machine().cpu_count());
}

#[test]
fn default_worker_count_is_at_most_the_number_of_allowed_cpus() {
    let workers = this_machine().worker_count_default();
    assert!((1..=this_machine().allowed_cpus().count()).contains(&workers));
    // The standard library reads the same mask and the same quota, but rounds the quota down.
    let standard = thread::available_parallelism().expect("it is known").get();
    assert!(
        workers == standard || workers == standard + 1,
        "{workers} {standard}"
    );
}

#[test]
fn a_bound_thread_stays_on_its_cpu() {
    let topology = this_machine();
    for cpu in topology.allowed_cpus() {
        thread::scope(|scope| {
            scope.spawn(|| {
                topology.bind_this_thread(cpu.id).expect("an allowed CPU");
                let bound: Vec<_> = topology.this_thread_cpus().expect("a set").iter().collect();
                assert_eq!(bound, [cpu.id]);
                for _ in 0..100 {
                    assert_eq!(topology.this_thread_last_cpu(), Ok(cpu.id));
                    thread::yield_now();
                }
            });
        });
    }
}

#[test]
fn an_unbound_thread_may_use_every_allowed_cpu() {
    let topology = this_machine();
    thread::scope(|scope| {
        scope.spawn(|| {
            let first = topology.allowed_cpus().next().expect("one CPU").id;
            topology.bind_this_thread(first).expect("an allowed CPU");
            topology
                .unbind_this_thread()
                .expect("the process's own CPUs");
            assert_eq!(topology.this_thread_cpus(), Ok(topology.allowed_set()));
        });
    });
}

#[test]
fn binding_to_a_missing_cpu_is_an_error_that_names_it() {
    let missing = CpuId(65_535);
    assert_eq!(
        this_machine().bind_this_thread(missing),
        Err(BindError::UnknownCpu {
            cpu: missing,
            existing: this_machine().root().cpus.clone()
        })
    );
}

/// The variable that is set in a child process of a test.
const CHILD: &str = "RADDLE_TEST_CHILD";

/// Runs one test of this file in a child process. `command` precedes the test program.
fn run_child(command: &[&str], name: &str) {
    let program = std::env::current_exe().expect("this test's own program");
    let mut words: Vec<&OsStr> = command.iter().map(OsStr::new).collect();
    words.push(program.as_os_str());
    let output = Command::new(words[0])
        .args(&words[1..])
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("the child starts; taskset is part of util-linux, which every Debian has");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success() && out.contains("1 passed"),
        "{out}{err}"
    );
}

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[test]
fn the_affinity_mask_of_the_process_is_respected() {
    if !is_child() {
        let last = this_machine()
            .allowed_cpus()
            .last()
            .expect("one CPU")
            .id
            .to_string();
        let command = ["taskset", "--cpu-list", &last];
        return run_child(&command, "the_affinity_mask_of_the_process_is_respected");
    }
    let topology = this_machine();
    let allowed: Vec<_> = topology.allowed_cpus().map(|cpu| cpu.id).collect();
    let [only] = allowed[..] else {
        panic!("the mask has one CPU, found {allowed:?}");
    };
    assert_eq!(topology.worker_count_default(), 1);
    assert_eq!(
        topology.limits().affinity.as_ref().map(ToString::to_string),
        Some(only.to_string())
    );
    let plan_three = plan(topology, &Affinity::Scatter, 3).expect("one CPU is enough");
    assert!(plan_three.cpus().all(|cpu| cpu == only));
    if let Some(other) = topology.cpus().iter().find(|cpu| !cpu.allowed) {
        let refused = topology.bind_this_thread(other.id);
        assert!(matches!(refused, Err(BindError::NotAllowed { cpu, .. }) if cpu == other.id));
        let list = Affinity::Explicit(vec![other.id]);
        let error = plan(topology, &list, 1).expect_err("it is not allowed");
        assert!(matches!(&error, PlanError::NotAllowed { cpu, .. } if *cpu == other.id));
        assert_eq!(
            error.to_string(),
            format!(
                "this process may not use CPU {}; it may use {only}",
                other.id
            )
        );
        assert!(format::text(topology).contains("(not allowed)"));
        assert!(format::svg(topology).matches("class=\"forbidden\"").count() > 1);
    }
}
