//! Letters as messages between ports: each worker sends by its own, so that what it sends keeps its order and takes no lock that another has.

use std::fmt;
use std::sync::OnceLock;

use raddle_net::{DATA_MAX, Flags, Message, Node, NodeId, Port, PortId, SendError};
use raddle_sync::prim::thread::{self, ThreadId};
use raddle_sync::prim::{AtomicBool, Mutex, Relaxed, yield_now};

use super::super::{Carrier, locked};
use super::MORE_PORTS;
use crate::failure::Failure;

/// A piece of a letter, of which there are more to come.
pub(super) const MORE: u32 = 1;

/// Sends letters by the ports of a node.
pub(super) struct NetCarrier {
    me: NodeId,
    /// One for each worker, and the last for all other threads but the one that receives.
    ports: Box<[Mutex<Port>]>,
    /// The thread that receives, which does not wait for room, since it makes room.
    receiver: OnceLock<ThreadId>,
    /// Nobody receives any more, and nobody is to wait for room elsewhere: all nodes end.
    is_closed: AtomicBool,
    /// What it sends, until there is room.
    waiting: Mutex<Vec<(u16, Vec<u8>)>>,
}

impl fmt::Debug for NetCarrier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NetCarrier({})", self.me)
    }
}

impl NetCarrier {
    pub(super) fn new(node: &Node, worker_count: usize) -> Self {
        debug_assert_eq!(worker_count + MORE_PORTS, usize::from(node.shape().ports));
        let ports = (1..node.shape().ports).map(|port| Mutex::new(node.port(port)));
        Self {
            me: node.id(),
            ports: ports.collect(),
            receiver: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            waiting: Mutex::default(),
        }
    }

    /// This thread receives from now on.
    pub(super) fn receive_here(&self) {
        self.receiver
            .set(thread::current().id())
            .expect("one thread receives");
    }

    /// What the receiving thread wants to send.
    pub(super) fn take_waiting(&self) -> Vec<(u16, Vec<u8>)> {
        std::mem::take(&mut locked(&self.waiting))
    }

    /// Lets letters go nowhere from now on for which there is no room.
    pub(super) fn close(&self) {
        // Relaxed: who waits for room looks again and again.
        self.is_closed.store(true, Relaxed);
    }
}

impl Carrier for std::sync::Arc<NetCarrier> {
    fn is_receiver(&self) -> bool {
        self.receiver.get() == Some(&thread::current().id())
    }

    fn carry(&self, worker: Option<usize>, node: u16, letter: Vec<u8>) -> Result<(), Failure> {
        if worker.is_none() && self.is_receiver() {
            locked(&self.waiting).push((node, letter));
            return Ok(());
        }
        let at = worker.unwrap_or(self.ports.len() - 1);
        let mut port = locked(&self.ports[at]);
        let mut sent = 0;
        while let Err(error) = send(&mut port, node, &letter, &mut sent) {
            match error {
                // Relaxed: see `close`.
                SendError::Full if self.is_closed.load(Relaxed) => return Ok(()),
                SendError::Full => yield_now(),
                error => return Err(Failure::new(error.to_string())),
            }
        }
        Ok(())
    }

    fn call(&self) {
        if self.is_receiver() {
            return;
        }
        let own = PortId {
            node: self.me,
            index: 0,
        };
        let mut port = locked(&self.ports[self.ports.len() - 1]);
        // Where there is no room, the receiver has something to look at anyway.
        let _ = port.send(own, with_doorbell(0), &[]);
    }
}

/// Sends a letter piece by piece; `sent` says how much of it has gone.
pub(super) fn send(
    port: &mut Port,
    node: u16,
    letter: &[u8],
    sent: &mut usize,
) -> Result<(), SendError> {
    let to = PortId {
        node: NodeId(node),
        index: 0,
    };
    while *sent < letter.len() {
        let piece = &letter[*sent..letter.len().min(*sent + DATA_MAX)];
        let is_last = *sent + piece.len() == letter.len();
        port.send(to, with_doorbell(if is_last { 0 } else { MORE }), piece)?;
        *sent += piece.len();
    }
    Ok(())
}

fn with_doorbell(user: u32) -> Message<'static> {
    Message {
        flags: Flags {
            doorbell: true,
            ..Flags::default()
        },
        user,
        metadata: &[],
    }
}
