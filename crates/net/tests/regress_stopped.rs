//! A node that was stopped (SIGSTOP) used to be waited for without end and without a report. It
//! does not close its sockets, so it did not count as dead. The same happened after another node
//! had been killed, because the end of a program waits for all processes.
//!
//! Each test starts its own program again, which runs the same test as another node.

mod again;
mod exchange;

use std::fs;
use std::time::Duration;

use again::{by_each_transport, launch};
use exchange::{next_end, port_of, put_after_close, read, say, share, wait_for_messages};
use raddle_net::{Message, NetError, NodeId, Nodes, Port, SendError, TransportKind};
use rustix::process::Signal;

const SILENCE: Duration = Duration::from_secs(2);

by_each_transport! {
    a_stopped_node_ends_the_wait_of_the_first_also_after_another_was_killed
    a_node_that_is_stopped_at_the_end_is_not_waited_for
    a_put_after_close_is_refused_between_processes
    a_read_of_a_stopped_node_ends
}

/// Starts or joins the nodes of a test, which give up a node that does not answer.
fn start(test: &str, kind: TransportKind, nodes: u16) -> Nodes {
    again::start(launch(test, kind, nodes).silence(SILENCE))
}

/// Sends a signal to the process of a node that the first one has started.
fn signal(nodes: &Nodes, node: NodeId, signal: Signal) {
    let (_, process) = nodes
        .processes()
        .find(|(other, _)| *other == node)
        .expect("this process has started it");
    again::signal(process, signal);
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
    wait_for_messages(&mut port, 2);
    let [stopped, killed] = [1, 2].map(NodeId);
    signal(&nodes, stopped, Signal::STOP);
    signal(&nodes, killed, Signal::KILL);
    let error = next_end(&mut port);
    assert!(
        matches!(error, NetError::Died(node) if node == killed),
        "{error}"
    );
    // A sender that waits for space gets an error, and so does a thread that waits for a
    // connection.
    let data = vec![0; 100_000];
    let refused = loop {
        match port.send(port_of(stopped), Message::default(), &data) {
            Ok(()) | Err(SendError::Full) => std::thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert_eq!(refused, SendError::Silent(stopped));
    let error = nodes
        .node()
        .accept(stopped)
        .expect_err("the node does not run");
    assert!(
        matches!(error, NetError::Silent { node, .. } if node == stopped),
        "{error}"
    );
    let error = next_end(&mut port).to_string();
    let expected = "node 1 has not answered for 2 s: it is stopped, or does not get to run";
    assert_eq!(error, expected);
    let processes: Vec<_> = nodes.processes().collect();
    drop(port);
    assert_eq!(
        nodes
            .finish()
            .expect_err("a node does not answer")
            .to_string(),
        expected
    );
    for (node, process) in processes {
        let is_there = fs::exists(format!("/proc/{process}")).expect("proc");
        assert!(!is_there, "{node} still runs");
    }
}

fn a_node_that_is_stopped_at_the_end_is_not_waited_for(test: &str, kind: TransportKind) {
    let nodes = start(test, kind, 2);
    let mut port = nodes.node().port(0);
    if nodes.node().id() != NodeId(0) {
        say(&mut port, NodeId(0));
        serve(&mut port);
        // The first node has left, and waits for this process, which continues to run.
        std::thread::sleep(Duration::from_secs(1_000));
        return;
    }
    wait_for_messages(&mut port, 1);
    drop(port);
    signal(&nodes, NodeId(1), Signal::STOP);
    let error = nodes.finish().expect_err("the node does not run");
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
    put_after_close(start(test, kind, 2));
}

/// Reads memory of a node that is stopped meanwhile. With shared memory the bytes are there until
/// the node counts as ended. Otherwise the wait for the answer ends then.
fn a_read_of_a_stopped_node_ends(test: &str, kind: TransportKind) {
    let nodes = start(test, kind, 2);
    let mut port = nodes.node().port(0);
    let (segment, remotes) = share(nodes.node()).expect("the other node runs");
    if nodes.node().id() != NodeId(0) {
        say(&mut port, NodeId(0));
        serve(&mut port);
        return;
    }
    wait_for_messages(&mut port, 1);
    read(&mut port, &remotes[0], 0, 1_000).expect("the other node runs");
    signal(&nodes, NodeId(1), Signal::STOP);
    let error = loop {
        if let Err(error) = read(&mut port, &remotes[0], 0, 1_000) {
            break error;
        }
    };
    assert_eq!(error, SendError::Silent(NodeId(1)));
    drop((port, segment, remotes));
    nodes.finish().expect_err("the node does not run");
}
