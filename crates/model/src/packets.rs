//! The division of a message into packets, and the number of bytes on the wire.
//!
//! A message is a header, its data and a checksum. A packet has a header of its own. The header of
//! the first packet is part of the smallest message (38 bytes, the study's section 3.4.2). Each
//! further packet adds another packet header.

use crate::units::Bytes;

/// Sizes of messages and packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketFormat {
    /// The maximum payload of a packet, in bytes.
    pub payload_bytes: u32,
    /// The header of each packet after the first, in bytes.
    pub header_bytes: u32,
    /// The size of a message without data, in bytes.
    pub message_min_bytes: u32,
}

impl PacketFormat {
    /// Returns the payload of a packet, at least one byte.
    const fn payload(self) -> u64 {
        match self.payload_bytes {
            0 => 1,
            bytes => bytes as u64,
        }
    }

    /// Returns the number of packets of a message with `data_bytes` bytes of data.
    ///
    /// Only the data counts, as in the study. (The study has three packets for 3,472 bytes, and so
    /// counts even less.)
    #[must_use]
    pub const fn packets(self, data_bytes: u64) -> u64 {
        match data_bytes.div_ceil(self.payload()) {
            0 => 1,
            packets => packets,
        }
    }

    /// Returns the number of bytes on the wire of a message with `data_bytes` bytes of data.
    #[must_use]
    pub const fn wire_bytes(self, data_bytes: u64) -> u64 {
        let headers = (self.packets(data_bytes) - 1).saturating_mul(self.header_bytes as u64);
        data_bytes
            .saturating_add(self.message_min_bytes as u64)
            .saturating_add(headers)
    }

    /// Returns the number of data bytes in a message of `wire_bytes` bytes on the wire.
    #[must_use]
    pub const fn data_bytes(self, wire_bytes: u64) -> u64 {
        let least = self.message_min_bytes as u64;
        let whole = self.payload() + self.header_bytes as u64;
        let beyond = wire_bytes.saturating_sub(least + self.payload());
        let further = beyond.div_ceil(whole) * self.header_bytes as u64;
        wire_bytes.saturating_sub(least + further)
    }

    /// Returns [`Self::wire_bytes`] as a mean.
    #[must_use]
    pub const fn wire(self, data_bytes: u64) -> Bytes {
        Bytes(self.wire_bytes(data_bytes) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: PacketFormat = PacketFormat {
        payload_bytes: 1024,
        header_bytes: 10,
        message_min_bytes: 38,
    };

    #[test]
    fn a_message_without_data_has_one_packet() {
        assert_eq!(STUDY.packets(0), 1);
        assert_eq!(STUDY.wire_bytes(0), 38);
        assert_eq!(STUDY.wire_bytes(20), 58, "the study's request");
    }

    #[test]
    fn data_bytes_inverts_wire_bytes() {
        for data in [0, 1, 1023, 1024, 1025, 2048, 2049, 3472, 100_000] {
            assert_eq!(STUDY.data_bytes(STUDY.wire_bytes(data)), data);
        }
        assert_eq!(STUDY.data_bytes(10), 0, "less than the smallest message");
    }

    #[test]
    fn each_further_packet_carries_a_header() {
        assert_eq!(STUDY.wire_bytes(1024), 1024 + 38);
        assert_eq!(STUDY.wire_bytes(1025), 1025 + 38 + 10);
        assert_eq!(STUDY.wire_bytes(3472), 3472 + 38 + 30);
    }
}
