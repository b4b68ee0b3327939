//! Where workers run by `auto`: beside other processes and runtimes, in a small CPU set, and after a move.
//!
//! Each test has a group of claims of its own, so that nobody else on the machine has a part in it. Nothing here takes time: what one
//! process does is awaited by the other.
#![cfg(not(any(loom, shuttle)))]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use raddle_runtime::{Builder, MoveError, Runtime};
use raddle_topology::{Affinity, BindError, Claims, CpuId, Plan, Topology};

/// Says to the test that it is a child: how many workers it shall have, and in which group.
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

/// The CPUs that the process may use, as `auto` takes them.
fn cpus() -> Vec<CpuId> {
    let plan = raddle_topology::plan(topology(), &Affinity::Auto, topology().cpu_count());
    plan.expect("a plan").cpus().collect()
}

/// Where the workers are, as the system tells it to each of them; none for a worker that is not bound.
fn where_they_are(runtime: &Runtime) -> Vec<Option<CpuId>> {
    let (reply, replies) = std::sync::mpsc::channel();
    for worker in 0..runtime.worker_count() {
        let reply = reply.clone();
        runtime.post().send(worker, move || {
            let set = topology().this_thread_cpus().expect("a set");
            let is_bound = set.len() < topology().allowed_set().len() || set.len() == 1;
            reply
                .send((worker, set.first().filter(|_| is_bound)))
                .expect("the test listens");
        });
    }
    drop(reply);
    let told: std::collections::BTreeMap<_, _> = replies.iter().collect();
    told.into_values().collect()
}

/// On one CPU nobody can tell whether a thread is bound to it.
fn bound(plan: &Plan) -> Vec<Option<CpuId>> {
    let only = cpus().len() == 1;
    let entries = plan.entries.iter();
    entries
        .map(|entry| entry.cpu.or(only.then(|| cpus()[0])))
        .collect()
}

/// A child that has a runtime until its standard input is closed, and what it said of it.
struct Other {
    child: Child,
    /// Open as long as the child may write to it.
    _output: BufReader<ChildStdout>,
    summary: String,
}

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
        .expect("the child says what it did");
    Other {
        child,
        _output: output,
        summary,
    }
}

impl Other {
    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("it ends").success());
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the parent test reads it")]
fn child_has_a_runtime() {
    let Ok(worker_count) = std::env::var(CHILD) else {
        return;
    };
    let worker_count = worker_count.parse().expect("a number");
    // `auto` and the group are what the environment and the defaults say.
    let runtime = Runtime::builder()
        .workers(worker_count)
        .build()
        .expect("a runtime");
    let plan = runtime.plan();
    assert_eq!(where_they_are(&runtime), bound(&plan));
    println!("\nchild: {}", plan.summary);
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("a pipe");
}

#[test]
fn second_process_takes_what_the_first_has_left_and_a_kill_gives_it_back() {
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
    // SIGKILL: nothing of the first runs any more, and nothing is left of it.
    first.child.kill().expect("a child can be killed");
    first.child.wait().expect("it ends");
    let third = builder(&group, free.len()).build().expect("a runtime");
    assert_eq!(third.plan().cpus().collect::<Vec<_>>(), free);
}

#[test]
fn one_cpu_takes_one_worker_and_the_others_go_unbound() {
    let group = group("taskset");
    let last = cpus().pop().expect("one CPU").to_string();
    let other = start(&["taskset", "--cpu-list", &last], &group, 3);
    let said = format!("placed by auto: 1 worker on CPU {last} (");
    assert!(other.summary.starts_with(&said), "{}", other.summary);
    let unbound = "2 workers are not bound, since there is no free CPU left";
    assert!(other.summary.ends_with(unbound), "{}", other.summary);
    other.end();
}

#[test]
fn runtimes_of_one_process_share_no_cpu_and_give_it_back() {
    let group = group("runtimes");
    let free = cpus();
    let first = builder(&group, free.len() + 2).build().expect("a runtime");
    let plan = first.plan();
    assert_eq!(plan.cpus().collect::<Vec<_>>(), free);
    assert!(
        plan.entries[free.len()..]
            .iter()
            .all(|entry| entry.cpu.is_none())
    );
    assert_eq!(where_they_are(&first), bound(&plan));
    let second = builder(&group, 1).build().expect("a runtime");
    assert_eq!(second.plan().cpus().next(), None);
    assert!(
        second
            .plan()
            .summary
            .ends_with("used by another runtime of this process")
    );
    // A plan that is only looked at sees the same, and takes nothing.
    let seen = builder(&group, 1).plan().expect("a plan");
    assert_eq!(seen, second.plan());
    drop(first);
    let third = builder(&group, free.len()).build().expect("a runtime");
    assert_eq!(third.plan().cpus().collect::<Vec<_>>(), free);
    drop(third);
    for _ in 0..20 {
        let again = builder(&group, 1).build().expect("a runtime");
        assert_eq!(again.plan().cpus().next(), Some(free[0]));
    }
}

#[test]
fn what_was_asked_for_is_obeyed_and_seen_by_others() {
    let group = group("asked");
    let first = cpus()[0];
    let list = || Affinity::Explicit(vec![first]);
    let one = builder(&group, 1)
        .affinity(list())
        .build()
        .expect("a runtime");
    let two = builder(&group, 1)
        .affinity(list())
        .build()
        .expect("a runtime");
    assert_eq!(where_they_are(&two)[0], Some(first));
    drop(two);
    let auto = builder(&group, cpus().len()).build().expect("a runtime");
    assert!(auto.plan().cpus().all(|cpu| cpu != first));
    drop(one);
}

#[test]
fn workers_go_where_they_are_sent_while_they_run() {
    let group = group("moved");
    let free = cpus();
    let (first, last) = (free[0], free[free.len() - 1]);
    let runtime = builder(&group, 2)
        .affinity(Affinity::None)
        .build()
        .expect("a runtime");
    assert_eq!(runtime.plan().cpus().next(), None);
    for places in [
        [Some(first), Some(last)],
        [Some(last), Some(first)],
        [None, Some(last)],
    ] {
        runtime.bind_workers(&places).expect("CPUs of this machine");
        let are = where_they_are(&runtime);
        let plan = runtime.plan();
        assert_eq!(are, bound(&plan));
        let entries: Vec<_> = plan.entries.iter().map(|entry| entry.cpu).collect();
        assert_eq!(entries, places);
        assert!(
            plan.summary.starts_with("placed by the program: "),
            "{}",
            plan.summary
        );
        // Claims follow.
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
    assert_eq!(error.to_string(), "1 places for 2 workers");
    drop(runtime);
    let others = Claims::in_group(group).others(&topology().allowed_set());
    assert!(others.runtimes.is_empty());
}

#[test]
fn threads_that_a_bound_worker_starts_are_not_bound_with_it() {
    let group = group("inherit");
    let runtime = builder(&group, 1).build().expect("a runtime");
    let allowed = topology().allowed_set();
    let inner = builder(&group, 1).affinity(Affinity::None);
    let seen = runtime.install(|| {
        let inner = inner.build().expect("a runtime");
        inner.install(|| topology().this_thread_cpus().expect("a set"))
    });
    assert_eq!(seen, allowed);
    // Not the same thread for both.
    let (end, ended) = std::sync::mpsc::channel();
    let at_once = runtime.install(|| {
        runtime.spawn_thread(move || {
            let seen = topology().this_thread_cpus().expect("a set");
            ended.recv().expect("it is ended");
            seen
        })
    });
    let blocking = runtime
        .install(|| runtime.spawn_blocking(|| topology().this_thread_cpus().expect("a set")));
    assert_eq!(blocking.wait(), allowed);
    end.send(()).expect("it waits");
    assert_eq!(at_once.expect("a thread").wait(), allowed);
}

/// A substitute is started by the first worker whose place it takes, and rests until it takes another's.
#[test]
fn substitutes_run_where_the_worker_is_whose_place_they_take() {
    let group = group("substitute");
    let free = cpus();
    let runtime = builder(&group, 1).build().expect("a runtime");
    let stand_in = || {
        runtime.install(|| {
            let (tell, told) = std::sync::mpsc::channel();
            let blocked = runtime.spawn_blocking(move || told.recv().expect("it is told"));
            let seen = runtime.spawn(move || {
                let cpus = topology().this_thread_cpus().expect("a set");
                tell.send(cpus).expect("somebody waits");
                raddle_runtime::worker_index()
            });
            let cpus = blocked.wait();
            // The substitute of the round before may still be the one who runs this.
            let own = raddle_runtime::worker_index();
            assert_ne!(seen.wait(), own, "it waited for the other handle");
            cpus
        })
    };
    for &cpu in free.iter().chain(free.iter().rev()) {
        runtime
            .bind_workers(&[Some(cpu)])
            .expect("a CPU of this machine");
        // One that has not come to rest since it was needed last goes on where it is.
        let there = [cpu].into_iter().collect();
        assert!(
            (0..1_000).any(|_| stand_in() == there),
            "never on CPU {cpu}"
        );
    }
}
