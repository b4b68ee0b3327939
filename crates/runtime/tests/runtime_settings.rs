//! Settings: environment, handlers, names, counters, and an idle runtime.
//!
//! A program of its own, because it starts itself as a child process, and because it waits until a
//! runtime is idle, which other tests would disturb.

#![cfg(not(any(loom, shuttle)))]

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle_runtime::{IdlePolicy, PoolKind, Runtime, join};

/// Runs one test of this program in a child process with one more variable. Returns whether it
/// succeeded and what it printed.
fn child(test: &str, name: &str, value: &str) -> (bool, String) {
    let program = std::env::current_exe().expect("a test program has a path");
    let output = Command::new(program)
        .args(["--exact", test, "--nocapture", "--include-ignored"])
        .env(name, value)
        .env("RADDLE_TEST_CHILD", "1")
        .output()
        .expect("this program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.success(), text)
}

/// Prints the settings if it runs in a child process. As a test of its own it checks the defaults.
#[test]
#[expect(clippy::print_stdout, reason = "the parent test reads it")]
fn environment_child() {
    match Runtime::new() {
        Ok(runtime) => println!(
            "workers={} pool={}",
            runtime.worker_count(),
            runtime.report().pool
        ),
        Err(error) => println!("error: {error}"),
    }
    if std::env::var_os("RADDLE_TEST_CHILD").is_none() {
        assert!(Runtime::new().is_ok());
    }
}

#[test]
fn environment_sets_what_the_builder_leaves_unset() {
    assert!(
        child("environment_child", "RADDLE_WORKERS", "3")
            .1
            .contains("workers=3")
    );
    assert!(
        child("environment_child", "RADDLE_POOL", "central")
            .1
            .contains("pool=SQ-TL")
    );
    for (name, value, expected) in [
        (
            "RADDLE_WORKERS",
            "many",
            "RADDLE_WORKERS: found \"many\"; expected a number from 1 to 4096",
        ),
        (
            "RADDLE_WORKERS",
            "0",
            "RADDLE_WORKERS: found \"0\"; expected a number from 1 to 4096",
        ),
        (
            "RADDLE_WORKERS",
            "5000",
            "RADDLE_WORKERS: found \"5000\"; expected a number from 1 to 4096",
        ),
        (
            "RADDLE_POOL",
            "lifo",
            "RADDLE_POOL: found \"lifo\"; expected central, distributed, blocks, SQ-PTH, ",
        ),
        (
            "RADDLE_IDLE",
            "sleep",
            "RADDLE_IDLE: found \"sleep\"; expected adaptive, spin or park",
        ),
        (
            "RADDLE_TASK_MEMORY",
            "disk",
            "RADDLE_TASK_MEMORY: found \"disk\"; expected cells or malloc",
        ),
        (
            "RADDLE_AFFINITY",
            "near",
            "RADDLE_AFFINITY: found \"near\"; expected auto, none, compact, scatter",
        ),
    ] {
        let (_, text) = child("environment_child", name, value);
        assert!(text.contains(expected), "{name}={value}: {text}");
    }
}

#[test]
fn invalid_thread_name_is_an_error() {
    let error = Runtime::builder()
        .workers(1)
        .thread_name("a\0b")
        .build()
        .expect_err("the name is invalid");
    assert_eq!(
        error.to_string(),
        "thread name \"a\\0b\": found a NUL; expected none"
    );
}

#[test]
fn handlers_run_on_every_worker_and_threads_have_names() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (start, exit) = (Arc::clone(&seen), Arc::clone(&seen));
    let runtime = Runtime::builder()
        .workers(3)
        .thread_name("loom")
        .on_start(move |index| start.lock().expect("no panic").push(("start", index)))
        .on_exit(move |index| exit.lock().expect("no panic").push(("exit", index)))
        .build()
        .expect("the runtime starts");
    let name = runtime.install(|| std::thread::current().name().map(str::to_owned));
    assert!(name.expect("workers have names").starts_with("loom-"));
    drop(runtime);
    let mut seen = seen.lock().expect("no panic").clone();
    seen.sort_unstable();
    let each = |what| (0..3).map(move |index| (what, index));
    assert_eq!(seen, each("exit").chain(each("start")).collect::<Vec<_>>());
}

#[test]
fn panic_of_a_task_without_a_handle_reaches_the_handler() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let runtime = Runtime::builder()
        .workers(1)
        .on_panic(move |panic| {
            let text = panic.downcast_ref::<&str>().copied().unwrap_or_default();
            sender.send(text).expect("the test receives");
        })
        .build()
        .expect("the runtime starts");
    // The handle is dropped before the task starts, because the only worker is busy until then.
    runtime.install(|| drop(runtime.spawn(|| panic!("alone"))));
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok("alone"));
    assert_eq!(runtime.install(|| 1), 1);
}

#[test]
fn counters_count_forks_and_tasks() {
    fn fib(n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let (a, b) = join(|| fib(n - 1), || fib(n - 2));
        a + b
    }
    for pool in PoolKind::ALL {
        let runtime = Runtime::builder()
            .workers(2)
            .pool(pool)
            .build()
            .expect("the runtime starts");
        assert_eq!(runtime.install(|| fib(20)), 6_765);
        let total = runtime.report().total;
        // fib(20) forks 10,945 times; a fork is called in place, taken back, or stolen.
        let stolen = total.forks_published - total.forks_reclaimed;
        assert_eq!(total.forks_inline + total.forks_reclaimed + stolen, 10_945);
        // A worker counts a task after it has returned, when its caller already has the result.
        let counted = (0..10_000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            runtime.report().total.tasks == 1 + stolen
        });
        assert!(
            counted,
            "{} tasks, {stolen} stolen",
            runtime.report().total.tasks
        );
    }
}

#[test]
fn idle_runtime_sleeps_until_it_gets_work() {
    for policy in [IdlePolicy::Adaptive, IdlePolicy::Park] {
        let runtime = Runtime::builder()
            .workers(4)
            .idle(policy)
            .build()
            .expect("the runtime starts");
        runtime.install(|| ());
        // The workers have no work and fall asleep. Then the number of sleeps stops growing.
        let mut before = runtime.report().total.parks;
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let now = runtime.report().total.parks;
            if now == before {
                break;
            }
            before = now;
        }
        // A sleeping worker counts as idle, not as busy, already while it sleeps.
        let asleep = runtime.report();
        std::thread::sleep(Duration::from_millis(50));
        let later = runtime.report();
        for (before, after) in asleep.workers.iter().zip(&later.workers) {
            assert!(before.parks > 0);
            assert_eq!(before.busy_ns, after.busy_ns);
            assert!(before.idle_ns < after.idle_ns);
        }
        assert_eq!(runtime.install(|| 7), 7);
    }
}

/// Checks the idle time of a compensating thread. Regression: such a thread counted as busy before
/// it began and while it rested, so that the busy time of a runtime was more than that of all its
/// processors.
#[test]
fn a_compensating_thread_is_idle_before_it_begins_and_while_it_rests() {
    let runtime = Runtime::builder().workers(1).build();
    let runtime = Arc::new(runtime.expect("the runtime starts"));
    // The clock of the counters, before the thread exists.
    let worker = runtime.report().workers[0].clone();
    let age_ns = worker.busy_ns + worker.idle_ns;
    let inside = Arc::clone(&runtime);
    runtime.install(move || {
        let below = Arc::clone(&inside);
        // The only worker waits for a task that only a compensating thread can run.
        inside.spawn_blocking(move || below.install(|| ())).wait();
    });
    let compensating = || runtime.report().workers[1].clone();
    assert!(compensating().idle_ns >= age_ns);
    let is_resting = (0..200).any(|_| {
        let before = compensating();
        std::thread::sleep(Duration::from_millis(50));
        before.busy_ns == compensating().busy_ns
    });
    assert!(is_resting, "{:?}", runtime.report());
}

/// Returns the sorted names that the system shows for the threads of the workers.
#[cfg(target_os = "linux")]
fn system_names(runtime: &Runtime) -> Vec<String> {
    let (report, reports) = std::sync::mpsc::channel();
    for worker in 0..runtime.worker_count() {
        let report = report.clone();
        runtime.post().send(worker, move || {
            let name =
                std::fs::read_to_string("/proc/thread-self/comm").expect("a thread has a name");
            report
                .send(name.trim_end().to_owned())
                .expect("the test receives");
        });
    }
    drop(report);
    let mut names: Vec<String> = reports.iter().collect();
    names.sort_unstable();
    names
}

#[cfg(target_os = "linux")]
#[test]
fn long_thread_names_keep_the_index() {
    for (name, expected) in [
        ("render", ["render-0", "render-1", "render-10"]),
        // The system keeps 15 bytes.
        (
            "simulation-of-weather",
            ["simulation-of-0", "simulation-of-1", "simulation-o-10"],
        ),
        // A character of two bytes is never cut in half.
        ("ääääääääää", ["ääääää-0", "ääääää-1", "ääääää-10"]),
    ] {
        let runtime = Runtime::builder().workers(11).thread_name(name).build();
        let runtime = runtime.expect("the runtime starts");
        let names = system_names(&runtime);
        for expected in expected {
            assert!(
                names.iter().any(|it| it == expected),
                "{expected}: {names:?}"
            );
        }
        let blocking = runtime.spawn_blocking(|| std::fs::read_to_string("/proc/thread-self/comm"));
        let blocking = blocking.wait().expect("a thread has a name");
        assert!(blocking.trim_end().ends_with("-blocking"), "{blocking}");
    }
}

#[test]
fn debug_text_of_a_runtime_is_short() {
    let runtime = Runtime::builder()
        .workers(4)
        .pool(PoolKind::Deque)
        .build()
        .expect("the runtime starts");
    let text = format!("{runtime:?}");
    assert!(
        text.starts_with("Runtime { workers: 4, pool: \"deque\", "),
        "{text}"
    );
    assert!(text.contains("blocking_calls: 0"), "{text}");
    // The other types that hold a runtime.
    let waiter = runtime.install(|| format!("{:?}", raddle_runtime::Waiter::current()));
    let scope = runtime.scope(|scope| format!("{scope:?}"));
    let post = format!("{:?}", runtime.post());
    let default = format!("{:?}", raddle_runtime::default_runtime());
    for text in [text, waiter, scope, post, default] {
        assert!(text.len() < 1_000, "{} characters: {text}", text.len());
    }
}
