//! Tests of a receiver with malformed messages, and with messages that it has not allowed: it
//! counts them, delivers nothing, and continues.

use proptest::prelude::*;
use raddle_net::{Data, Message, Node, NodeId, PortId, Refusal, SegmentId, Shape};

const SENDER: PortId = PortId {
    node: NodeId(1),
    index: 0,
};
const RECEIVER: PortId = PortId {
    node: NodeId(0),
    index: 0,
};

/// Generates changes to a valid descriptor: up to two bytes are replaced, and it is cut off or
/// extended.
fn nearly_right() -> impl Strategy<Value = (Vec<(usize, u8)>, usize)> {
    (
        prop::collection::vec((0..32_usize, any::<u8>()), 0..3),
        0..60_usize,
    )
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_counted_or_delivered(
        messages in prop::collection::vec(
            (prop::collection::vec(any::<u8>(), 0..240), 0..3_000_usize),
            1..20,
        ),
    ) {
        let [receives, sends]: [Node; 2] = Node::in_process(Shape { nodes: 2, ports: 1 })
            .expect("memory")
            .try_into()
            .expect("two nodes");
        let (mut receiver, mut sender) = (receives.port(0), sends.port(0));
        let mut delivered = 0;
        for (short, long) in &messages {
            sender.send_raw(RECEIVER, short, &vec![1; *long]).expect("space for the message");
            receiver.poll(|_| delivered += 1).expect("no node ends");
        }
        let refused: u64 = Refusal::ALL.iter().map(|&reason| receives.refused(reason)).sum();
        prop_assert_eq!(refused + delivered, messages.len() as u64);
        // The key is not guessed.
        prop_assert_eq!(delivered, 0);
    }

    #[test]
    fn a_delivered_put_lies_within_the_window((changes, len) in nearly_right()) {
        let [receives, sends]: [Node; 2] = Node::in_process(Shape { nodes: 2, ports: 1 })
            .expect("memory")
            .try_into()
            .expect("two nodes");
        let segment = receives.segment(4096).expect("memory");
        receives.open(NodeId(1), &segment, 1000..2000).expect("the other node runs");
        let remote = sends.accept(NodeId(0)).expect("the other node runs");
        let (mut receiver, mut sender) = (receives.port(0), sends.port(0));
        // Start from the descriptor of a valid put.
        let descriptor = raddle_net::descriptor_of_put(&remote, 17, 100, Message::default());
        let mut short = descriptor.to_vec();
        for (at, byte) in changes {
            short[at] = byte;
        }
        short.resize(len, 0);
        sender.send_raw(RECEIVER, &short, &[]).expect("space for the message");
        let mut found = None;
        receiver.poll(|arrival| {
            assert_eq!(arrival.from, SENDER);
            if let Data::Put { segment, .. } = arrival.data {
                found = Some((segment, arrival.data.range().expect("put")));
            }
        }).expect("no node ends");
        if let Some((segment, range)) = found {
            prop_assert_eq!(segment, SegmentId(0));
            prop_assert!(range.start >= 1000 && range.end <= 2000, "{range:?}");
        }
        assert!(segment.to_vec(0..4096).iter().all(|&byte| byte == 0));
        // The next message arrives normally.
        sender.send(RECEIVER, Message::default(), b"good").expect("space for the message");
        let mut last = Vec::new();
        receiver.poll(|arrival| {
            if let Data::Here(bytes) = arrival.data {
                last = bytes.to_vec();
            }
        }).expect("no node ends");
        prop_assert_eq!(last, b"good");
    }
}
