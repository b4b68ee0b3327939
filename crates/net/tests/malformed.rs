//! What a receiver makes of bytes that are no message, or none that it has allowed: it counts them, delivers nothing, and goes on.

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

/// Descriptors that are nearly right: one or two bytes of a good one are changed, and it is cut off somewhere or goes on.
fn nearly_right() -> impl Strategy<Value = (Vec<(usize, u8)>, usize)> {
    (
        prop::collection::vec((0..32_usize, any::<u8>()), 0..3),
        0..60_usize,
    )
}

proptest! {
    #[test]
    fn bytes_of_any_kind_are_counted_or_delivered(
        messages in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..240), 0..3_000_usize), 1..20),
    ) {
        let [receives, sends]: [Node; 2] = Node::in_process(Shape { nodes: 2, ports: 1 })
            .expect("memory")
            .try_into()
            .expect("two nodes");
        let (mut receiver, mut sender) = (receives.port(0), sends.port(0));
        let mut delivered = 0;
        for (short, long) in &messages {
            sender.send_raw(RECEIVER, short, &vec![1; *long]).expect("room");
            receiver.poll(|_| delivered += 1).expect("nobody ends");
        }
        let refused: u64 = Refusal::ALL.iter().map(|&reason| receives.refused(reason)).sum();
        prop_assert_eq!(refused + delivered, messages.len() as u64);
        // Nobody guesses the key.
        prop_assert_eq!(delivered, 0);
    }

    #[test]
    fn what_is_delivered_lies_within_what_was_allowed((changes, len) in nearly_right()) {
        let [receives, sends]: [Node; 2] = Node::in_process(Shape { nodes: 2, ports: 1 })
            .expect("memory")
            .try_into()
            .expect("two nodes");
        let segment = receives.segment(4096).expect("memory");
        receives.open(NodeId(1), &segment, 1000..2000).expect("the other is there");
        let remote = sends.accept(NodeId(0)).expect("the other is there");
        let (mut receiver, mut sender) = (receives.port(0), sends.port(0));
        // The descriptor of a put, as the one after which it is made.
        let mut short = raddle_net::descriptor_of_put(&remote, 17, 100, Message::default()).to_vec();
        for (at, byte) in changes {
            short[at] = byte;
        }
        short.resize(len, 0);
        sender.send_raw(RECEIVER, &short, &[]).expect("room");
        let mut found = None;
        receiver.poll(|arrival| {
            assert_eq!(arrival.from, SENDER);
            if let Data::Put { segment, .. } = arrival.data {
                found = Some((segment, arrival.data.range().expect("put")));
            }
        }).expect("nobody ends");
        if let Some((segment, range)) = found {
            prop_assert_eq!(segment, SegmentId(0));
            prop_assert!(range.start >= 1000 && range.end <= 2000, "{range:?}");
        }
        assert!(segment.to_vec(0..4096).iter().all(|&byte| byte == 0));
        // The next message arrives as if nothing had been.
        sender.send(RECEIVER, Message::default(), b"good").expect("room");
        let mut last = Vec::new();
        receiver.poll(|arrival| if let Data::Here(bytes) = arrival.data { last = bytes.to_vec() }).expect("nobody ends");
        prop_assert_eq!(last, b"good");
    }
}
