//! Bricks: read-only data that the nodes of a program share, as a software shared memory.
//!
//! A brick is a block of bytes with a key. Each brick has a *home*: the node that has it, or that
//! produces it on demand. Each node has a cache for bricks of other nodes. A thread that needs a
//! brick asks for it with a [`BrickReader`], and gets a [`Pinned`] brick: bytes that stay as they
//! are until it is dropped.
//!
//! | module | contents |
//! |---|---|
//! | `homes` | which node is the home of a brick |
//! | `error` | errors |
//! | `functions` | the functions that profiles measure |
//! | `cache` | which line of the cache a key belongs to, and which line is refilled |
//! | `loading` | the bricks that are on their way, and the threads that wait for them |
//! | `wire` | requests and answers in messages |
//! | `server` | answers requests, and receives answers for other threads |
//! | `reader` | a thread's access to all bricks |
//!
//! # The way of a brick
//! 1. If this node is the home and has the brick in memory, its bytes are lent.
//! 2. If a line of the cache has the brick, the line is pinned.
//! 3. If another thread of this node waits for the same brick, this thread waits with it. There is
//!    one request for each key, however many threads wait for it, and a thread waits for a key, not
//!    for a line.
//! 4. Otherwise this thread requests the brick, into a line that is not pinned. If all lines that
//!    the key may use are pinned or being refilled, the brick goes into memory of its own. So no
//!    thread ever waits for a line, and a cache of one line is enough for any number of threads.
//!
//! The brick reaches the node in one of three ways ([`Answers`]). If its home has ended, it is
//! produced here, if there is a [backup](Backup).
//!
//! # What is not here
//! Bricks never change, so no node needs to know which others have copies. There is no list of
//! sharers, and no invalidation.
//!
//! # Source
//! Parker, Efficient user-level event notification, sections 5.2, 5.3.3 and 6.2.7: a software
//! shared memory for the bricks of a volume. Section 8.9: answers that go directly to the thread
//! that waits.

mod cache;
mod error;
mod functions;
mod homes;
mod loading;
mod reader;
mod server;
mod wire;

use std::fmt;
use std::sync::Arc;

use raddle_sync::prim::{AtomicBool, AtomicU32, Relaxed};

use self::cache::Cache;
use self::loading::Loading;
use crate::address::NodeId;
use crate::error::SendError;
use crate::node::Node;
use crate::port::Port;
use crate::segment::{ReadOnlySegment, Remote};

pub use self::cache::Associativity;
pub use self::error::{BrickError, StartError};
pub use self::homes::{HomeRule, Homes};
pub use self::reader::{BrickCounters, BrickReader, Pinned};
pub use self::server::BrickServer;

/// The way in which a brick gets from its home to a node that needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// The thread sends a request to the home and waits. The answer goes to the
    /// [server](BrickServer) of its own node, which fills the line and wakes the thread. This is
    /// how the study's program works.
    Handler,
    /// As [`Handler`](Self::Handler), but the answer goes directly to the thread that waits.
    Direct,
    /// The thread reads the memory of the home ([`Port::get`]), where no server takes part.
    #[default]
    Get,
}

impl Answers {
    /// All ways.
    pub const ALL: [Self; 3] = [Self::Handler, Self::Direct, Self::Get];

    /// Returns the name that a command line takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handler => "handler",
            Self::Direct => "direct",
            Self::Get => "get",
        }
    }
}

impl fmt::Display for Answers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The properties of bricks. They must be the same on all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrickOptions {
    /// The number of bytes of each brick.
    pub brick_bytes: usize,
    /// The number of bytes of the cache of each node. It has at least one line, and at most one
    /// line for each brick.
    pub cache_bytes: u64,
    /// The lines that a brick may use.
    pub associativity: Associativity,
    /// The way from the home to another node.
    pub answers: Answers,
    /// The port of each node at which its [server](BrickServer) receives requests.
    pub server_port: u16,
}

/// The bricks of which a node is the home.
#[derive(Clone)]
pub enum Store {
    /// All of them are in memory, in the order of [`Homes::keys_of`].
    Memory(ReadOnlySegment),
    /// Each is produced when a node asks for it, and not kept here.
    OnDemand(Arc<dyn BrickSource>),
}

/// Produces bricks.
pub trait BrickSource: Send + Sync {
    /// Writes a brick.
    ///
    /// # Errors
    /// The reason why there is no such brick, for a person to read.
    fn read(&self, key: u64, into: &mut [u8]) -> Result<(), String>;
}

/// Produces any brick in place of a home that has ended; `None` if no node can.
pub type Backup = Option<Arc<dyn BrickSource>>;

/// The bricks of a program, as seen from one of its nodes.
pub struct Bricks {
    me: NodeId,
    /// The place of this node among the homes, if it is one.
    my_home: Option<usize>,
    homes: Homes,
    options: BrickOptions,
    store: Option<Store>,
    backup: Backup,
    /// By home, whether it has ended.
    lost: Box<[AtomicBool]>,
    /// By home, the right to read its bricks, with [`Answers::Get`].
    remotes: Vec<Option<Remote>>,
    cache: Cache,
    loading: Loading,
    /// The number of ports of each node.
    port_count: u16,
    /// By home, whether its memory is not shared with this node.
    is_far: Box<[bool]>,
    /// True if a brick of another node takes a message and its answer.
    has_latency: bool,
    /// The number of servers of this node.
    servers: AtomicU32,
}

impl Bricks {
    /// Makes the bricks of this node available to the others, and those of the others to this node.
    ///
    /// Each node that is a home, or that needs bricks, has to call this: all of `users`. It waits
    /// until all homes have done so. `store` has the bricks of this node, if it is a home. `backup`
    /// produces those of homes that have ended.
    ///
    /// # Errors
    /// A [`StartError`] if the options do not suit the bricks, or if a node has ended.
    pub fn start(
        node: &Node,
        users: &[NodeId],
        homes: Homes,
        store: Option<Store>,
        backup: Backup,
        options: BrickOptions,
    ) -> Result<Arc<Self>, StartError> {
        let me = node.id();
        let my_home = homes.nodes().iter().position(|&home| home == me);
        check(&homes, my_home, store.as_ref(), &options)?;
        let mut remotes: Vec<_> = homes.nodes().iter().map(|_| None).collect();
        if options.answers == Answers::Get {
            if let Some(Store::Memory(segment)) = &store {
                let len = my_home.map_or(0, |home| homes.count_of(home)) as usize;
                let bytes = 0..len * options.brick_bytes;
                for &user in users.iter().filter(|&&user| user != me) {
                    node.open_to_read(user, segment, bytes.clone())?;
                }
            }
            for (home, remote) in remotes.iter_mut().enumerate() {
                let from = homes.nodes()[home];
                if from == me {
                    continue;
                }
                let accepted = node.accept(from)?;
                let expected = homes.count_of(home) * options.brick_bytes as u64;
                if accepted.len() != expected {
                    return Err(StartError::OtherBricks {
                        node: from,
                        found: accepted.len(),
                        expected,
                    });
                }
                *remote = Some(accepted);
            }
        }
        let is_far = |&home: &NodeId| home != me && !node.shares_memory_with(home);
        let is_far: Box<[bool]> = homes.nodes().iter().map(is_far).collect();
        let has_latency = options.answers != Answers::Get || is_far.contains(&true);
        let lines = options.cache_bytes / options.brick_bytes as u64;
        let (brick_count, brick_bytes) = (homes.brick_count(), options.brick_bytes);
        let cache = Cache::new(options.associativity, lines, brick_count, brick_bytes)?;
        Ok(Arc::new(Self {
            me,
            my_home,
            loading: Loading::new(cache.shard_count()),
            lost: homes
                .nodes()
                .iter()
                .map(|_| AtomicBool::new(false))
                .collect(),
            homes,
            options,
            store,
            backup,
            remotes,
            cache,
            port_count: node.shape().ports,
            is_far,
            has_latency,
            servers: AtomicU32::new(0),
        }))
    }

    /// Returns the access to the bricks for the thread that has a port of this node. The port
    /// should be used for nothing else: messages that are no bricks are dropped.
    ///
    /// # Panics
    /// If the port belongs to another node.
    pub fn reader(self: &Arc<Self>, port: Port) -> BrickReader {
        assert_eq!(port.id().node, self.me, "a port of another node");
        BrickReader::new(Arc::clone(self), port)
    }

    /// Returns the object by which a thread of this node answers requests, and receives answers
    /// for the threads that wait ([`Answers::Handler`]).
    pub fn server(self: &Arc<Self>) -> BrickServer {
        BrickServer::new(Arc::clone(self))
    }

    /// Returns the homes of all bricks.
    pub const fn homes(&self) -> &Homes {
        &self.homes
    }

    /// Returns the properties of the bricks.
    pub const fn options(&self) -> &BrickOptions {
        &self.options
    }

    /// Returns the number of lines of the cache.
    pub fn line_count(&self) -> usize {
        self.cache.line_count()
    }

    /// Returns the bytes of a brick of this node that is in memory.
    #[inline]
    fn own(&self, place: u64) -> Option<&[u8]> {
        let Some(Store::Memory(segment)) = &self.store else {
            return None;
        };
        // Below the number of bytes of a segment, which fits `usize`.
        let start = place as usize * self.options.brick_bytes;
        Some(&segment[start..start + self.options.brick_bytes])
    }

    /// Writes a brick of this node.
    ///
    /// # Errors
    /// The reason why there is no such brick.
    fn read_own(&self, key: u64, into: &mut [u8]) -> Result<(), String> {
        match &self.store {
            Some(Store::Memory(_)) => {
                let (_, place) = self.homes.home(key).ok_or("there is no such brick")?;
                let bytes = self.own(place).ok_or("there is no such brick")?;
                into.copy_from_slice(bytes);
                Ok(())
            }
            Some(Store::OnDemand(source)) => source.read(key, into),
            None => Err("this node is not a home".into()),
        }
    }

    /// Returns the source of the bricks of a home that has ended, if there is one.
    fn backup_of(&self, home: usize) -> Option<&dyn BrickSource> {
        // Relaxed: a thread that does not see it yet asks the home, which is an error.
        let is_lost = self.lost[home].load(Relaxed);
        self.backup.as_deref().filter(|_| is_lost)
    }

    /// Records that a home has ended, if that is what an error says. Returns true if its bricks are
    /// produced here from now on.
    fn recover(&self, error: &BrickError) -> bool {
        let BrickError::Home { home, error, .. } = error else {
            return false;
        };
        let is_end = matches!(
            error,
            SendError::Died(_) | SendError::Left(_) | SendError::Silent(_) | SendError::Closed(_)
        );
        let found = self.homes.nodes().iter().position(|node| node == home);
        match found {
            Some(index) if is_end && self.backup.is_some() => {
                // Relaxed: as in `backup_of`.
                self.lost[index].store(true, Relaxed);
                true
            }
            _ => false,
        }
    }

    /// Returns true if a server of this node receives answers.
    fn has_server(&self) -> bool {
        // Relaxed: a reader looks after it has left a brick under the lock of its shard, and the
        // last server looks there, under that lock, after it has changed the count.
        self.servers.load(Relaxed) > 0
    }
}

/// Checks that options suit bricks, and that the store has those of this node.
fn check(
    homes: &Homes,
    my_home: Option<usize>,
    store: Option<&Store>,
    options: &BrickOptions,
) -> Result<(), StartError> {
    if options.brick_bytes == 0 {
        return Err(StartError::NoBytes);
    }
    match (my_home, store) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(StartError::NotAHome),
        (Some(_), None) => Err(StartError::NoStore),
        (Some(_), Some(Store::OnDemand(_))) => match options.answers {
            Answers::Get => Err(StartError::GetOnDemand),
            Answers::Handler | Answers::Direct => Ok(()),
        },
        (Some(home), Some(Store::Memory(segment))) => {
            let expected = homes.count_of(home) * options.brick_bytes as u64;
            let found = segment.len() as u64;
            if found < expected {
                return Err(StartError::Short { found, expected });
            }
            Ok(())
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(segment) => formatter.debug_tuple("Memory").field(segment).finish(),
            Self::OnDemand(_) => formatter.write_str("OnDemand"),
        }
    }
}

impl fmt::Debug for Bricks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bricks = formatter.debug_struct("Bricks");
        bricks.field("me", &self.me).field("homes", &self.homes);
        bricks.field("options", &self.options);
        bricks.field("store", &self.store).finish_non_exhaustive()
    }
}
