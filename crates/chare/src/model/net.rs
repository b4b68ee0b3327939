//! Nodes that all run in one seeded schedule. This module replaces `raddle-net`, with the same
//! names and guarantees, by queues in memory.
//!
//! A lane leads from each port to the first port of each node, the only port that receives here.
//! Messages of one lane arrive in order; messages of different lanes arrive in any order. Each
//! check takes one message from each lane, beginning at another lane each time. One lane at a time
//! is slow: checks take nothing from it unless all other lanes are empty. Lanes have little space
//! and messages are short, so wire messages are sent in pieces and their senders must wait. No node
//! dies here, and none leaves before all are done.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::idle::IdleSet;
use raddle_sync::prim::{AtomicUsize, Mutex, SeqCst};
use raddle_sync::wait::{WaitCell, Way};

use crate::remote::locked;

/// The maximum number of bytes of one message.
pub const DATA_MAX: usize = 64;
/// The maximum number of ports of all nodes together.
pub const PORTS_MAX: usize = 1024;
/// The number of checks after which the next lane is the slow one.
const SLOW_LOOKS: usize = 32;
/// The maximum number of compensating threads of a node. They may sleep without work, in addition
/// to one thread for each port.
const STANDINS_MAX: usize = 3;

/// The reason why nodes could not be started, or the end of a node.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The operating system refused memory, a socket or a thread.
    #[error("the system refused {what}: {error}")]
    System {
        /// The call that was refused.
        what: &'static str,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A node has ended without leaving.
    #[error("{0} has died")]
    Died(NodeId),
    /// A node has left the program.
    #[error("{0} has left")]
    Left(NodeId),
}

/// The reason why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The lane is full, because the receiver has not taken earlier messages yet.
    #[error("the lane is full")]
    Full,
    /// The node has died.
    #[error("{0} has died")]
    Died(NodeId),
}

/// A node, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub u16);

impl fmt::Display for NodeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "node {}", self.0)
    }
}

/// A port of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortId {
    /// The node of the port.
    pub node: NodeId,
    /// The number of the port in its node.
    pub index: u16,
}

/// The numbers of nodes and of ports per node.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The number of nodes; at least one.
    pub nodes: u16,
    /// The number of ports of each node.
    pub ports: u16,
}

/// The actions on the arrival of a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    /// Wakes the receiver if it sleeps.
    pub doorbell: bool,
    /// Has no effect here.
    pub cache_hint: bool,
}

/// The part of a message besides its data.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The actions on arrival.
    pub flags: Flags,
    /// A value for the program's use.
    pub user: u32,
    /// Unused here.
    pub metadata: &'a [u8],
}

/// A message that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// The sending port.
    pub from: PortId,
    /// The part of the message besides its data.
    pub message: Message<'a>,
    /// The data.
    pub data: Data<'a>,
}

/// The location of a message's data.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// The data themselves.
    Here(&'a [u8]),
    /// A one-sided put, which is never used here.
    Put,
}

/// A node of a schedule.
#[derive(Clone, Debug)]
pub struct Node {
    me: NodeId,
    shape: Shape,
    /// The number of messages that fit into a lane.
    capacity: usize,
    /// The number of the lane that is slow first.
    slow: usize,
    inboxes: Arc<[Inbox]>,
}

/// The queues of the messages to a node, and its sleeping threads.
#[derive(Debug)]
struct Inbox {
    /// A lane from each port of all nodes.
    lanes: Box<[Mutex<VecDeque<Piece>>]>,
    /// The number of messages in the lanes.
    count: AtomicUsize,
    /// The place where the receiving thread waits, if there is one.
    cell: WaitCell,
    idle: IdleSet,
}

#[derive(Debug)]
struct Piece {
    user: u32,
    data: Vec<u8>,
}

impl Node {
    /// Creates all nodes of a schedule, with lanes for `capacity` messages. On each node, lane
    /// `slow` is the slow one first.
    pub fn all(shape: Shape, capacity: usize, slow: usize) -> Vec<Self> {
        let (nodes, ports) = (usize::from(shape.nodes), usize::from(shape.ports));
        let inbox = |_| Inbox {
            lanes: (0..nodes * ports).map(|_| Mutex::default()).collect(),
            count: AtomicUsize::new(0),
            cell: WaitCell::new(),
            idle: IdleSet::new(ports + STANDINS_MAX),
        };
        let inboxes: Arc<[Inbox]> = (0..nodes).map(inbox).collect();
        let node = |me| Self {
            me: NodeId(me),
            shape,
            capacity,
            slow,
            inboxes: Arc::clone(&inboxes),
        };
        (0..shape.nodes).map(node).collect()
    }

    /// Returns the number of the node.
    pub const fn id(&self) -> NodeId {
        self.me
    }

    /// Returns the number of a node's process in a recording. Schedules are not recorded.
    pub const fn recorded(&self, node: NodeId) -> u32 {
        node.0 as u32
    }

    /// Returns the numbers of nodes and of ports per node.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns a port of this node.
    pub fn port(&self, index: u16) -> Port {
        Port {
            node: self.clone(),
            index,
            looks: 0,
        }
    }

    /// Returns the set of the node's sleeping workers.
    pub fn idle(&self) -> &IdleSet {
        &self.inbox(self.me).idle
    }

    /// Returns the pump that receives while workers sleep. It does nothing here, because the memory
    /// is shared.
    pub const fn pump(&self) -> Pump {
        Pump
    }

    fn inbox(&self, node: NodeId) -> &Inbox {
        &self.inboxes[usize::from(node.0)]
    }
}

/// The pump that receives while workers sleep: it does nothing here.
#[derive(Clone, Copy, Debug)]
pub struct Pump;

impl Pump {
    /// Begins the sleep of a worker.
    pub const fn begin(self) {}

    /// Ends the sleep of a worker.
    pub const fn end(self) {}
}

/// A port, for one thread at a time.
#[derive(Debug)]
pub struct Port {
    node: Node,
    index: u16,
    /// The number of checks.
    looks: usize,
}

impl Port {
    /// Sends a message to the first port of a node.
    ///
    /// # Errors
    /// [`SendError::Full`].
    pub fn send(&mut self, to: PortId, message: Message<'_>, data: &[u8]) -> Result<(), SendError> {
        let inbox = self.node.inbox(to.node);
        let number = self.node.me.0 * self.node.shape.ports + self.index;
        let mut lane = locked(&inbox.lanes[usize::from(number)]);
        if lane.len() >= self.node.capacity {
            return Err(SendError::Full);
        }
        lane.push_back(Piece {
            user: message.user,
            data: data.to_vec(),
        });
        // ORDERING: the schedules of shuttle have sequential consistency in any case.
        inbox.count.fetch_add(1, SeqCst);
        drop(lane);
        if message.flags.doorbell {
            inbox.idle.work_came(0);
            let _ = inbox.cell.ring_after_fence();
        }
        Ok(())
    }

    /// Receives messages that have arrived. Returns their number.
    ///
    /// # Errors
    /// Never fails here.
    pub fn poll(&mut self, mut receive: impl FnMut(Arrival<'_>)) -> Result<usize, NetError> {
        if !self.has_news() {
            return Ok(0);
        }
        self.looks += 1;
        let inbox = self.node.inbox(self.node.me);
        let lane_count = inbox.lanes.len();
        let slow = (self.node.slow + self.looks / SLOW_LOOKS) % lane_count;
        let mut count = 0;
        for lane in (0..lane_count).map(|lane| (self.looks + lane) % lane_count) {
            if lane != slow {
                count += self.poll_lane(lane, &mut receive);
            }
        }
        if count == 0 {
            count = self.poll_lane(slow, &mut receive);
        }
        Ok(count)
    }

    /// Receives a message of a lane, if there is one. Returns the number of messages.
    fn poll_lane(&self, lane: usize, receive: &mut impl FnMut(Arrival<'_>)) -> usize {
        let Some(piece) = self.node.inbox(self.node.me).take(lane) else {
            return 0;
        };
        // The cast loses nothing: a schedule has few ports.
        let (number, ports) = (lane as u16, self.node.shape.ports);
        receive(Arrival {
            from: PortId {
                node: NodeId(number / ports),
                index: number % ports,
            },
            message: Message {
                flags: Flags::default(),
                user: piece.user,
                metadata: &[],
            },
            data: Data::Here(&piece.data),
        });
        1
    }

    /// Waits until there is a message to receive.
    pub fn wait(&mut self) {
        let cell = &self.node.inbox(self.node.me).cell;
        cell.wait_until(Way::Futex, Duration::ZERO, || self.has_news());
    }

    /// Returns true if there is a message to receive.
    pub fn has_news(&self) -> bool {
        // ORDERING: as in `send`.
        self.node.inbox(self.node.me).count.load(SeqCst) > 0
    }
}

impl Inbox {
    fn take(&self, lane: usize) -> Option<Piece> {
        let mut lane = locked(&self.lanes[lane]);
        let piece = lane.pop_front()?;
        // ORDERING: as in `send`.
        self.count.fetch_sub(1, SeqCst);
        Some(piece)
    }
}
