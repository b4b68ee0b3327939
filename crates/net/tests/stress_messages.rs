//! Sends many messages of random size between processes. Each arrives once, in order and complete,
//! and both sides compute the same sum.
//!
//! `RADDLE_STRESS_MESSAGES` is the number of messages from each of two nodes; 10⁸ take a minute or
//! two.

use std::env;

use raddle_net::{
    Arrival, Data, Launch, Message, NetError, NodeId, PortId, SendError, Shape, TransportKind,
};

const SHAPE: Shape = Shape { nodes: 3, ports: 1 };
const COUNT: u64 = 200_000;
/// The number of random bytes from which the data of messages are cut.
const POOL_BYTES: usize = 1 << 17;

/// A sequence of pseudo-random numbers that both sides compute (splitmix64: Steele, Lea, Flood,
/// OOPSLA 2014).
#[derive(Clone)]
struct Sequence(u64);

impl Sequence {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn pool() -> Vec<u8> {
        let mut sequence = Self(7);
        (0..POOL_BYTES).map(|_| sequence.next() as u8).collect()
    }

    /// Returns the data of the next message: mostly few, sometimes very many.
    fn data<'a>(&mut self, pool: &'a [u8]) -> &'a [u8] {
        let word = self.next();
        let bits = if word.is_multiple_of(1024) {
            17
        } else {
            word % 10
        };
        let len = (word >> 16) as usize % (1 << bits);
        let start = (word >> 40) as usize % (POOL_BYTES - len);
        &pool[start..start + len]
    }
}

/// Returns the contribution of a message to the sum.
fn weight(number: u64, data: &[u8]) -> u64 {
    let ends = [data.first(), data.last()].map(|byte| u64::from(byte.copied().unwrap_or_default()));
    (number + 1) * (data.len() as u64 + 257 * ends[0] + 65_537 * ends[1] + 1)
}

#[test]
fn messages_of_random_size_arrive_once_in_order_and_complete_by_memory() {
    exchange(
        "messages_of_random_size_arrive_once_in_order_and_complete_by_memory",
        TransportKind::Memory,
        1,
    );
}

#[test]
fn messages_of_random_size_arrive_once_in_order_and_complete_by_sockets() {
    // A message takes about twenty times as long as by memory.
    exchange(
        "messages_of_random_size_arrive_once_in_order_and_complete_by_sockets",
        TransportKind::Sockets,
        20,
    );
}

fn exchange(test: &str, kind: TransportKind, share: u64) {
    let count =
        env::var("RADDLE_STRESS_MESSAGES").map_or(COUNT, |text| text.parse().expect("a number"));
    let count = count / share;
    let nodes = Launch::new(SHAPE)
        .transport(kind)
        .arguments(["--exact", test])
        .quiet(true)
        .start()
        .expect("processes can be started");
    let me = nodes.node().id();
    let mut port = nodes.node().port(0);
    let pool = Sequence::pool();
    let first = PortId {
        node: NodeId(0),
        index: 0,
    };
    if me == NodeId(0) {
        let mut sequences = [Sequence(1), Sequence(2)];
        let mut numbers = [0; 2];
        let mut sums = [0_u64; 2];
        let mut reported = [None; 2];
        while reported.contains(&None) {
            port.wait();
            let polled = port.poll(
                |Arrival {
                     from,
                     message,
                     data,
                 }| {
                    let sender = usize::from(from.node.0) - 1;
                    let Data::Here(data) = data else {
                        panic!("nothing is put")
                    };
                    if numbers[sender] == count {
                        let sum = data.try_into().expect("a sum");
                        reported[sender] = Some(u64::from_le_bytes(sum));
                        return;
                    }
                    let number = numbers[sender];
                    assert_eq!(message.user, number as u32, "from {from}");
                    assert!(
                        data == sequences[sender].data(&pool),
                        "message {number} from {from}"
                    );
                    sums[sender] = sums[sender].wrapping_add(weight(number, data));
                    numbers[sender] += 1;
                },
            );
            assert!(
                matches!(polled, Ok(_) | Err(NetError::Left(_))),
                "{polled:?}"
            );
        }
        assert_eq!(reported, sums.map(Some));
    } else {
        let mut sequence = Sequence(me.0.into());
        let mut sum = 0_u64;
        let mut send = |user, data: &[u8]| {
            let message = Message {
                user,
                ..Message::default()
            };
            while let Err(error) = port.send(first, message, data) {
                assert_eq!(error, SendError::Full);
                std::thread::yield_now();
            }
        };
        for number in 0..count {
            let data = sequence.data(&pool);
            sum = sum.wrapping_add(weight(number, data));
            send(number as u32, data);
        }
        send(0, &sum.to_le_bytes());
    }
    drop(port);
    nodes.finish().expect("all nodes agree");
}
