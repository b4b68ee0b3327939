//! Nodes that MPI has started: each test has `mpirun` run its own program, as processes that run the same test as nodes.
#![cfg(feature = "mpi")]

mod exchange;
mod mpirun;

use std::cell::Cell;
use std::collections::HashMap;
use std::env;
use std::process::Output;

use exchange::{here, others, port_of, put_and_look, receive, until_one_is_gone};
use raddle_net::{
    Arrival, DATA_MAX, Flags, Launch, Message, NetError, Node, NodeId, Nodes, Refusal, SendError,
    Shape, TransportKind, descriptor_of_put,
};

/// Messages from each node to each other one.
const MESSAGES: u32 = 2_000;

/// Says which nodes share memory to the processes that a test has MPI start.
const WHO_SHARES: &str = "RADDLE_TEST_WHO_SHARES";
/// All, as on one machine; none, as if each were on a machine of its own; and all but the last.
const SHARINGS: [&str; 3] = ["all", "none", "all but the last"];

/// Has MPI start so many processes of this test, which come here, too, and run their nodes: for each way to share memory.
fn as_nodes(test: &str, ranks: u16, run: impl FnOnce(Nodes)) {
    run_sharing(test, ranks, run, |output| {
        assert!(output.status.success(), "{}", mpirun::told(output));
    });
}

/// The same of nodes that do not come to a good end; `check` has what they have printed.
fn as_nodes_that_fail(test: &str, ranks: u16, run: impl FnOnce(Nodes), check: impl Fn(&str)) {
    run_sharing(test, ranks, run, |output| {
        let told = mpirun::told(output);
        assert!(!output.status.success(), "{told}");
        check(&told);
    });
}

fn run_sharing(test: &str, ranks: u16, run: impl FnOnce(Nodes), check: impl Fn(&Output)) {
    if Launch::rank_count().is_some() {
        return run(start_sharing(ranks));
    }
    // Of two, the last is as good as all.
    for &sharing in &SHARINGS[..usize::from(ranks).min(SHARINGS.len())] {
        check(&mpirun::again(test, ranks, [(WHO_SHARES, sharing)]));
    }
}

/// Has MPI start two processes of this test, which come to a good end.
fn again_well(test: &str) {
    let output = mpirun::again(test, 2, []);
    assert!(output.status.success(), "{}", mpirun::told(&output));
}

/// One of the nodes of a test.
fn start_sharing(ranks: u16) -> Nodes {
    let sharing = env::var(WHO_SHARES).expect("it was set for these processes");
    let last = NodeId(ranks - 1);
    let is_apart = |node| match &*sharing {
        "all" => false,
        "none" => true,
        _ => node == last,
    };
    let own = NodeId(Launch::local_rank().expect("MPI says so"));
    let kind = if is_apart(own) {
        TransportKind::MpiMessages
    } else {
        TransportKind::Mpi
    };
    let nodes = start(kind, ranks, 1).expect("all processes come here");
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

/// Few bytes, as many as a message can have, or something between.
const fn len_of(number: u32) -> usize {
    match number % 100 {
        7 => DATA_MAX,
        13 => 5_000,
        other => other as usize,
    }
}

/// Each node sends to all others, and receives while there is no room.
fn exchange(nodes: Nodes) {
    let node = nodes.node();
    let mut port = node.port(0);
    let others: Vec<_> = others(node.shape(), node.id()).collect();
    let (mut next, sum) = (HashMap::new(), Cell::new(0));
    let mut take = |arrival: Arrival<'_>| {
        let number: &mut u32 = next.entry(arrival.from.node).or_default();
        assert_eq!(arrival.message.user, *number, "of {}", arrival.from);
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
                // One that has all from all may have left.
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
fn a_wrong_key_is_refused_and_what_comes_next_is_not() {
    let test = "a_wrong_key_is_refused_and_what_comes_next_is_not";
    as_nodes(test, 2, |nodes| {
        let node = nodes.node();
        let mut port = node.port(0);
        if node.id() == NodeId(0) {
            let segment = node.segment(4_096).expect("memory");
            let opened = node.open(NodeId(1), &segment, 0..4_096);
            opened.expect("the other is there");
            let mut found = Vec::new();
            let received = receive(&mut port, NodeId(1), |arrival| {
                found.extend_from_slice(here(arrival.data));
            });
            received.expect("the other has not left before it sent");
            assert_eq!(found, b"good");
            assert_eq!(node.refused(Refusal::WrongKey), 1);
        } else {
            let remote = node.accept(NodeId(0)).expect("the first is there");
            let mut short = descriptor_of_put(&remote, 0, 100, Message::default());
            // A byte of the key.
            short[8] ^= 1;
            let first = port_of(NodeId(0));
            port.send_raw(first, &short, &[]).expect("room");
            let good = port.send(first, Message::default(), b"good");
            good.expect("room");
        }
        drop(port);
        nodes.finish().expect("both leave");
    });
}

#[test]
fn who_does_not_receive_is_sent_a_bounded_number_of_messages() {
    let test = "who_does_not_receive_is_sent_a_bounded_number_of_messages";
    as_nodes(test, 2, |nodes| {
        let node = nodes.node();
        let mut port = node.port(0);
        if node.id() == NodeId(1) {
            let (first, mut sent) = (port_of(NodeId(0)), 0_u64);
            // For a while after the last for which there was room.
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
            // Tells the first that it may receive.
            node.open(NodeId(0), &segment, 0..8).expect("it is there");
        } else {
            node.accept(NodeId(1)).expect("it sends");
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
            // All that was sent before it left, which comes first.
            assert!(matches!(ended, NetError::Left(NodeId(1))), "{ended}");
            assert!((64..10_000).contains(&received), "{received}");
        }
        drop(port);
        nodes.finish().expect("both leave");
    });
}

#[test]
fn another_number_of_processes_than_nodes_is_told_by_all() {
    let test = "another_number_of_processes_than_nodes_is_told_by_all";
    if Launch::rank_count().is_some() {
        let error = start(TransportKind::Mpi, 3, 1)
            .expect_err("there are two")
            .to_string();
        let expected = "2 processes were started by MPI, for 3 nodes; expected one for each";
        assert_eq!(error, expected);
        let error = start(TransportKind::Mpi, 2, 1)
            .expect_err("it was started")
            .to_string();
        assert!(error.contains("started in this process before"), "{error}");
        return;
    }
    again_well(test);
}

/// Each brought up nodes of its own, and all of these wrote the same files.
#[test]
fn nodes_of_another_kind_are_refused_to_processes_of_mpi() {
    let test = "nodes_of_another_kind_are_refused_to_processes_of_mpi";
    if Launch::rank_count().is_some() {
        for kind in [TransportKind::Memory, TransportKind::Sockets] {
            let error = start(kind, 2, 1).expect_err("there are two").to_string();
            assert!(error.ends_with("expected mpi"), "{error}");
        }
        return;
    }
    again_well(test);
}

#[test]
fn processes_that_are_not_alike_are_told_by_all() {
    let test = "processes_that_are_not_alike_are_told_by_all";
    if Launch::rank_count().is_some() {
        let rank = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(std::env::var);
        let is_first = rank.into_iter().flatten().any(|rank| rank == "0");
        let ports = if is_first { 1 } else { 2 };
        let error = start(TransportKind::Mpi, 2, ports).expect_err("they are not");
        let NetError::Unlike {
            found, expected, ..
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((found.ports, expected.ports), (3 - ports, ports));
        return;
    }
    again_well(test);
}

#[test]
fn a_program_that_mpi_has_not_started_says_so() {
    let error = start(TransportKind::Mpi, 2, 1)
        .expect_err("nobody has")
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
            receive(&mut port, NodeId(0), |_| ()).expect("it sends");
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).expect("it lives");
        }
        let error = until_one_is_gone(&nodes, &mut port);
        panic!("goes on: {error}");
    };
    as_nodes_that_fail(test, 3, run, |told| {
        assert!(told.contains("signal 9"), "{told}");
        knows_who_has_died(told);
    });
}

/// Whom `mpirun` does not end at once has been told by a socket.
fn knows_who_has_died(told: &str) {
    let mut errors = told.split("goes on: ").skip(1);
    assert!(
        errors.all(|error| error.starts_with("node 1 has died")),
        "{told}"
    );
}

#[test]
fn a_node_that_panics_ends_the_others() {
    let test = "a_node_that_panics_ends_the_others";
    let run = |nodes: Nodes| {
        let mut port = nodes.node().port(0);
        if nodes.node().id() == NodeId(1) {
            receive(&mut port, NodeId(0), |_| ()).expect("it sends");
            panic!("it falls");
        }
        let error = until_one_is_gone(&nodes, &mut port);
        panic!("goes on: {error}");
    };
    as_nodes_that_fail(test, 3, run, |told| {
        assert!(told.contains("it falls"), "{told}");
        knows_who_has_died(told);
    });
}

/// A program that returns an error in one of its processes: the others hear that it has left.
#[test]
fn a_node_that_leaves_too_early_is_told() {
    let test = "a_node_that_leaves_too_early_is_told";
    as_nodes(test, 3, |nodes| {
        let mut port = nodes.node().port(0);
        if nodes.node().id() != NodeId(1) {
            let error = until_one_is_gone(&nodes, &mut port);
            // Of the other, too, when it has heard of it first.
            assert!(error.ends_with("has left"), "{error}");
        }
        drop(port);
        drop(nodes);
    });
}
