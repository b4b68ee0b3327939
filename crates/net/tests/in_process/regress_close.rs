//! With shared memory, a put after the connection was closed used to write to the memory. With
//! every transport, it returned `Ok`, as did a put to a segment that had been dropped. The sender's
//! library did not know that the connection was closed. Only the receiver did, which counted the
//! message and did not deliver it.
//!
//! Numbers of connections are reused. Closing a connection twice used to close the next connection
//! of that number. A put by a port of a node that had not accepted the connection, or by a
//! connection to a node that had left, used to write before it was refused.

use raddle_net::{
    ConnectionId, Message, Node, NodeId, Put, Remote, Segment, SendError, Shape, TransportKind,
};

const SHAPE: Shape = Shape { nodes: 3, ports: 1 };
/// More bytes than fit a packet, so that with sockets the put consists of parts.
const LEN: usize = 300_000;

/// Two nodes with a connection, and a third one.
struct Three {
    owner: Node,
    putter: Node,
    third: Node,
}

fn three(kind: TransportKind) -> Three {
    let nodes = Node::in_process_by(kind, SHAPE).expect("the nodes start");
    let [owner, putter, third] = nodes.try_into().expect("three");
    Three {
        owner,
        putter,
        third,
    }
}

impl Three {
    fn connect(&self, segment: &Segment) -> (ConnectionId, Remote) {
        let opened = self.owner.open(self.putter.id(), segment, 0..segment.len());
        let remote = self.putter.accept(self.owner.id());
        (
            opened.expect("the other node runs"),
            remote.expect("the connection was opened"),
        )
    }
}

/// Puts `len` ones at the beginning of the window.
fn put(port: &mut raddle_net::Port, remote: &Remote, len: usize) -> Result<(), SendError> {
    let data = vec![1; len];
    let mut put = Put::new(remote, 0, 0, &data, Message::default());
    port.put(&mut put)
}

fn is_untouched(segment: &Segment) -> bool {
    segment
        .to_vec(0..segment.len())
        .iter()
        .all(|&byte| byte == 0)
}

#[test]
fn a_put_after_close_is_refused_and_writes_nothing() {
    for &kind in TransportKind::WITHIN {
        let three = three(kind);
        let segment = three.owner.segment(LEN).expect("memory");
        let (connection, remote) = three.connect(&segment);
        three.owner.close(connection);
        let mut port = three.putter.port(0);
        for len in [0, 1, LEN] {
            let found = put(&mut port, &remote, len);
            assert_eq!(found, Err(SendError::Closed(NodeId(0))), "{kind}, {len}");
        }
        let mut owned = three.owner.port(0);
        let received = owned.poll(|arrival| panic!("{arrival:?}"));
        assert_eq!(received.expect("no node has ended"), 0);
        assert!(is_untouched(&segment), "{kind}");
    }
}

#[test]
fn a_put_in_parts_ends_when_the_connection_is_closed() {
    let three = three(TransportKind::Sockets);
    let segment = three.owner.segment(4 * LEN).expect("memory");
    let (connection, remote) = three.connect(&segment);
    let mut port = three.putter.port(0);
    let data = vec![1; 4 * LEN];
    let mut put = Put::new(&remote, 0, 0, &data, Message::default());
    // The buffers of the system hold a part of the data, which has not been received.
    assert_eq!(port.put(&mut put), Err(SendError::Full));
    three.owner.close(connection);
    assert_eq!(port.put(&mut put), Err(SendError::Closed(NodeId(0))));
    let mut owned = three.owner.port(0);
    assert_eq!(owned.poll(|_| ()).expect("no node has ended"), 0);
    assert!(is_untouched(&segment));
}

#[test]
fn a_put_to_a_dropped_segment_is_refused() {
    for &kind in TransportKind::WITHIN {
        let three = three(kind);
        let segment = three.owner.segment(LEN).expect("memory");
        let (_, remote) = three.connect(&segment);
        let mut port = three.putter.port(0);
        let clone = segment.clone();
        drop(segment);
        assert_eq!(
            put(&mut port, &remote, 1),
            Ok(()),
            "{kind}: a clone is left"
        );
        drop(clone);
        let found = put(&mut port, &remote, 1);
        assert_eq!(found, Err(SendError::Closed(NodeId(0))), "{kind}");
    }
}

#[test]
fn closing_twice_leaves_the_next_connection_of_that_number() {
    for &kind in TransportKind::WITHIN {
        let three = three(kind);
        let segment = three.owner.segment(LEN).expect("memory");
        let (first, _) = three.connect(&segment);
        three.owner.close(first);
        let (_, remote) = three.connect(&segment);
        three.owner.close(first);
        // Another node cannot close it either.
        three.third.close(first);
        assert_eq!(put(&mut three.putter.port(0), &remote, 1), Ok(()), "{kind}");
    }
}

#[test]
fn a_connection_belongs_to_the_node_that_has_accepted_it() {
    for &kind in TransportKind::WITHIN {
        let three = three(kind);
        let segment = three.owner.segment(LEN).expect("memory");
        let (_, remote) = three.connect(&segment);
        let found = put(&mut three.third.port(0), &remote, 1);
        assert_eq!(found, Err(SendError::NotAccepted(NodeId(0))), "{kind}");
        assert!(is_untouched(&segment), "{kind}");
    }
}

#[test]
fn a_node_that_has_left_is_not_written_to() {
    let three = three(TransportKind::Threads);
    let segment = three.owner.segment(LEN).expect("memory");
    let (_, remote) = three.connect(&segment);
    let mut port = three.putter.port(0);
    drop(three.owner);
    // This receives the report of the end.
    while port.poll(|_| ()).is_ok() {}
    assert_eq!(put(&mut port, &remote, 1), Err(SendError::Left(NodeId(0))));
    assert!(is_untouched(&segment));
}

#[test]
fn closing_does_not_wait_for_a_node_that_has_left_or_died() {
    for dies in [false, true] {
        let three = three(TransportKind::Memory);
        let segment = three.owner.segment(LEN).expect("memory");
        let (connection, _remote) = three.connect(&segment);
        let putter = three.putter;
        let ended = std::thread::spawn(move || {
            let _putter = putter;
            assert!(!dies, "it dies");
        });
        assert_eq!(ended.join().is_err(), dies);
        three.owner.close(connection);
    }
}

/// Puts race with the close. Each put either comes before it or returns an error, and nothing
/// changes after it.
#[test]
fn nothing_is_written_once_close_has_returned() {
    for kind in [TransportKind::Threads, TransportKind::Memory] {
        let three = three(kind);
        let segment = three.owner.segment(LEN).expect("memory");
        let mut port = three.putter.port(0);
        let mut owned = three.owner.port(0);
        for turn in 0..50_u8 {
            let (connection, remote) = three.connect(&segment);
            let data = vec![turn; LEN];
            std::thread::scope(|scope| {
                let puts = scope.spawn(|| {
                    loop {
                        let mut put = Put::new(&remote, 0, 0, &data, Message::default());
                        match port.put(&mut put) {
                            Ok(()) | Err(SendError::Full) => {}
                            Err(error) => return error,
                        }
                    }
                });
                while segment.to_vec(LEN - 1..LEN) != [turn] {
                    std::thread::yield_now();
                }
                three.owner.close(connection);
                segment.write(0, &vec![0xFF; LEN]);
                let error = puts.join().expect("the thread does not panic");
                assert_eq!(error, SendError::Closed(NodeId(0)));
            });
            let bytes = segment.to_vec(0..LEN);
            assert!(bytes.iter().all(|&byte| byte == 0xFF), "{kind}, {turn}");
            while owned.poll(|_| ()).expect("no node has ended") > 0 {}
        }
    }
}

#[test]
#[should_panic(expected = "a segment of another node than node 2")]
fn a_segment_is_opened_by_its_own_node() {
    let three = three(TransportKind::Threads);
    let segment = three.owner.segment(1).expect("memory");
    let _ = three.third.open(NodeId(1), &segment, 0..1);
}

#[test]
#[should_panic(expected = "node 1 of 3 opens nothing for node 1")]
fn a_node_does_not_wait_for_itself() {
    let _ = three(TransportKind::Threads).putter.accept(NodeId(1));
}

// Regression: one `end` too many made the listening thread believe that the node was leaving.
#[test]
fn pumping_that_was_not_begun_cannot_be_ended() {
    let three = three(TransportKind::Sockets);
    let pump = three.owner.pump();
    pump.begin();
    pump.end();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pump.end()));
    assert!(ended.is_err());
    // Another handle cannot end what this one has begun.
    pump.begin();
    let other = pump.clone();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| other.end()));
    assert!(ended.is_err());
    // The listening thread still runs, because closing needs its answer.
    let segment = three.owner.segment(1).expect("memory");
    let (connection, _remote) = three.connect(&segment);
    three.owner.close(connection);
}
