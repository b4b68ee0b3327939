//! Reads of memory of other nodes.
//!
//! If the nodes share memory, the thread that reads copies the bytes by itself. Otherwise it sends
//! a request, which names a *landing*: memory of this port into which the other node may put the
//! answer. The answer wakes the thread, which copies the bytes from the landing. No thread of the
//! other program takes part in either case.
//!
//! # Source
//! Parker, Efficient user-level event notification, section 8.9: the answer to a request wakes the
//! thread that waits for it, without a thread that handles messages in between.

use std::fmt;
use std::sync::{Arc, Weak};

use raddle_sync::backoff::Backoff;
use raddle_sync::hand_over::Reader;
use raddle_sync::wait::Way;
use raddle_trace::record;

use super::{Message, Port, descriptor_by};
use crate::access::Access;
use crate::address::{NodeId, PortId};
use crate::connection::{Connection, Window};
use crate::error::SendError;
use crate::gets::{GETS_MAX, Token};
use crate::grant::Grant;
use crate::mapped::{Memory, PAGE};
use crate::packet::Kind;
use crate::random::random;
use crate::segment::Remote;
use crate::shared::Shared;
use crate::transport::{Outgoing, Reply};

/// A read that has [begun](Port::start_get), and that [`Port::finish_get`] finishes.
///
/// If it is dropped, the bytes that arrive for it are dropped, too.
#[derive(Debug)]
#[must_use = "the bytes arrive in `Port::finish_get`"]
pub struct Fetch {
    /// The port that has begun the read.
    port: PortId,
    node: NodeId,
    /// The bytes as offsets into the window, for an error message.
    at: u64,
    len: usize,
    way: FetchWay,
}

#[derive(Debug)]
enum FetchWay {
    /// The memory is shared: the bytes are copied when the read is finished.
    Mapped,
    /// The answer goes to the landing of the token, which belongs to the read while the reference
    /// lives. If the grant is closed before the answer arrives, there may be none.
    Landing(Token, Arc<()>, Arc<Grant>),
}

/// The landings of a port, one for each read that can be on its way.
#[derive(Default)]
pub(super) struct Landings {
    /// `None` in a place with a landing that was given up: an answer may still reach it although
    /// its read has ended.
    all: Vec<Option<Landing>>,
}

impl fmt::Debug for Landings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut landings = formatter.debug_struct("Landings");
        landings
            .field("len", &self.all.len())
            .finish_non_exhaustive()
    }
}

/// Memory of a port into which other nodes may put answers.
struct Landing {
    memory: Arc<Memory>,
    /// The connections by which other nodes may do so: node, number and key.
    open: Vec<(NodeId, u16, u64)>,
    /// The last read, and a reference that is valid while its `Fetch` lives.
    last: Option<(Token, NodeId, Weak<()>)>,
    /// The rights that have the connections.
    shared: Arc<Shared>,
}

impl Landing {
    /// Creates a landing for `len` bytes or more.
    fn new(shared: &Arc<Shared>, len: usize) -> Result<Self, SendError> {
        let whole = len.checked_next_multiple_of(PAGE as usize);
        let whole = whole.ok_or(SendError::NoMemory(len))?;
        let created = Memory::create("raddle-landing", whole);
        let (memory, _file) = created.map_err(|_| SendError::NoMemory(len))?;
        Ok(Self {
            memory: Arc::new(memory),
            open: Vec::new(),
            last: None,
            shared: Arc::clone(shared),
        })
    }

    /// Returns the connection by which `node` may put its answer.
    fn connection_of(&mut self, node: NodeId) -> Result<(u16, u64), SendError> {
        if let Some(&(_, number, key)) = self.open.iter().find(|(open, ..)| *open == node) {
            return Ok((number, key));
        }
        let len = self.memory.len();
        let key = random().map_err(|_| SendError::NoMemory(len))?;
        let opened = self.shared.rights.open(Connection {
            peer: node,
            key,
            window: Some(Window {
                segment: self.shared.next_segment(),
                memory: Arc::clone(&self.memory),
                bytes: 0..len as u64,
                access: Access::Put,
            }),
        });
        let number = opened.map_err(|_| SendError::NoMemory(len))?;
        self.open.push((node, number, key));
        Ok((number, key))
    }
}

impl Drop for Landing {
    /// Closes the connections. The other nodes hold no right that has to be closed there: what they
    /// put from now on is refused here.
    fn drop(&mut self) {
        for &(_, number, key) in &self.open {
            self.shared.rights.close(number, key);
        }
    }
}

impl Port {
    /// Copies the bytes from offset `at` of the memory that `remote` allows to read, as they are at
    /// some moment of the copy.
    ///
    /// Waits until they are here. With shared memory that is a copy. Otherwise it takes a request
    /// and its answer, which overtake messages and puts: a read needs no thread that receives, on
    /// either side. Messages that arrive meanwhile wait until they are [received](Self::poll).
    ///
    /// # Errors
    /// [`SendError::OutOfBounds`], [`SendError::NotAllowed`], [`SendError::NotAccepted`];
    /// [`SendError::Closed`] if the other node has closed the connection; [`SendError::Died`],
    /// [`SendError::Left`] and [`SendError::Silent`]; [`SendError::NoMemory`] and
    /// [`SendError::TooManyGets`]. The contents of `into` are unspecified then.
    ///
    /// # Examples
    /// ```
    /// use raddle_net::{Node, NodeId, Shape};
    ///
    /// let nodes = Node::in_process(Shape { nodes: 2, ports: 1 })?;
    /// let (segment, ()) = nodes[0].read_only_segment(4_096, |bytes| {
    ///     bytes[1_000..1_005].copy_from_slice(b"brick");
    /// })?;
    /// nodes[0].open_to_read(NodeId(1), &segment, 0..4_096)?;
    ///
    /// let remote = nodes[1].accept(NodeId(0))?;
    /// let mut brick = [0; 5];
    /// nodes[1].port(0).get(&remote, 1_000, &mut brick)?;
    /// assert_eq!(&brick, b"brick");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn get(&mut self, remote: &Remote, at: u64, into: &mut [u8]) -> Result<(), SendError> {
        self.check_get(remote, at, into.len())?;
        if remote.window.mapped.is_some() {
            return self.copy_mapped(remote, at, into);
        }
        self.get_by_packets(remote, at, into)
    }

    fn get_by_packets(
        &mut self,
        remote: &Remote,
        at: u64,
        into: &mut [u8],
    ) -> Result<(), SendError> {
        let mut backoff = Backoff::default();
        let fetch = loop {
            match self.start_get(remote, at, into.len()) {
                Err(SendError::Full) => {
                    self.shared.transport.pump();
                    backoff.pause();
                }
                other => break other?,
            }
        };
        self.finish_get(remote, fetch, into)
    }

    /// Begins to read `len` bytes from offset `at` of the memory that `remote` allows to read, so
    /// that several reads are on their way at once.
    ///
    /// # Errors
    /// Those of [`get`](Self::get), and [`SendError::Full`] while the other node is behind. There
    /// is space once that node has received packets, for which this node should
    /// [receive](Self::poll), too.
    pub fn start_get(&mut self, remote: &Remote, at: u64, len: usize) -> Result<Fetch, SendError> {
        self.check_get(remote, at, len)?;
        let way = if remote.window.mapped.is_some() || len == 0 {
            FetchWay::Mapped
        } else {
            self.request(remote, at, len)?
        };
        Ok(Fetch {
            port: self.id,
            node: remote.node,
            at,
            len,
            way,
        })
    }

    /// Waits until the bytes of a read are here, and copies them.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    /// # Panics
    /// If another port has begun the read, `remote` is of another node than in
    /// [`start_get`](Self::start_get), or `into` has another length than was requested.
    pub fn finish_get(
        &mut self,
        remote: &Remote,
        fetch: Fetch,
        into: &mut [u8],
    ) -> Result<(), SendError> {
        let Fetch {
            port,
            node,
            at,
            len,
            way,
        } = fetch;
        assert!(
            port == self.id && node == remote.node && len == into.len(),
            "{}, {} and {} bytes; expected {port}, {node} and {len} bytes",
            self.id,
            remote.node,
            into.len()
        );
        match way {
            FetchWay::Mapped if len == 0 => Ok(()),
            FetchWay::Mapped => {
                self.check_get(remote, at, len)?;
                self.copy_mapped(remote, at, into)
            }
            FetchWay::Landing(token, _held, grant) => self.land(token, node, &grant, into),
        }
    }

    /// Returns true if [`finish_get`](Self::finish_get) would not wait, except for a copy.
    pub fn is_here(&self, fetch: &Fetch) -> bool {
        match &fetch.way {
            FetchWay::Mapped => true,
            FetchWay::Landing(token, _, grant) => {
                self.shared.gets.has_arrived(self.id.index, *token)
                    || !grant.is_open()
                    || self.shared.ended(fetch.node).is_some()
                    || self.shared.has_left()
            }
        }
    }

    /// Checks that these bytes may be read, and that their node has not ended.
    #[inline]
    fn check_get(&self, remote: &Remote, at: u64, len: usize) -> Result<(), SendError> {
        remote.check(Access::Get, at, len as u64, &self.shared.rights)?;
        match self.shared.ended(remote.node) {
            None => Ok(()),
            Some(ended) => Err(ended.for_sender(remote.node)),
        }
    }

    /// Copies bytes of a window that is mapped. They have been checked.
    #[inline]
    fn copy_mapped(&self, remote: &Remote, at: u64, into: &mut [u8]) -> Result<(), SendError> {
        let Some((memory, begin)) = &remote.window.mapped else {
            return Err(SendError::Closed(remote.node));
        };
        let _entered = remote.grant.enter().ok_or(SendError::Closed(remote.node))?;
        // Below the length of the mapping.
        memory.read(begin + at as usize, into);
        record::node_receive(self.shared.recorded(remote.node), into.len());
        Ok(())
    }

    /// Sends a request for bytes that have been checked.
    fn request(&mut self, remote: &Remote, at: u64, len: usize) -> Result<FetchWay, SendError> {
        let node = remote.node;
        if remote.grant.enter().is_none() {
            return Err(SendError::Closed(node));
        }
        let (slot, landing) = self.landings.free(&self.shared, self.id.index, len)?;
        let (connection, key) = landing.connection_of(node)?;
        let token = self.shared.gets.begin(self.id.index, slot);
        let held = Arc::new(());
        landing.last = Some((token, node, Arc::downgrade(&held)));
        let reply = Reply {
            connection,
            key,
            token,
        };
        let metadata = reply.write();
        let message = Message {
            user: token.0,
            ..Message::default()
        };
        let mut descriptor = descriptor_by(remote, message, Some((at, len as u64)));
        // The metadata of a request fit a byte.
        descriptor.metadata_len = metadata.len() as u8;
        let to = PortId { node, index: 0 };
        let sent = self.link_to(to)?.send(Outgoing {
            short: &[&descriptor.write(), &metadata],
            long: &[],
            kind: Kind::Get,
            doorbell: false,
            reader: Reader::Soon,
        });
        if let Err(error) = sent {
            self.landings.end(&self.shared, self.id.index, token, true);
            return Err(self.or_left(error));
        }
        record::node_send(self.shared.recorded(node), metadata.len());
        Ok(FetchWay::Landing(token, held, Arc::clone(&remote.grant)))
    }

    /// Waits for the answer to a read, and copies it.
    fn land(
        &mut self,
        token: Token,
        node: NodeId,
        grant: &Grant,
        into: &mut [u8],
    ) -> Result<(), SendError> {
        let has_arrived = |port: &Self| port.shared.gets.has_arrived(port.id.index, token);
        self.wait_until(Way::Auto, |port| {
            let has_ended = port.shared.ended(node).is_some() || port.shared.has_left();
            has_arrived(port) || has_ended || !grant.is_open()
        });
        // The answer may have arrived before the node ended.
        let landing = self.landings.all[token.slot()].as_ref();
        let arrived = landing.filter(|_| has_arrived(self));
        if let Some(landing) = arrived {
            landing.memory.read(0, into);
            record::node_receive(self.shared.recorded(node), into.len());
        }
        let is_arrived = arrived.is_some();
        self.landings
            .end(&self.shared, self.id.index, token, is_arrived);
        if is_arrived {
            return Ok(());
        }
        Err(match self.shared.ended(node) {
            Some(ended) => ended.for_sender(node),
            None if self.shared.has_left() => SendError::Left(self.id.node),
            None => SendError::Closed(node),
        })
    }
}

impl Landings {
    /// Returns a landing for `len` bytes to which no answer is on its way, and its place.
    fn free(
        &mut self,
        shared: &Arc<Shared>,
        port: u16,
        len: usize,
    ) -> Result<(usize, &mut Landing), SendError> {
        // End the reads that were dropped, if their answers have arrived or never will.
        for slot in 0..self.all.len() {
            let last = self.all[slot].as_ref().and_then(|it| it.last.as_ref());
            if let Some(&(token, node, ref held)) = last
                && held.strong_count() == 0
            {
                let has_arrived = shared.gets.has_arrived(port, token);
                if has_arrived || shared.ended(node).is_some() {
                    self.end(shared, port, token, has_arrived);
                }
            }
        }
        // Prefer a landing that is long enough, then an unused place, then one that is too short.
        let is_free = |landing: &Landing| landing.last.is_none();
        let suits = |place: &Option<Landing>| {
            let landing = place.as_ref().filter(|landing| is_free(landing));
            landing.is_some_and(|landing| landing.memory.len() >= len)
        };
        let is_unused = |place: &Option<Landing>| place.as_ref().is_none_or(is_free);
        let found = self.all.iter().position(suits);
        let slot = match found.or_else(|| self.all.iter().position(Option::is_none)) {
            Some(slot) => slot,
            None if self.all.len() < GETS_MAX => {
                self.all.push(None);
                self.all.len() - 1
            }
            None => {
                let unused = self.all.iter().position(is_unused);
                unused.ok_or(SendError::TooManyGets(GETS_MAX))?
            }
        };
        let place = &mut self.all[slot];
        if found.is_none() {
            *place = Some(Landing::new(shared, len)?);
        }
        let landing = place.as_mut().ok_or(SendError::NoMemory(len))?;
        Ok((slot, landing))
    }

    /// Ends a read. If its answer has not arrived, it may still do so, and its landing is given up.
    fn end(&mut self, shared: &Shared, port: u16, token: Token, has_arrived: bool) {
        shared.gets.end(port, token);
        let place = &mut self.all[token.slot()];
        match place {
            Some(landing) if has_arrived => landing.last = None,
            _ => *place = None,
        }
    }
}
