//! A simulator of the study's nodes: what happens, event by event, and how long it takes.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/simulate.md"))]

mod client;
mod core;
mod engine;
mod event_list;
mod interface;
mod machine;
mod moment;
pub mod pingpong;
pub mod symmetric;
mod sync_table;
#[cfg(test)]
mod tests;
pub mod timeline;
pub mod tracer;

use std::ops::Range;

pub use self::client::{Client, Message, Note, Resumed, Step, Thread, Visit, Way};
pub use self::engine::Simulation;
pub use self::interface::{Connection, Injection, Placed, Segment};
pub use self::moment::Moment;
pub use self::timeline::{Silent, Timeline};

use crate::error::{DomainError, ModelError, above_zero};
use crate::parameters::Parameters;
use crate::units::Nanoseconds;

/// More nodes are a mistake, or more than memory holds.
pub const NODES_MAX: u32 = 1 << 20;

/// Nodes that are all alike.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Layout {
    /// How many there are.
    pub nodes: u32,
    /// Threads of each.
    pub threads: u32,
    /// The connection table of each: a message names an entry.
    pub connections: Vec<Connection>,
    /// Whether any message or connection asks not to be put into the cache. If none does, nobody has to know what is there.
    pub bypasses_cache: bool,
}

impl Layout {
    /// Nodes with so many threads each, of which each has one connection, to all of its memory.
    #[must_use]
    pub fn new(nodes: u32, threads: u32) -> Self {
        let connection = |thread| Connection {
            thread,
            segment: Segment::ALL,
            injects: true,
        };
        Self {
            nodes,
            threads,
            connections: (0..threads).map(connection).collect(),
            bypasses_cache: false,
        }
    }

    /// The same, if there can be so many nodes and threads.
    pub(crate) fn checked(
        nodes: u32,
        threads: u32,
        parameters: &Parameters,
    ) -> Result<Self, ModelError> {
        let none = Self {
            nodes,
            threads,
            connections: Vec::new(),
            bypasses_cache: false,
        };
        none.check(parameters)?;
        Ok(Self::new(nodes, threads))
    }

    /// About how much memory a simulation of it takes, in bytes, but for messages under way.
    #[must_use]
    pub fn memory_bytes(&self, parameters: &Parameters) -> u64 {
        let node = engine::NODE_BYTES + 8 * u64::from(parameters.interface.translations);
        let cached = match self.bypasses_cache || parameters.system.away > 0.0 {
            true => interface::Cache::memory_bytes(parameters),
            false => 0,
        };
        u64::from(self.nodes) * (node + cached + u64::from(self.threads) * engine::THREAD_BYTES)
    }

    fn check(&self, parameters: &Parameters) -> Result<(), ModelError> {
        above_zero("nodes", f64::from(self.nodes))?;
        above_zero("threads", f64::from(self.threads))?;
        if self.nodes > NODES_MAX {
            let expected = format!("up to {NODES_MAX}");
            return Err(DomainError::new("nodes", f64::from(self.nodes), expected).into());
        }
        if self.threads > parameters.core.contexts {
            let expected = format!(
                "{} or more, a context for each thread of a node",
                self.threads
            );
            let contexts = f64::from(parameters.core.contexts);
            return Err(parameters.located(DomainError::new("core.contexts", contexts, expected)));
        }
        let stranger = self
            .connections
            .iter()
            .find(|connection| connection.thread >= self.threads);
        if let Some(stranger) = stranger {
            let expected = format!("a thread from 0 to {}", self.threads - 1);
            let thread = f64::from(stranger.thread);
            return Err(DomainError::new("thread of a connection", thread, expected).into());
        }
        Ok(())
    }

    fn threads_of(&self, node: u32) -> Range<usize> {
        let threads = self.threads as usize;
        let first = node as usize * threads;
        first..first + threads
    }

    fn place_of(&self, thread: Thread) -> usize {
        thread.node as usize * self.threads as usize + thread.number as usize
    }
}

/// What happened in a simulation, on all nodes together.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Counts {
    /// Events: each is something that happened at a moment, to one node.
    pub events: u64,
    /// Messages that were sent.
    pub sent: u64,
    /// Messages that arrived.
    pub arrived: u64,
    /// Messages from outside, which nobody sent.
    pub visits: u64,
    /// Packets.
    pub packets: u64,
    /// Messages that the sender's interface refused.
    pub refused_sends: u64,
    /// Messages that the receiver's interface refused: their data was to go outside of the connection's segment.
    pub refused: u64,
    /// Bytes of data that were put into caches.
    pub injected: u64,
    /// Bytes of data that caches had lines for.
    pub updated: u64,
    /// Bytes of data that went to memory.
    pub to_memory: u64,
    /// Translations that interfaces had, by pages.
    pub translations: u64,
    /// Translations that they had to find.
    pub walks: u64,
    /// The time in which links into the network were busy.
    pub out_busy: Nanoseconds,
    /// The time in which links out of it were.
    pub in_busy: Nanoseconds,
    /// The times in which so many threads were active on a core, without its handler.
    pub without_handler: Vec<Nanoseconds>,
    /// The same with it.
    pub with_handler: Vec<Nanoseconds>,
    /// The time in which cores ran somebody else.
    pub away: Nanoseconds,
}
