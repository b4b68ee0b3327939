//! The processes that MPI has started, each of which is a node, and all calls of MPI.
//!
//! One thread at a time calls MPI, under a lock. That is quicker than the thread support of MPI,
//! and demands less of the library.
//!
//! There is a tag for each [`Stream`] of packets, and one for control frames. MPI keeps the order
//! of messages with the same tag.
//!
//! # Invariants
//! 1. All calls of MPI are made under the lock. No call waits for an action of another node, with
//!    three exceptions: the exchanges at the start, in which all processes with memory for a region
//!    take part, whatever else they were refused; the end, which all processes reach when no
//!    message is under way; and the time in which a message that has arrived is copied.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::DerefMut;

use mpi::Threading;
use mpi::environment::Universe;
use mpi::point_to_point::{Message, Source, Status};
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence};
use raddle_sync::prim::Mutex;

use super::outbox::{self, Outbox};
use super::sending::{Done, Sending};
use crate::address::{NodeId, PortId, Shape};
use crate::control::{FRAME_BYTES, Frame, Relay};
use crate::error::{NetError, SendError};
use crate::random::random;
use crate::transport::{Outgoing, Stream};

/// The tag of control frames.
const FRAME: mpi::Tag = 2;
/// The exit code of a program in which a node panics: that of a panic.
const ABORTED: i32 = 101;
/// The number of words by which a process describes itself: nodes, ports, and a random key.
const WORDS: usize = 3;

/// The processes of a program that MPI has started, as seen from one of them.
#[derive(Debug)]
pub(super) struct Ranks {
    me: NodeId,
    shape: Shape,
    world: Mutex<Option<World>>,
}

/// The state that the lock protects.
struct World {
    /// Finalised only when all processes are about to finalise, because it waits for the others.
    universe: ManuallyDrop<Universe>,
    /// The packets to each node, by node number and stream.
    packets: Vec<[Outbox; 2]>,
    frames: Vec<Sending>,
}

impl Ranks {
    /// Starts MPI, and checks that there is one process for each node. Also returns the key of
    /// connection 0.
    ///
    /// # Errors
    /// [`NetError::RankCount`] and [`NetError::Unlike`], the same in all processes.
    /// [`NetError::Mpi`], also for every call but the first in a process.
    pub(super) fn start(shape: Shape) -> Result<(Self, u64), NetError> {
        let key = random()?;
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, level) =
            started.ok_or(NetError::Mpi("it can be started only once in a process"))?;
        if level < Threading::Serialized {
            return Err(NetError::Mpi("it was built for one thread"));
        }
        let world = universe.world();
        let rank_count = world.size() as usize;
        let mut all = vec![0_u64; WORDS * rank_count];
        let own = [shape.nodes.into(), shape.ports.into(), key];
        world.all_gather_into(&own[..], &mut all[..]);
        // On an error, MPI is dropped, and so finalised, in all processes alike.
        check(shape, &all)?;
        let world = World {
            universe: ManuallyDrop::new(universe),
            packets: shape
                .node_ids()
                .map(|_| Stream::ALL.map(Outbox::new))
                .collect(),
            frames: Vec::new(),
        };
        let ranks = Self {
            // Below the number of nodes.
            me: NodeId(world.universe.world().rank() as u16),
            shape,
            world: Mutex::new(Some(world)),
        };
        Ok((ranks, all[WORDS - 1]))
    }

    /// Exchanges words with all processes, which all have to call this, with the same number of
    /// words. Returns the words of all processes, by node.
    pub(super) fn gather(&self, own: &[u64]) -> Vec<u64> {
        let mut all = vec![0; own.len() * usize::from(self.shape.nodes)];
        if let Some(world) = &*self.lock() {
            let world = world.universe.world();
            world.all_gather_into(own, &mut all[..]);
        }
        all
    }

    /// Returns the node that this process is.
    pub(super) const fn me(&self) -> NodeId {
        self.me
    }

    /// Returns all other nodes.
    pub(super) fn others(&self) -> impl Iterator<Item = NodeId> {
        let me = self.me;
        self.shape.node_ids().filter(move |&node| node != me)
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Those of [`Port::send`](crate::Port::send).
    pub(super) fn send(
        &self,
        stream: Stream,
        from: u16,
        to: PortId,
        outgoing: Outgoing<'_>,
    ) -> Result<(), SendError> {
        let from = PortId {
            node: self.me,
            index: from,
        };
        let mut world = self.lock();
        let world = world.as_mut().ok_or(SendError::Left(self.me))?;
        let communicator = world.universe.world();
        let process = communicator.process_at_rank(to.node.0.into());
        let outbox = &mut world.packets[usize::from(to.node.0)][stream as usize];
        outbox.send(from, process, to.index, outgoing)
    }

    /// Sends no more packets to `node`. Returns how many were sent to it, modulo 2³².
    pub(super) fn close(&self, node: NodeId) -> u32 {
        let mut world = self.lock();
        let world = world.as_mut();
        world.map_or(0, |world| {
            let [messages, reads] = &mut world.packets[usize::from(node.0)];
            messages.close().wrapping_add(reads.close())
        })
    }

    /// Returns a node from which a packet has arrived, if there is one.
    pub(super) fn sender(&self) -> Option<NodeId> {
        let world = self.lock();
        let world = world.as_ref()?.universe.world();
        let probe = |stream| {
            let tag = outbox::tag(stream);
            world.any_process().immediate_probe_with_tag(tag)
        };
        // Reads first: their number is bounded, so messages have their turn.
        let status = probe(Stream::Reads).or_else(|| probe(Stream::Messages))?;
        Some(node_of(&status))
    }

    /// Receives the next packet of a stream of `node`, if one has arrived. Returns its length, or 0
    /// if it does not fit the buffer.
    pub(super) fn receive(&self, stream: Stream, node: NodeId, buffer: &mut [u8]) -> Option<usize> {
        let world = self.lock();
        let world = world.as_ref()?.universe.world();
        let process = world.process_at_rank(node.0.into());
        let found = process.immediate_matched_probe_with_tag(outbox::tag(stream))?;
        Some(receive(found, buffer).unwrap_or_default())
    }

    /// Returns true if MPI has read all that was sent.
    pub(super) fn is_read(&self) -> bool {
        let mut world = self.lock();
        world.as_mut().is_none_or(|world| {
            let frames = world.frames.iter_mut().all(Sending::is_done);
            world.packets.iter_mut().flatten().all(Outbox::is_read) && frames
        })
    }

    /// Stops using MPI without finalising it. When a process ends like that, `mpirun` ends all.
    pub(super) fn end(&self) {
        self.lock().take();
    }

    /// Returns true if nothing calls MPI any more.
    pub(super) fn have_ended(&self) -> bool {
        self.lock().is_none()
    }

    /// Finalises MPI, which waits until all processes do. Nothing calls it from here on.
    pub(super) fn finalise(&self) {
        let mut world = self.lock();
        if let Some(world) = world.take() {
            drop(ManuallyDrop::into_inner(world.universe));
        }
    }

    /// Ends all processes.
    pub(super) fn abort(&self) {
        if let Some(world) = &*self.lock() {
            world.universe.world().abort(ABORTED);
        }
    }

    fn lock(&self) -> impl DerefMut<Target = Option<World>> {
        self.world.lock().expect("nothing panics under this lock")
    }
}

impl Relay for Ranks {
    fn send(&self, node: NodeId, frame: [u8; FRAME_BYTES]) {
        let mut world = self.lock();
        let Some(world) = world.as_mut() else { return };
        let communicator = world.universe.world();
        let process = communicator.process_at_rank(node.0.into());
        world.frames.retain_mut(|sending| !sending.is_done());
        let sending = Sending::new(frame.to_vec(), process, FRAME, Done::Read);
        world.frames.push(sending);
    }

    fn receive(&self) -> Option<(NodeId, Frame)> {
        let world = self.lock();
        let world = world.as_ref()?.universe.world();
        let process = world.any_process();
        let found = process.immediate_matched_probe_with_tag(FRAME)?;
        let node = node_of(&found.1);
        let mut bytes = [0; FRAME_BYTES];
        receive(found, &mut bytes)?;
        Some((node, Frame::read(&bytes, Vec::new())))
    }
}

impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut world = formatter.debug_struct("World");
        world.field("packets", &self.packets);
        world.field("frames", &self.frames).finish_non_exhaustive()
    }
}

/// Checks that all processes describe themselves as one program of this shape.
fn check(expected: Shape, all: &[u64]) -> Result<(), NetError> {
    let found = all.len() / WORDS;
    if found != usize::from(expected.nodes) {
        let expected = expected.nodes;
        return Err(NetError::RankCount { found, expected });
    }
    for (node, words) in expected.node_ids().zip(all.chunks_exact(WORDS)) {
        let found = Shape {
            // That process has written them from numbers of this type.
            nodes: words[0] as u16,
            ports: words[1] as u16,
        };
        if found != expected {
            return Err(NetError::Unlike {
                node,
                found,
                expected,
            });
        }
    }
    Ok(())
}

fn node_of(status: &Status) -> NodeId {
    // Below the number of nodes.
    NodeId(status.source_rank() as u16)
}

/// Receives a message that was found. Returns its length, or `None` if it does not fit the buffer.
fn receive((message, status): (Message, Status), buffer: &mut [u8]) -> Option<usize> {
    let len = status.count(u8::equivalent_datatype()) as usize;
    let Some(place) = buffer.get_mut(..len) else {
        // It has to be received anyway, or it would be found again.
        let _ = message.matched_receive_into(&mut vec![0_u8; len][..]);
        return None;
    };
    let _ = message.matched_receive_into(place);
    Some(len)
}
