//! A node: what its ports share.
//!
//! | module | what it is |
//! |---|---|
//! | `allow` | connections: what this node allows others, and what they allow it |
//! | `listen` | the thread that listens for what is no message |
//! | `naps` | how it hears of what nothing tells it of: of what comes by MPI |
//! | `watch` | how the first node notices that another does not run |
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! |---|---|---|---|
//! | N1 | the listening thread stores a node's state, then counts a change | ports load the count before they look into lanes, and the state after | that what the node has sent lies in its lanes |
//! | N2 | who begins to send sets its bit at the receiving port | the port loads the bits | the lane; it is as the region was made, so nothing depends on it |
//! | N3 | who goes to sleep, wakes or leaves changes `wanted`, then writes to the event | the listening thread loads it | that it has to pump, or to end; the event orders it anyhow |
//! | N4 | who pumps says that a node's packets are all in the lanes | a port that has seen the node's end loads it | what lies in the lanes |

mod allow;
mod listen;
mod naps;
mod watch;

use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use raddle_sync::idle::IdleSet;
use raddle_sync::prim::{Acquire, AtomicU32, Mutex, Relaxed, Release};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::address::{NodeId, PortId, Shape};
use crate::connection::{Refusal, Rights};
use crate::control::{self, Controls};
use crate::error::{NetError, SendError};
use crate::mapped::{Memory, Region};
use crate::port::Port;
use crate::segment::{Segment, SegmentId};
use crate::share::Share;
use crate::transport::{ByMemory, BySockets, Transport, TransportKind};
#[cfg(feature = "mpi")]
use crate::transport::{ByMpi, Neighbour, Ranks, meet};

pub use self::allow::ConnectionId;
use self::allow::Told;
pub use self::listen::Pump;
#[cfg(feature = "mpi")]
pub(crate) use self::watch::Watch;
pub(crate) use self::watch::{Silence, is_stopped};

const PAGE: u64 = 4096;

/// Of those who want it to pump: none, since the node leaves.
const LEAVING: u32 = 1 << 31;

const ALIVE: u32 = 0;
const LEFT: u32 = 1;
const DIED: u32 = 2;
const SILENT: u32 = 3;

/// One node of a program. Where it is dropped, the node leaves; by a panic, it has died for the others.
#[derive(Debug)]
pub struct Node {
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

/// What a node is put together of.
struct Parts {
    me: NodeId,
    shape: Shape,
    own: Arc<Region>,
    rights: Arc<Rights>,
    transport: Box<dyn Transport>,
    controls: Controls,
    silence: Option<Silence>,
}

/// What ports and the listening thread have of a node.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Itself.
    this: Weak<Self>,
    pub(crate) me: NodeId,
    pub(crate) shape: Shape,
    pub(crate) own: Arc<Region>,
    pub(crate) rights: Arc<Rights>,
    pub(crate) transport: Box<dyn Transport>,
    /// How each node is, and how often that has changed.
    states: Vec<AtomicU32>,
    pub(crate) changes: AtomicU32,
    controls: Controls,
    /// Wakes the listening thread, and how many wait for it to pump; the highest bit says that the node leaves.
    wake: OwnedFd,
    wanted: AtomicU32,
    ports_taken: Mutex<Vec<bool>>,
    segments: AtomicU32,
    told: Mutex<Told>,
    /// In the first node of several processes: how long others may be silent.
    silence: Option<Silence>,
    /// The processes that this one has started, by their nodes.
    children: OnceLock<Vec<(NodeId, u32)>>,
}

impl Node {
    /// Puts a node together that is a process; `silence` says how long others may be silent, if it is to watch them.
    pub(crate) fn assemble(share: Share, silence: Option<Silence>) -> Result<Self, NetError> {
        let regions = share.open_regions()?;
        let rights = Arc::new(Rights::new(share.key));
        Self::of_share(share, regions, rights, Vec::new(), silence)
    }

    /// Puts the nodes together that are threads of this process, and have the same regions.
    fn assemble_threads(shares: Vec<Share>) -> Result<Vec<Self>, NetError> {
        let regions = shares[0].open_regions()?;
        let rights = |share: &Share| Arc::new(Rights::new(share.key));
        let rights: Vec<_> = shares.iter().map(rights).collect();
        let assemble = |share: Share| {
            let own = Arc::clone(&rights[usize::from(share.me.0)]);
            Self::of_share(share, regions.clone(), own, rights.clone(), None)
        };
        shares.into_iter().map(assemble).collect()
    }

    /// Puts a node together; `all_rights` are those of all nodes, where they are in this process.
    fn of_share(
        share: Share,
        regions: Vec<Arc<Region>>,
        rights: Arc<Rights>,
        all_rights: Vec<Arc<Rights>>,
        silence: Option<Silence>,
    ) -> Result<Self, NetError> {
        let Share {
            me,
            shape,
            kind,
            controls,
            sockets,
            ..
        } = share;
        // By sockets a node has its own region alone.
        let own = regions.get(usize::from(me.0)).unwrap_or(&regions[0]);
        let own = Arc::clone(own);
        let transport: Box<dyn Transport> = if kind.shares_memory() {
            Box::new(ByMemory::new(shape, regions, all_rights))
        } else {
            Box::new(BySockets::new(shape, Arc::clone(&own), &rights, sockets))
        };
        let controls = Controls::by_sockets(controls);
        let parts = Parts {
            me,
            shape,
            own,
            rights,
            transport,
            controls,
            silence,
        };
        Self::of_parts(parts)
    }

    /// One of the nodes that are processes which MPI has started.
    ///
    /// # Errors
    /// As [`Launch::start`](crate::Launch::start).
    #[cfg(feature = "mpi")]
    pub(crate) fn by_mpi(
        kind: TransportKind,
        shape: Shape,
        silence: Option<Silence>,
    ) -> Result<Self, NetError> {
        shape.check()?;
        let system = NetError::system("the memory of a node");
        let file = Region::create(shape).map_err(&system)?;
        let own = Arc::new(Region::open(&file, shape).map_err(&system)?);
        let (ranks, key) = Ranks::start(shape)?;
        let me = ranks.me();
        let ranks = Arc::new(ranks);
        let neighbours = meet(&ranks, shape, &file, kind == TransportKind::MpiMessages);
        let of = |one: Neighbour| (Some(one.control), Some(one.region));
        let neighbours = neighbours.into_iter();
        let (controls, mut regions): (_, Vec<_>) =
            neighbours.map(|one| one.map_or((None, None), of)).unzip();
        regions[usize::from(me.0)] = Some(Arc::clone(&own));
        let rights = Arc::new(Rights::new(key));
        let transport = ByMpi::new(shape, regions, &rights, Arc::clone(&ranks));
        let parts = Parts {
            me,
            shape,
            own,
            rights,
            transport: Box::new(transport),
            controls: Controls::by_mpi(controls, ranks),
            silence: silence.filter(|_| me == NodeId(0)),
        };
        Self::of_parts(parts)
    }

    /// None: this program was built without MPI.
    #[cfg(not(feature = "mpi"))]
    pub(crate) fn by_mpi(
        _kind: TransportKind,
        _shape: Shape,
        _silence: Option<Silence>,
    ) -> Result<Self, NetError> {
        Err(NetError::WithoutMpi)
    }

    fn of_parts(parts: Parts) -> Result<Self, NetError> {
        let Parts {
            me,
            shape,
            own,
            rights,
            transport,
            controls,
            silence,
        } = parts;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = eventfd(0, flags).map_err(NetError::system("an event"))?;
        let shared = Arc::new_cyclic(|this| Shared {
            this: this.clone(),
            me,
            shape,
            own,
            rights,
            transport,
            states: shape.node_ids().map(|_| AtomicU32::new(ALIVE)).collect(),
            changes: AtomicU32::new(0),
            controls,
            wake,
            wanted: AtomicU32::new(0),
            ports_taken: Mutex::new(vec![false; shape.ports.into()]),
            segments: AtomicU32::new(0),
            told: Mutex::default(),
            silence,
            children: OnceLock::new(),
        });
        let listener = {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name(format!("raddle-node-{}", me.0))
                .spawn(move || shared.listen())
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

    /// So many nodes in this process: each has its memory, its ports and its listening thread, and pointers to the memory of the others.
    ///
    /// # Errors
    /// [`NetError::Shape`], and [`NetError::System`] when there is no memory, socket or thread for them.
    pub fn in_process(shape: Shape) -> Result<Vec<Self>, NetError> {
        Self::in_process_by(TransportKind::Threads, shape)
    }

    /// The same, by a given transport: nodes that meet as if they were processes.
    ///
    /// # Errors
    /// As [`in_process`](Self::in_process); [`NetError::OneProcess`] by MPI.
    pub fn in_process_by(kind: TransportKind, shape: Shape) -> Result<Vec<Self>, NetError> {
        if kind.is_by_mpi() {
            return Err(NetError::OneProcess(kind));
        }
        let shares = Share::of_all(kind, shape)?;
        if kind == TransportKind::Threads {
            return Self::assemble_threads(shares);
        }
        let assemble = |share| Self::assemble(share, None);
        shares.into_iter().map(assemble).collect()
    }

    /// Which it is.
    pub fn id(&self) -> NodeId {
        self.shared.me
    }

    /// How many nodes and ports there are.
    pub fn shape(&self) -> Shape {
        self.shared.shape
    }

    /// True where this node and `peer` write into each other's memory; else their messages are packets.
    ///
    /// # Panics
    /// When there is no such node.
    pub fn shares_memory_with(&self, peer: NodeId) -> bool {
        assert!(
            peer.0 < self.shape().nodes,
            "{peer} of {}",
            self.shape().nodes
        );
        self.shared.transport.shares_memory_with(peer)
    }

    /// A port of this node, for the one thread that uses it.
    ///
    /// # Panics
    /// When there is no such port, or somebody has it already.
    #[track_caller]
    pub fn port(&self, index: u16) -> Port {
        let mut taken = self
            .shared
            .ports_taken
            .lock()
            .expect("nothing panics under this lock");
        let found = taken.get(usize::from(index)).copied();
        if found == Some(false) {
            taken[usize::from(index)] = true;
        }
        drop(taken);
        assert!(
            found.is_some(),
            "port {index} of a node with {}",
            self.shared.shape.ports
        );
        assert!(found == Some(false), "port {index} has been taken already");
        let node = self.id();
        Port::new(Arc::clone(&self.shared), PortId { node, index })
    }

    /// Which of this node's threads have nothing to do, and which of them sleep: up to [`Shape::idlers`].
    ///
    /// A message for port 0 that has a doorbell wakes one that sleeps there, if none looks for work, so that any of them may receive what comes to
    /// that port; each looks there before it sleeps. The end of a node wakes all.
    pub fn idle(&self) -> &IdleSet {
        self.shared.own.idle()
    }

    /// What has the listening thread pump while threads sleep in the idle set.
    pub fn pump(&self) -> Pump {
        Pump::new(Arc::clone(&self.shared))
    }

    /// Registers `len` bytes of memory, rounded up to whole pages, that others may be [allowed](Self::open) to write to.
    ///
    /// # Errors
    /// [`NetError::System`] when there is no memory.
    pub fn segment(&self, len: usize) -> Result<Segment, NetError> {
        let whole = len.max(1).checked_next_multiple_of(PAGE as usize);
        let whole = whole.ok_or(Errno::NOMEM);
        let made = whole.and_then(|len| Memory::create("raddle-segment", len));
        let (memory, file) = made.map_err(NetError::system("memory for a segment"))?;
        // Relaxed: a number that nobody else has.
        let id = SegmentId(self.shared.segments.fetch_add(1, Relaxed));
        Ok(Segment::new(id, memory, file, &self.shared))
    }

    /// Messages that were refused, for one reason.
    pub fn refused(&self, reason: Refusal) -> u64 {
        self.shared.rights.refused(reason)
    }

    /// Says which processes this node has started.
    pub(crate) fn set_children(&self, children: Vec<(NodeId, u32)>) {
        self.shared.set_children(children);
    }

    /// True of a node that does not answer, and is no longer waited for.
    pub(crate) fn is_silent(&self, node: NodeId) -> bool {
        self.shared.ended(node) == Some(Ended::Silent)
    }

    /// Ends the transport of a node that has left; one of which the others do not leave within `limit` is an error.
    pub(crate) fn finish(&self, limit: Option<Duration>) -> Result<(), NetError> {
        let shared = &self.shared;
        let silent = shared.shape.node_ids().find(|&node| self.is_silent(node));
        // One that does not answer does not leave either.
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

    /// Leaves the program: what the others have not received yet they can still receive.
    pub(crate) fn leave(&mut self) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        // A node that leaves because of a panic has died, however long its process is still there.
        if thread::panicking() {
            self.shared.transport.abort();
            self.shared.controls.close();
        } else {
            let others = self.shared.shape.node_ids();
            for node in others.filter(|&node| node != self.shared.me) {
                let words = [self.shared.transport.close(node), 0, 0, 0, 0];
                // Who is gone need not know.
                let _ = self.shared.controls.send(node, control::LEAVE, words, &[]);
            }
        }
        // ORDERING(N3): Release, for form's sake: nothing goes with it.
        self.shared.wanted.fetch_or(LEAVING, Release);
        // Nothing is heard any more of what is waited for.
        self.shared.tell_waiting();
        if self.shared.wake_listener() {
            // Its panic, if any, has been told.
            let _ = listener.join();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Shared {
    /// True once this node has left.
    pub(crate) fn has_left(&self) -> bool {
        // ORDERING(N3): Acquire, as there.
        self.wanted.load(Acquire) & LEAVING != 0
    }

    /// How a node has ended, if it has.
    pub(crate) fn ended(&self, node: NodeId) -> Option<Ended> {
        // ORDERING(N1): Acquire, as there.
        match self.states[usize::from(node.0)].load(Acquire) {
            ALIVE => None,
            LEFT => Some(Ended::Left),
            SILENT => Some(Ended::Silent),
            _ => Some(Ended::Died),
        }
    }

    fn check_alive(&self, node: NodeId) -> Result<(), NetError> {
        self.ended(node)
            .map_or(Ok(()), |ended| Err(self.error_of(node, ended)))
    }

    /// What there is to tell of a node that has ended.
    pub(crate) fn error_of(&self, node: NodeId, ended: Ended) -> NetError {
        match ended {
            Ended::Left => NetError::Left(node),
            Ended::Died => NetError::Died(node),
            Ended::Silent => NetError::Silent {
                node,
                limit: self.silence.unwrap_or(Silence::USUAL).limit(),
            },
        }
    }

    /// Says which processes this node has started.
    pub(crate) fn set_children(&self, children: Vec<(NodeId, u32)>) {
        let set = self.children.set(children);
        set.expect("it is said once");
    }
}

/// How a node has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Left,
    Died,
    /// It does not answer.
    Silent,
}

impl Ended {
    pub(crate) const fn for_sender(self, node: NodeId) -> SendError {
        match self {
            Self::Left => SendError::Left(node),
            Self::Died => SendError::Died(node),
            Self::Silent => SendError::Silent(node),
        }
    }
}
