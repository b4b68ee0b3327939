//! Nodes: the handle by which a program uses its node.
//!
//! | module | contents |
//! |---|---|
//! | `connections` | opening, accepting and closing connections |
//! | `listener` | the thread that receives control frames |
//! | `poll_interval` | how often that thread polls a transport that gives no notice |
//! | `pump` | the handle by which sleeping threads have packets pumped |

mod connections;
mod listener;
mod poll_interval;
mod pump;

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use raddle_sync::idle::IdleSet;
use raddle_trace::trace_file::JobNumbers;
use rustix::io::Errno;

use self::listener::Listener;
use crate::address::{NodeId, PortId, Shape};
use crate::control;
use crate::error::{NetError, Refusal};
use crate::failure_detector::Silence;
use crate::kind::TransportKind;
use crate::mapped::{Memory, PAGE, ReadOnly};
use crate::port::Port;
use crate::segment::{ReadOnlySegment, Segment};
use crate::shared::{Ended, Shared};
use crate::transport::{Parts, Share};

pub use self::connections::ConnectionId;
pub use self::pump::Pump;

/// One node of a program.
///
/// When it is dropped, the node leaves. If it is dropped during a panic, the node has died for the
/// others.
#[derive(Debug)]
pub struct Node {
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

impl Node {
    /// Assembles a node, and starts its listening thread. `silence` says how long other nodes may
    /// be silent, if this node is to detect nodes that do not run.
    pub(crate) fn assemble(
        parts: Parts,
        job: JobNumbers,
        silence: Option<Silence>,
    ) -> Result<Self, NetError> {
        let shared = Arc::new(Shared::new(parts, job, silence)?);
        let listener = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name(format!("raddle-node-{}", shared.me.0))
                .spawn(move || Listener::new(&shared).run())
        };
        let listener = listener.map_err(|error| NetError::System {
            what: "a thread",
            error,
        })?;
        Ok(Self {
            shared,
            listener: Some(listener),
        })
    }

    /// Creates all nodes of a program in this process. Each node has its own memory, ports and
    /// listening thread, and pointers to the memory of the others.
    ///
    /// # Errors
    /// [`NetError::Shape`], and [`NetError::System`] if the system refuses memory, a socket or a
    /// thread.
    pub fn in_process(shape: Shape) -> Result<Vec<Self>, NetError> {
        Self::in_process_by(TransportKind::Threads, shape)
    }

    /// Creates nodes like [`in_process`](Self::in_process), with a given transport: the nodes
    /// communicate as if they were processes.
    ///
    /// # Errors
    /// Those of [`in_process`](Self::in_process); [`NetError::OneProcess`] if the transport needs
    /// processes.
    pub fn in_process_by(kind: TransportKind, shape: Shape) -> Result<Vec<Self>, NetError> {
        if !TransportKind::WITHIN.contains(&kind) {
            return Err(NetError::OneProcess(kind));
        }
        let shares = Share::of_all(kind, shape)?.into_iter();
        let assemble = |share: Share| Self::assemble(share.connect()?, JobNumbers::FIRST, None);
        shares.map(assemble).collect()
    }

    /// Returns the id of this node.
    pub fn id(&self) -> NodeId {
        self.shared.me
    }

    /// Returns the numbers of nodes and ports of the program.
    pub fn shape(&self) -> Shape {
        self.shared.shape
    }

    /// Returns the number of a node's process in a recording.
    pub fn recorded(&self, node: NodeId) -> u32 {
        self.shared.recorded(node)
    }

    /// Returns true if this node and `peer` write into each other's memory. Otherwise their
    /// messages travel as packets.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn shares_memory_with(&self, peer: NodeId) -> bool {
        assert!(
            peer.0 < self.shape().nodes,
            "{peer} of {}",
            self.shape().nodes
        );
        self.shared.capabilities.shares_memory_with(peer)
    }

    /// Returns a port of this node, for the one thread that uses it.
    ///
    /// # Panics
    /// If there is no such port, or it has been taken before.
    #[track_caller]
    pub fn port(&self, index: u16) -> Port {
        let was_taken = self.shared.take_port(index);
        assert!(
            was_taken.is_some(),
            "port {index} of a node with {}",
            self.shared.shape.ports
        );
        assert!(
            was_taken == Some(false),
            "port {index} has been taken already"
        );
        let node = self.id();
        Port::new(Arc::clone(&self.shared), PortId { node, index })
    }

    /// Returns the set of this node's threads that have nothing to do, some of which sleep. It has
    /// space for [`Shape::idlers`] threads.
    ///
    /// A message for port 0 that has a doorbell wakes one of the sleeping threads, unless another
    /// thread is searching for work. So any of them may receive the messages of that port, and each
    /// looks there before it sleeps. The end of a node wakes all of them.
    pub fn idle(&self) -> &IdleSet {
        self.shared.own.idle()
    }

    /// Returns a handle that makes the listening thread pump while threads sleep in the idle set.
    pub fn pump(&self) -> Pump {
        Pump::new(Arc::clone(&self.shared))
    }

    /// Registers `len` bytes of memory, rounded up to whole pages, into which other nodes may be
    /// [allowed](Self::open) to put data.
    ///
    /// # Errors
    /// [`NetError::System`] if there is not enough memory.
    pub fn segment(&self, len: usize) -> Result<Segment, NetError> {
        let created = whole_pages(len).and_then(|len| Memory::create("raddle-segment", len));
        let (memory, file) = created.map_err(NetError::system("memory for a segment"))?;
        let id = self.shared.next_segment();
        let owner = Arc::downgrade(&self.shared);
        Ok(Segment::new(id, memory, file, owner))
    }

    /// Registers `len` bytes of memory, rounded up to whole pages, which `fill` writes and which
    /// never change afterwards. Other nodes may be [allowed](Self::open_to_read) to read them. Also
    /// returns the result of `fill`.
    ///
    /// # Errors
    /// [`NetError::System`] if there is not enough memory.
    pub fn read_only_segment<R>(
        &self,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<(ReadOnlySegment, R), NetError> {
        let created =
            whole_pages(len).and_then(|len| ReadOnly::create("raddle-segment", len, fill));
        let (bytes, file, filled) = created.map_err(NetError::system("memory for a segment"))?;
        let id = self.shared.next_segment();
        let owner = Arc::downgrade(&self.shared);
        Ok((ReadOnlySegment::new(id, bytes, file, owner), filled))
    }

    /// Treats another node as ended from now on, as one that does not answer: for example because
    /// the first node has [found](crate::Launch::silence) that it was stopped. All waits of this
    /// node for it end, with [`NetError::Silent`] or [`SendError::Silent`](crate::SendError).
    /// Has no effect if the node has ended already.
    ///
    /// # Panics
    /// If there is no such node, or if it is this one.
    pub fn give_up(&self, node: NodeId) {
        assert!(
            node != self.id() && node.0 < self.shape().nodes,
            "{} gives up {node} of {}",
            self.id(),
            self.shape().nodes
        );
        if self.shared.ended(node).is_none() {
            self.shared.transition_to(node, Ended::Silent);
        }
    }

    /// Returns the number of messages that were refused for the given reason.
    pub fn refused(&self, reason: Refusal) -> u64 {
        self.shared.rights.refused(reason)
    }

    /// Sets the processes that this node has started.
    pub(crate) fn set_children(&self, children: Vec<(NodeId, u32)>) {
        self.shared.set_children(children);
    }

    /// Returns true if a node does not answer, and this node no longer waits for it.
    pub(crate) fn is_silent(&self, node: NodeId) -> bool {
        self.shared.ended(node) == Some(Ended::Silent)
    }

    /// Ends the transport of this node, which has left.
    ///
    /// # Errors
    /// [`NetError::Stays`] if another node does not leave within `limit`, and other errors of the
    /// transport.
    pub(crate) fn finish(&self, limit: Option<Duration>) -> Result<(), NetError> {
        let shared = &self.shared;
        let silent = shared.shape.node_ids().find(|&node| self.is_silent(node));
        // A node that does not answer does not leave either, so it is not waited for.
        let limit = limit.filter(|_| silent.is_none());
        let limit = limit.or(silent.map(|_| Duration::ZERO));
        let finished = shared
            .transport
            .finish(&shared.controls, limit, shared.silence);
        match (finished, silent) {
            (Err(_), Some(silent)) => Err(shared.error_of(silent, Ended::Silent)),
            (finished, _) => finished,
        }
    }

    /// Leaves the program. The other nodes can still receive what this node has sent.
    pub(crate) fn leave(&mut self) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        let shared = &self.shared;
        // A node that leaves because of a panic has died, however long its process lives on.
        if thread::panicking() {
            shared.transport.abort();
            shared.controls.close();
        } else {
            let others = shared.shape.node_ids();
            for node in others.filter(|&node| node != shared.me) {
                let words = [shared.transport.close(node), 0, 0, 0, 0];
                // An error means that the other node is gone, which does not matter.
                let _ = shared.controls.send(node, control::LEAVE, words, &[]);
            }
        }
        if shared.stop_listening() {
            // If it has panicked, the panic has been reported already.
            let _ = listener.join();
        }
    }
}

/// Rounds a number of bytes up to whole pages, at least one.
///
/// # Errors
/// `ENOMEM` for a number that no memory has.
fn whole_pages(len: usize) -> Result<usize, Errno> {
    let whole = len.max(1).checked_next_multiple_of(PAGE as usize);
    whole.ok_or(Errno::NOMEM)
}

impl Drop for Node {
    fn drop(&mut self) {
        self.leave();
    }
}
