//! Tests of reads of other nodes' memory, by nodes in one process: with shared memory, and by
//! packets.

use std::thread;

use raddle_net::{
    Access, Data, Fetch, Message, NetError, Node, NodeId, Port, PortId, Put, ReadOnlySegment,
    Remote, SendError, Shape, TransportKind,
};
use raddle_sync::prim::{AtomicBool, AtomicU64, Relaxed};

const PAIR: Shape = Shape { nodes: 2, ports: 1 };
/// More bytes than fit into one packet, and than into two.
const LONG: usize = 300_000;
/// The largest number of reads of a port that are on their way in packets.
const GETS_MAX: usize = 32;

fn pair(kind: TransportKind) -> [Node; 2] {
    let nodes = Node::in_process_by(kind, PAIR).expect("memory");
    nodes.try_into().expect("two nodes")
}

/// Calls `test` with each transport by which all nodes can be in one process.
fn within_one_process(test: impl Fn(TransportKind)) {
    TransportKind::WITHIN.iter().copied().for_each(test);
}

fn byte_at(index: usize) -> u8 {
    (index % 251) as u8
}

/// Returns memory of a node with a byte for each index, and the right of another node to read it.
fn readable(home: &Node, reader: &Node, len: usize) -> (ReadOnlySegment, Remote) {
    let fill = |bytes: &mut [u8]| {
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = byte_at(index);
        }
    };
    let (segment, ()) = home.read_only_segment(len, fill).expect("memory");
    let opened = home.open_to_read(reader.id(), &segment, 0..len);
    opened.expect("the other node runs");
    let remote = reader.accept(home.id()).expect("the connection was opened");
    (segment, remote)
}

/// Reads bytes and checks them.
fn check(port: &mut Port, remote: &Remote, at: usize, len: usize) {
    let mut bytes = vec![0xFF; len];
    let read = port.get(remote, at as u64, &mut bytes);
    read.expect("the other node runs");
    check_bytes(&bytes, at);
}

fn check_bytes(bytes: &[u8], at: usize) {
    let expected = (at..).map(byte_at);
    assert!(bytes.iter().copied().eq(expected.take(bytes.len())), "{at}");
}

fn finish(port: &mut Port, remote: &Remote, fetch: Fetch, at: usize, len: usize) {
    let mut bytes = vec![0; len];
    let finished = port.finish_get(remote, fetch, &mut bytes);
    finished.expect("the other node runs");
    check_bytes(&bytes, at);
}

#[test]
fn a_read_returns_the_bytes_of_the_other_node() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let (segment, remote) = readable(&home, &reader, LONG);
        assert_eq!(remote.access(), Access::Get);
        assert_eq!(remote.len(), LONG as u64);
        let mut port = reader.port(0);
        for (at, len) in [(0, 1), (17, 3_456), (0, LONG), (LONG - 5, 5), (LONG, 0)] {
            check(&mut port, &remote, at, len);
        }
        check_bytes(&segment[..LONG], 0);
    });
}

// No thread of the home receives, sends or waits.
#[test]
fn no_thread_of_the_home_takes_part() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let (_segment, remote) = readable(&home, &reader, LONG);
        let mut port = reader.port(0);
        for at in 0..500 {
            check(&mut port, &remote, at, 3_456);
        }
        drop(home);
    });
}

#[test]
fn a_segment_that_is_written_to_can_be_read() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let segment = home.segment(8_192).expect("memory");
        segment.write(5_000, b"first");
        let opened = home.open_to_read(NodeId(1), &segment, 5_000..6_000);
        opened.expect("the other node runs");
        let remote = reader.accept(NodeId(0)).expect("opened");
        let mut port = reader.port(0);
        let mut bytes = [0; 5];
        port.get(&remote, 0, &mut bytes).expect("the home runs");
        assert_eq!(&bytes, b"first");
        segment.write(5_000, b"later");
        port.get(&remote, 0, &mut bytes).expect("the home runs");
        assert_eq!(&bytes, b"later");
    });
}

// Safe code: a thread writes while another node reads.
#[test]
fn a_read_during_writes_returns_some_of_both() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let segment = home.segment(65_536).expect("memory");
        home.open_to_read(NodeId(1), &segment, 0..65_536)
            .expect("the other node runs");
        let remote = reader.accept(NodeId(0)).expect("opened");
        let mut port = reader.port(0);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut turn = 0;
                // Relaxed: only a flag.
                while !is_over.load(Relaxed) {
                    turn = 3 - turn.max(1);
                    segment.write(0, &[turn; 65_536]);
                }
            });
            let mut bytes = vec![9; 65_536];
            for _ in 0..200 {
                port.get(&remote, 0, &mut bytes).expect("the home runs");
                assert!(bytes.iter().all(|byte| *byte <= 2));
            }
            // Relaxed: as above.
            is_over.store(true, Relaxed);
        });
    });
}

#[test]
fn an_access_that_is_not_allowed_is_refused() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let (_segment, remote) = readable(&home, &reader, 1_000);
        let mut port = reader.port(0);
        let mut byte = [0];
        let outside = SendError::OutOfBounds {
            at: 1_000,
            len: 1,
            bounds: 1_000,
        };
        assert_eq!(port.get(&remote, 1_000, &mut byte), Err(outside));
        assert!(port.get(&remote, u64::MAX, &mut byte).is_err());
        let mut put = Put::new(&remote, 0, 0, b"x", Message::default());
        let refused = SendError::NotAllowed {
            node: NodeId(0),
            allowed: Access::Get,
        };
        assert_eq!(port.put(&mut put), Err(refused));
        // The right to put allows no reads.
        let segment = home.segment(1_000).expect("memory");
        home.open(NodeId(1), &segment, 0..1_000).expect("it runs");
        let remote = reader.accept(NodeId(0)).expect("opened");
        let refused = SendError::NotAllowed {
            node: NodeId(0),
            allowed: Access::Put,
        };
        assert_eq!(port.get(&remote, 0, &mut byte), Err(refused));
        assert_eq!(
            refused.to_string(),
            "the connection to node 0 allows only puts"
        );
        // A port of another node.
        let refused = home.port(0).get(&remote, 0, &mut byte);
        assert!(refused.is_err());
    });
}

#[test]
fn a_closed_connection_allows_no_reads() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let (segment, ()) = home.read_only_segment(1_000, |_| ()).expect("memory");
        let opened = home.open_to_read(NodeId(1), &segment, 0..1_000);
        let connection = opened.expect("the other node runs");
        let remote = reader.accept(NodeId(0)).expect("opened");
        let mut port = reader.port(0);
        let mut bytes = [1; 10];
        port.get(&remote, 0, &mut bytes).expect("it is open");
        home.close(connection);
        let closed = Err(SendError::Closed(NodeId(0)));
        assert_eq!(port.get(&remote, 0, &mut bytes), closed);
        assert_eq!(
            port.start_get(&remote, 0, 10).err().map(Err),
            match kind {
                TransportKind::Sockets => Some(closed),
                // Found when it is finished.
                _ => None,
            }
        );
        // Dropping the segment closes, too.
        home.open_to_read(NodeId(1), &segment, 0..1_000)
            .expect("the other node runs");
        let remote = reader.accept(NodeId(0)).expect("opened");
        drop(segment);
        assert_eq!(port.get(&remote, 0, &mut bytes), closed);
    });
}

// A request for which the right has been closed meanwhile gets no answer, so the read must not wait
// for one.
#[test]
fn reads_that_are_on_their_way_end_when_the_connection_is_closed() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let mut port = reader.port(0);
        let (segment, ()) = home.read_only_segment(LONG, |_| ()).expect("memory");
        for _ in 0..100 {
            let opened = home.open_to_read(NodeId(1), &segment, 0..LONG);
            let connection = opened.expect("the other node runs");
            let remote = reader.accept(NodeId(0)).expect("opened");
            thread::scope(|scope| {
                let begun: Vec<_> = (0..GETS_MAX)
                    .map_while(|_| port.start_get(&remote, 0, 10_000).ok())
                    .collect();
                scope.spawn(|| home.close(connection));
                let mut bytes = vec![1; 10_000];
                for fetch in begun {
                    match port.finish_get(&remote, fetch, &mut bytes) {
                        Ok(()) => assert!(bytes.iter().all(|&byte| byte == 0)),
                        Err(error) => assert_eq!(error, SendError::Closed(NodeId(0))),
                    }
                }
            });
        }
    });
}

#[test]
fn several_reads_are_on_their_way_at_once() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let (_segment, remote) = readable(&home, &reader, LONG);
        let mut port = reader.port(0);
        for turn in 0..20 {
            let places = (0..10).map(|place| (turn * 100 + place * 1_000, 1 + place * 700));
            let start = |(at, len)| {
                let fetch = port.start_get(&remote, at as u64, len);
                (fetch.expect("space for ten requests"), at, len)
            };
            let mut fetches: Vec<_> = places.map(start).collect();
            // Some are finished in another order, and some never.
            fetches.swap(2, 7);
            for (index, (fetch, at, len)) in fetches.into_iter().enumerate() {
                if index % 4 < 3 {
                    finish(&mut port, &remote, fetch, at, len);
                }
            }
        }
    });
}

#[test]
fn only_some_reads_of_a_port_can_be_on_their_way_in_packets() {
    let [home, reader] = pair(TransportKind::Sockets);
    let (_segment, remote) = readable(&home, &reader, LONG);
    let mut port = reader.port(0);
    let mut fetches: Vec<_> = (0..GETS_MAX)
        .map(|at| port.start_get(&remote, at as u64, 100).expect("a landing"))
        .collect();
    let refused = port.start_get(&remote, 0, 100).err();
    assert_eq!(refused, Some(SendError::TooManyGets(GETS_MAX)));
    let last = fetches.pop().expect("there are some");
    finish(&mut port, &remote, last, GETS_MAX - 1, 100);
    // A longer one, for which the free landing is too short.
    check(&mut port, &remote, 7, LONG - 7);
    for (at, fetch) in fetches.into_iter().enumerate() {
        finish(&mut port, &remote, fetch, at, 100);
    }
}

#[test]
fn messages_that_arrive_meanwhile_are_received_later() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let (_segment, remote) = readable(&home, &reader, LONG);
        let (mut sender, mut port) = (home.port(0), reader.port(0));
        let to = port.id();
        let mut expected = Vec::new();
        for number in 0..50_u8 {
            let sent = sender.send(to, Message::default(), &[number]);
            sent.expect("space for the message");
            expected.push(number);
            check(&mut port, &remote, number.into(), 1_000);
        }
        let mut received = Vec::new();
        while received.len() < expected.len() {
            port.wait();
            let polled = port.poll(|arrival| match arrival.data {
                Data::Here(bytes) => received.extend_from_slice(bytes),
                Data::Put { .. } => panic!("nothing was put"),
            });
            polled.expect("no node ends");
        }
        assert_eq!(received, expected);
    });
}

#[test]
fn a_node_that_has_ended_is_not_read() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let (segment, remote) = readable(&home, &reader, LONG);
        let mut port = reader.port(0);
        check(&mut port, &remote, 0, 10);
        let fetch = port.start_get(&remote, 0, 10).expect("space");
        drop(segment);
        drop(home);
        let mut bytes = [0; 10];
        // The answer may have arrived before.
        let _ = port.finish_get(&remote, fetch, &mut bytes);
        while port.get(&remote, 0, &mut bytes).is_ok() {
            thread::yield_now();
        }
        let ended = port.get(&remote, 0, &mut bytes).err();
        let closed = [SendError::Left(NodeId(0)), SendError::Closed(NodeId(0))];
        assert!(
            ended.is_some_and(|error| closed.contains(&error)),
            "{ended:?}"
        );
    });
}

// A home that is stopped answers nothing. If it has died, the wait ends with an error.
#[test]
fn a_wait_ends_when_the_home_dies() {
    let [home, reader] = pair(TransportKind::Sockets);
    let (_segment, remote) = readable(&home, &reader, LONG);
    let mut port = reader.port(0);
    thread::scope(|scope| {
        scope.spawn(move || {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _home = home;
                panic!("this node dies");
            }));
            assert!(caught.is_err());
        });
        let mut bytes = [0; 100];
        let error = loop {
            match port.get(&remote, 0, &mut bytes) {
                Ok(()) => check_bytes(&bytes, 0),
                Err(error) => break error,
            }
        };
        assert_eq!(error, SendError::Died(NodeId(0)));
    });
}

/// Sends messages until there is no space for more.
fn send_until_full(port: &mut Port, to: NodeId) {
    let to = PortId { node: to, index: 0 };
    let mut full = 0;
    // The listening thread of the other node makes space for a while.
    while full < 50 {
        match port.send(to, Message::default(), &[7; 4_000]) {
            Ok(()) => full = 0,
            Err(SendError::Full) => {
                full += 1;
                thread::sleep(std::time::Duration::from_millis(2));
            }
            Err(error) => panic!("{error}"),
        }
    }
}

// Regression: requests and answers travelled behind messages. So a read waited for ever if no
// thread received the messages of the reader's node, or of its home.
#[test]
fn reads_overtake_messages_that_no_thread_receives() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let (_segment, remote) = readable(&home, &reader, LONG);
        let (mut of_home, mut of_reader) = (home.port(0), reader.port(0));
        send_until_full(&mut of_reader, NodeId(0));
        send_until_full(&mut of_home, NodeId(1));
        for at in 0..20 {
            check(&mut of_reader, &remote, at, 10_000);
        }
        check(&mut of_reader, &remote, 0, LONG);
    });
}

// Nodes that answer each other never wait for each other, whatever else they send.
#[test]
fn nodes_read_each_other_while_they_exchange_messages() {
    const TURNS: usize = 300;
    within_one_process(|kind| {
        let shape = Shape { nodes: 3, ports: 2 };
        let nodes = Node::in_process_by(kind, shape).expect("memory");
        let mut rights = Vec::new();
        for (home, reader) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
            if home != reader {
                rights.push(readable(&nodes[home], &nodes[reader], LONG));
            }
        }
        let left = AtomicU64::new(6);
        thread::scope(|scope| {
            for node in &nodes {
                for index in 0..2 {
                    let mut port = node.port(index);
                    let (rights, left) = (&rights, &left);
                    scope.spawn(move || {
                        let mine = |remote: &&Remote| remote.node() != node.id();
                        let all = rights.iter().map(|(_, remote)| remote).filter(mine);
                        let all: Vec<_> = all.collect();
                        for turn in 0..TURNS {
                            for remote in &all {
                                let to = PortId {
                                    node: remote.node(),
                                    index,
                                };
                                let _ = port.send(to, Message::default(), &[7; 2_000]);
                                let (at, mut bytes) = (turn, vec![0; 3_456]);
                                match port.get(remote, at as u64, &mut bytes) {
                                    Ok(()) => check_bytes(&bytes, at),
                                    // Another node has accepted this one.
                                    Err(error) => {
                                        assert_eq!(error, SendError::NotAccepted(to.node));
                                    }
                                }
                            }
                            port.poll(|_| ()).expect("no node ends");
                        }
                        // Relaxed: only a count. Messages for this port must not be in the way of
                        // the requests of others.
                        left.fetch_sub(1, Relaxed);
                        while left.load(Relaxed) > 0 {
                            port.poll(|_| ()).expect("no node ends");
                            thread::yield_now();
                        }
                    });
                }
            }
        });
    });
}

// A node that another one has found to be stopped is given up: all waits for it end.
#[test]
fn a_node_that_is_given_up_is_waited_for_no_more() {
    within_one_process(|kind| {
        let [home, reader] = pair(kind);
        let (_segment, remote) = readable(&home, &reader, LONG);
        let mut port = reader.port(0);
        check(&mut port, &remote, 0, 10);
        reader.give_up(NodeId(0));
        reader.give_up(NodeId(0));
        let silent = SendError::Silent(NodeId(0));
        assert_eq!(port.get(&remote, 0, &mut [0; 10]), Err(silent));
        assert_eq!(port.ended(NodeId(0)), Some(silent));
        port.wait();
        let ended = port.poll(|_| ()).expect_err("it is reported once");
        assert!(
            matches!(ended, NetError::Silent { node, .. } if node == NodeId(0)),
            "{ended}"
        );
        assert_eq!(port.poll(|_| ()).expect("no other end"), 0);
    });
}
