//! Wire messages as messages between ports. Each worker sends through its own port, so its messages
//! keep their order and need no shared lock.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::clock::Instant;
use raddle_sync::prim::{Mutex, spin_loop, yield_now};

use super::super::net::{DATA_MAX, Flags, Message, Node, NodeId, Port, PortId, SendError};
use super::listener::Listener;
use super::progress::Progress;
use crate::failure::Failure;
use crate::remote::{NodeTransport, locked};

/// The number of ports of a node besides those of its workers: one receives wire messages, and
/// threads that are not workers send through the other.
pub(crate) const MORE_PORTS: usize = 2;

/// Marks a piece of a wire message that is followed by more pieces.
pub(super) const MORE: u32 = 1;

/// The time that a sender without space keeps its CPU: a few copies of a long piece from core to
/// core, of about 30 µs each.
const PATIENCE: Duration = Duration::from_micros(100);

/// Sends wire messages through the ports of a node.
pub(super) struct NetTransport {
    me: NodeId,
    /// For each node, the number of its process in a recording.
    recorded: Box<[u32]>,
    /// A port for each worker, and the last one for all other threads.
    ports: Box<[Mutex<Port>]>,
    listener: Arc<Listener>,
    progress: Progress,
}

impl fmt::Debug for NetTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NetTransport({})", self.me)
    }
}

impl NetTransport {
    pub(super) fn new(
        node: &Node,
        worker_count: usize,
        listener: &Arc<Listener>,
        progress: Progress,
    ) -> Self {
        debug_assert_eq!(worker_count + MORE_PORTS, usize::from(node.shape().ports));
        let ports = (1..node.shape().ports).map(|port| Mutex::new(node.port(port)));
        Self {
            me: node.id(),
            recorded: (0..node.shape().nodes)
                .map(|other| node.recorded(NodeId(other)))
                .collect(),
            ports: ports.collect(),
            listener: Arc::clone(listener),
            progress,
        }
    }
}

impl NodeTransport for NetTransport {
    fn is_receiver(&self) -> bool {
        Listener::is_receiving()
    }

    fn send(&self, worker: Option<usize>, node: u16, wire_message: &[u8]) -> Result<(), Failure> {
        if self.is_receiver() {
            self.listener.send_later(node, wire_message.to_vec());
            return Ok(());
        }
        let at = worker.unwrap_or(self.ports.len() - 1);
        let mut port = locked(&self.ports[at]);
        let (mut sent, mut waits_since) = (0, None);
        while let Err(error) = send(&mut port, node, wire_message, &mut sent) {
            match error {
                // The program is over: this node receives nothing more, and all nodes end. Drop the
                // message, because space for it may never become free.
                SendError::Full if self.listener.is_over() => return Ok(()),
                // Receive meanwhile: the other side may itself be waiting for space here.
                SendError::Full if self.listener.try_receive() => waits_since = None,
                SendError::Full => pause(*waits_since.get_or_insert_with(Instant::now)),
                error => return Err(Failure::new(error.to_string())),
            }
        }
        drop(port);
        if matches!(self.progress, Progress::EachSend | Progress::AnySend) {
            self.listener.try_receive();
        }
        Ok(())
    }

    fn recorded(&self, node: u16) -> u32 {
        self.recorded[usize::from(node)]
    }

    fn receives_after_any_send(&self) -> bool {
        self.progress == Progress::AnySend
    }

    fn receive(&self) {
        self.listener.try_receive();
    }

    fn call(&self) {
        if self.is_receiver() {
            return self.listener.look_again();
        }
        let own = PortId {
            node: self.me,
            index: 0,
        };
        let mut port = locked(&self.ports[self.ports.len() - 1]);
        // Ignored: without space, the receiver has messages to check anyway.
        let _ = port.send(own, with_doorbell(0), &[]);
    }
}

/// Waits a moment for space, which is not signalled. Usually the other side is about to free some,
/// and a thread that yields its CPU would miss that.
fn pause(since: Instant) {
    if since.elapsed() < PATIENCE {
        spin_loop();
    } else {
        yield_now();
    }
}

/// Sends a wire message piece by piece; `sent` is the number of bytes that have been sent.
pub(super) fn send(
    port: &mut Port,
    node: u16,
    wire_message: &[u8],
    sent: &mut usize,
) -> Result<(), SendError> {
    let to = PortId {
        node: NodeId(node),
        index: 0,
    };
    while *sent < wire_message.len() {
        let piece = &wire_message[*sent..wire_message.len().min(*sent + DATA_MAX)];
        let is_last = *sent + piece.len() == wire_message.len();
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
