//! Counts of the packets that have arrived from each node. The threads that pump write them, and
//! ports and the listening thread read them.
//!
//! A node is drained when its packets that have been delivered are as many as it has sent in all.
//! A transport that counts packets learns the second number when the node leaves. With a transport
//! that sees the end of the packets by itself, the second number stays [`Progress::UNKNOWN`], and
//! at the end the first one is set to that value, too.
//!
//! The orderings are documented in the header of `transport`.

use raddle_sync::prim::{Acquire, AtomicBool, AtomicU64, Relaxed, Release};

use crate::address::{NodeId, Shape};

/// The progress of the packets of all nodes.
#[derive(Debug)]
pub(crate) struct Progress {
    nodes: Box<[Ends]>,
    /// One entry for each lock under which packets are pumped.
    locks: Box<[Pumped]>,
}

/// The state of the packets that are pumped under one lock.
#[derive(Debug, Default)]
struct Pumped {
    is_stuck: AtomicBool,
    has_ended: AtomicBool,
}

/// The counts of packets from one node.
#[derive(Debug)]
struct Ends {
    /// Packets that are in the lanes, or were refused.
    delivered: AtomicU64,
    /// Packets that the node has sent in all.
    total: AtomicU64,
}

impl Progress {
    /// A number of packets that is not known.
    pub(crate) const UNKNOWN: u64 = u64::MAX;

    /// Creates the progress of all nodes, of which nothing has arrived. `lock_count` is the number
    /// of locks under which packets are pumped.
    pub(crate) fn new(shape: Shape, lock_count: usize) -> Self {
        let ends = |_| Ends {
            delivered: AtomicU64::new(0),
            total: AtomicU64::new(Self::UNKNOWN),
        };
        Self {
            nodes: shape.node_ids().map(ends).collect(),
            locks: (0..lock_count).map(|_| Pumped::default()).collect(),
        }
    }

    /// Records that this many packets of `node` have been written into the lanes, or that all have
    /// ([`UNKNOWN`](Self::UNKNOWN)).
    pub(crate) fn record_delivered(&self, node: NodeId, packet_count: u64) {
        // ORDERING(N4): Release, the packets are in the lanes.
        self.ends(node).delivered.store(packet_count, Release);
    }

    /// Records that `node` has left, and how many packets it has sent in all, if it says so.
    pub(crate) fn record_total(&self, node: NodeId, packet_count: u64) {
        // Relaxed: the state of the node, which is stored afterwards, publishes this.
        self.ends(node).total.store(packet_count, Relaxed);
    }

    /// Returns how many packets `node` has sent in all, or [`UNKNOWN`](Self::UNKNOWN) before this
    /// node has received the report.
    #[cfg(feature = "mpi")]
    pub(crate) fn total(&self, node: NodeId) -> u64 {
        // Relaxed: the calling thread has stored it, or the listening thread, which has ended.
        self.ends(node).total.load(Relaxed)
    }

    /// Returns true if all that `node` has sent is in the lanes. The caller has seen that `node`
    /// has ended.
    pub(crate) fn is_drained(&self, node: NodeId) -> bool {
        let ends = self.ends(node);
        // Relaxed: a thread that has seen the end of the node also sees this number.
        let total = ends.total.load(Relaxed);
        // ORDERING(N4): Acquire, the lanes are read afterwards.
        total == ends.delivered.load(Acquire)
    }

    /// Records that no further packets will arrive under lock `index`.
    pub(crate) fn record_end(&self, index: usize) {
        // Relaxed: a hint, as in `has_ended`.
        self.locks[index].has_ended.store(true, Relaxed);
    }

    /// Returns true if no further packets will arrive under lock `index`, as a hint: a pump finds
    /// an end that is not known here.
    pub(crate) fn has_ended(&self, index: usize) -> bool {
        // Relaxed: a hint.
        self.locks[index].has_ended.load(Relaxed)
    }

    /// Records whether a packet that was received under lock `index` waits for space in its lane,
    /// or an answer for space on its way.
    pub(crate) fn record_stuck(&self, index: usize, is_stuck: bool) {
        // Relaxed: a hint for the listening thread. Before it reads this, it has pumped, or has
        // found another thread pumping.
        self.locks[index].is_stuck.store(is_stuck, Relaxed);
    }

    /// Returns true while a packet that has arrived waits for space in its lane. Nothing gives
    /// notice when there is space.
    #[inline]
    pub(crate) fn is_stuck(&self) -> bool {
        // Relaxed: as in `record_stuck`.
        self.locks.iter().any(|lock| lock.is_stuck.load(Relaxed))
    }

    fn ends(&self, node: NodeId) -> &Ends {
        &self.nodes[usize::from(node.0)]
    }
}
