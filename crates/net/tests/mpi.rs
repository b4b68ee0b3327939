//! Tests of nodes that MPI has started. Each test has `mpirun` run its own program again, as
//! processes that run the same test as nodes.
#![cfg(feature = "mpi")]

mod exchange;
mod mpirun;

use std::cell::Cell;
use std::collections::HashMap;
use std::env;
use std::process::Output;

use exchange::{here, others, port_of, put_and_look, read_all, receive, until_one_is_gone};
use raddle_net::{
    Arrival, DATA_MAX, Flags, Launch, Message, NetError, Node, NodeId, Nodes, Refusal, SendError,
    Shape, TransportKind, descriptor_of_put,
};

/// The number of messages from each node to each other node.
const MESSAGES: u32 = 2_000;

/// The environment variable that says which nodes share memory.
const SHARING: &str = "RADDLE_TEST_SHARING";
/// The values of the variable: all nodes, as on one machine; none, as if each were on a machine of
/// its own; and all but the last.
const SHARINGS: [&str; 3] = ["all", "none", "all but the last"];

/// Has MPI start `ranks` processes of this test, once for each value of [`SHARING`]. These
/// processes also call this function, and run their nodes.
fn as_nodes(test: &str, ranks: u16, run: impl FnOnce(Nodes)) {
    run_sharing(test, ranks, run, |output| {
        assert!(output.status.success(), "{}", mpirun::printed(output));
    });
}

/// Runs `run` like [`as_nodes`], on nodes that fail. `check` receives the output of the nodes.
fn as_nodes_that_fail(test: &str, ranks: u16, run: impl FnOnce(Nodes), check: impl Fn(&str)) {
    run_sharing(test, ranks, run, |output| {
        let printed = mpirun::printed(output);
        assert!(!output.status.success(), "{printed}");
        check(&printed);
    });
}

fn run_sharing(test: &str, ranks: u16, run: impl FnOnce(Nodes), check: impl Fn(&Output)) {
    if Launch::rank_count().is_some() {
        return run(start_sharing(ranks));
    }
    // With two nodes, all but the last is the same as none.
    for &sharing in &SHARINGS[..usize::from(ranks).min(SHARINGS.len())] {
        check(&mpirun::again(test, ranks, [(SHARING, sharing)]));
    }
}

/// Has MPI start two processes of this test, which succeed.
fn run_two_ranks(test: &str) {
    let output = mpirun::again(test, 2, []);
    assert!(output.status.success(), "{}", mpirun::printed(&output));
}

/// Becomes one of the nodes of a test.
fn start_sharing(ranks: u16) -> Nodes {
    let sharing = env::var(SHARING).expect("the variable is set for these processes");
    let last = NodeId(ranks - 1);
    let is_apart = |node| match &*sharing {
        "all" => false,
        "none" => true,
        _ => node == last,
    };
    let own = NodeId(Launch::local_rank().expect("MPI sets the rank"));
    let kind = if is_apart(own) {
        TransportKind::MpiMessages
    } else {
        TransportKind::Mpi
    };
    let nodes = start(kind, ranks, 1).expect("all processes call this");
    let node = nodes.node();
    assert_eq!(node.id(), own, "all processes are on this machine");
    for other in node.shape().node_ids() {
        let shares = other == own || !(is_apart(own) || is_apart(other));
        assert_eq!(node.shares_memory_with(other), shares, "{other}");
    }
    nodes
}

fn start(kind: TransportKind, nodes: u16, ports: u16) -> Result<Nodes, NetError> {
    let shape = Shape { nodes, ports };
    Launch::new(shape).transport(kind).start()
}

#[test]
fn messages_of_two_nodes_arrive_in_order() {
    as_nodes("messages_of_two_nodes_arrive_in_order", 2, exchange);
}

#[test]
fn messages_of_four_nodes_arrive_in_order() {
    as_nodes("messages_of_four_nodes_arrive_in_order", 4, exchange);
}

/// Returns the number of bytes of a message: few, the largest number, or a number in between.
const fn len_of(number: u32) -> usize {
    match number % 100 {
        7 => DATA_MAX,
        13 => 5_000,
        other => other as usize,
    }
}

/// Sends to all other nodes, and receives while there is no space.
fn exchange(nodes: Nodes) {
    let node = nodes.node();
    let mut port = node.port(0);
    let others: Vec<_> = others(node.shape(), node.id()).collect();
    let (mut next, sum) = (HashMap::new(), Cell::new(0));
    let mut take = |arrival: Arrival<'_>| {
        let number: &mut u32 = next.entry(arrival.from.node).or_default();
        assert_eq!(arrival.message.user, *number, "from {}", arrival.from);
        let bytes = here(arrival.data);
        assert_eq!(bytes.len(), len_of(*number));
        assert!(bytes.iter().all(|&byte| byte == *number as u8));
        *number += 1;
        sum.set(sum.get() + u64::from(arrival.message.user));
    };
    for number in 0..MESSAGES {
        let data = vec![number as u8; len_of(number)];
        let message = Message {
            flags: Flags {
                doorbell: number % 3 == 0 || number + 1 == MESSAGES,
                ..Flags::default()
            },
            user: number,
            ..Message::default()
        };
        for &other in &others {
            while let Err(error) = port.send(port_of(other), message, &data) {
                assert_eq!(error, SendError::Full);
                // A node that has received all its messages may have left.
                let _ = port.poll(&mut take);
            }
        }
    }
    let numbers = u64::from(MESSAGES);
    let expected = numbers * (numbers - 1) / 2 * others.len() as u64;
    while sum.get() < expected {
        receive(&mut port, node.id(), &mut take).expect("none has died");
    }
    assert_eq!(sum.get(), expected);
    assert!(Refusal::ALL.iter().all(|&reason| node.refused(reason) == 0));
    drop(port);
    nodes.finish().expect("all nodes leave");
}

#[test]
fn data_are_put_into_a_segment_of_another_process() {
    let test = "data_are_put_into_a_segment_of_another_process";
    as_nodes(test, 2, put_and_look);
}

#[test]
fn processes_read_memory_of_each_other() {
    as_nodes("processes_read_memory_of_each_other", 3, read_all);
}

#[test]
fn a_wrong_key_is_refused_and_the_next_message_is_not() {
    let test = "a_wrong_key_is_refused_and_the_next_message_is_not";
    as_nodes(test, 2, |nodes| {
        let node = nodes.node();
        let mut port = node.port(0);
        if node.id() == NodeId(0) {
            let segment = node.segment(4_096).expect("memory");
            let opened = node.open(NodeId(1), &segment, 0..4_096);
            opened.expect("the other node runs");
            let mut found = Vec::new();
            let received = receive(&mut port, NodeId(1), |arrival| {
                found.extend_from_slice(here(arrival.data));
            });
            received.expect("the other node sends before it leaves");
            assert_eq!(found, b"good");
            assert_eq!(node.refused(Refusal::WrongKey), 1);
        } else {
            let remote = node.accept(NodeId(0)).expect("the first node runs");
            let mut short = descriptor_of_put(&remote, 0, 100, Message::default());
            // Change a byte of the key.
            short[8] ^= 1;
            let first = port_of(NodeId(0));
            port.send_raw(first, &short, &[])
                .expect("space for the message");
            let good = port.send(first, Message::default(), b"good");
            good.expect("space for the message");
        }
        drop(port);
        nodes.finish().expect("both leave");
    });
}

#[test]
fn a_node_that_does_not_receive_is_sent_a_bounded_number_of_messages() {
    let test = "a_node_that_does_not_receive_is_sent_a_bounded_number_of_messages";
    as_nodes(test, 2, |nodes| {
        let node = nodes.node();
        let mut port = node.port(0);
        if node.id() == NodeId(1) {
            let (first, mut sent) = (port_of(NodeId(0)), 0_u64);
            // Continue for a while after the last message for which there was space.
            let mut refusals = 0;
            while refusals < 10_000 {
                match port.send(first, Message::default(), &sent.to_le_bytes()) {
                    Ok(()) => (sent, refusals) = (sent + 1, 0),
                    Err(SendError::Full) => refusals += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            let segment = node.segment(8).expect("memory");
            segment.write(0, &sent.to_le_bytes());
            // This tells the first node that it may receive.
            let opened = node.open(NodeId(0), &segment, 0..8);
            opened.expect("the first node runs");
        } else {
            node.accept(NodeId(1)).expect("the other node sends");
            let mut received = 0_u64;
            let ended = loop {
                let polled = receive(&mut port, NodeId(1), |arrival| {
                    assert_eq!(here(arrival.data), received.to_le_bytes());
                    received += 1;
                });
                if let Err(error) = polled {
                    break error;
                }
            };
            // The end is reported after all messages.
            assert!(matches!(ended, NetError::Left(NodeId(1))), "{ended}");
            assert!((64..10_000).contains(&received), "{received}");
        }
        drop(port);
        nodes.finish().expect("both leave");
    });
}

#[test]
fn all_processes_report_a_number_that_differs_from_the_nodes() {
    let test = "all_processes_report_a_number_that_differs_from_the_nodes";
    if Launch::rank_count().is_some() {
        let error = start(TransportKind::Mpi, 3, 1)
            .expect_err("there are two processes")
            .to_string();
        let expected = "2 processes were started by MPI, for 3 nodes; expected one for each";
        assert_eq!(error, expected);
        let error = start(TransportKind::Mpi, 2, 1)
            .expect_err("MPI was started before")
            .to_string();
        assert!(error.contains("only once in a process"), "{error}");
        return;
    }
    run_two_ranks(test);
}

// Regression: each process started nodes of its own, and all of these wrote the same files.
#[test]
fn nodes_of_another_kind_are_refused_to_processes_of_mpi() {
    let test = "nodes_of_another_kind_are_refused_to_processes_of_mpi";
    if Launch::rank_count().is_some() {
        for kind in [TransportKind::Memory, TransportKind::Sockets] {
            let error = start(kind, 2, 1)
                .expect_err("there are two processes")
                .to_string();
            assert!(error.ends_with("expected mpi"), "{error}");
        }
        return;
    }
    run_two_ranks(test);
}

#[test]
fn all_processes_report_shapes_that_differ() {
    let test = "all_processes_report_shapes_that_differ";
    if Launch::rank_count().is_some() {
        let rank = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(std::env::var);
        let is_first = rank.into_iter().flatten().any(|rank| rank == "0");
        let ports = if is_first { 1 } else { 2 };
        let error = start(TransportKind::Mpi, 2, ports).expect_err("the shapes differ");
        let NetError::Unlike {
            found, expected, ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((found.ports, expected.ports), (3 - ports, ports));
        return;
    }
    run_two_ranks(test);
}

#[test]
fn a_program_that_mpi_has_not_started_says_so() {
    let error = start(TransportKind::Mpi, 2, 1)
        .expect_err("MPI has not started it")
        .to_string();
    assert!(error.contains("mpirun -n 2 PROGRAM"), "{error}");
    let error = Node::in_process_by(TransportKind::Mpi, Shape { nodes: 2, ports: 1 });
    let error = error.expect_err("MPI starts them").to_string();
    assert_eq!(error, "nodes by mpi cannot be within one process");
}

#[test]
fn a_node_that_is_killed_ends_the_others() {
    let test = "a_node_that_is_killed_ends_the_others";
    let run = |nodes: Nodes| {
        let mut port = nodes.node().port(0);
        if nodes.node().id() == NodeId(1) {
            receive(&mut port, NodeId(0), |_| ()).expect("the other node sends");
            let own = rustix::process::getpid();
            let killed = rustix::process::kill_process(own, rustix::process::Signal::KILL);
            killed.expect("this process runs");
        }
        let error = until_one_is_gone(&nodes, &mut port);
        panic!("reported: {error}");
    };
    as_nodes_that_fail(test, 3, run, |printed| {
        assert!(printed.contains("signal 9"), "{printed}");
        check_reported_death(printed);
    });
}

/// Checks that nodes that `mpirun` did not end at once have learned of the death by a socket.
fn check_reported_death(printed: &str) {
    let mut errors = printed.split("reported: ").skip(1);
    assert!(
        errors.all(|error| error.starts_with("node 1 has died")),
        "{printed}"
    );
}

#[test]
fn a_node_that_panics_ends_the_others() {
    let test = "a_node_that_panics_ends_the_others";
    let run = |nodes: Nodes| {
        let mut port = nodes.node().port(0);
        if nodes.node().id() == NodeId(1) {
            receive(&mut port, NodeId(0), |_| ()).expect("the other node sends");
            panic!("it panics");
        }
        let error = until_one_is_gone(&nodes, &mut port);
        panic!("reported: {error}");
    };
    as_nodes_that_fail(test, 3, run, |printed| {
        assert!(printed.contains("it panics"), "{printed}");
        check_reported_death(printed);
    });
}

// If one process of a program returns early with an error, the others learn that it has left.
#[test]
fn a_node_that_leaves_too_early_is_reported() {
    let test = "a_node_that_leaves_too_early_is_reported";
    as_nodes(test, 3, |nodes| {
        let mut port = nodes.node().port(0);
        if nodes.node().id() != NodeId(1) {
            let error = until_one_is_gone(&nodes, &mut port);
            // This may also be the end of the third node, if that node has left first.
            assert!(error.ends_with("has left"), "{error}");
        }
        drop(port);
        drop(nodes);
    });
}
