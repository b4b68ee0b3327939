//! Packets: how messages travel between nodes that share no memory.
//!
//! A packet is a header, the short part of a message, and its long part. The header has a number
//! that counts the packets from one node to another, and a checksum of all the rest, so that lost,
//! repeated and changed packets are noticed. All numbers are little-endian.
//!
//! | bytes | contents |
//! |---|---|
//! | 0..4 | CRC-32C of all that follows, header and parts |
//! | 4..8 | number of the packet, from 0, modulo 2³² |
//! | 8 | kind: 16 message, 17 put, 18 part, 19 get, 20 got (see [`Kind`]) |
//! | 9 | 1 if the receiver is to be woken, otherwise 0 |
//! | 10..12 | number of bytes of the short part |
//! | 12..16 | number of bytes of the long part |
//! | 16..18 | index of the sending port in its node |
//! | 18..20 | index of the receiving port in its node |
//! | 20..24 | zero |
//!
//! # Source
//! Parker, Efficient user-level event notification, section 3.4.2. CRC-32C: Castagnoli, Bräuer,
//! Herrmann, IEEE Transactions on Communications 41(6), 1993.

use raddle_sync::lane::{LONG_MAX, SHORT_MAX};

/// The number of bytes of a header.
pub(crate) const HEADER_BYTES: usize = 24;
/// The number of bytes of the longest packet.
pub(crate) const PACKET_BYTES_MAX: usize = HEADER_BYTES + SHORT_MAX + LONG_MAX;

/// The contents of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A message.
    Message = 16,
    /// A message. Its long part is put into a segment first.
    Put = 17,
    /// A long part that is put into a segment without a message. The message follows later.
    Part = 18,
    /// A request for bytes of a segment of the receiver. The network layer of the receiver answers
    /// it: no port receives it.
    Get = 19,
    /// The last part of the answer to a request. Its long part is put into the memory that the
    /// request named, and wakes the port that waits for it. No port receives a message.
    Got = 20,
}

impl Kind {
    pub(crate) fn of(byte: u8) -> Option<Self> {
        [Self::Message, Self::Put, Self::Part, Self::Get, Self::Got]
            .into_iter()
            .find(|&kind| kind as u8 == byte)
    }
}

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The number among the packets from this node to that one.
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    pub(crate) doorbell: bool,
    /// The port of the sending node.
    pub(crate) from: u16,
    /// The port of the receiving node.
    pub(crate) to: u16,
}

/// A packet as it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet<'a> {
    pub(crate) header: Header,
    pub(crate) short: &'a [u8],
    pub(crate) long: &'a [u8],
}

impl Header {
    /// Returns the bytes of the header of a packet with these parts.
    pub(crate) fn write(&self, short: &[&[u8]], long: &[u8]) -> [u8; HEADER_BYTES] {
        let short_len: usize = short.iter().map(|piece| piece.len()).sum();
        let mut bytes = [0; HEADER_BYTES];
        bytes[4..8].copy_from_slice(&self.number.to_le_bytes());
        bytes[8] = self.kind as u8;
        bytes[9] = self.doorbell.into();
        // Both are at most what a lane carries, which is far below the limits of these types.
        bytes[10..12].copy_from_slice(&(short_len as u16).to_le_bytes());
        bytes[12..16].copy_from_slice(&(long.len() as u32).to_le_bytes());
        bytes[16..18].copy_from_slice(&self.from.to_le_bytes());
        bytes[18..20].copy_from_slice(&self.to.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[4..]);
        let crc = short
            .iter()
            .fold(crc, |crc, piece| crc32c::crc32c_append(crc, piece));
        let crc = crc32c::crc32c_append(crc, long);
        bytes[0..4].copy_from_slice(&crc.to_le_bytes());
        bytes
    }
}

/// Returns a packet with this header and a correct checksum, for tests of the receiver.
#[doc(hidden)]
pub fn packet_of(header: &[u8; HEADER_BYTES], short: &[u8], long: &[u8]) -> Vec<u8> {
    let mut bytes = [&header[..], short, long].concat();
    bytes[10..12].copy_from_slice(&(short.len() as u16).to_le_bytes());
    bytes[12..16].copy_from_slice(&(long.len() as u32).to_le_bytes());
    let crc = crc32c::crc32c(&bytes[4..]);
    bytes[0..4].copy_from_slice(&crc.to_le_bytes());
    bytes
}

impl<'a> Packet<'a> {
    /// Reads a packet. Returns `None` for bytes that are not a packet, or that were changed on the
    /// way.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (header, parts) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
        let (short, long) = parts.split_at_checked(half(10).into())?;
        let is_whole = long.len() == word(12) as usize
            && short.len() <= SHORT_MAX
            && long.len() <= LONG_MAX
            && word(20) == 0
            && header[9] <= 1;
        let kind = Kind::of(header[8])?;
        if !is_whole || crc32c::crc32c(&bytes[4..]) != word(0) {
            return None;
        }
        let header = Header {
            number: word(4),
            kind,
            doorbell: header[9] == 1,
            from: half(16),
            to: half(18),
        };
        Some(Self {
            header,
            short,
            long,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: Header = Header {
        number: 0xFFFF_FFFE,
        kind: Kind::Put,
        doorbell: true,
        from: 3,
        to: 500,
    };

    proptest! {
        #[test]
        fn a_written_packet_is_read_back(
            short in prop::collection::vec(any::<u8>(), 0..=SHORT_MAX),
            long: Vec<u8>,
            cut: prop::sample::Index,
        ) {
            let (first, second) = short.split_at(cut.index(short.len() + 1));
            let header = HEADER.write(&[first, second], &long);
            let bytes = [&header[..], &short, &long].concat();
            let packet = Packet { header: HEADER, short: &short, long: &long };
            prop_assert_eq!(Packet::read(&bytes), Some(packet));
        }

        #[test]
        fn a_changed_bit_or_a_missing_byte_is_noticed(
            long: Vec<u8>,
            at: prop::sample::Index,
            bit in 0..8_u8,
        ) {
            let header = HEADER.write(&[b"short"], &long);
            let mut bytes = [&header[..], b"short", &long].concat();
            let place = at.index(bytes.len());
            prop_assert_eq!(Packet::read(&bytes[..place]), None);
            bytes[place] ^= 1 << bit;
            prop_assert_eq!(Packet::read(&bytes), None);
        }

        #[test]
        fn arbitrary_bytes_are_not_a_packet(bytes: Vec<u8>) {
            prop_assert_eq!(Packet::read(&bytes), None);
        }
    }
}
