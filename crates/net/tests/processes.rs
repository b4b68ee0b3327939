//! Tests of nodes that are processes. Each test starts its own program again, which runs the same
//! test as another node.

mod again;
mod exchange;

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::AsRawFd;
use std::os::unix::process::parent_id;
use std::panic::AssertUnwindSafe;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, io};

use again::{by_each_transport, launch};
use exchange::{
    here, next_end, port_of, put_and_look, read_all, read_until_one_is_gone, receive,
    until_one_is_gone,
};
use raddle_net::{
    Launch, Message, NetError, NodeId, Nodes, Port, PortId, SendError, Shape, TransportKind,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

by_each_transport! {
    a_number_passes_through_all_processes
    data_are_put_into_the_memory_of_another_process
    processes_read_memory_of_each_other
    an_event_loop_waits_for_another_process_and_for_its_end
    a_node_that_fails_is_reported
    the_reason_of_a_failed_node_is_quoted
    the_panic_of_the_first_node_is_reported
    a_slow_node_is_waited_for_until_the_given_limit
    a_killed_node_blocks_no_other_and_leaves_nothing_behind
    a_killed_node_wakes_all_sleeping_nodes
    a_killed_node_ends_all_reads_of_its_memory
    all_nodes_end_when_the_first_is_killed
}

/// Starts or joins the nodes of a test.
fn start(test: &str, kind: TransportKind, nodes: u16) -> Nodes {
    again::start(launch(test, kind, nodes))
}

/// Sends data, and waits for space.
///
/// # Errors
/// An error if the node has ended.
fn send(port: &mut Port, to: PortId, data: &[u8]) -> Result<(), SendError> {
    loop {
        match port.send(to, Message::default(), data) {
            Err(SendError::Full) => std::thread::yield_now(),
            other => return other,
        }
    }
}

fn a_number_passes_through_all_processes(test: &str, kind: TransportKind) {
    let nodes = start(test, kind, 4);
    let me = nodes.node().id().0;
    let mut port = nodes.node().port(0);
    let next = port_of(NodeId((me + 1) % 4));
    for round in 0..1_000_u64 {
        let expected = 4 * round + u64::from(me);
        if me == 0 {
            send(&mut port, next, &(expected + 1).to_le_bytes()).expect("all nodes run");
        }
        let mut number = 0;
        receive(&mut port, NodeId((me + 3) % 4), |arrival| {
            number = u64::from_le_bytes(here(arrival.data).try_into().expect("eight bytes"));
        })
        .expect("all nodes run");
        if me == 0 {
            assert_eq!(number, expected + 4);
        } else {
            assert_eq!(number, expected);
            send(&mut port, next, &(number + 1).to_le_bytes()).expect("all nodes run");
        }
    }
    drop(port);
    nodes.finish().expect("all nodes agree");
}

fn data_are_put_into_the_memory_of_another_process(test: &str, kind: TransportKind) {
    put_and_look(start(test, kind, 2));
}

fn processes_read_memory_of_each_other(test: &str, kind: TransportKind) {
    read_all(start(test, kind, 3));
}

/// Checks that a descriptor becomes readable for messages of another process, and for its end.
fn an_event_loop_waits_for_another_process_and_for_its_end(test: &str, kind: TransportKind) {
    // Odd, so that the second node gets it.
    const ROUNDS: u32 = 101;
    let nodes = start(test, kind, 2);
    let me = nodes.node().id();
    let mut port = nodes.node().port(0);
    let other = port_of(NodeId(1 - me.0));
    let mut number = 0_u32;
    let mut has_turn = me == NodeId(0);
    let error = loop {
        if std::mem::take(&mut has_turn) {
            if number == ROUNDS && me == NodeId(1) {
                std::process::exit(3);
            }
            send(&mut port, other, &(number + 1).to_le_bytes()).expect("the other node runs");
        }
        if !port.arm().expect("a thread") {
            let event = port.event().expect("a descriptor");
            let time = Timespec::try_from(Duration::from_secs(60)).expect("a short time");
            let count = poll(&mut [PollFd::new(&event, PollFlags::IN)], Some(&time));
            assert_eq!(count.expect("poll(2) works"), 1);
        }
        let polled = port.poll(|arrival| {
            number = u32::from_le_bytes(here(arrival.data).try_into().expect("four bytes"));
            has_turn = true;
        });
        if let Err(error) = polled {
            break error;
        }
    };
    assert!(matches!(error, NetError::Died(NodeId(1))), "{error}");
    assert_eq!(number, ROUNDS - 1);
    drop(port);
    nodes.finish().expect_err("the node failed");
}

/// Checks that the error of a failed node says how its process ended.
fn a_node_that_fails_is_reported(test: &str, kind: TransportKind) {
    let nodes = start(test, kind, 2);
    if nodes.node().id() == NodeId(1) {
        std::process::exit(7);
    }
    let mut port = nodes.node().port(0);
    let error = receive(&mut port, NodeId(1), |_| ()).expect_err("the node ends");
    assert!(matches!(error, NetError::Died(NodeId(1))), "{error}");
    assert!(matches!(
        nodes.node().accept(NodeId(1)),
        Err(NetError::Died(NodeId(1)))
    ));
    let error = nodes.finish().expect_err("the node failed").to_string();
    assert_eq!(error, "node 1 failed: exit status: 7");
}

/// Checks that of several failed nodes, the error is that of the one that has reported its reason.
fn the_reason_of_a_failed_node_is_quoted(test: &str, kind: TransportKind) {
    assert!(
        Launch::is_started() || !Launch::tell_first("there is no first node"),
        "this is the first node"
    );
    let nodes = start(test, kind, 3);
    match nodes.node().id().0 {
        0 => {
            let why = nodes.why().expect("the node failed").to_string();
            assert_eq!(why, "node 2 failed: the disk is full");
        }
        1 => std::process::exit(7),
        _ => {
            assert!(Launch::tell_first("the disk is full"));
            std::process::exit(1);
        }
    }
}

/// Checks that the panic is reported to the other nodes. They used to learn nothing of it, and were
/// killed after five seconds.
fn the_panic_of_the_first_node_is_reported(test: &str, kind: TransportKind) {
    let nodes = start(test, kind, 3);
    let me = nodes.node().id();
    let mut port = nodes.node().port(0);
    let report_of = |first: u32, node: u16| {
        std::env::temp_dir().join(format!("raddle-report-{kind}-{first}-{node}"))
    };
    if me != NodeId(0) {
        let error = next_end(&mut port).to_string();
        // The end of the other started node may be reported first.
        assert!(
            error == "node 0 has died" || error.ends_with("has left"),
            "{error}"
        );
        fs::write(report_of(parent_id(), me.0), error).expect("a file can be written");
        return;
    }
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let _nodes = nodes;
        panic!("the first node panics");
    }));
    panicked.expect_err("it has panicked");
    for node in [1, 2] {
        let file = report_of(std::process::id(), node);
        assert!(file.exists(), "node {node} got no report");
        fs::remove_file(file).expect("the file exists");
    }
}

/// Checks that the first node waits for the others no longer than the given limit.
fn a_slow_node_is_waited_for_until_the_given_limit(test: &str, kind: TransportKind) {
    let nodes = again::start(launch(test, kind, 3).grace(Duration::from_millis(300)));
    match nodes.node().id() {
        NodeId(1) => std::thread::sleep(Duration::from_millis(50)),
        NodeId(2) => std::thread::sleep(Duration::from_secs(3_600)),
        _ => {}
    }
    if nodes.node().id() != NodeId(0) {
        return;
    }
    let error = nodes.finish().expect_err("one node takes too long");
    assert!(
        matches!(
            &error,
            NetError::Failed {
                node: NodeId(2),
                ..
            }
        ),
        "{error}"
    );
}

/// Kills a node at a random time. The others get a report, and nothing is left behind.
fn a_killed_node_blocks_no_other_and_leaves_nothing_behind(test: &str, kind: TransportKind) {
    let shared_before = shared_memory();
    let mut files = None;
    kill_one(test, kind, 200, until_one_is_gone, |processes| {
        for (node, process) in processes {
            assert!(
                !fs::exists(format!("/proc/{process}")).expect("proc"),
                "{node} still runs"
            );
        }
        let open = fs::read_dir("/proc/self/fd").expect("proc").count();
        // The number after the first round is the reference. Other tests of this program have files
        // open, too, but not for long.
        let before = *files.get_or_insert(open);
        assert!(open < before + 40, "{open} files are open, {before} were");
    });
    assert_eq!(shared_memory(), shared_before);
}

/// Checks that sleeping nodes get a report of a death, too.
fn a_killed_node_wakes_all_sleeping_nodes(test: &str, kind: TransportKind) {
    let until_gone = |_: &Nodes, port: &mut Port| next_end(port).to_string();
    kill_one(test, kind, 50, until_gone, |_| ());
}

/// Checks that no node waits for the answer of a node that was killed.
fn a_killed_node_ends_all_reads_of_its_memory(test: &str, kind: TransportKind) {
    kill_one(test, kind, 50, read_until_one_is_gone, |_| ());
}

/// Kills one of the nodes that the first node has started, at a random time, while each node runs
/// `until_gone`, which returns the error that reports the end. Then the first node calls `check`
/// with the processes that it had started. Repeats this `rounds` times.
fn kill_one(
    test: &str,
    kind: TransportKind,
    rounds: u32,
    until_gone: impl Fn(&Nodes, &mut Port) -> String,
    mut check: impl FnMut(&[(NodeId, u32)]),
) {
    // A process that was started takes part in one round.
    let rounds = if Launch::is_started() { 1 } else { rounds };
    for _ in 0..rounds {
        let nodes = start(test, kind, 3);
        let me = nodes.node().id().0;
        let mut port = nodes.node().port(0);
        let processes: Vec<_> = nodes.processes().collect();
        let pause = random_below(15_000);
        let victim = random_below(2);
        if me == 0 {
            kill_later(processes[victim as usize].1, pause);
        }
        let gone = until_gone(&nodes, &mut port);
        assert!(
            gone.ends_with("has died") || gone.ends_with("has left"),
            "{gone}, one was killed after {pause} µs"
        );
        drop(port);
        let finished = nodes.finish();
        if me > 0 {
            return;
        }
        let error = finished.expect_err("one was killed").to_string();
        assert!(error.contains("signal: 9"), "{error}, after {pause} µs");
        check(&processes);
    }
}

fn kill_later(process: u32, pause_us: u64) {
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_micros(pause_us));
        again::signal(process, Signal::KILL);
    });
}

/// Returns a random number.
fn random_below(end: u64) -> u64 {
    // Each hasher of the standard library has random keys of its own.
    RandomState::new().hash_one(()) % end
}

/// Kills the first node, which has started the others and waits for them.
fn all_nodes_end_when_the_first_is_killed(test: &str, kind: TransportKind) {
    const IS_FIRST: &str = "RADDLE_TEST_FIRST";
    if Launch::is_started() || std::env::var_os(IS_FIRST).is_some() {
        let launch = Launch::new(Shape { nodes: 3, ports: 1 }).transport(kind);
        // All nodes keep the standard output of the first one. Its other end is closed when the
        // last node has ended.
        let nodes = launch.start().expect("processes can be started");
        let mut port = nodes.node().port(0);
        let gone = until_one_is_gone(&nodes, &mut port);
        assert!(nodes.node().id() != NodeId(0), "{gone}");
        return;
    }
    for _ in 0..50 {
        let pause = random_below(20_000);
        let mut first = Command::new(std::env::current_exe().expect("a name"))
            .args(["--exact", test, "--nocapture"])
            .env(IS_FIRST, "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut output = first.stdout.take().expect("standard output is piped");
        let (over, is_over) = mpsc::channel();
        std::thread::spawn(move || {
            let _whatever_was_printed = io::copy(&mut output, &mut io::sink());
            let _ = over.send(());
        });
        std::thread::sleep(Duration::from_micros(pause));
        first.kill().expect("it runs, or has not been waited for");
        first.wait().expect("it is a child of this process");
        let limit = Duration::from_secs(60);
        assert!(
            is_over.recv_timeout(limit).is_ok(),
            "a node still runs; the first was killed after {pause} µs"
        );
    }
}

/// Returns the names in the directory of shared memory.
fn shared_memory() -> BTreeSet<std::ffi::OsString> {
    let entries = fs::read_dir("/dev/shm").expect("the directory exists");
    entries
        .map(|entry| entry.expect("an entry").file_name())
        .collect()
}

// Regression: a node waited forever for a connection that it could not map.
#[test]
fn a_node_that_may_open_no_more_files_returns_an_error() {
    let test = "a_node_that_may_open_no_more_files_returns_an_error";
    let nodes = start(test, TransportKind::Memory, 2);
    let node = nodes.node();
    let mut port = node.port(0);
    if node.id() == NodeId(1) {
        // This gets the lowest free number, so all numbers below are taken.
        let last = fs::File::open("/dev/null").expect("a file");
        let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        limit.current = Some(u64::from(last.as_raw_fd().unsigned_abs()) + 1);
        let lowered = rustix::process::setrlimit(rustix::process::Resource::Nofile, limit);
        lowered.expect("the limit can be lowered");
        send(&mut port, port_of(NodeId(0)), b"now").expect("the first node runs");
        let error = node.accept(NodeId(0)).expect_err("no file can be opened");
        let expected = "the system refused memory that another node has allowed this one: ";
        assert!(error.to_string().starts_with(expected), "{error}");
        assert!(error.to_string().contains("Too many open files"), "{error}");
    } else {
        receive(&mut port, NodeId(1), |_| ()).expect("the other node sends before it leaves");
        let segment = node.segment(4_096).expect("memory");
        node.open(NodeId(1), &segment, 0..4_096)
            .expect("the other node runs");
    }
    drop(port);
    nodes.finish().expect("both nodes agree");
}

#[test]
fn a_process_that_was_not_started_as_a_node_returns_an_error() {
    let test = "a_process_that_was_not_started_as_a_node_returns_an_error";
    if Launch::is_started() {
        let error = Launch::new(Shape { nodes: 2, ports: 1 })
            .start()
            .expect_err("standard input is empty");
        assert!(
            error.to_string().contains("expected to be started by it"),
            "{error}"
        );
        return;
    }
    let status = Command::new(std::env::current_exe().expect("a name"))
        .args(["--exact", test])
        .env(raddle_net::NODE_VARIABLE, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("the program starts").success());
}

// Regression: the first node waited for five seconds, and then killed a node that was still writing
// its results.
#[test]
fn a_slow_node_is_waited_for() {
    let test = "a_slow_node_is_waited_for";
    let finish = |kind: TransportKind| {
        // A process that is started finds its transport among its arguments.
        let arguments = ["--exact", test, "--nocapture", kind.name()];
        let nodes = again::start(launch(test, kind, 2).arguments(arguments));
        if nodes.node().id() == NodeId(1) {
            std::thread::sleep(Duration::from_millis(5_500));
        }
        nodes.finish().expect("the other node was not killed");
    };
    let kinds = [TransportKind::Memory, TransportKind::Sockets];
    if Launch::is_started() {
        let is_own = |kind: &TransportKind| std::env::args().any(|name| name == kind.name());
        let kind = kinds.into_iter().find(is_own);
        return finish(kind.expect("the transport is among the arguments"));
    }
    // Both transports run at the same time, because the test mostly waits.
    std::thread::scope(|scope| {
        for kind in kinds {
            scope.spawn(move || finish(kind));
        }
    });
}
