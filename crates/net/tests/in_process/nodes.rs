//! Tests of nodes in one process: messages arrive once and in order, puts write to their targets,
//! and refused messages are counted.

use raddle_net::{
    Arrival, DATA_MAX, Data, Flags, Launch, METADATA_MAX, Message, NetError, Node, NodeId,
    PORTS_MAX, Port, PortId, Put, Refusal, Remote, Segment, SendError, Shape, TransportKind,
};

const PAIR: Shape = Shape { nodes: 2, ports: 1 };

fn at(node: u16, index: u16) -> PortId {
    PortId {
        node: NodeId(node),
        index,
    }
}

fn nodes<const COUNT: usize>(kind: TransportKind, shape: Shape) -> [Node; COUNT] {
    let nodes = Node::in_process_by(kind, shape).expect("memory");
    nodes.try_into().expect("as many nodes as the shape has")
}

/// Calls `test` with each transport by which all nodes can be in one process.
fn within_one_process(test: impl Fn(TransportKind)) {
    TransportKind::WITHIN.iter().copied().for_each(test);
}

/// Returns a segment of one node, and the right of another node to write to all of it.
fn allow(node: &Node, other: &Node, len: usize) -> (Segment, Remote) {
    let segment = node.segment(len).expect("memory");
    let opened = node.open(other.id(), &segment, 0..len);
    opened.expect("the other node runs");
    let remote = other.accept(node.id()).expect("the connection was opened");
    (segment, remote)
}

/// Sends a message, and waits for space.
fn send(port: &mut Port, to: PortId, message: Message<'_>, data: &[u8]) {
    while let Err(error) = port.send(to, message, data) {
        assert_eq!(error, SendError::Full);
        std::thread::yield_now();
    }
}

/// Receives `count` messages.
fn receive(port: &mut Port, count: usize, mut each: impl FnMut(Arrival<'_>)) {
    let mut received = 0;
    while received < count {
        port.wait();
        received += port.poll(&mut each).expect("no node ends");
    }
    assert_eq!(received, count);
}

#[test]
fn a_message_arrives_with_all_its_parts() {
    within_one_process(|kind| {
        let [first, second] = nodes(kind, PAIR);
        let (mut sender, mut receiver) = (first.port(0), second.port(0));
        let message = Message {
            flags: Flags {
                doorbell: true,
                cache_hint: false,
            },
            user: 0xABCD,
            metadata: b"metadata",
        };
        sender
            .send(at(1, 0), message, b"data")
            .expect("space for the message");
        receive(&mut receiver, 1, |arrival| {
            assert_eq!(arrival.from, at(0, 0));
            assert_eq!(arrival.message, message);
            assert_eq!(arrival.data, Data::Here(b"data"));
        });
    });
}

#[test]
fn messages_of_each_port_arrive_once_and_in_order() {
    within_one_process(|kind| {
        const COUNT: u32 = 20_000;
        let shape = Shape { nodes: 3, ports: 2 };
        let nodes: [Node; 3] = nodes(kind, shape);
        let mut ports: Vec<_> = nodes
            .iter()
            .flat_map(|node| [node.port(0), node.port(1)])
            .collect();
        let mut receiver = ports.remove(0);
        std::thread::scope(|scope| {
            let mut next = [0; 6];
            for mut port in ports {
                scope.spawn(move || {
                    for number in 0..COUNT {
                        let message = Message {
                            user: number,
                            ..Message::default()
                        };
                        let data = vec![number as u8; number as usize % 300];
                        send(&mut port, at(0, 0), message, &data);
                    }
                });
            }
            receive(&mut receiver, 5 * COUNT as usize, |arrival| {
                let from = usize::from(2 * arrival.from.node.0 + arrival.from.index);
                let number = arrival.message.user;
                assert_eq!(number, next[from]);
                next[from] += 1;
                let Data::Here(data) = arrival.data else {
                    panic!("nothing was put");
                };
                assert_eq!(data.len(), number as usize % 300);
                assert!(data.iter().all(|&byte| byte == number as u8));
            });
        });
    });
}

#[test]
fn a_node_sends_to_itself() {
    within_one_process(|kind| {
        let [node] = nodes(kind, Shape { nodes: 1, ports: 2 });
        let (mut sender, mut receiver) = (node.port(0), node.port(1));
        sender
            .send(at(0, 1), Message::default(), b"here")
            .expect("space for the message");
        receive(&mut receiver, 1, |arrival| {
            assert_eq!(arrival.data, Data::Here(b"here"))
        });
    });
}

#[test]
fn a_put_writes_to_its_target() {
    within_one_process(|kind| {
        let [first, second] = nodes(kind, PAIR);
        let segment = second.segment(100_000).expect("memory");
        let window = 10_000..90_000;
        second
            .open(NodeId(0), &segment, window)
            .expect("the first node runs");
        let remote = first.accept(NodeId(1)).expect("the second node runs");
        assert_eq!((remote.node(), remote.len()), (NodeId(1), 80_000));
        let (mut sender, mut receiver) = (first.port(0), second.port(0));
        let data: Vec<_> = (0..80_000_u32).map(|index| (index % 251) as u8).collect();
        sender
            .put(&mut Put::new(&remote, 0, 0, &data, Message::default()))
            .expect("space for the message");
        sender
            .put(&mut Put::new(&remote, 0, 79_999, b"!", Message::default()))
            .expect("space for the message");
        let mut ranges = Vec::new();
        receive(&mut receiver, 2, |arrival| {
            assert!(
                matches!(arrival.data, Data::Put { segment: found, .. } if found == segment.id())
            );
            ranges.push(arrival.data.range().expect("put"));
        });
        assert_eq!(ranges, [10_000..90_000, 89_999..90_000]);
        assert!(segment.to_vec(10_000..89_999) == data[..79_999]);
        assert_eq!(segment.to_vec(89_999..90_001), b"!\0");
        assert_eq!(segment.to_vec(9_999..10_000), b"\0");
    });
}

// Regression: a put of more data than there was space for waited for space, and its node received
// nothing in the meantime. Two nodes with such puts waited for each other.
#[test]
fn two_opposite_puts_larger_than_the_capacity_both_complete() {
    within_one_process(|kind| {
        const LEN: usize = 3_000_000;
        let [first, second] = nodes(kind, PAIR);
        let segments = [&first, &second].map(|node| node.segment(LEN).expect("memory"));
        first
            .open(NodeId(1), &segments[0], 0..LEN)
            .expect("the second node runs");
        second
            .open(NodeId(0), &segments[1], 0..LEN)
            .expect("the first node runs");
        let mut sides = [(&first, NodeId(1)), (&second, NodeId(0))].map(|(node, peer)| {
            let remote = node.accept(peer).expect("the connection was opened");
            (node.port(0), remote)
        });
        let data: Vec<_> = (0..LEN as u32).map(|index| (index % 251) as u8).collect();
        let mut sides = sides.each_mut().map(|(port, remote)| {
            let put = Put::new(remote, 0, 0, &data, Message::default());
            (port, put, false, 0)
        });
        while sides
            .iter()
            .any(|(.., has_put, received)| !has_put || *received == 0)
        {
            for (port, put, has_put, _) in &mut sides {
                *has_put = *has_put
                    || match port.put(put) {
                        Ok(()) => true,
                        Err(SendError::Full) => false,
                        Err(error) => panic!("{error}"),
                    };
            }
            for (port, .., received) in &mut sides {
                *received += port
                    .poll(|arrival| assert_eq!(arrival.data.range(), Some(0..LEN)))
                    .expect("no node ends");
            }
        }
        for segment in segments {
            assert!(segment.to_vec(0..LEN) == data);
        }
        assert!(sides.iter().all(|(.., received)| *received == 1));
    });
}

// A put that was given up for lack of space has no influence on another one.
#[test]
fn another_put_starts_from_the_beginning() {
    const LEN: usize = 1_000_000;
    let [first, second] = nodes(TransportKind::Sockets, PAIR);
    let (segment, remote) = allow(&second, &first, LEN);
    let (mut sender, mut receiver) = (first.port(0), second.port(0));
    let (given_up, data) = (vec![1; LEN], vec![2; LEN]);
    let found = sender.put(&mut Put::new(&remote, 0, 0, &given_up, Message::default()));
    assert_eq!(found, Err(SendError::Full));
    let mut put = Put::new(&remote, 0, 0, &data, Message::default());
    while let Err(error) = sender.put(&mut put) {
        assert_eq!(error, SendError::Full);
        assert_eq!(receiver.poll(|_| ()).expect("no node ends"), 0);
    }
    receive(&mut receiver, 1, |_| ());
    assert!(segment.to_vec(0..LEN) == data);
}

// Regression: after a put was given up, a put of other bytes at the same address wrote only the
// second half of these bytes.
#[test]
fn a_new_put_of_the_same_buffer_and_a_repeated_put_start_from_the_beginning() {
    const LEN: usize = 1_000_000;
    let [first, second] = nodes(TransportKind::Sockets, PAIR);
    let (segment, remote) = allow(&second, &first, LEN);
    let (mut sender, mut receiver) = (first.port(0), second.port(0));
    let mut data = vec![1; LEN];
    let found = sender.put(&mut Put::new(&remote, 0, 0, &data, Message::default()));
    assert_eq!(found, Err(SendError::Full));
    receiver.poll(|_| ()).expect("no node ends");
    data.fill(2);
    let mut put = Put::new(&remote, 0, 0, &data, Message::default());
    for _ in 0..2 {
        segment.write(LEN - 1, &[0]);
        let mut received = 0;
        while let Err(error) = sender.put(&mut put) {
            assert_eq!(error, SendError::Full);
            received += receiver.poll(|_| ()).expect("no node ends");
        }
        receive(&mut receiver, 1 - received, |_| ());
        assert!(segment.to_vec(0..LEN) == data);
    }
}

// A port may outlive its node and the listening thread of that node. Regression: such a port
// reported `Full` forever.
#[test]
fn a_port_of_a_node_that_has_left_sends_nothing() {
    let [first, second] = nodes(TransportKind::Sockets, PAIR);
    let mut sender = first.port(0);
    drop(first);
    drop(second);
    let error = loop {
        match sender.send(at(1, 0), Message::default(), b"late") {
            Ok(()) => std::thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert!(
        matches!(error, SendError::Left(_) | SendError::Died(_)),
        "{error}"
    );
}

// Regression: a node that had left kept its sockets open as long as its process ran. The others did
// not see that all of its messages had arrived. They reported neither its end nor the end of any
// other node, and looked for more messages forever.
#[test]
fn the_end_of_a_node_is_reported_while_its_process_runs() {
    within_one_process(|kind| {
        let [first, second, third] = nodes(kind, Shape { nodes: 3, ports: 1 });
        let mut receiver = second.port(0);
        let (mut sender, _kept) = (first.port(0), third.port(0));
        sender
            .send(at(1, 0), Message::default(), b"last")
            .expect("space for the message");
        drop(first);
        drop(third);
        let (mut received, mut left) = (0, Vec::new());
        while left.len() < 2 {
            receiver.wait();
            match receiver.poll(|_| received += 1) {
                Ok(_) => {}
                Err(NetError::Left(node)) => left.push(node),
                Err(error) => panic!("{error}"),
            }
        }
        left.sort_unstable();
        assert_eq!((received, left), (1, vec![NodeId(0), NodeId(2)]));
    });
}

// Regression: with sockets, the end of another node was reported as its death, even if it had left.
#[test]
fn a_send_to_a_node_that_has_left_reports_that_it_left() {
    within_one_process(|kind| {
        let [first, second] = nodes(kind, PAIR);
        let mut sender = first.port(0);
        drop(second);
        let error = loop {
            match sender.send(at(1, 0), Message::default(), b"late") {
                Ok(()) | Err(SendError::Full) => std::thread::yield_now(),
                Err(error) => break error,
            }
        };
        assert_eq!(error, SendError::Left(NodeId(1)));
    });
}

#[test]
fn a_transport_that_cannot_connect_processes_is_an_error() {
    let start = |kind| Launch::new(PAIR).transport(kind).start();
    let error = start(TransportKind::Threads).expect_err("threads are in one process");
    let names: Vec<&str> = TransportKind::OF_PROCESSES
        .iter()
        .map(|kind| kind.name())
        .collect();
    assert_eq!(
        error.to_string(),
        format!(
            "nodes by threads cannot be processes; expected one of: {}",
            names.join(", ")
        )
    );
    #[cfg(not(feature = "mpi"))]
    {
        let error = start(TransportKind::Mpi).expect_err("built without MPI");
        assert_eq!(
            error.to_string(),
            "this program was built without MPI; build it with `--features mpi`"
        );
    }
    let error = Node::in_process_by(TransportKind::Mpi, PAIR).expect_err("ranks are processes");
    assert_eq!(
        error.to_string(),
        "nodes by mpi cannot be within one process"
    );
}

#[test]
fn a_put_out_of_bounds_writes_nothing() {
    within_one_process(|kind| {
        let [first, second] = nodes(kind, PAIR);
        let segment = second.segment(4096).expect("memory");
        second
            .open(NodeId(0), &segment, 100..200)
            .expect("the first node runs");
        let remote = first.accept(NodeId(1)).expect("the second node runs");
        let mut sender = first.port(0);
        for (offset, len) in [(0, 101), (100, 1), (u64::MAX, 1), (50, 51)] {
            let data = vec![7; len];
            let found = sender.put(&mut Put::new(&remote, 0, offset, &data, Message::default()));
            let expected = SendError::OutOfBounds {
                at: offset,
                len: len as u64,
                bounds: 100,
            };
            assert_eq!(found, Err(expected));
        }
        assert!(segment.to_vec(0..4096).iter().all(|&byte| byte == 0));
    });
}

#[test]
fn a_message_by_a_closed_connection_is_refused_and_counted() {
    within_one_process(|kind| {
        let [first, second] = nodes(kind, PAIR);
        let segment = second.segment(4096).expect("memory");
        let connection = second
            .open(NodeId(0), &segment, 0..64)
            .expect("the first node runs");
        let remote = first.accept(NodeId(1)).expect("the second node runs");
        let (mut sender, mut receiver) = (first.port(0), second.port(0));
        sender
            .put(&mut Put::new(&remote, 0, 0, b"in time", Message::default()))
            .expect("space for the message");
        receive(&mut receiver, 1, |_| ());
        let mut again = Put::new(&remote, 0, 0, b"too late", Message::default());
        // The message is on its way when the connection is closed, so it is not delivered.
        sender.put(&mut again).expect("space for the message");
        second.close(connection);
        sender
            .send(at(1, 0), Message::default(), b"")
            .expect("space for the message");
        receive(&mut receiver, 1, |arrival| {
            assert_eq!(arrival.data, Data::Here(b""))
        });
        assert_eq!(second.refused(Refusal::NoConnection), 1);
        assert_eq!(second.refused(Refusal::WrongKey), 0);
    });
}

#[test]
fn a_lane_without_a_reader_gets_full_and_loses_nothing() {
    within_one_process(|kind| {
        let [first, second] = nodes(kind, PAIR);
        let (mut sender, mut receiver) = (first.port(0), second.port(0));
        let mut count = 0;
        while sender
            .send(
                at(1, 0),
                Message {
                    user: count,
                    ..Message::default()
                },
                &[7; 1000],
            )
            .is_ok()
        {
            count += 1;
        }
        let mut next = 0;
        receive(&mut receiver, count as usize, |arrival| {
            assert_eq!(arrival.message.user, next);
            next += 1;
        });
        sender
            .send(at(1, 0), Message::default(), &[7; 1000])
            .expect("space again");
    });
}

#[test]
fn a_message_that_is_too_long_is_refused() {
    within_one_process(|kind| {
        let [first, _second] = nodes(kind, PAIR);
        let mut sender = first.port(0);
        let long = vec![0; DATA_MAX + 1];
        let metadata = [0; METADATA_MAX + 1];
        assert_eq!(
            sender.send(at(1, 0), Message::default(), &long[..DATA_MAX]),
            Ok(())
        );
        let found = sender
            .send(at(1, 0), Message::default(), &long)
            .expect_err("too long");
        assert_eq!(
            found.to_string(),
            format!(
                "{} bytes of data; expected at most {DATA_MAX}",
                DATA_MAX + 1
            )
        );
        let message = Message {
            metadata: &metadata,
            ..Message::default()
        };
        assert!(matches!(
            sender.send(at(1, 0), message, b""),
            Err(SendError::TooLong {
                part: "metadata",
                ..
            })
        ));
    });
}

#[test]
fn the_end_of_a_node_is_reported_after_its_last_message() {
    within_one_process(|kind| {
        let [first, second] = nodes(kind, PAIR);
        let mut receiver = first.port(0);
        let mut sender = second.port(0);
        sender
            .send(at(0, 0), Message::default(), b"last")
            .expect("space for the message");
        drop((sender, second));
        let mut received = 0;
        let error = loop {
            receiver.wait();
            match receiver.poll(|arrival| assert_eq!(arrival.data, Data::Here(b"last"))) {
                Ok(count) => received += count,
                Err(error) => break error,
            }
        };
        assert_eq!(received, 1);
        assert!(matches!(error, NetError::Left(NodeId(1))));
        assert!(!receiver.is_alive(NodeId(1)));
        assert_eq!(
            receiver.send(at(1, 0), Message::default(), b""),
            Err(SendError::Left(NodeId(1)))
        );
        assert!(matches!(
            first.accept(NodeId(1)),
            Err(NetError::Left(NodeId(1)))
        ));
    });
}

#[test]
fn invalid_shapes_are_errors() {
    for (nodes, ports) in [(0, 1), (1, 0), (33, 32)] {
        let shape = Shape { nodes, ports };
        let error = Node::in_process(shape)
            .expect_err("no such shape")
            .to_string();
        assert!(
            error.starts_with(&format!("{nodes} nodes of {ports} ports")),
            "{error}"
        );
        assert!(error.contains(&PORTS_MAX.to_string()), "{error}");
    }
}

#[test]
#[should_panic(expected = "port 0 has been taken already")]
fn a_port_is_taken_once() {
    let [node] = nodes(TransportKind::Memory, Shape { nodes: 1, ports: 1 });
    let _port = node.port(0);
    let _again = node.port(0);
}
