//! Tests of the placement `auto`: beside other processes and runtimes, in a small CPU set, and
//! after workers have been moved.
//!
//! Each test has its own group of claims, so that no other program on the machine takes part in it.
//! The tests do not depend on time: one process waits for the steps of the other.
//!
//! A program of its own, because it binds threads and starts itself as a child process.

#![cfg(not(any(loom, shuttle)))]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use raddle_runtime::{Builder, MoveError, Runtime};
use raddle_topology::{Affinity, BindError, Claims, CpuId, Plan, Topology};

/// The environment variable that makes a test a child process: the number of workers.
const CHILD: &str = "RADDLE_TEST_PLACEMENT";

fn group(name: &str) -> String {
    format!("raddle-test-{}-{name}", std::process::id())
}

fn builder(group: &str, worker_count: usize) -> Builder {
    Runtime::builder()
        .workers(worker_count)
        .affinity(Affinity::Auto)
        .claims(Claims::in_group(group))
}

fn topology() -> &'static Topology {
    Topology::this_machine().expect("hwloc knows this machine")
}

/// Returns the CPUs that the process may use, in the order in which `auto` takes them.
fn cpus() -> Vec<CpuId> {
    let plan = raddle_topology::plan(topology(), &Affinity::Auto, topology().cpu_count());
    plan.expect("a plan exists").cpus().collect()
}

/// Asks the system on which CPU each worker runs. Returns `None` for a worker that is not bound.
fn cpus_of_workers(runtime: &Runtime) -> Vec<Option<CpuId>> {
    let (reply, replies) = std::sync::mpsc::channel();
    for worker in 0..runtime.worker_count() {
        let reply = reply.clone();
        runtime.post().send(worker, move || {
            let set = topology()
                .this_thread_cpus()
                .expect("the system reports the CPUs");
            let is_bound = set.len() < topology().allowed_set().len() || set.len() == 1;
            reply
                .send((worker, set.first().filter(|_| is_bound)))
                .expect("the test receives");
        });
    }
    drop(reply);
    let by_worker: BTreeMap<_, _> = replies.iter().collect();
    by_worker.into_values().collect()
}

/// Returns the CPUs that [`cpus_of_workers`] has to return if the workers follow `plan`.
///
/// On a machine with one CPU it is impossible to see whether a thread is bound to it.
fn expected_cpus(plan: &Plan) -> Vec<Option<CpuId>> {
    let only = cpus().len() == 1;
    let entries = plan.entries.iter();
    entries
        .map(|entry| entry.cpu.or(only.then(|| cpus()[0])))
        .collect()
}

/// A child process that keeps a runtime until its standard input is closed.
struct Other {
    child: Child,
    /// Open for as long as the child may write to it.
    _output: BufReader<ChildStdout>,
    /// The summary that the child printed of its plan.
    summary: String,
}

/// Starts this program as a child, after the words of `command`.
fn start(command: &[&str], group: &str, worker_count: usize) -> Other {
    let program = std::env::current_exe().expect("a test program has a path");
    let mut words: Vec<&str> = command.to_vec();
    let program = program.to_str().expect("a path in Unicode");
    words.extend([program, "--exact", "child_has_a_runtime", "--nocapture"]);
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .env(CHILD, worker_count.to_string())
        .env("RADDLE_CLAIMS", group)
        .env_remove("RADDLE_AFFINITY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program runs; taskset is in util-linux, which every Debian has");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let summary = output
        .by_ref()
        .lines()
        .map(|line| line.expect("text"))
        .find_map(|line| line.strip_prefix("child: ").map(str::to_owned))
        .expect("the child prints its plan");
    Other {
        child,
        _output: output,
        summary,
    }
}

impl Other {
    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("the child ends").success());
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the parent test reads it")]
fn child_has_a_runtime() {
    let Ok(worker_count) = std::env::var(CHILD) else {
        return;
    };
    let worker_count = worker_count.parse().expect("a number");
    // The default is `auto`, and the environment sets the group.
    let runtime = Runtime::builder()
        .workers(worker_count)
        .build()
        .expect("the runtime starts");
    let plan = runtime.plan();
    assert_eq!(cpus_of_workers(&runtime), expected_cpus(&plan));
    println!("\nchild: {}", plan.summary);
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a pipe");
}

#[test]
fn second_process_takes_the_remaining_cpus_and_a_kill_frees_the_cpus_of_the_first() {
    let group = group("two");
    let free = cpus();
    let mut first = start(&[], &group, 1);
    assert!(
        first
            .summary
            .starts_with(&format!("placed by auto: 1 worker on CPU {}", free[0]))
    );
    let second = start(&[], &group, free.len());
    let used = format!("CPU {} is used by another Raddle process", free[0]);
    assert!(second.summary.ends_with(&used), "{}", second.summary);
    let unbound = "1 worker is not bound, since there is no free CPU";
    assert!(second.summary.contains(unbound), "{}", second.summary);
    second.end();
    // SIGKILL: the first process cannot clean up.
    first.child.kill().expect("a child can be killed");
    first.child.wait().expect("the child ends");
    let third = builder(&group, free.len())
        .build()
        .expect("the runtime starts");
    assert_eq!(third.plan().cpus().collect::<Vec<_>>(), free);
}

#[test]
fn one_cpu_takes_one_worker_and_the_others_stay_unbound() {
    let group = group("taskset");
    let last = cpus().pop().expect("one CPU").to_string();
    let other = start(&["taskset", "--cpu-list", &last], &group, 3);
    let bound = format!("placed by auto: 1 worker on CPU {last} (");
    assert!(other.summary.starts_with(&bound), "{}", other.summary);
    let unbound = "2 workers are not bound, since there is no free CPU left";
    assert!(other.summary.ends_with(unbound), "{}", other.summary);
    other.end();
}

#[test]
fn runtimes_of_one_process_share_no_cpu_and_free_their_cpus() {
    let group = group("runtimes");
    let free = cpus();
    let first = builder(&group, free.len() + 2)
        .build()
        .expect("the runtime starts");
    let plan = first.plan();
    assert_eq!(plan.cpus().collect::<Vec<_>>(), free);
    assert!(
        plan.entries[free.len()..]
            .iter()
            .all(|entry| entry.cpu.is_none())
    );
    assert_eq!(cpus_of_workers(&first), expected_cpus(&plan));
    let second = builder(&group, 1).build().expect("the runtime starts");
    assert_eq!(second.plan().cpus().next(), None);
    assert!(
        second
            .plan()
            .summary
            .ends_with("used by another runtime of this process")
    );
    // A plan without a runtime is the same, and takes no CPU.
    let seen = builder(&group, 1).plan().expect("a plan exists");
    assert_eq!(seen, second.plan());
    drop(first);
    let third = builder(&group, free.len())
        .build()
        .expect("the runtime starts");
    assert_eq!(third.plan().cpus().collect::<Vec<_>>(), free);
    drop(third);
    for _ in 0..20 {
        let again = builder(&group, 1).build().expect("the runtime starts");
        assert_eq!(again.plan().cpus().next(), Some(free[0]));
    }
}

#[test]
fn explicit_cpus_are_used_and_other_runtimes_avoid_them() {
    let group = group("asked");
    let first = cpus()[0];
    let list = || Affinity::Explicit(vec![first]);
    let one = builder(&group, 1)
        .affinity(list())
        .build()
        .expect("the runtime starts");
    let two = builder(&group, 1)
        .affinity(list())
        .build()
        .expect("the runtime starts");
    assert_eq!(cpus_of_workers(&two)[0], Some(first));
    drop(two);
    let auto = builder(&group, cpus().len())
        .build()
        .expect("the runtime starts");
    assert!(auto.plan().cpus().all(|cpu| cpu != first));
    drop(one);
}

#[test]
fn running_workers_move_to_the_cpus_that_they_are_bound_to() {
    let group = group("moved");
    let free = cpus();
    let (first, last) = (free[0], free[free.len() - 1]);
    let runtime = builder(&group, 2)
        .affinity(Affinity::None)
        .build()
        .expect("the runtime starts");
    assert_eq!(runtime.plan().cpus().next(), None);
    for places in [
        [Some(first), Some(last)],
        [Some(last), Some(first)],
        [None, Some(last)],
    ] {
        runtime.bind_workers(&places).expect("CPUs of this machine");
        let actual = cpus_of_workers(&runtime);
        let plan = runtime.plan();
        assert_eq!(actual, expected_cpus(&plan));
        let entries: Vec<_> = plan.entries.iter().map(|entry| entry.cpu).collect();
        assert_eq!(entries, places);
        assert!(
            plan.summary.starts_with("placed by the program: "),
            "{}",
            plan.summary
        );
        // The claims follow the workers.
        let others = Claims::in_group(group.as_str()).others(&topology().allowed_set());
        let claimed: BTreeSet<_> = others.runtimes.iter().collect();
        assert_eq!(claimed, places.into_iter().flatten().collect());
    }
    let missing = CpuId(65_535);
    assert!(matches!(
        runtime.bind_workers(&[Some(missing), None]),
        Err(MoveError::Cpu(BindError::UnknownCpu { cpu, .. })) if cpu == missing
    ));
    let error = runtime
        .bind_workers(&[None])
        .expect_err("one place for two workers");
    assert_eq!(
        error.to_string(),
        "found 1 CPUs; expected 2, one for each worker"
    );
    drop(runtime);
    let others = Claims::in_group(group).others(&topology().allowed_set());
    assert!(others.runtimes.is_empty());
}

#[test]
fn threads_that_a_bound_worker_starts_are_not_bound() {
    let group = group("inherit");
    let runtime = builder(&group, 1).build().expect("the runtime starts");
    let allowed = topology().allowed_set();
    let inner = builder(&group, 1).affinity(Affinity::None);
    let seen = runtime.install(|| {
        let inner = inner.build().expect("the runtime starts");
        inner.install(|| {
            topology()
                .this_thread_cpus()
                .expect("the system reports the CPUs")
        })
    });
    assert_eq!(seen, allowed);
    // The thread of the first call is still busy, so that the second call has another thread.
    let (end, ended) = std::sync::mpsc::channel();
    let at_once = runtime.install(|| {
        runtime.spawn_thread(move || {
            let seen = topology()
                .this_thread_cpus()
                .expect("the system reports the CPUs");
            ended.recv().expect("the test sends");
            seen
        })
    });
    let blocking = runtime.install(|| {
        runtime.spawn_blocking(|| {
            topology()
                .this_thread_cpus()
                .expect("the system reports the CPUs")
        })
    });
    assert_eq!(blocking.wait(), allowed);
    end.send(()).expect("the call waits");
    assert_eq!(at_once.expect("a thread starts").wait(), allowed);
}

/// Checks that a compensating thread, which a waiting worker starts, takes the place of that
/// worker. Afterwards the thread rests until it takes the place of another worker.
#[test]
fn compensating_threads_run_on_the_cpu_of_the_worker_that_they_replace() {
    let group = group("compensating");
    let free = cpus();
    let runtime = builder(&group, 1).build().expect("the runtime starts");
    let replace_worker = || {
        runtime.install(|| {
            let (report, reports) = std::sync::mpsc::channel();
            let blocked = runtime.spawn_blocking(move || reports.recv().expect("the task sends"));
            let seen = runtime.spawn(move || {
                let cpus = topology()
                    .this_thread_cpus()
                    .expect("the system reports the CPUs");
                report.send(cpus).expect("the call waits");
                raddle_runtime::worker_index()
            });
            let cpus = blocked.wait();
            // This may still be the compensating thread of the round before.
            let own = raddle_runtime::worker_index();
            assert_ne!(seen.wait(), own, "the worker waited for the other handle");
            cpus
        })
    };
    for &cpu in free.iter().chain(free.iter().rev()) {
        runtime
            .bind_workers(&[Some(cpu)])
            .expect("a CPU of this machine");
        // A compensating thread that has not come to rest since its last use stays on its CPU.
        let there = [cpu].into_iter().collect();
        assert!(
            (0..1_000).any(|_| replace_worker() == there),
            "never on CPU {cpu}"
        );
    }
}
