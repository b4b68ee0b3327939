//! The messages by which bricks are requested and answered.
//!
//! The user field of a message says which of them it is. All numbers are little-endian.
//!
//! | message | metadata | data |
//! |---|---|---|
//! | request | port for the answers (2 bytes) | keys (8 bytes each) |
//! | answer | key (8), offset (4), 1 for the last part, otherwise 0 (1) | a part of the brick |
//! | refusal | key (8) | the reason, in UTF-8 |
//!
//! # Source
//! `DATA_REQUEST` and `DATA` in Parker, Efficient user-level event notification, section 6.3.3.

/// The user fields of the messages.
pub(super) const REQUEST: u32 = 0xB51C_0001;
pub(super) const ANSWER: u32 = 0xB51C_0002;
pub(super) const REFUSAL: u32 = 0xB51C_0003;

/// The number of bytes of the metadata of an answer.
pub(super) const ANSWER_BYTES: usize = 13;
/// The largest number of keys of a request. They travel with the descriptor, in one cache line or
/// two.
pub(super) const KEYS_MAX: usize = 16;

/// The metadata of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerHead {
    pub(super) key: u64,
    pub(super) at: u32,
    pub(super) is_last: bool,
}

impl AnswerHead {
    pub(super) fn write(self) -> [u8; ANSWER_BYTES] {
        let mut bytes = [0; ANSWER_BYTES];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.at.to_le_bytes());
        bytes[12] = self.is_last.into();
        bytes
    }

    pub(super) fn read(metadata: &[u8]) -> Option<Self> {
        let bytes: &[u8; ANSWER_BYTES] = metadata.try_into().ok()?;
        Some(Self {
            key: u64::from_le_bytes(std::array::from_fn(|index| bytes[index])),
            at: u32::from_le_bytes(std::array::from_fn(|index| bytes[8 + index])),
            is_last: bytes[12] == 1,
        })
    }
}

impl AnswerHead {
    /// Checks a part of `len` bytes of a brick that has `expected` bytes. Returns the reason if the
    /// sender has bricks of another size.
    pub(super) fn fault(self, len: usize, expected: usize) -> Option<String> {
        let end = self.at as usize + len;
        let fits = end <= expected && (end == expected || !self.is_last);
        (!fits).then(|| {
            let more = if self.is_last { "" } else { "more than " };
            format!(
                "the answer has {more}{end} bytes; expected {expected}, as all bricks have here"
            )
        })
    }
}

/// Reads the metadata and data of a request: the port for the answers, and the keys.
pub(super) fn read_request<'a>(
    metadata: &[u8],
    data: &'a [u8],
) -> Option<(u16, impl Iterator<Item = u64> + 'a)> {
    let port = u16::from_le_bytes(metadata.try_into().ok()?);
    let (keys, rest) = data.as_chunks();
    rest.is_empty()
        .then(|| (port, keys.iter().map(|&key| u64::from_le_bytes(key))))
}

/// Reads the metadata of a refusal.
pub(super) fn read_refusal(metadata: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(metadata.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let head = AnswerHead {
            key: 0x0102_0304_0506_0708,
            at: 131_072,
            is_last: true,
        };
        assert_eq!(AnswerHead::read(&head.write()), Some(head));
        assert_eq!(AnswerHead::read(&head.write()[1..]), None);
        let keys = [7_u64, 1 << 40].map(u64::to_le_bytes).concat();
        let (port, read) = read_request(&[3, 1], &keys).expect("a request");
        assert_eq!((port, read.collect::<Vec<_>>()), (259, vec![7, 1 << 40]));
        assert!(read_request(&[3], &keys).is_none());
        assert!(read_request(&[3, 1], &keys[1..]).is_none());
    }
}
