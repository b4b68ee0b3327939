//! A node: what its ports share, and the thread that listens for what is no message.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use raddle_sync::prim::{Acquire, AtomicU32, AtomicU64, Mutex, Relaxed, Release};
use raddle_sync::table::SyncTable;
use raddle_sync::wait::WaitCell;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::address::{NodeId, PORTS_MAX, PortId, Shape};
use crate::connection::{Connection, ConnectionTable, Refusal, Window};
use crate::control::{self, Frame};
use crate::error::{NetError, SendError};
use crate::mapped::{Memory, Region};
use crate::port::Port;
use crate::segment::{Remote, RemoteWindow, Segment, SegmentId};

const PAGE: u64 = 4096;

const ALIVE: u32 = 0;
const LEFT: u32 = 1;
const DIED: u32 = 2;

/// One node of a program. Where it is dropped, the node leaves.
#[derive(Debug)]
pub struct Node {
    shared: Arc<Shared>,
    /// Wakes the listening thread for its end.
    end: Arc<OwnedFd>,
    listener: Option<JoinHandle<()>>,
}

/// What ports and the listening thread have of a node.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) me: NodeId,
    pub(crate) shape: Shape,
    /// Of connection 0, all over the program.
    pub(crate) key: u64,
    pub(crate) regions: Vec<Region>,
    pub(crate) tables: Vec<SyncTable>,
    pub(crate) connections: ConnectionTable,
    refused: [AtomicU64; Refusal::ALL.len()],
    /// How each node is, and how often that has changed.
    states: Vec<AtomicU32>,
    pub(crate) changes: AtomicU32,
    controls: Vec<Option<OwnedFd>>,
    ports_taken: Mutex<Vec<bool>>,
    segments: AtomicU32,
    offers: Mutex<Offers>,
}

/// Connections that others have opened for this node, and who waits for one.
#[derive(Debug, Default)]
struct Offers {
    open: VecDeque<Remote>,
    waiting: Vec<Arc<WaitCell>>,
}

impl Node {
    /// Puts a node together: the regions of all nodes in their order, and for each other node a socket to it.
    pub(crate) fn assemble(
        me: NodeId,
        shape: Shape,
        key: u64,
        regions: &[OwnedFd],
        controls: Vec<Option<OwnedFd>>,
    ) -> Result<Self, NetError> {
        let open =
            |file| Region::open(file, shape).map_err(NetError::system("the memory of a node"));
        let regions: Vec<_> = regions.iter().map(open).collect::<Result<_, _>>()?;
        let shared = Arc::new(Shared {
            me,
            shape,
            key,
            tables: regions.iter().map(Region::table).collect(),
            regions,
            connections: ConnectionTable::default(),
            refused: Default::default(),
            states: shape.node_ids().map(|_| AtomicU32::new(ALIVE)).collect(),
            changes: AtomicU32::new(0),
            controls,
            ports_taken: Mutex::new(vec![false; shape.ports.into()]),
            segments: AtomicU32::new(0),
            offers: Mutex::default(),
        });
        let end = eventfd(0, EventfdFlags::CLOEXEC).map_err(NetError::system("an event"))?;
        let end = Arc::new(end);
        let listener = {
            let (shared, end) = (Arc::clone(&shared), Arc::clone(&end));
            thread::Builder::new()
                .name(format!("raddle-node-{}", me.0))
                .spawn(move || shared.listen(&end))
        };
        let listener = listener.map_err(|error| NetError::System {
            what: "a thread",
            error,
        })?;
        Ok(Self {
            shared,
            end,
            listener: Some(listener),
        })
    }

    /// So many nodes in this process: each has its memory, its ports and its listening thread, and they meet nowhere else.
    ///
    /// # Errors
    /// [`NetError::Shape`], and [`NetError::System`] when there is no memory, socket or thread for them.
    pub fn in_process(shape: Shape) -> Result<Vec<Self>, NetError> {
        let ground = Ground::new(shape)?;
        let nodes = shape.node_ids().zip(ground.controls);
        nodes
            .map(|(me, controls)| Self::assemble(me, shape, ground.key, &ground.regions, controls))
            .collect()
    }

    /// Which it is.
    pub fn id(&self) -> NodeId {
        self.shared.me
    }

    /// How many nodes and ports there are.
    pub fn shape(&self) -> Shape {
        self.shared.shape
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

    /// Registers `len` bytes of memory, rounded up to whole pages, that others may be [allowed](Self::open) to write to.
    ///
    /// # Errors
    /// [`NetError::System`] when there is no memory.
    pub fn segment(&self, len: usize) -> Result<Segment, NetError> {
        let len = len.max(1).next_multiple_of(PAGE as usize);
        let made = Memory::create("raddle-segment", len);
        let (memory, file) = made.map_err(NetError::system("memory for a segment"))?;
        // Relaxed: a number that nobody else has.
        let id = SegmentId(self.shared.segments.fetch_add(1, Relaxed));
        Ok(Segment::new(id, memory, file))
    }

    /// Opens a connection for `peer`, who may put data into `bytes` of the segment; returns its number.
    ///
    /// # Errors
    /// [`NetError::TooManyConnections`]; a peer that has died or left; [`NetError::System`].
    /// # Panics
    /// When the bytes are none of the segment, or `peer` is this node or none.
    pub fn open(
        &self,
        peer: NodeId,
        segment: &Segment,
        bytes: std::ops::Range<usize>,
    ) -> Result<ConnectionId, NetError> {
        assert!(
            bytes.start <= bytes.end && bytes.end <= segment.len(),
            "bytes {bytes:?} of a segment of {}",
            segment.len()
        );
        let control = self.shared.control(peer);
        let window = bytes.start as u64..bytes.end as u64;
        let key = random()?;
        let entry = Connection {
            peer,
            key,
            window: Some(Window {
                segment: segment.id(),
                bytes: window.clone(),
            }),
        };
        let number = self.shared.connections.open(entry);
        let number = number.map_err(NetError::TooManyConnections)?;
        let words = [number.into(), key, window.start, window.end, 0];
        let told = control::send(control, control::OFFER, words, &[segment.file().as_fd()]);
        if let Err(error) = told {
            self.shared.connections.close(number);
            self.shared.check_alive(peer)?;
            return Err(NetError::system("a message to another node")(error));
        }
        Ok(ConnectionId(number))
    }

    /// Takes back what a connection allows: messages by it are refused from here on.
    pub fn close(&self, connection: ConnectionId) {
        self.shared.connections.close(connection.0);
    }

    /// Waits for the next connection that `peer` opens for this node.
    ///
    /// # Errors
    /// [`NetError::Died`] or [`NetError::Left`] when there will be none.
    pub fn accept(&self, peer: NodeId) -> Result<Remote, NetError> {
        let cell = Arc::new(WaitCell::new());
        let mut waits = false;
        loop {
            // Before the look: who dies after it tells.
            let state = self.shared.check_alive(peer);
            let mut offers = self
                .shared
                .offers
                .lock()
                .expect("nothing panics under this lock");
            let found = offers.open.iter().position(|offer| offer.node == peer);
            if let Some(found) = found {
                return Ok(offers.open.remove(found).expect("it was found there"));
            }
            if !waits {
                offers.waiting.push(Arc::clone(&cell));
                waits = true;
                continue;
            }
            drop(offers);
            state?;
            cell.wait(Duration::ZERO);
            waits = false;
        }
    }

    /// Messages that were refused, for one reason.
    pub fn refused(&self, reason: Refusal) -> u64 {
        // Relaxed: a count.
        self.shared.refused[reason as usize].load(Relaxed)
    }

    /// Leaves the program: what the others have not received yet they can still receive.
    pub(crate) fn leave(&mut self) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        for control in self.shared.controls.iter().flatten() {
            // Who is gone need not know.
            let _ = control::send(control, control::LEAVE, [0; 5], &[]);
        }
        let told = rustix::io::write(&*self.end, &1_u64.to_ne_bytes());
        if told.is_ok() {
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

/// A connection that this node has opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionId(pub(crate) u16);

impl Shared {
    /// Hears what other nodes tell until the node leaves.
    fn listen(&self, end: &OwnedFd) {
        let mut open: Vec<_> = self
            .shape
            .node_ids()
            .filter(|node| self.controls[usize::from(node.0)].is_some())
            .collect();
        loop {
            let mut sockets: Vec<_> = open
                .iter()
                .map(|&node| self.control(node).as_fd())
                .collect();
            sockets.push(end.as_fd());
            let Ok(ready) = control::wait(&sockets) else {
                // The system has no memory for a moment.
                thread::sleep(Duration::from_millis(1));
                continue;
            };
            if ready.contains(&open.len()) {
                return;
            }
            for index in ready.into_iter().rev() {
                if !self.hear(open[index]) {
                    open.swap_remove(index);
                }
            }
        }
    }

    /// Hears one thing from `node`; false when there will be no more.
    fn hear(&self, node: NodeId) -> bool {
        match control::receive(self.control(node)) {
            Ok(Some(frame)) if frame.kind == control::OFFER => {
                if let Some(remote) = remote_of(node, frame) {
                    let mut offers = self.offers.lock().expect("nothing panics under this lock");
                    offers.open.push_back(remote);
                    drop(offers);
                    self.tell_waiting();
                }
                true
            }
            Ok(Some(frame)) if frame.kind == control::LEAVE => {
                self.becomes(node, LEFT);
                false
            }
            Ok(Some(_)) | Err(Errno::BADMSG) => true,
            Ok(None) | Err(_) => {
                self.becomes(node, DIED);
                false
            }
        }
    }

    fn becomes(&self, node: NodeId, state: u32) {
        // ORDERING(N1): Release, what the node has sent lies in its lanes; whoever sees the state looks there once more.
        self.states[usize::from(node.0)].store(state, Release);
        self.changes.fetch_add(1, Release);
        for index in 0..usize::from(self.shape.ports) {
            let _ = self.tables[usize::from(self.me.0)].ring(index);
        }
        self.tell_waiting();
    }

    fn tell_waiting(&self) {
        let mut offers = self.offers.lock().expect("nothing panics under this lock");
        for cell in offers.waiting.drain(..) {
            let _ = cell.notify();
        }
    }

    fn control(&self, peer: NodeId) -> &OwnedFd {
        let control = self.controls.get(usize::from(peer.0));
        control
            .and_then(Option::as_ref)
            .unwrap_or_else(|| panic!("{} has no way to {peer} of {}", self.me, self.shape.nodes))
    }

    /// How a node has ended, if it has.
    pub(crate) fn ended(&self, node: NodeId) -> Option<Ended> {
        // ORDERING(N1): Acquire, as there.
        match self.states[usize::from(node.0)].load(Acquire) {
            ALIVE => None,
            LEFT => Some(Ended::Left),
            _ => Some(Ended::Died),
        }
    }

    fn check_alive(&self, node: NodeId) -> Result<(), NetError> {
        match self.ended(node) {
            None => Ok(()),
            Some(Ended::Left) => Err(NetError::Left(node)),
            Some(Ended::Died) => Err(NetError::Died(node)),
        }
    }

    pub(crate) fn count_refused(&self, reason: Refusal) {
        // Relaxed: a count.
        self.refused[reason as usize].fetch_add(1, Relaxed);
    }
}

/// How a node has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Left,
    Died,
}

impl Ended {
    pub(crate) const fn for_sender(self, node: NodeId) -> SendError {
        match self {
            Self::Left => SendError::Left(node),
            Self::Died => SendError::Died(node),
        }
    }
}

/// What an offer allows; none where it makes no sense.
fn remote_of(node: NodeId, frame: Frame) -> Option<Remote> {
    let [connection, key, start, end, _] = frame.words;
    let file = frame.files.into_iter().next()?;
    let page = start / PAGE * PAGE;
    let mapped = usize::try_from(page).ok()?..usize::try_from(end.max(page + 1)).ok()?;
    Some(Remote {
        node,
        connection: u16::try_from(connection).ok()?,
        key,
        window: RemoteWindow {
            memory: Memory::open(file, mapped).ok()?,
            begin: usize::try_from(start - page).ok()?,
            len: end.checked_sub(start)?,
        },
    })
}

/// What all nodes of a program are made of.
pub(crate) struct Ground {
    pub(crate) key: u64,
    pub(crate) regions: Vec<OwnedFd>,
    /// For each node, its sockets to the others.
    pub(crate) controls: Vec<Vec<Option<OwnedFd>>>,
}

impl Ground {
    pub(crate) fn new(shape: Shape) -> Result<Self, NetError> {
        if shape.nodes == 0 || shape.ports == 0 || shape.port_count() > PORTS_MAX {
            return Err(NetError::Shape(shape));
        }
        let create = |_| Region::create(shape).map_err(NetError::system("the memory of a node"));
        let regions = shape.node_ids().map(create).collect::<Result<_, _>>()?;
        let none = || shape.node_ids().map(|_| None).collect::<Vec<_>>();
        let mut controls: Vec<_> = shape.node_ids().map(|_| none()).collect();
        let count = controls.len();
        for (lower, higher) in (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))) {
            let (of_lower, of_higher) = control::pair().map_err(NetError::system("a socket"))?;
            controls[lower][higher] = Some(of_lower);
            controls[higher][lower] = Some(of_higher);
        }
        Ok(Self {
            key: random()?,
            regions,
            controls,
        })
    }
}

/// A number that nobody guesses.
fn random() -> Result<u64, NetError> {
    let mut bytes = [0; 8];
    // So few bytes come at once, or the system has none.
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(NetError::system("random numbers"))?;
    Ok(u64::from_ne_bytes(bytes))
}
