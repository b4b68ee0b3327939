//! The transport by MPI, for nodes that are processes which MPI has started. Those on one machine
//! share memory, and have sockets to each other for control frames, like nodes that the first node
//! has started. Between machines each message is a packet, and each packet is a message of MPI.
//!
//! MPI delivers every message, and keeps the order of the messages from one node to another. It
//! gives no notice of them, so it has to be polled: pumping threads poll for packets, and the
//! listening thread polls for control frames (`node/poll_interval`).
//!
//! | module | contents |
//! |---|---|
//! | `ranks` | the processes that MPI has started, and all calls of MPI |
//! | `neighbours` | the processes on one machine, and how they come to share memory |
//! | `outbox` | packets on their way to one node, a bounded number |
//! | `sending` | a packet on its way: bytes that MPI reads |
//!
//! # The end
//! A node that leaves tells all others how many packets they were sent. It then receives, and
//! drops, the packets that still arrive, until all nodes have left, all of their packets have
//! arrived, and MPI has read all of its own. At that point nothing is on its way, and MPI ends in
//! all processes together. If a process ends without this, `mpirun` ends the others: MPI has no
//! other way to report a death. On the same machine a socket reports it, too.
//!
//! # Messages, not windows
//! Within one machine, shared memory is faster than messages and windows of MPI. Between machines,
//! a window reports neither the sender nor the port of a message, and the binding does not support
//! windows.
//!
//! # Files of MPI
//! A node leaves no memory, socket or process with a name in a file system. Files that an MPI
//! library creates, such as `/dev/shm/vader_segment.*` of Open MPI, may stay if a process is
//! killed.

mod neighbours;
mod outbox;
mod ranks;
mod sending;

use std::sync::Arc;
use std::time::Duration;

use raddle_sync::clock::Instant;
use raddle_sync::prim::{Mutex, clock_ns, thread};
use rustix::io::Errno;

use super::inbound::Inbound;
use super::memory::LaneLink;
use super::{Capabilities, Link, Notice, Outgoing, Parts, Progress, Stream, Transport};
use crate::address::{NodeId, PortId, Shape};
use crate::clock_difference::{ClockDifference, Round};
use crate::connection::Rights;
use crate::control::{self, Controls, Frame, Relay};
use crate::error::{NetError, SendError};
use crate::failure_detector::{FailureDetector, Silence};
use crate::gets::Gets;
use crate::mapped::Region;
use crate::packet::PACKET_BYTES_MAX;

use self::neighbours::{Neighbour, try_receive};
use self::ranks::Ranks;

/// The times for which a node that has left sleeps before it checks again whether the others have:
/// the first one, and the longest one.
const PAUSES: (Duration, Duration) = (Duration::from_micros(20), Duration::from_millis(1));

/// The number of rounds in which the processes exchange readings of their clocks.
const CLOCK_ROUNDS: usize = 16;

/// The transport: memory shared with some nodes, including this one, and messages of MPI to and
/// from all others.
#[derive(Debug)]
struct ByMpi {
    shape: Shape,
    ranks: Arc<Ranks>,
    /// The regions of the nodes on this machine, by node number.
    regions: Vec<Option<Arc<Region>>>,
    /// The number of nodes on other machines.
    far: usize,
    progress: Arc<Progress>,
    /// The packets from each node on another machine, by node number. The pumping thread holds the
    /// lock.
    incoming: Mutex<Vec<Option<Incoming>>>,
}

/// The packets from one node.
#[derive(Debug)]
struct Incoming {
    /// By stream.
    inbound: [Inbound; 2],
    /// The number of packets received in both streams, modulo 2³².
    taken: u32,
}

impl Incoming {
    /// Returns true while a packet or an answer waits for space.
    fn is_stuck(&self) -> bool {
        let mut streams = self.inbound.iter();
        streams.any(|inbound| inbound.is_stuck() || inbound.has_answers())
    }
}

/// Joins the other processes that MPI has started. All of them have to call this. If `is_apart` is
/// true, this process shares memory with no other. Also returns the difference of the clocks of
/// the first process and this one.
///
/// # Errors
/// Those of [`Launch::start`](crate::Launch::start).
pub(super) fn join(shape: Shape, is_apart: bool) -> Result<(Parts, ClockDifference), NetError> {
    NetError::check_shape(shape)?;
    let system = NetError::system("the memory of a node");
    let file = Region::create(shape).map_err(&system)?;
    let own = Arc::new(Region::open(&file, shape).map_err(&system)?);
    let (ranks, key) = Ranks::start(shape)?;
    let me = ranks.me();
    let clock = compare_clocks(&ranks);
    let ranks = Arc::new(ranks);
    let neighbours = neighbours::meet(&ranks, shape, &file, is_apart);
    let of = |one: Neighbour| (Some(one.control), Some(one.region));
    let neighbours = neighbours.into_iter();
    let (controls, mut regions): (_, Vec<_>) =
        neighbours.map(|one| one.map_or((None, None), of)).unzip();
    regions[usize::from(me.0)] = Some(Arc::clone(&own));
    let rights = Arc::new(Rights::new(key));
    let gets = Arc::new(Gets::new(shape));
    let (transport, capabilities) =
        ByMpi::connect(shape, regions, &rights, &gets, Arc::clone(&ranks));
    let parts = Parts {
        me,
        shape,
        own,
        rights,
        all_rights: Vec::new(),
        transport,
        capabilities,
        controls: Controls::new(controls, Some(ranks as Arc<dyn Relay>)),
        gets,
    };
    Ok((parts, clock))
}

/// Compares the clock of this process to that of the first one. All processes have to call this.
fn compare_clocks(ranks: &Ranks) -> ClockDifference {
    let round = |_| {
        let own_ns = clock_ns();
        let all = ranks.gather(&[own_ns]);
        Round {
            first_ns: all[0],
            own_ns,
            received_ns: clock_ns(),
        }
    };
    let rounds: Vec<Round> = (0..CLOCK_ROUNDS).map(round).collect();
    ClockDifference::of(&rounds)
}

impl ByMpi {
    /// Creates the transport. `regions` contains, by node, the regions on this machine, including
    /// this node's own.
    fn connect(
        shape: Shape,
        regions: Vec<Option<Arc<Region>>>,
        rights: &Arc<Rights>,
        gets: &Arc<Gets>,
        ranks: Arc<Ranks>,
    ) -> (Box<dyn Transport>, Capabilities) {
        let own = regions[usize::from(ranks.me().0)].as_ref();
        let own = own.expect("a node has its own region");
        let is_far = |node: NodeId| regions[usize::from(node.0)].is_none();
        let incoming = |node| {
            is_far(node).then(|| Incoming {
                inbound: Stream::ALL
                    .map(|stream| Inbound::new(stream, shape, node, own, rights, gets)),
                taken: 0,
            })
        };
        let incoming = Mutex::new(shape.node_ids().map(incoming).collect());
        let far = shape.node_ids().filter(|&node| is_far(node)).count();
        let progress = Arc::new(Progress::new(shape, 1));
        let capabilities = Capabilities {
            shares_memory: regions.iter().map(Option::is_some).collect(),
            arrival: (far > 0).then_some(Notice::Poll),
            progress: Arc::clone(&progress),
        };
        let transport = Self {
            shape,
            ranks,
            regions,
            far,
            progress,
            incoming,
        };
        (Box::new(transport), capabilities)
    }

    /// Pumps the packets that have arrived from one node. Returns true if there were any.
    fn pump_node(&self, node: NodeId, incoming: &mut Incoming) -> bool {
        let Incoming { inbound, taken } = incoming;
        let mut has_pumped = false;
        for (stream, inbound) in Stream::ALL.into_iter().zip(&mut *inbound) {
            has_pumped |= inbound.pump(|buffer| {
                let len = self.ranks.receive(stream, node, buffer)?;
                *taken = taken.wrapping_add(1);
                Some(len)
            });
        }
        let stuck = inbound.iter().filter(|inbound| inbound.is_stuck()).count();
        // There are two streams.
        let delivered = taken.wrapping_sub(stuck as u32);
        self.progress.record_delivered(node, delivered.into());
        for (stream, inbound) in Stream::ALL.into_iter().zip(inbound) {
            self.send_answers(stream, node, inbound);
        }
        has_pumped
    }

    /// Sends the answers that this node owes to another one, as far as there is space.
    fn send_answers(&self, stream: Stream, node: NodeId, inbound: &mut Inbound) {
        if !inbound.has_answers() {
            return;
        }
        if self.has_left(node) {
            inbound.drop_answers();
        } else {
            inbound.send_answers(|index, outgoing| {
                self.ranks.send(stream, 0, PortId { node, index }, outgoing)
            });
        }
    }

    /// Returns true once this node has received the report that `node` has left.
    fn has_left(&self, node: NodeId) -> bool {
        self.progress.total(node) != Progress::UNKNOWN
    }

    /// Handles a frame that arrives after this node has left.
    fn handle_late(
        &self,
        controls: &Controls,
        detector: &mut Option<(FailureDetector, Silence)>,
        node: NodeId,
        frame: &Frame,
    ) {
        match frame.kind {
            control::LEAVE => self.progress.record_total(node, frame.words[0]),
            control::ALIVE => detector
                .iter_mut()
                .for_each(|(detector, _)| detector.record_answer(node)),
            control::ASK => {
                // An error means that there is no space, because an answer is on its way already.
                let _ = controls.try_send(node, control::ALIVE, [0; 5]);
            }
            _ => {}
        }
    }

    /// Receives what still arrives. Returns true when all nodes can end.
    ///
    /// # Errors
    /// [`NetError::Died`] for a node on this machine, [`NetError::Silent`] for a node that does not
    /// answer.
    fn is_over(
        &self,
        controls: &Controls,
        detector: &mut Option<(FailureDetector, Silence)>,
    ) -> Result<bool, NetError> {
        // Receive control frames: first those by MPI, then those by sockets.
        while let Some((node, frame)) = controls.receive_relayed() {
            self.handle_late(controls, detector, node, &frame);
        }
        for (node, socket) in controls.sockets() {
            while !self.has_left(node)
                && let Some(received) = try_receive(socket)
            {
                match received {
                    Ok(Some(frame)) => self.handle_late(controls, detector, node, &frame),
                    Err(Errno::BADMSG) => {}
                    Ok(None) | Err(_) => return Err(NetError::Died(node)),
                }
            }
        }
        // Give up a node that does not answer.
        let staying = self.ranks.others().filter(|&node| !self.has_left(node));
        if let Some((detector, silence)) = detector
            && let Some(&node) = detector.ask_if_due(controls, staying, |_, _| true).first()
        {
            let limit = silence.limit();
            return Err(NetError::Silent { node, limit });
        }
        // Drop the packets that still arrive, and check whether these were all.
        let mut incoming = self
            .incoming
            .lock()
            .expect("nothing panics under this lock");
        let mut buffer = Vec::new();
        let mut have_arrived = self.ranks.others().all(|node| self.has_left(node));
        for (node, incoming) in self.shape.node_ids().zip(&mut *incoming) {
            let Some(Incoming { taken, .. }) = incoming else {
                continue;
            };
            buffer.resize(PACKET_BYTES_MAX, 0);
            for stream in Stream::ALL {
                while self.ranks.receive(stream, node, &mut buffer).is_some() {
                    *taken = taken.wrapping_add(1);
                }
            }
            have_arrived &= self.progress.total(node) == u64::from(*taken);
        }
        Ok(have_arrived && self.ranks.is_read())
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

    fn pump(&self) -> bool {
        if self.far == 0 {
            return false;
        }
        let Ok(mut incoming) = self.incoming.try_lock() else {
            // Another thread is pumping.
            return false;
        };
        let is_stuck =
            |incoming: &Option<Incoming>| incoming.as_ref().is_some_and(Incoming::is_stuck);
        let mut has_pumped = false;
        if self.far == 1 || incoming.iter().any(is_stuck) {
            // With one far node there is no choice. With a stuck packet, the next packet may be
            // from a node that has to wait, so that all nodes are tried.
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
        self.progress.record_stuck(0, incoming.iter().any(is_stuck));
        has_pumped
    }

    fn close(&self, node: NodeId) -> u64 {
        self.ranks.close(node).into()
    }

    fn abort(&self) {
        self.ranks.abort();
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
        let mut detector =
            silence.map(|silence| (FailureDetector::new(silence, self.shape), silence));
        let start = Instant::now();
        let (mut pause, longest) = PAUSES;
        let ended = loop {
            match self.is_over(controls, &mut detector) {
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
            // Finalising MPI would wait for the others.
            Err(_) => self.ranks.end(),
        }
        ended
    }
}

/// The path from one port to another by MPI, which other pairs of ports use, too.
#[derive(Debug)]
struct MpiLink {
    ranks: Arc<Ranks>,
    from: u16,
    to: PortId,
}

impl Link for MpiLink {
    fn send(&mut self, outgoing: Outgoing<'_>) -> Result<(), SendError> {
        let stream = Stream::of(outgoing.kind);
        self.ranks.send(stream, self.from, self.to, outgoing)
    }
}
