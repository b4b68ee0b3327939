//! kNeighbor between nodes: what [`kneighbor`](crate::kneighbor) is between elements of an array, with one element in each node.
//!
//! A message is sent from the element's buffer, and read where it lies when it has come. All are notified.

use std::thread::yield_now;
use std::time::{Duration, Instant};

use raddle::net::{Arrival, DATA_MAX, Message, NodeId, Port, PortId, SendError};

use super::crew::{Part, here};
use super::order::{Outcome, Told};
use super::watch::Watch;
use super::{NodesError, RECEIVE, expect};

/// Iterations before the clock runs.
const WARM_UP: u64 = 10;

/// The most bytes of a message.
pub const BYTES_MAX: usize = DATA_MAX;

/// Who exchanges what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRing {
    /// Neighbours on each side.
    pub k: u32,
    /// Bytes in a message, of which there is one at least, and [`BYTES_MAX`] at most.
    pub bytes: usize,
    /// Iterations that count.
    pub iterations: u64,
    /// Whether every byte is written before it is sent, and read when it has come; otherwise the first and the last.
    pub touch: bool,
}

impl NodeRing {
    /// Messages that all nodes together send in an iteration.
    pub fn messages(self, nodes: u16) -> u64 {
        u64::from(nodes) * 2 * u64::from(self.k)
    }
}

/// Runs this node's element.
pub(super) fn run(part: &mut Part<'_>, ring: NodeRing) -> Result<Outcome, NodesError> {
    let (me, count) = part.place();
    let mut element = Element::new(ring);
    let neighbours = neighbours(me, count, ring.k);
    let port = &mut part.ports.receive;
    let end = WARM_UP + ring.iterations;
    let mut began = Instant::now();
    while element.iteration < end {
        if element.iteration == WARM_UP {
            began = Instant::now();
        }
        for &to in &neighbours {
            element.send(port, to)?;
        }
        while !element.has_all() {
            Watch::Wait.next(port, |arrival| element.hear(&arrival))?;
        }
        element.check()?;
        element.iteration += 1;
    }
    let time = began.elapsed();
    let all = WARM_UP * neighbours.len() as u64;
    let told = Told {
        time,
        messages: element.messages - all,
        more: [Duration::ZERO; 5],
    };
    Ok(Outcome {
        times: Vec::new(),
        told,
    })
}

/// The neighbours of a node: the nearest first, left and right in turn. In a small ring some are the same, or the node itself.
fn neighbours(me: u16, count: u16, k: u32) -> Vec<PortId> {
    let (me, count) = (u32::from(me), u32::from(count));
    let around = (1..=k).flat_map(|distance| {
        let distance = distance % count;
        [me + count - distance, me + distance]
    });
    // Below the number of nodes.
    let node = |index: u32| NodeId((index % count) as u16);
    around
        .map(|index| PortId {
            node: node(index),
            index: RECEIVE,
        })
        .collect()
}

/// One element.
struct Element {
    ring: NodeRing,
    buffer: Vec<u8>,
    iteration: u64,
    /// Messages of this iteration and of the next that have come, by the last bit of the iteration.
    heard: [u64; 2],
    /// Messages that have come.
    messages: u64,
    /// Bytes that nobody sent, messages of other lengths and of other iterations.
    strange: u64,
}

impl Element {
    fn new(ring: NodeRing) -> Self {
        Self {
            ring,
            buffer: vec![0; ring.bytes],
            iteration: 0,
            heard: [0; 2],
            messages: 0,
            strange: 0,
        }
    }

    /// Sends a message of this iteration; what comes while there is no room is received.
    fn send(&mut self, port: &mut Port, to: PortId) -> Result<(), NodesError> {
        let stamp = self.iteration as u8;
        if self.ring.touch {
            self.buffer.fill(stamp);
        } else {
            let last = self.buffer.len() - 1;
            (self.buffer[0], self.buffer[last]) = (stamp, stamp);
        }
        let message = Message {
            // The lower half tells it from its neighbours.
            user: self.iteration as u32,
            ..Message::default()
        };
        loop {
            match port.send(to, message, &self.buffer) {
                Err(SendError::Full) => {}
                other => return Ok(other?),
            }
            if port.poll(|arrival| self.hear(&arrival))? == 0 {
                yield_now();
            }
        }
    }

    fn hear(&mut self, arrival: &Arrival<'_>) {
        let ahead = arrival.message.user.wrapping_sub(self.iteration as u32);
        let bytes = here(arrival);
        let is_right = ahead <= 1 && bytes.len() == self.ring.bytes;
        let stamp = arrival.message.user as u8;
        self.strange += match (is_right, bytes) {
            (true, bytes) if self.ring.touch => {
                bytes.iter().filter(|&&byte| byte != stamp).count() as u64
            }
            (true, [first, ..]) => {
                let last = bytes[bytes.len() - 1];
                u64::from(*first != stamp) + u64::from(last != stamp)
            }
            _ => 1,
        };
        self.messages += 1;
        self.heard[(arrival.message.user & 1) as usize] += 1;
    }

    fn has_all(&self) -> bool {
        self.heard[(self.iteration & 1) as usize] >= 2 * u64::from(self.ring.k)
    }

    /// Ends an iteration.
    fn check(&mut self) -> Result<(), NodesError> {
        let heard = &mut self.heard[(self.iteration & 1) as usize];
        expect(
            "messages of an iteration:",
            *heard,
            2 * u64::from(self.ring.k),
        )?;
        *heard = 0;
        expect("bytes that nobody sent:", self.strange, 0)
    }
}
