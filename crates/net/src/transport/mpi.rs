//! Nodes that MPI has started. Those on one machine share memory, and have sockets to each other for what is no message, as nodes have that the first one has started.
//! Between machines each message is a packet, and each packet a message of MPI.
//!
//! MPI delivers every message, those of one node to another in order, and tells of nothing: it has to be asked. So who pumps asks for packets, and the
//! listening thread for what nodes tell each other besides (`node/naps`).
//!
//! | module | what it is |
//! |---|---|
//! | `ranks` | the processes that MPI has started, and all calls of it |
//! | `machine` | those on one machine: how they come to share memory |
//! | `untaken` | packets on their way to one node, a bounded number |
//! | `sending` | one of them: bytes that MPI reads |
//!
//! # The end
//! Who leaves tells all others how many packets they were sent. He takes, and drops, what still comes, until all have left, all of theirs has come, and MPI has
//! read all of his; then nothing is under way, and MPI ends in all processes together. Where a process ends without that, `mpirun` ends the others: MPI has
//! no other way to tell of a death. On its own machine a socket tells of it, too.

mod machine;
mod ranks;
mod sending;
mod untaken;

use std::sync::Arc;
use std::time::Duration;

use raddle_sync::prim::{Acquire, AtomicBool, AtomicU64, Instant, Mutex, Relaxed, Release, thread};
use rustix::io::Errno;

use super::inbound::Inbound;
use super::memory::LaneLink;
use super::{Link, Outgoing, Transport};
use crate::address::{NodeId, PortId, Shape};
use crate::connection::Rights;
use crate::control::{self, Controls, Frame};
use crate::error::{NetError, SendError};
use crate::mapped::Region;
use crate::node::{Silence, Watch};
use crate::packet::PACKET_BYTES_MAX;

pub(crate) use self::machine::{Neighbour, meet};
pub(crate) use self::ranks::Ranks;

/// Of the packets that a node was going to send in all: not known.
const UNKNOWN: u64 = u64::MAX;
/// How long a node that has left rests before it looks again whether the others have, at first and at last.
const PAUSES: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));

/// Memory that is shared with some nodes, this one among them, and the messages of MPI to and from all others.
#[derive(Debug)]
pub(crate) struct ByMpi {
    shape: Shape,
    ranks: Arc<Ranks>,
    /// By node, of those on this machine.
    regions: Vec<Option<Arc<Region>>>,
    /// Nodes on other machines.
    far: usize,
    /// By node.
    ends: Vec<End>,
    is_stuck: AtomicBool,
    /// By node, of those on other machines; whoever pumps has them all.
    incoming: Mutex<Vec<Option<Incoming>>>,
}

/// How far what a node sends has come. Counts are modulo 2³².
#[derive(Debug)]
struct End {
    /// Packets that have been dealt with.
    done: AtomicU64,
    /// Packets that it sends in all, once it has left.
    all: AtomicU64,
}

/// What comes from one node.
#[derive(Debug)]
struct Incoming {
    inbound: Inbound,
    taken: u32,
}

impl ByMpi {
    /// Of `regions`, by node, there are those on this machine, this node's own among them.
    pub(crate) fn new(
        shape: Shape,
        regions: Vec<Option<Arc<Region>>>,
        rights: &Arc<Rights>,
        ranks: Arc<Ranks>,
    ) -> Self {
        let own = regions[usize::from(ranks.me().0)].as_ref();
        let own = own.expect("a node has its own region");
        let is_far = |node: NodeId| regions[usize::from(node.0)].is_none();
        let incoming = |node| {
            is_far(node).then(|| Incoming {
                inbound: Inbound::new(shape, node, own, rights),
                taken: 0,
            })
        };
        let end = |_| End {
            done: AtomicU64::new(0),
            all: AtomicU64::new(UNKNOWN),
        };
        Self {
            ends: shape.node_ids().map(end).collect(),
            is_stuck: AtomicBool::new(false),
            incoming: Mutex::new(shape.node_ids().map(incoming).collect()),
            far: shape.node_ids().filter(|&node| is_far(node)).count(),
            shape,
            regions,
            ranks,
        }
    }

    /// Pumps what has come from one node; true when there was something.
    fn pump_node(&self, node: NodeId, incoming: &mut Incoming) -> bool {
        let Incoming { inbound, taken } = incoming;
        let has_pumped = inbound.pump(|buffer| {
            let len = self.ranks.receive(node, buffer)?;
            *taken = taken.wrapping_add(1);
            Some(len)
        });
        let done = taken.wrapping_sub(inbound.is_stuck().into());
        // ORDERING(N4): Release, they are in the lanes.
        self.ends[usize::from(node.0)]
            .done
            .store(done.into(), Release);
        has_pumped
    }

    /// True once `node` has left, as far as this one has heard.
    fn has_left(&self, node: NodeId) -> bool {
        // Relaxed: the thread that finishes has stored it, or the listening thread, which has ended.
        self.ends[usize::from(node.0)].all.load(Relaxed) != UNKNOWN
    }

    /// Hears what `node` tells one that has left.
    fn hear_late(
        &self,
        controls: &Controls,
        watch: &mut Option<Watch>,
        node: NodeId,
        frame: &Frame,
    ) {
        match frame.kind {
            control::LEAVE => self.ends_after(node, frame.words[0]),
            control::ALIVE => watch.iter_mut().for_each(|watch| watch.hear(node)),
            control::ASK => {
                // Where there is no room, there is an answer under way.
                let _ = controls.try_send(node, control::ALIVE, [0; 5]);
            }
            _ => {}
        }
    }

    /// Takes what still comes; true when all is over.
    ///
    /// # Errors
    /// [`NetError::Died`] of a node on this machine, [`NetError::Silent`] of one that does not answer.
    fn is_over(&self, controls: &Controls, watch: &mut Option<Watch>) -> Result<bool, NetError> {
        while let Some((node, frame)) = controls.hear() {
            self.hear_late(controls, watch, node, &frame);
        }
        for (node, socket) in controls.sockets() {
            while !self.has_left(node)
                && let Some(told) = control::try_receive(socket)
            {
                match told {
                    Ok(Some(frame)) => self.hear_late(controls, watch, node, &frame),
                    Err(Errno::BADMSG) => {}
                    Ok(None) | Err(_) => return Err(NetError::Died(node)),
                }
            }
        }
        let staying = self.ranks.others().filter(|&node| !self.has_left(node));
        let silent = watch
            .as_mut()
            .map(|watch| (watch.look(controls, staying, |_, _| true), watch.silence()));
        if let Some((nodes, silence)) = silent
            && let Some(&node) = nodes.first()
        {
            let limit = silence.limit();
            return Err(NetError::Silent { node, limit });
        }
        let mut incoming = self
            .incoming
            .lock()
            .expect("nothing panics under this lock");
        let mut buffer = Vec::new();
        let mut have_come = self.ranks.others().all(|node| self.has_left(node));
        for (node, incoming) in self.shape.node_ids().zip(&mut *incoming) {
            let Some(Incoming { taken, .. }) = incoming else {
                continue;
            };
            buffer.resize(PACKET_BYTES_MAX, 0);
            while self.ranks.receive(node, &mut buffer).is_some() {
                *taken = taken.wrapping_add(1);
            }
            // Relaxed: as in `has_left`.
            have_come &= self.ends[usize::from(node.0)].all.load(Relaxed) == u64::from(*taken);
        }
        Ok(have_come && self.ranks.is_read())
    }
}

impl Transport for ByMpi {
    fn link(&self, from: PortId, to: PortId) -> Box<dyn Link> {
        if let Some(region) = &self.regions[usize::from(to.node.0)] {
            let region = Arc::clone(region);
            return Box::new(LaneLink::new(region, self.shape, from, to.index));
        }
        Box::new(MpiLink {
            ranks: Arc::clone(&self.ranks),
            from: from.index,
            to,
        })
    }

    fn shares_memory_with(&self, node: NodeId) -> bool {
        self.regions[usize::from(node.0)].is_some()
    }

    fn pump(&self) -> bool {
        if self.far == 0 {
            return false;
        }
        let Ok(mut incoming) = self.incoming.try_lock() else {
            // Somebody does it already.
            return false;
        };
        let is_stuck =
            |incoming: &Option<Incoming>| incoming.as_ref().is_some_and(|it| it.inbound.is_stuck());
        let mut has_pumped = false;
        if self.far == 1 || incoming.iter().any(is_stuck) {
            // There is no question of whom to ask, or what comes next may be of a node that has to wait.
            for (node, incoming) in self.shape.node_ids().zip(&mut *incoming) {
                if let Some(incoming) = incoming {
                    has_pumped |= self.pump_node(node, incoming);
                }
            }
        } else if let Some(node) = self.ranks.sender()
            && let Some(incoming) = &mut incoming[usize::from(node.0)]
        {
            has_pumped = self.pump_node(node, incoming);
        }
        // Relaxed: a hint for the listening thread, which has pumped itself before it looks or has found another pumping.
        self.is_stuck.store(incoming.iter().any(is_stuck), Relaxed);
        has_pumped
    }

    fn is_silent(&self) -> bool {
        self.far > 0
    }

    fn is_stuck(&self) -> bool {
        // Relaxed: as in `pump`.
        self.is_stuck.load(Relaxed)
    }

    fn is_drained(&self, node: NodeId) -> bool {
        let end = &self.ends[usize::from(node.0)];
        // Relaxed: who has seen that the node has left sees this. ORDERING(N4): Acquire, the lanes are looked at after it.
        self.shares_memory_with(node) || end.all.load(Relaxed) == end.done.load(Acquire)
    }

    fn is_pumped(&self) -> bool {
        self.far > 0
    }

    fn close(&self, node: NodeId) -> u64 {
        self.ranks.close(node).into()
    }

    fn ends_after(&self, node: NodeId, packets: u64) {
        // Relaxed: the state of the node, which is stored after it, publishes it.
        self.ends[usize::from(node.0)].all.store(packets, Relaxed);
    }

    fn finish(
        &self,
        controls: &Controls,
        limit: Option<Duration>,
        silence: Option<Silence>,
    ) -> Result<(), NetError> {
        if self.ranks.have_ended() {
            return Ok(());
        }
        let mut watch = silence.map(|silence| Watch::new(silence, self.shape));
        let start = Instant::now();
        let (mut pause, longest) = PAUSES;
        let ended = loop {
            match self.is_over(controls, &mut watch) {
                Ok(true) => break Ok(()),
                Ok(false) if limit.is_some_and(|limit| start.elapsed() >= limit) => {
                    let found = self.ranks.others().find(|&node| !self.has_left(node));
                    break Err(NetError::Stays(found.unwrap_or(self.ranks.me())));
                }
                Ok(false) => {}
                Err(died) => break Err(died),
            }
            thread::sleep(pause);
            pause = longest.min(2 * pause);
        };
        match ended {
            Ok(()) => self.ranks.finalise(),
            // The others would be waited for.
            Err(_) => self.ranks.end(),
        }
        ended
    }

    fn abort(&self) {
        self.ranks.abort();
    }
}

/// The way from one port to another, among all others of MPI.
#[derive(Debug)]
struct MpiLink {
    ranks: Arc<Ranks>,
    from: u16,
    to: PortId,
}

impl Link for MpiLink {
    fn send(&mut self, outgoing: Outgoing<'_>) -> Result<(), SendError> {
        self.ranks.send(self.from, self.to, outgoing)
    }
}
