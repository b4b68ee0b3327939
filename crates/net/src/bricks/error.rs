//! The errors of bricks.

use crate::address::NodeId;
use crate::error::{NetError, SendError};

/// The reason why bricks cannot be shared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There are no homes.
    #[error("no node is a home")]
    NoHomes,
    /// The table of homes has another length than the bricks.
    #[error("a table of {found} homes; expected one for each of {expected} bricks")]
    Table {
        /// The number of entries.
        found: u64,
        /// The number of bricks.
        expected: u64,
    },
    /// An entry of the table names no home.
    #[error("brick {key} has home {found}; expected a number below {expected}")]
    TableEntry {
        /// The brick.
        key: u64,
        /// The entry.
        found: u16,
        /// The number of homes.
        expected: usize,
    },
    /// A brick has no bytes.
    #[error("bricks of 0 bytes; expected at least 1")]
    NoBytes,
    /// This node is not a home, but has a store.
    #[error("bricks in a node that is not a home")]
    NotAHome,
    /// This node is a home, but has no store.
    #[error("no bricks in a node that is a home")]
    NoStore,
    /// The segment has fewer bytes than the bricks of this node.
    #[error("a segment of {found} bytes; expected the bricks of this node, {expected} bytes")]
    Short {
        /// The number of bytes of the segment.
        found: u64,
        /// The number of bytes of the bricks.
        expected: u64,
    },
    /// Bricks that are produced on demand are in no memory that another node could read.
    #[error(
        "bricks that are produced on demand cannot be read from memory; expected the answers \
         \"handler\" or \"direct\", or bricks in memory"
    )]
    GetOnDemand,
    /// Another node has bricks of other properties.
    #[error("{node} has {found} bytes of bricks; expected {expected}")]
    OtherBricks {
        /// The node.
        node: NodeId,
        /// The number of bytes that the node allows to read.
        found: u64,
        /// The number of bytes of its bricks.
        expected: u64,
    },
    /// There is not enough memory for the cache.
    #[error("no memory for a cache of {0} bytes")]
    NoMemory(u64),
    /// A node has ended, or the system refused something.
    #[error(transparent)]
    Net(#[from] NetError),
}

/// The reason why a thread did not get a brick.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrickError {
    /// There is no such brick.
    #[error("brick {key}; expected a number below {count}")]
    NoSuchBrick {
        /// The key.
        key: u64,
        /// The number of bricks.
        count: u64,
    },
    /// The home does not answer, or the request could not be sent.
    #[error("brick {key} of {home}: {error}")]
    Home {
        /// The brick.
        key: u64,
        /// The node that has the brick.
        home: NodeId,
        /// The reason.
        error: SendError,
    },
    /// The home could not produce the brick.
    #[error("brick {key} of {home}: {why}")]
    Source {
        /// The brick.
        key: u64,
        /// The node that is to produce the brick.
        home: NodeId,
        /// The reason.
        why: String,
    },
    /// No thread of this node receives the answers for the others.
    #[error("brick {key}: this node has no server that receives answers")]
    NoServer {
        /// The brick.
        key: u64,
    },
}
