//! By MPI, too: a put after the connection was closed is refused, and a node that was stopped is given up, while the program
//! runs and at its end. Each test has `mpirun` run its own program, as processes that run the same test as nodes.
#![cfg(feature = "mpi")]

mod mpirun;

use std::time::Duration;

use raddle_net::{
    Launch, Message, NetError, NodeId, Nodes, Port, PortId, Put, SendError, Shape, TransportKind,
};
use rustix::process::{Signal, getpid, kill_process};

/// Within a machine by memory, and as between machines.
const KINDS: [TransportKind; 2] = [TransportKind::Mpi, TransportKind::MpiMessages];
/// Says by which of them.
const KIND: &str = "RADDLE_TEST_KIND";

/// Has MPI start two nodes of this test, by each kind, or becomes one; `is_well` says how they end.
fn as_two_nodes(test: &str, is_well: bool, run: impl FnOnce(Nodes)) {
    if Launch::rank_count().is_some() {
        let named = std::env::var(KIND).expect("it was set for these processes");
        let kind = KINDS.into_iter().find(|kind| kind.name() == named);
        let launch = Launch::new(Shape { nodes: 2, ports: 1 })
            .transport(kind.expect("it is one of two"))
            .silence(Duration::from_secs(2));
        return run(launch.start().expect("both processes come here"));
    }
    for kind in KINDS {
        let output = mpirun::again(test, 2, [(KIND, kind.name())]);
        let told = mpirun::told(&output);
        assert_eq!(output.status.success(), is_well, "{kind}: {told}");
        let is_silent = told.contains("node 1 has not answered for 2 s");
        assert_eq!(is_silent, !is_well, "{kind}: {told}");
    }
}

fn say(port: &mut Port, node: u16) {
    let to = PortId {
        node: NodeId(node),
        index: 0,
    };
    let sent = port.send(to, Message::default(), b"here");
    sent.expect("there is room for one");
}

/// Waits for a message.
fn hear(port: &mut Port) -> Result<(), NetError> {
    loop {
        port.wait();
        if port.poll(|_| ())? > 0 {
            return Ok(());
        }
    }
}

/// Stops this process, until it is killed.
fn stop() -> ! {
    kill_process(getpid(), Signal::STOP).expect("it is this process");
    // Another thread may take the signal, and this one go on for a moment.
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn a_put_after_close_is_refused() {
    as_two_nodes("a_put_after_close_is_refused", true, |nodes| {
        let node = nodes.node();
        let mut port = node.port(0);
        if node.id() == NodeId(0) {
            let segment = node.segment(4_096).expect("memory");
            let connection = node.open(NodeId(1), &segment, 0..4_096);
            let connection = connection.expect("the other is there");
            hear(&mut port).expect("it puts");
            assert_eq!(segment.to_vec(0..3), b"ok!");
            node.close(connection);
            segment.write(0, &[0; 4_096]);
            say(&mut port, 1);
            hear(&mut port).expect("it tries");
            assert!(segment.to_vec(0..4_096).iter().all(|&byte| byte == 0));
        } else {
            let remote = node.accept(NodeId(0)).expect("the first is there");
            let mut put = Put::new(&remote, 0, 0, b"ok!", Message::default());
            port.put(&mut put).expect("there is room");
            hear(&mut port).expect("it has closed");
            let mut put = Put::new(&remote, 0, 0, b"late", Message::default());
            assert_eq!(port.put(&mut put), Err(SendError::Closed(NodeId(0))));
            say(&mut port, 0);
        }
        drop(port);
        nodes.finish().expect("both leave");
    });
}

#[test]
fn a_stopped_node_is_given_up() {
    as_two_nodes("a_stopped_node_is_given_up", false, |nodes| {
        let mut port = nodes.node().port(0);
        if nodes.node().id() == NodeId(0) {
            hear(&mut port).expect("it says that it is there");
            let error = hear(&mut port).expect_err("it is stopped");
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
            drop(port);
            nodes.finish().unwrap_or_else(|error| panic!("{error}"));
        } else {
            say(&mut port, 0);
            stop();
        }
    });
}

#[test]
fn a_node_that_is_stopped_at_the_end_is_given_up() {
    as_two_nodes(
        "a_node_that_is_stopped_at_the_end_is_given_up",
        false,
        |nodes| {
            let mut port = nodes.node().port(0);
            if nodes.node().id() == NodeId(0) {
                hear(&mut port).expect("it says that it is there");
                drop(port);
                nodes.finish().unwrap_or_else(|error| panic!("{error}"));
            } else {
                say(&mut port, 0);
                // So that the first is about to finish when this one is stopped.
                std::thread::sleep(Duration::from_secs(1));
                stop();
            }
        },
    );
}
