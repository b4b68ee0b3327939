//! A simulator of the study's nodes: the times of all events.
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

/// The maximum number of nodes. More are a mistake, or exceed the memory.
pub const NODES_MAX: u32 = 1 << 20;

/// A layout of identical nodes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Layout {
    /// The number of nodes.
    pub nodes: u32,
    /// The number of threads of each node.
    pub threads: u32,
    /// The connection table of each node. A message names an entry of it.
    pub connections: Vec<Connection>,
    /// If true, a message or connection may bypass the cache. Otherwise the contents of caches need
    /// not be recorded.
    pub bypasses_cache: bool,
}

impl Layout {
    /// Creates nodes. Each thread has one connection, to all memory of its node.
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

    /// Creates the layout of [`Self::new`], after a check of the numbers of nodes and threads.
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

    /// Estimates the memory of a simulation, in bytes, without messages under way.
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

/// The event counters of a simulation, over all nodes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Counts {
    /// The number of events. Each happens at a moment, on one node.
    pub events: u64,
    /// The number of messages that were sent.
    pub sent: u64,
    /// The number of messages that arrived.
    pub arrived: u64,
    /// The number of messages from outside the simulated nodes.
    pub visits: u64,
    /// The number of packets.
    pub packets: u64,
    /// The number of messages that the sender's interface refused.
    pub refused_sends: u64,
    /// The number of messages that the receiver's interface refused, because their data was outside
    /// the connection's segment.
    pub refused: u64,
    /// The number of data bytes that were injected into caches.
    pub injected: u64,
    /// The number of data bytes for which caches had lines.
    pub updated: u64,
    /// The number of data bytes that went to memory.
    pub to_memory: u64,
    /// The number of address translations that interfaces needed, counted in pages.
    pub translations: u64,
    /// The number of translations that required a page-table walk.
    pub walks: u64,
    /// The time in which links into the network were busy.
    pub out_busy: Nanoseconds,
    /// The time in which links out of the network were busy.
    pub in_busy: Nanoseconds,
    /// The time for each number of active threads on a core, without its handler.
    pub without_handler: Vec<Nanoseconds>,
    /// The time for each number of other active threads on a core, with its handler.
    pub with_handler: Vec<Nanoseconds>,
    /// The time in which cores ran other programs.
    pub away: Nanoseconds,
}
