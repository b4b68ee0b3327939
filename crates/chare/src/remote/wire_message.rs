//! The messages between nodes about chares.
//!
//! # Format
//! ```text
//! body (arguments, reply or contributions), serialised first
//! header (a `WireMessage`), which is known only after the body has been serialised
//! length of the header: 4 bytes, little-endian
//! ```
//! The body is thus serialised once, and decoded in place.

use serde::{Deserialize, Serialize};

use super::MigrationMessage;
use crate::codec::{CrossingError, read, write};
use crate::recorded::Crossing;

/// The number of bytes of the header's length.
const LEN_BYTES: usize = size_of::<u32>();

/// A message between the systems of two nodes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WireMessage<'a> {
    /// A message for one element. The body contains the arguments, as for `All`.
    One {
        /// The number by which all nodes know the collection, as in all wire messages.
        collection: u32,
        number: u64,
        priority: i32,
        /// The sender's epoch, which determines where the element is ([`crate::migration`]).
        epoch: u32,
        handler: u16,
        /// The number under which the sender waits for a reply.
        reply: Option<u64>,
        crossing: Crossing,
    },
    /// A message for all elements that the receiver has.
    All {
        collection: u32,
        priority: i32,
        epoch: u32,
        handler: u16,
    },
    /// The reply of an entry, as the body, or the reason why there is none.
    Reply {
        reply: u64,
        outcome: Result<(), &'a str>,
        /// True if the entry has panicked.
        panicked: bool,
    },
    /// The merged contributions of a node's elements to a reduction, for its root.
    Share {
        collection: u32,
        round: u64,
        count: u64,
        goes: u8,
        /// The number of the reducer, with its value as the body; or why they do not fit.
        merged: Result<u64, &'a str>,
    },
    /// The result of a reduction, as the body, for its contributors.
    Result {
        collection: u32,
        round: u64,
        of: u64,
    },
    /// The number of contributions changes by `by` from a reduction on; for its root.
    Population { collection: u32, from: u64, by: i64 },
    /// Scans from `from` on have no results.
    ScanLoss {
        collection: u32,
        from: u64,
        why: &'a str,
    },
    /// A message about migration or balancing.
    Migration(MigrationMessage),
    /// An array no longer exists.
    Destroy { collection: u32 },
    /// A request to be notified when all nodes are quiet; for the first node.
    AskQuiet { reply: u64 },
    /// Asks the receiver for its numbers of sent and received wire messages, once it is quiet.
    Count { wave: u64 },
    /// The answer to `Count`.
    Counted { wave: u64, sent: u64, received: u64 },
    /// Asks the receiver to write its elements of a collection into a file in `folder` with a name
    /// that begins with `tag`.
    Checkpoint {
        collection: u32,
        folder: &'a [u8],
        tag: &'a str,
        reply: u64,
    },
    /// A failure for all waiters.
    Failed { text: &'a str, is_panic: bool },
    /// An entry has ended the program.
    Exit,
    /// The main part on the first node is over.
    Stop,
    /// A read-only value of the set-up, as the body.
    Readonly,
}

impl<'a> WireMessage<'a> {
    /// Serialises the wire message, with this body.
    pub(crate) fn seal(&self, body: Vec<u8>) -> Vec<u8> {
        let mut bytes = body;
        let start = bytes.len();
        write(self, &mut bytes).expect("wire messages are plain");
        // The cast loses nothing: the header contains at most a text of the program, which is
        // shorter.
        let len = (bytes.len() - start) as u32;
        bytes.extend(len.to_le_bytes());
        bytes
    }

    /// Decodes the wire message, and returns it with its body.
    ///
    /// # Errors
    /// If the bytes are not a wire message.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), CrossingError> {
        let cut = || CrossingError::from(postcard::Error::DeserializeUnexpectedEnd);
        let (rest, len) = bytes.split_last_chunk::<LEN_BYTES>().ok_or_else(cut)?;
        let start = rest.len().checked_sub(u32::from_le_bytes(*len) as usize);
        let (body, mut what) = rest.split_at(start.ok_or_else(cut)?);
        Ok((read(&mut what)?, body))
    }

    /// Returns true for the wire messages that quiescence detection counts: those that the program
    /// causes, not those of the detection or of the end.
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
                | Self::Migration(_)
                | Self::Destroy { .. }
        )
    }
}
