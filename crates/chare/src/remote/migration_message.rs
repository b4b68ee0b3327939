//! Messages between nodes about migration; see [`crate::migration`].

use serde::{Deserialize, Serialize};

use crate::codec::Packed;
use crate::codec::plain;
use crate::engine::elements::part::Frozen;
use crate::state::measured::Measured;

/// A requested move: an element's number, and the node and the worker to which it moves.
pub(crate) type MoveRequest = (u64, u16, u16);

/// A message about migrating elements.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum MigrationMessage {
    /// Requests that elements move. Sent to the first node.
    RequestMoves {
        collection: u32,
        requests: Vec<MoveRequest>,
        /// True if the elements are frozen, and so ready to move to another node.
        are_frozen: bool,
        /// The reply to send when they have arrived.
        reply: Option<u64>,
    },
    /// Requests that elements move within the sender's node, in an array of this node alone. Sent
    /// to the first node.
    RequestMovesWithin,
    /// Begins a batch: its epoch, the nodes that elements leave, and the moves by collection.
    Prepare {
        epoch: u32,
        sources: Vec<u16>,
        groups: Vec<(u32, Vec<MoveRequest>)>,
    },
    /// Confirms that the sender knows the batch, in which `count` of its elements move. Sent to the
    /// first node.
    Acknowledge { count: u64 },
    /// All nodes know the batch, so the receiver enters its epoch.
    EnterEpoch { epoch: u32 },
    /// A sender has entered this epoch, and no longer sends by the old routes.
    Marker { epoch: u32 },
    /// Asks whether all messages of the sending worker have arrived. The reply is `Answer`.
    Ask { worker: u16, group: u32 },
    /// Confirms that they have arrived.
    Answer { worker: u16, group: u32 },
    /// An element arrives.
    Arrive {
        collection: u32,
        number: u64,
        element: Option<MigratingElement>,
    },
    /// Elements of the batch have arrived. Sent to the first node.
    Arrived { count: u64 },
    /// All elements of the batch have arrived.
    End,
    /// Asks the receiver's workers for their measurements of an array.
    Measure { collection: u32 },
    /// The measurements of one worker. Sent to the array's root.
    Measured { collection: u32, measured: Measured },
    /// An array should be balanced now. Sent to its root.
    BalancingIsDue { collection: u32 },
}

/// An element that migrates between nodes, with the messages that wait for it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct MigratingElement {
    pub(crate) frozen: Frozen,
    pub(crate) backlog: Vec<Waiting>,
}

/// A message that migrates with its element.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) handler: u16,
    /// The node that the element leaves, and the number under which it waits for a reply.
    pub(crate) reply: Option<(u16, u64)>,
    pub(crate) is_to_all: bool,
    #[serde(with = "plain")]
    pub(crate) args: Vec<u8>,
}

impl Waiting {
    /// Creates a waiting message from one that was packed on node `me`.
    pub(crate) fn new(packed: Packed, me: u16) -> Self {
        let Packed {
            handler,
            reply,
            args,
            is_to_all,
        } = packed;
        Self {
            handler,
            reply: reply.map(|reply| (me, reply)),
            is_to_all,
            args,
        }
    }
}
