//! The messages between nodes about migration: see [`crate::migration`].

use serde::{Deserialize, Serialize};

use crate::codec::Packed;
use crate::codec::plain;
use crate::engine::elements::part::Frozen;
use crate::state::measured::Measured;

/// An element's number, and the node and the worker to which it is to go.
pub(crate) type Wish = (u64, u16, u16);

/// A message about migrating elements.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Travel {
    /// Elements are to move. For the first node.
    Want {
        collection: u32,
        wishes: Vec<Wish>,
        /// They are ready to go to another node.
        are_frozen: bool,
        /// The reply to send when they have arrived.
        reply: Option<u64>,
    },
    /// Elements of an array that the sender has for itself are to move. For the first node.
    WantWithin,
    /// Begins a batch: its epoch, the nodes that take part, and the destinations of elements, by
    /// collection.
    Prepare {
        epoch: u32,
        sources: Vec<u16>,
        groups: Vec<(u32, Vec<Wish>)>,
    },
    /// The sender knows the batch, in which `count` of its elements move. For the first node.
    Known {
        count: u64,
    },
    /// All know the batch, and go over to its epoch.
    GoOver {
        epoch: u32,
    },
    /// A sender has entered this epoch, and sends no more by the old routes.
    Marker {
        epoch: u32,
    },
    /// Asks whether all that the sending worker has sent has arrived; `Answer` confirms it.
    Ask {
        worker: u16,
        group: u32,
    },
    Answer {
        worker: u16,
        group: u32,
    },
    /// An element arrives.
    Arrive {
        collection: u32,
        number: u64,
        crosser: Option<Crosser>,
    },
    /// Elements of the batch have arrived. For the first node.
    HaveCome {
        count: u64,
    },
    /// All elements of the batch have arrived.
    End,
    /// The receiver's workers are to say what they have measured of an array.
    Measure {
        collection: u32,
    },
    /// That, of one of them. For the array's root.
    Measured {
        collection: u32,
        measured: Measured,
    },
    /// An array should be balanced now. For its root.
    BalancingIsDue {
        collection: u32,
    },
}

/// An element on its way between nodes, with what waits for it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Crosser {
    pub(crate) element: Frozen,
    pub(crate) backlog: Vec<Waiting>,
}

/// A message that migrates with its element.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) handler: u16,
    /// Under which the node that the element leaves waits for a reply.
    pub(crate) reply: Option<(u16, u64)>,
    pub(crate) is_to_all: bool,
    #[serde(with = "plain")]
    pub(crate) args: Vec<u8>,
}

impl Waiting {
    /// A message that was packed on node `me`.
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
