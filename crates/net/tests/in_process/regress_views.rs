//! `Segment::read` used to lend bytes that a write through a clone, or a put of a node in the same
//! process, could change in the meantime. A safe program could check that they were UTF-8, and read
//! them when they no longer were, which crashed. Now the program gets a copy.

use std::thread;

use raddle_net::{Message, Node, NodeId, Put, SendError, Shape, TransportKind};
use raddle_sync::prim::{AtomicBool, Relaxed};

/// Texts with characters of three bytes, and of one byte. A mixture of the two is not always UTF-8.
const TEXTS: [&str; 2] = [
    "€€€€€€€€€€€€€€€€",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv",
];
const LEN: usize = TEXTS[0].len();
const READS: usize = 20_000;

/// Reads repeatedly while `write` changes the bytes that are read.
fn read_while(segment: &raddle_net::Segment, mut write: impl FnMut(&[u8]) + Send) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // Relaxed: the flag publishes nothing else.
            while !is_over.load(Relaxed) {
                TEXTS.iter().for_each(|text| write(text.as_bytes()));
            }
        });
        for _ in 0..READS {
            let mut bytes = [0; LEN];
            segment.read(0, &mut bytes);
            let before = bytes;
            if let Ok(text) = std::str::from_utf8(&bytes) {
                // Each look at the text gives the same result.
                let count = text.chars().count();
                assert_eq!(count, text.chars().rev().count());
            }
            assert_eq!(bytes, before);
        }
        is_over.store(true, Relaxed);
    });
}

#[test]
fn a_write_through_a_clone_does_not_change_bytes_that_were_read() {
    let nodes = Node::in_process(Shape { nodes: 1, ports: 1 }).expect("a node");
    let segment = nodes[0].segment(LEN).expect("memory");
    let clone = segment.clone();
    read_while(&segment, |text| clone.write(0, text));
}

#[test]
fn a_put_does_not_change_bytes_that_were_read() {
    for &kind in TransportKind::WITHIN {
        let shape = Shape { nodes: 2, ports: 1 };
        let nodes = Node::in_process_by(kind, shape).expect("the nodes start");
        let segment = nodes[0].segment(LEN).expect("memory");
        let source = nodes[1].segment(LEN).expect("memory");
        nodes[0]
            .open(NodeId(1), &segment, 0..LEN)
            .expect("the other node runs");
        let remote = nodes[1]
            .accept(NodeId(0))
            .expect("the connection was opened");
        let (mut sender, mut receiver) = (nodes[1].port(0), nodes[0].port(0));
        read_while(&segment, |text| {
            source.write(0, text);
            let message = Message::default();
            let mut put = Put::from_segment(&remote, 0, 0, &source, 0..LEN, message);
            match sender.put(&mut put) {
                Ok(()) | Err(SendError::Full) => {}
                Err(error) => panic!("{error}"),
            }
            receiver.poll(|_| ()).expect("no node has ended");
        });
    }
}

// The source and the target may overlap, or be the same memory.
#[test]
fn a_put_of_a_segment_onto_itself_moves_it() {
    let nodes = Node::in_process(Shape { nodes: 2, ports: 1 }).expect("the nodes start");
    let len = 100_000;
    let segment = nodes[0].segment(len).expect("memory");
    let text: Vec<_> = (0..len).map(|at| (at % 251) as u8).collect();
    segment.write(0, &text);
    let opened = nodes[0].open(NodeId(1), &segment, 0..len);
    opened.expect("the other node runs");
    let remote = nodes[1]
        .accept(NodeId(0))
        .expect("the connection was opened");
    let mut sender = nodes[1].port(0);
    let mut put = Put::from_segment(&remote, 0, 0, &segment, 0..len, Message::default());
    sender.put(&mut put).expect("space for the message");
    assert!(segment.to_vec(0..len) == text);
}
