//! Messages between nodes: whatever bytes arrive by a lane or a socket, the receiver counts them as
//! refused or delivers them, and continues.

use raddle_net::{
    Data, Message, Node, NodeId, Port, PortId, Refusal, Remote, Segment, Shape, TransportKind,
    descriptor_of_put, packet_of,
};

const RECEIVER: PortId = PortId {
    node: NodeId(0),
    index: 0,
};
const WINDOW: std::ops::Range<usize> = 1_000..2_000;

/// Two nodes in this process, and what they need to exchange messages.
struct Ends {
    receives: Node,
    /// The sending node, kept alive until the ends are dropped.
    _sends: Node,
    receiver: Port,
    sender: Port,
    segment: Segment,
    remote: Remote,
}

impl Ends {
    fn new(kind: TransportKind) -> Self {
        let nodes = Node::in_process_by(kind, Shape { nodes: 2, ports: 1 }).expect("memory");
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

    /// Sends one message and checks that it is either delivered or counted as refused.
    fn try_one(&mut self, short: &[u8], long: &[u8]) {
        let before = self.refused();
        self.sender
            .send_raw(RECEIVER, short, long)
            .expect("the receiver has taken all");
        assert_eq!(self.receive() + self.refused() - before, 1);
    }

    /// Receives all pending messages and checks where their data was put. Returns the number of
    /// messages.
    fn receive(&mut self) -> u64 {
        let mut delivered = 0;
        let polled = self.receiver.poll(|arrival| {
            delivered += 1;
            if let Data::Put { segment, .. } = arrival.data {
                let range = arrival.data.range().expect("put");
                assert_eq!(segment, self.segment.id());
                assert!(WINDOW.start <= range.start && range.end <= WINDOW.end);
            }
        });
        polled.expect("no node has ended, and the lane is intact");
        delivered
    }
}

/// Sends the messages described by `bytes` and checks how the receiver handles them.
///
/// Each message begins with two bytes: the length of its short part, and the number of changes made
/// to a valid descriptor. Two bytes per change follow: its position, and the bits to flip there.
///
/// # Panics
/// If a message is delivered that was not allowed, if a message is neither delivered nor counted,
/// or if the receiver's memory changes.
pub fn receive_messages(bytes: &[u8]) {
    thread_local! {
        static ENDS: std::cell::RefCell<Ends> =
            std::cell::RefCell::new(Ends::new(TransportKind::Threads));
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
        assert!(is_zero(&ends.segment.to_vec(0..ends.segment.len())));
    });
}

/// The packet kind of a part: its data is put into the segment without an arrival being reported.
const PART: u8 = 18;

/// Sends the packets described by `bytes` and checks how the receiver handles them.
///
/// Each packet begins with four bytes: its kind, or that the rest is not a packet at all; its
/// sequence number; its length; and the number of changes made to its header first.
///
/// # Panics
/// If a message is delivered that was not allowed, if a packet is neither delivered nor counted, if
/// bytes are put outside the allowed range, or if a valid message no longer arrives.
pub fn receive_packets(bytes: &[u8]) {
    let mut ends = Ends::new(TransportKind::Sockets);
    let (mut sent, mut parts, mut delivered) = (0, 0, 0);
    let mut rest = bytes;
    while let [kind, number, len, changes, tail @ ..] = rest {
        let (own, mut tail) = tail.split_at(usize::from(*len).min(tail.len()));
        let mut header = [0; 24];
        header[4] = *number;
        header[8] = 16 + kind % 4;
        header[9] = kind >> 7;
        for _ in 0..changes % 4 {
            let [at, how, behind @ ..] = tail else { break };
            // Sequence numbers stay small, so that a valid packet with a larger one can follow.
            let at = 8 + usize::from(*at) % 16;
            header[at] ^= how;
            tail = behind;
        }
        let at = u64::from(*number) * 5;
        let put = descriptor_of_put(&ends.remote, at, own.len() as u64, Message::default());
        let packet = match kind % 5 {
            0 => own.to_vec(),
            1 => packet_of(&header, own, &[]),
            _ => packet_of(&header, &put, own),
        };
        rest = tail;
        // An empty packet would end the socket.
        if packet.is_empty() {
            continue;
        }
        assert!(
            ends.sender.send_packet_raw(NodeId(0), &packet),
            "there is capacity"
        );
        sent += 1;
        parts += u64::from(header[8] == PART);
        delivered += ends.receive();
    }
    assert!(delivered + ends.refused() + parts >= sent);
    let mut header = [0; 24];
    header[4..8].copy_from_slice(&1_000_u32.to_le_bytes());
    header[8] = 16;
    let good = descriptor_of_put(&ends.remote, 0, 0, Message::default());
    assert!(
        ends.sender
            .send_packet_raw(NodeId(0), &packet_of(&header, &good, &[]))
    );
    assert_eq!(ends.receive(), 1);
    let is_zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    assert!(is_zero(&ends.segment.to_vec(0..WINDOW.start)));
    assert!(is_zero(
        &ends.segment.to_vec(WINDOW.end..ends.segment.len())
    ));
}
