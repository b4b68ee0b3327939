//! What nodes tell each other about chares.

use serde::{Deserialize, Serialize};

use super::Travel;

/// A message between the systems of two nodes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Letter<'a> {
    /// For one element.
    One {
        /// By the number that all nodes know it by, as in all letters.
        collection: u32,
        number: u64,
        priority: i32,
        /// The sender's, as in those to all: it says where the element is ([`crate::migration`]).
        epoch: u32,
        door: u16,
        /// Under which the sender waits for a reply.
        reply: Option<u64>,
        args: &'a [u8],
    },
    /// For all elements that the receiver has.
    All {
        collection: u32,
        priority: i32,
        epoch: u32,
        door: u16,
        args: &'a [u8],
    },
    /// What an entry has replied, or why it has not.
    Reply {
        reply: u64,
        outcome: Result<&'a [u8], &'a str>,
        /// It has panicked.
        panicked: bool,
    },
    /// What the elements of a node have contributed to a reduction, for its root.
    Share {
        collection: u32,
        round: u64,
        count: u64,
        goes: u8,
        /// Which reducer merged them, and what it has; or why they do not fit together.
        merged: Result<(u64, &'a [u8]), &'a str>,
    },
    /// What a reduction results in, for those who have contributed.
    Result {
        collection: u32,
        round: u64,
        of: u64,
        output: &'a [u8],
    },
    /// From a reduction on there are more contributions, or fewer; for its root.
    Population { collection: u32, from: u64, by: i64 },
    /// Scans from `from` on have no results.
    ScanLoss {
        collection: u32,
        from: u64,
        why: &'a str,
    },
    /// About elements that move.
    Travel(Travel),
    /// An array is no more.
    Destroy { collection: u32 },
    /// Somebody wants to know when all is quiet; for the first node.
    AskQuiet { reply: u64 },
    /// The receiver is to say, when it is quiet, how many letters it has sent and received.
    Count { wave: u64 },
    /// That.
    Counted { wave: u64, sent: u64, received: u64 },
    /// The receiver is to write its elements of a collection into a file of this folder, whose name begins with `tag`.
    Checkpoint {
        collection: u32,
        folder: &'a [u8],
        tag: &'a str,
        reply: u64,
    },
    /// Something has failed.
    Failed(&'a str),
    /// The program is at its end, as an entry says.
    Exit,
    /// The first node is done with everything.
    Stop,
    /// A value that all nodes are to know before they go on.
    Readonly(&'a [u8]),
}

impl Letter<'_> {
    /// Whether it is of the program, or about it: only those of the program are counted.
    pub(crate) const fn is_counted(&self) -> bool {
        matches!(
            self,
            Self::One { .. }
                | Self::All { .. }
                | Self::Reply { .. }
                | Self::Share { .. }
                | Self::Result { .. }
                | Self::Population { .. }
                | Self::ScanLoss { .. }
                | Self::Travel(_)
                | Self::Destroy { .. }
        )
    }
}
