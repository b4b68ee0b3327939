//! The buffers of a glTF file: its binary chunk, and data in the JSON itself.
//!
//! # Source
//! glTF 2.0 Specification, 3.6.1 (buffers). Data URIs: RFC 2397. Base64: RFC 4648, section 4.

use super::Container;
use super::json::Root;

/// The bytes of all buffers.
#[derive(Debug)]
pub(super) struct Buffers<'a> {
    chunk: &'a [u8],
    list: Vec<Buffer>,
}

/// The location of a buffer's bytes.
#[derive(Debug)]
enum Buffer {
    /// In the binary chunk.
    Chunk,
    /// Decoded from a data URI.
    Decoded(Vec<u8>),
    /// In a data URI that is not base64.
    Broken,
    /// In another file.
    Elsewhere,
}

impl<'a> Buffers<'a> {
    /// Locates the bytes of every buffer. Takes at most as much memory as the JSON.
    pub(super) fn new(root: &Root, container: &'a Container) -> Self {
        let buffer = |(index, buffer): (usize, &super::json::Buffer)| match &buffer.uri {
            None if index == 0 => Buffer::Chunk,
            None => Buffer::Elsewhere,
            Some(uri) => match uri.strip_prefix("data:") {
                Some(data) => decode_data(data).map_or(Buffer::Broken, Buffer::Decoded),
                None => Buffer::Elsewhere,
            },
        };
        let mut list: Vec<_> = root.buffers.iter().enumerate().map(buffer).collect();
        // A file with an undeclared binary chunk is accepted, since its meaning is clear.
        if list.is_empty() {
            list.push(Buffer::Chunk);
        }
        Self {
            chunk: &container.binary,
            list,
        }
    }

    /// Returns the bytes of a buffer, and whether they are those of the binary chunk.
    ///
    /// # Errors
    /// A description of the problem.
    pub(super) fn bytes(&self, index: usize) -> Result<(&[u8], bool), String> {
        match self.list.get(index) {
            Some(Buffer::Chunk) => Ok((self.chunk, true)),
            Some(Buffer::Decoded(bytes)) => Ok((bytes, false)),
            Some(Buffer::Broken) => {
                Err(format!("data of buffer {index}, a URI that is not base64"))
            }
            Some(Buffer::Elsewhere) | None => {
                Err(format!("data of buffer {index}, which is in another file"))
            }
        }
    }
}

/// Decodes the bytes of a data URI without its scheme: a media type, `;base64,`, and the data.
fn decode_data(data: &str) -> Option<Vec<u8>> {
    let (kind, data) = data.split_once(',')?;
    kind.ends_with(";base64").then_some(())?;
    decode_base64(data.as_bytes())
}

fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|byte| *byte != b'=');
    let text = &text[..end.map_or(0, |end| end + 1)];
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for &digit in group {
            bits = bits << 6 | digit_value(digit)?;
        }
        // The last group may have two or three digits. Its bits that do not form a whole byte are
        // padding.
        let len = group.len() * 6 / 8;
        bits <<= 6 * (4 - group.len());
        bytes.extend(&bits.to_be_bytes()[1..=len]);
    }
    Some(bytes)
}

fn digit_value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}
