//! The descriptor of a message: what to move where, by what right, and whom to tell.
//!
//! It travels as the first bytes of a message's short part; the metadata follow it, and data that are few follow these. All numbers are
//! little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 0..2 | connection, as the receiver numbers them |
//! | 2 | flags: bit 0 doorbell, bit 1 cache hint, bit 2 the data were put into a segment; all others zero |
//! | 3 | how many bytes of metadata there are |
//! | 4..8 | user field |
//! | 8..16 | key of the connection |
//! | 16..24 | of data that were put: where, as an offset into the segment; else zero |
//! | 24..32 | of data that were put: how many bytes; else zero |
//!
//! # Source
//! Parker, Efficient user-level event notification, section 3.4.1 and figures 5 and 6. Source and destination node are known from the lane or
//! connection that a message comes by; source addresses do not travel.

use raddle_sync::hand_over::Reader;

use crate::connection::Refusal;

/// Bytes of a descriptor.
pub(crate) const DESCRIPTOR_BYTES: usize = 32;

const DOORBELL: u8 = 1;
const CACHE_HINT: u8 = 2;
const PUT: u8 = 4;

/// What a message says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) connection: u16,
    pub(crate) flags: Flags,
    pub(crate) metadata_len: u8,
    pub(crate) user: u32,
    pub(crate) key: u64,
    /// Where data were put, and how many.
    pub(crate) put: Option<(u64, u64)>,
}

/// What is to happen where a message arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    /// The receiver is woken if it sleeps.
    pub doorbell: bool,
    /// The receiver is about to read the data. Else long ones go past the caches, where the sender writes them to where they are read.
    pub cache_hint: bool,
}

impl Default for Flags {
    /// A message that wakes, of data that are read soon.
    fn default() -> Self {
        Self {
            doorbell: true,
            cache_hint: true,
        }
    }
}

impl Flags {
    /// Who reads the data, and when.
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
            (self.put.is_some(), PUT),
        ];
        let (at, len) = self.put.unwrap_or_default();
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

    /// The descriptor at the beginning of `short`, the metadata behind it, and the data behind these.
    ///
    /// # Errors
    /// [`Refusal::Malformed`] for bytes that no sender of ours writes.
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
        let is_put = flags & PUT != 0;
        let is_known = flags & !(DOORBELL | CACHE_HINT | PUT) == 0;
        if !is_known || (!is_put && (at, len) != (0, 0)) {
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
            put: is_put.then_some((at, len)),
        };
        Ok((descriptor, metadata, data))
    }
}

#[cfg(test)]
mod tests;
