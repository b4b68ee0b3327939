//! Messages between nodes: whatever bytes come by a lane, the receiver counts or delivers them, and goes on.

use raddle_net::{
    Data, Message, Node, NodeId, Port, PortId, Refusal, Remote, Segment, Shape, descriptor_of_put,
};

const RECEIVER: PortId = PortId {
    node: NodeId(0),
    index: 0,
};
const WINDOW: std::ops::Range<usize> = 1_000..2_000;

/// Two nodes of this process, kept from input to input.
struct Ends {
    receives: Node,
    /// Leaves when the ends go.
    _sends: Node,
    receiver: Port,
    sender: Port,
    segment: Segment,
    remote: Remote,
}

impl Ends {
    fn new() -> Self {
        let nodes = Node::in_process(Shape { nodes: 2, ports: 1 }).expect("memory");
        let [receives, sends] = <[Node; 2]>::try_from(nodes).expect("two nodes");
        let segment = receives.segment(4_096).expect("memory");
        let opened = receives.open(NodeId(1), &segment, WINDOW);
        opened.expect("the other is there");
        Self {
            remote: sends.accept(NodeId(0)).expect("the other is there"),
            receiver: receives.port(0),
            sender: sends.port(0),
            receives,
            _sends: sends,
            segment,
        }
    }

    fn refused(&self) -> u64 {
        let reasons = Refusal::ALL.iter();
        reasons.map(|&reason| self.receives.refused(reason)).sum()
    }

    /// Sends one message, and judges what comes of it.
    fn try_one(&mut self, short: &[u8], long: &[u8]) {
        let before = self.refused();
        self.sender
            .send_raw(RECEIVER, short, long)
            .expect("the receiver has taken all");
        let mut delivered = 0;
        let polled = self.receiver.poll(|arrival| {
            delivered += 1;
            if let Data::Put { segment, .. } = arrival.data {
                let range = arrival.data.range().expect("put");
                assert_eq!(segment, self.segment.id());
                assert!(WINDOW.start <= range.start && range.end <= WINDOW.end);
            }
        });
        polled.expect("nobody ends, and the lane is sound");
        assert_eq!(delivered + self.refused() - before, 1);
    }
}

/// Sends what `bytes` say, and judges what the receiver makes of it.
///
/// Each message begins with two bytes: how many bytes its short part has, and how many of a good descriptor are changed first, each by
/// the two bytes of where and how.
///
/// # Panics
/// When something is delivered that was not allowed, or neither delivered nor counted, or when the receiver's memory changes.
pub fn receive_messages(bytes: &[u8]) {
    thread_local! {
        static ENDS: std::cell::RefCell<Ends> = std::cell::RefCell::new(Ends::new());
    }
    ENDS.with_borrow_mut(|ends| {
        let mut rest = bytes;
        while let [len, changes, tail @ ..] = rest {
            let at = u64::from(*len) * 10;
            let good = descriptor_of_put(&ends.remote, at, (*changes).into(), Message::default());
            let mut short = good.to_vec();
            let changes = (usize::from(*changes) % 8).min(tail.len() / 2);
            let (pairs, tail) = tail.split_at(2 * changes);
            for pair in pairs.chunks(2) {
                short[usize::from(pair[0]) % good.len()] ^= pair[1];
            }
            let (own, tail) = tail.split_at((usize::from(*len) % 241).min(tail.len()));
            if len % 3 == 0 {
                short = own.to_vec();
            } else {
                short.extend(own);
                short.truncate(240);
            }
            ends.try_one(&short, own);
            rest = tail;
        }
        let is_zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
        assert!(ends.segment.read(0..ends.segment.len(), is_zero));
    });
}
