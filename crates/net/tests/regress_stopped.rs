//! A node that was stopped (SIGSTOP) was waited for without end and without a word: it does not close its sockets, and so it
//! had not died. That was so even after another node had been killed, since the end waits for all processes.
//!
//! Each test starts its own program again, which runs the same test as the node that it is.

use std::fs;
use std::time::Duration;

use raddle_net::{
    Launch, Message, NetError, NodeId, Nodes, Port, PortId, Put, SendError, Shape, TransportKind,
};
use rustix::process::{Pid, Signal, kill_process};

const SILENCE: Duration = Duration::from_secs(2);

/// Makes a test of each for each transport: a process that is started runs one test by one transport.
macro_rules! by_each_transport {
    ($($test:ident)*) => {
        mod shm {
            $(#[test]
            fn $test() {
                super::$test(concat!("shm::", stringify!($test)), super::TransportKind::Memory);
            })*
        }

        mod socket {
            $(#[test]
            fn $test() {
                super::$test(concat!("socket::", stringify!($test)), super::TransportKind::Sockets);
            })*
        }
    };
}

by_each_transport! {
    a_stopped_node_ends_the_wait_of_the_first_also_after_another_was_killed
    a_node_that_is_stopped_at_the_end_is_not_waited_for
    a_put_after_close_is_refused_between_processes
}

/// The first port of a node.
const fn port_of(node: NodeId) -> PortId {
    PortId { node, index: 0 }
}

fn start(test: &str, kind: TransportKind, nodes: u16) -> Nodes {
    Launch::new(Shape { nodes, ports: 1 })
        .transport(kind)
        .silence(SILENCE)
        .arguments(["--exact", test, "--nocapture"])
        .quiet(true)
        .start()
        .expect("processes can be started")
}

/// Sends a signal to the process of a node that the first one has started.
fn signal(nodes: &Nodes, node: NodeId, signal: Signal) {
    let (_, process) = nodes
        .processes()
        .find(|(other, _)| *other == node)
        .expect("it was started here");
    let process = Pid::from_raw(process.cast_signed()).expect("not zero");
    kill_process(process, signal).expect("it is ours");
}

/// Waits for one message of each other node.
fn wait_for_all(port: &mut Port, mut count: u16) {
    while count > 0 {
        port.wait();
        port.poll(|_| count -= 1).expect("no node has ended");
    }
}

fn say(port: &mut Port, to: NodeId) {
    let sent = port.send(port_of(to), Message::default(), b"here");
    sent.expect("there is room for one");
}

/// Waits until the first node has ended.
fn serve(port: &mut Port) {
    loop {
        port.wait();
        let first = NodeId(0);
        if let Err(NetError::Left(node) | NetError::Died(node)) = port.poll(|_| ())
            && node == first
        {
            return;
        }
    }
}

/// The end of the next node that is told of.
fn next_end(port: &mut Port) -> NetError {
    loop {
        port.wait();
        if let Err(error) = port.poll(|_| ()) {
            return error;
        }
    }
}

fn a_stopped_node_ends_the_wait_of_the_first_also_after_another_was_killed(
    test: &str,
    kind: TransportKind,
) {
    let nodes = start(test, kind, 3);
    let mut port = nodes.node().port(0);
    if nodes.node().id() != NodeId(0) {
        say(&mut port, NodeId(0));
        serve(&mut port);
        return;
    }
    wait_for_all(&mut port, 2);
    let [stopped, killed] = [1, 2].map(NodeId);
    signal(&nodes, stopped, Signal::STOP);
    signal(&nodes, killed, Signal::KILL);
    let error = next_end(&mut port);
    assert!(
        matches!(error, NetError::Died(node) if node == killed),
        "{error}"
    );
    // A sender that waits for room is told, too; one that waits for a connection is.
    let data = vec![0; 100_000];
    let refused = loop {
        match port.send(port_of(stopped), Message::default(), &data) {
            Ok(()) | Err(SendError::Full) => std::thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert_eq!(refused, SendError::Silent(stopped));
    let error = nodes.node().accept(stopped).expect_err("it does not run");
    assert!(
        matches!(error, NetError::Silent { node, .. } if node == stopped),
        "{error}"
    );
    let error = next_end(&mut port).to_string();
    let expected = "node 1 has not answered for 2 s: it is stopped, or does not get to run";
    assert_eq!(error, expected);
    let processes: Vec<_> = nodes.processes().collect();
    drop(port);
    assert_eq!(nodes.finish().expect_err("it fails").to_string(), expected);
    for (node, process) in processes {
        let is_there = fs::exists(format!("/proc/{process}")).expect("it can be asked");
        assert!(!is_there, "{node} is still there");
    }
}

fn a_node_that_is_stopped_at_the_end_is_not_waited_for(test: &str, kind: TransportKind) {
    let nodes = start(test, kind, 2);
    let mut port = nodes.node().port(0);
    if nodes.node().id() != NodeId(0) {
        say(&mut port, NodeId(0));
        serve(&mut port);
        // The first has left, and waits for this process, which takes its time: it is not over.
        std::thread::sleep(Duration::from_secs(1_000));
        return;
    }
    wait_for_all(&mut port, 1);
    drop(port);
    signal(&nodes, NodeId(1), Signal::STOP);
    let error = nodes.finish().expect_err("it does not run");
    assert!(
        matches!(
            error,
            NetError::Silent {
                node: NodeId(1),
                ..
            }
        ),
        "{error}"
    );
}

fn a_put_after_close_is_refused_between_processes(test: &str, kind: TransportKind) {
    let nodes = start(test, kind, 2);
    let node = nodes.node();
    let mut port = node.port(0);
    if node.id() == NodeId(0) {
        let segment = node.segment(4_096).expect("memory");
        let connection = node.open(NodeId(1), &segment, 0..4_096);
        let connection = connection.expect("the other is there");
        wait_for_all(&mut port, 1);
        assert_eq!(segment.to_vec(0..3), b"ok!");
        node.close(connection);
        segment.write(0, &[0; 4_096]);
        say(&mut port, NodeId(1));
        wait_for_all(&mut port, 1);
        assert!(segment.to_vec(0..4_096).iter().all(|&byte| byte == 0));
    } else {
        let remote = node.accept(NodeId(0)).expect("the first is there");
        let mut put = Put::new(&remote, 0, 0, b"ok!", Message::default());
        port.put(&mut put).expect("there is room");
        wait_for_all(&mut port, 1);
        let mut put = Put::new(&remote, 0, 0, b"late", Message::default());
        assert_eq!(port.put(&mut put), Err(SendError::Closed(NodeId(0))));
        say(&mut port, NodeId(0));
    }
    drop(port);
    nodes.finish().expect("both leave");
}
