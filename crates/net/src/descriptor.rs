//! The descriptor of a message: what it moves where, by which right, and whether it wakes the
//! receiver.
//!
//! It travels as the first bytes of a message's short part. The metadata follow it, then the data
//! if they are few. All numbers are little-endian.
//!
//! | bytes | contents |
//! |---|---|
//! | 0..2 | number of the connection at the receiver |
//! | 2 | flags: bit 0 doorbell, bit 1 cache hint, bit 2 names bytes of a window; others zero |
//! | 3 | number of bytes of metadata |
//! | 4..8 | user field |
//! | 8..16 | key of the connection |
//! | 16..24 | the offset in the window of bytes that were put, or are requested; otherwise zero |
//! | 24..32 | the number of these bytes; otherwise zero |
//!
//! # Source
//! Parker, Efficient user-level event notification, section 3.4.1 and figures 5 and 6. Source and
//! destination node are known from the lane or connection by which a message arrives. Source
//! addresses do not travel.

use raddle_sync::hand_over::Reader;

use crate::error::Refusal;

/// The number of bytes of a descriptor.
pub(crate) const DESCRIPTOR_BYTES: usize = 32;

const DOORBELL: u8 = 1;
const CACHE_HINT: u8 = 2;
const PART: u8 = 4;

/// The description of a message, which travels with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) connection: u16,
    pub(crate) flags: Flags,
    pub(crate) metadata_len: u8,
    pub(crate) user: u32,
    pub(crate) key: u64,
    /// The offset and length of the bytes of a window that were put, or that are requested.
    pub(crate) part: Option<(u64, u64)>,
}

/// Instructions for the receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    /// Wakes the receiver if it sleeps.
    pub doorbell: bool,
    /// The receiver reads the data soon. If this is not set, and the sender writes long data
    /// directly to their final location, they bypass the caches.
    pub cache_hint: bool,
}

impl Default for Flags {
    /// Returns the flags of a message that wakes the receiver and has data that are read soon.
    fn default() -> Self {
        Self {
            doorbell: true,
            cache_hint: true,
        }
    }
}

impl Flags {
    /// Returns when the data are read.
    pub(crate) const fn reader(self) -> Reader {
        if self.cache_hint {
            Reader::Soon
        } else {
            Reader::Later
        }
    }
}

impl Descriptor {
    pub(crate) fn write(&self) -> [u8; DESCRIPTOR_BYTES] {
        let mut bytes = [0; DESCRIPTOR_BYTES];
        let flags = [
            (self.flags.doorbell, DOORBELL),
            (self.flags.cache_hint, CACHE_HINT),
            (self.part.is_some(), PART),
        ];
        let (at, len) = self.part.unwrap_or_default();
        bytes[0..2].copy_from_slice(&self.connection.to_le_bytes());
        bytes[2] = flags
            .iter()
            .map(|&(is_set, bit)| u8::from(is_set) * bit)
            .sum();
        bytes[3] = self.metadata_len;
        bytes[4..8].copy_from_slice(&self.user.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.key.to_le_bytes());
        bytes[16..24].copy_from_slice(&at.to_le_bytes());
        bytes[24..32].copy_from_slice(&len.to_le_bytes());
        bytes
    }

    /// Reads the descriptor at the beginning of `short`. Returns it, the metadata behind it, and
    /// the data behind the metadata.
    ///
    /// # Errors
    /// [`Refusal::Malformed`] for bytes that [`write`](Self::write) never produces.
    pub(crate) fn read(short: &[u8]) -> Result<(Self, &[u8], &[u8]), Refusal> {
        let (bytes, rest) = short
            .split_first_chunk::<DESCRIPTOR_BYTES>()
            .ok_or(Refusal::Malformed)?;
        let (metadata, data) = rest
            .split_at_checked(bytes[3].into())
            .ok_or(Refusal::Malformed)?;
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        let flags = bytes[2];
        let (at, len) = (word(16), word(24));
        let has_part = flags & PART != 0;
        let is_known = flags & !(DOORBELL | CACHE_HINT | PART) == 0;
        if !is_known || (!has_part && (at, len) != (0, 0)) {
            return Err(Refusal::Malformed);
        }
        let descriptor = Self {
            connection: u16::from_le_bytes([bytes[0], bytes[1]]),
            flags: Flags {
                doorbell: flags & DOORBELL != 0,
                cache_hint: flags & CACHE_HINT != 0,
            },
            metadata_len: bytes[3],
            user: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            key: word(8),
            part: has_part.then_some((at, len)),
        };
        Ok((descriptor, metadata, data))
    }
}

#[cfg(test)]
mod tests;
