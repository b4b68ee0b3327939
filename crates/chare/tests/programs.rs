//! Ordinary programs: their exit codes and messages after failures, and their reports at a
//! standstill.
//!
//! Regressions: a program ended with exit code 0 although an entry without a reply had panicked.
//! The report about a reduction that lacked one of four contributions said that it had none, and
//! did not name the missing element. A program with an entry that called `exit(3)` was aborted.
//!
//! This test has no test harness. Without arguments, it runs the test, which starts this executable
//! again once for each program.

#![cfg(not(any(loom, shuttle)))]

mod common;

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use raddle_chare::nodes::Job;
use raddle_chare::reduce::Sum;
use raddle_chare::{Array, Chares, Cx, chare};
use raddle_runtime::{Runtime, Shutdown, default_runtime};

use common::runtime;

struct Cell;

#[chare(nodes)]
impl Cell {
    #[entry]
    fn fall(&mut self) {
        panic!("falls");
    }
    #[entry]
    fn exit(&mut self) {
        std::process::exit(3);
    }
    #[entry]
    fn count(&mut self) -> u32 {
        1
    }
    #[entry]
    fn count_or_fall(&mut self, falls: bool) -> u32 {
        assert!(!falls, "falls");
        1
    }
    #[entry]
    fn vote(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Sum(1_u32));
    }
    #[entry]
    fn vote_then_fall(&mut self, cx: &mut Cx<Self>) {
        cx.contribute_then(Sum(1_u32), |_| panic!("falls"));
    }
}

/// Waits for quiescence and ignores failures.
fn until_quiet(runtime: &Runtime) {
    let quiet = runtime.quiescence();
    while !quiet.is_here() {
        thread::yield_now();
    }
}

/// Returns the proxy of a cell that has panicked, before the panic is reported to the program.
fn fallen(runtime: &Runtime) -> CellProxy {
    let cell = runtime.array(2, |_| Cell).at(0);
    cell.fall();
    until_quiet(runtime);
    cell
}

/// Name, main function, expected exit code and expected text on standard error of each program.
type Program = (&'static str, fn(), i32, &'static str);

const UNTIL_THE_END: &str = "falls; nothing has waited for it until the end of the";

const PROGRAMS: [Program; 17] = [
    ("nothing fails", nothing_fails, 0, ""),
    ("by the default runtime", by_default, 101, UNTIL_THE_END),
    ("while it is printed", printing, 101, UNTIL_THE_END),
    ("a panic hook ends it", hook_that_exits, 3, ""),
    ("an entry ends it", entry_that_exits, 3, ""),
    ("a runtime is dropped", dropped, 101, UNTIL_THE_END),
    ("a runtime is leaked", leaked, 101, UNTIL_THE_END),
    ("a runtime is left alone", in_background, 101, UNTIL_THE_END),
    ("a runtime is stuck", stuck, 101, UNTIL_THE_END),
    ("an exit code of its own", with_exit_code, 3, ""),
    ("a failure is a value", failure_as_value, 0, ""),
    ("a later message says it", later_message, 0, ""),
    ("a constructor", constructor, 101, UNTIL_THE_END),
    ("after a reduction", after_a_reduction, 101, UNTIL_THE_END),
    ("an unwanted reply", unwanted_reply, 101, UNTIL_THE_END),
    ("a node", node, 101, "the job: Cell[3] panicked in `fall`"),
    ("a node's failure is a value", node_failure_as_value, 0, ""),
];

fn nothing_fails() {
    let cells = default_runtime().array(2, |_| Cell);
    cells.all().vote();
    assert_eq!(cells.reduction::<u32>().wait(), 2);
}

fn by_default() {
    fallen(default_runtime());
}

/// Ends the program while the panic is being printed.
fn printing() {
    let (begun, has_begun) = mpsc::channel();
    std::panic::set_hook(Box::new(move |panic| {
        // The program would otherwise end before the panic is reported.
        let _ = begun.send(());
        thread::sleep(Duration::from_millis(200));
        eprintln!("{panic}");
    }));
    default_runtime().array(2, |_| Cell).at(0).fall();
    has_begun.recv().expect("it falls");
}

/// Ends the program from the panic hook, on the thread that prints the panic.
fn hook_that_exits() {
    std::panic::set_hook(Box::new(|_| std::process::exit(3)));
    default_runtime().array(2, |_| Cell).at(0).fall();
    thread::sleep(Duration::MAX);
}

fn entry_that_exits() {
    default_runtime().array(2, |_| Cell).at(0).exit();
    thread::sleep(Duration::MAX);
}

fn dropped() {
    fallen(&runtime(1));
}

fn leaked() {
    let runtime = runtime(1);
    fallen(&runtime);
    std::mem::forget(runtime);
}

fn in_background() {
    let runtime = runtime(1);
    fallen(&runtime);
    runtime.shutdown_background();
    // The threads of the runtime may or may not have released everything by then. The panic must be
    // reported in both cases.
    thread::sleep(Duration::from_millis(20));
}

fn stuck() {
    let runtime = runtime(1);
    fallen(&runtime);
    let (begun, has_begun) = mpsc::channel();
    drop(runtime.spawn(move || {
        begun.send(()).expect("the program waits for it");
        thread::sleep(Duration::MAX);
    }));
    has_begun.recv().expect("it begins");
    let ended = runtime.shutdown_timeout(Duration::from_millis(1));
    assert_ne!(ended, Shutdown::Complete);
}

fn with_exit_code() {
    fallen(default_runtime());
    std::process::exit(3);
}

fn failure_as_value() {
    let runtime = runtime(1);
    fallen(&runtime);
    let failure = runtime.quiescence().try_wait().expect_err("a cell falls");
    assert!(failure.to_string().contains("falls"), "{failure}");
}

fn later_message() {
    let runtime = runtime(1);
    let failure = fallen(&runtime)
        .count()
        .try_wait()
        .expect_err("it has ended");
    assert!(failure.to_string().contains("falls"), "{failure}");
}

fn constructor() {
    let runtime = runtime(1);
    runtime.chare::<Cell>(|_| panic!("falls"));
    until_quiet(&runtime);
}

fn after_a_reduction() {
    let runtime = runtime(1);
    runtime.array(2, |_| Cell).all().vote_then_fall();
    until_quiet(&runtime);
}

fn unwanted_reply() {
    let runtime = runtime(1);
    drop(runtime.chare(|_| Cell).count_or_fall(true));
    until_quiet(&runtime);
}

/// Runs a program on two nodes with two of the four cells each.
fn job(main: fn(&Runtime, Array<Cell>)) {
    let job = Job::new(2).runtime(Runtime::builder().workers(1));
    let done = job.run_within(|setup| setup.array(4, |_| Cell), main);
    if let Err(error) = done {
        panic!("the job: {error}");
    }
}

fn node() {
    job(|runtime, cells| {
        cells.at(3).fall();
        until_quiet(runtime);
    });
}

fn node_failure_as_value() {
    job(|runtime, cells| {
        cells.at(3).fall();
        runtime.quiescence().try_wait().expect_err("a cell falls");
    });
}

/// Waits for a sum that lacks the contribution of one of four cells.
fn wait_for_ever() {
    let runtime = runtime(2);
    let cells = runtime.array(4, |_| Cell);
    for index in [0, 1, 3] {
        cells.at(index).vote();
    }
    cells.reduction::<u32>().wait();
}

fn main() {
    let mut arguments = env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("program"), Some(name)) if name == "stand still" => wait_for_ever(),
        (Some("program"), Some(name)) => {
            let found = PROGRAMS.iter().find(|program| program.0 == name);
            found.expect("it is one of them").1();
        }
        _ => {
            check_exit_codes();
            check_that_a_standstill_is_reported();
        }
    }
}

fn command(name: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("it runs"));
    command
        .args(["program", name])
        .env("RADDLE_WORKERS", "1")
        .env("RADDLE_AFFINITY", "none")
        .stderr(Stdio::piped());
    command
}

fn check_exit_codes() {
    for (name, _, code, expected) in PROGRAMS {
        let output = command(name).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{name}: {said}");
        assert!(said.contains(expected), "{name}: {said}");
    }
}

fn check_that_a_standstill_is_reported() {
    /// Kills the program on drop, because it would wait for ever.
    struct Ends(Child);
    impl Drop for Ends {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    let started = command("stand still").env("RADDLE_WATCH", "20ms").spawn();
    let mut program = Ends(started.expect("it starts"));
    let said = program.0.stderr.take().expect("it is a pipe");
    let mut lines = BufReader::new(said).lines().map(|line| line.expect("text"));
    let first = lines.next();
    assert_eq!(
        first.as_deref(),
        Some("raddle: no message has been under way for 20ms; what waits:")
    );
    let second = lines.next();
    assert_eq!(
        second.as_deref(),
        Some(
            "  reduction 0 of Cell has 3 of 4 contributions; Array<Cell>#0 lacks those of Cell[2]"
        )
    );
    drop(program);
    let refused = command("nothing fails")
        .env("RADDLE_WATCH", "soon")
        .output();
    let refused = refused.expect("it starts");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(101), "{said}");
    assert!(
        said.contains("RADDLE_WATCH: found \"soon\"; expected a time"),
        "{said}"
    );
}
