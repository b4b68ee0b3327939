//! The readers of all formats.
//!
//! To add a format, write a reader in a new submodule, add it to [`READERS`], and add the format to
//! [`super::format`].
//!
//! # Invariants
//! 1. No content of a file makes a reader panic, or allocate more memory than the size of the file
//!    justifies.
//! 2. No reader narrows coordinates: they stay `f64`, or the file's own `f32`, until
//!    [`Points::finish`](super::points::Points::finish).

mod glb;
mod obj;
mod ply;
mod stl;

use super::error::Fault;
use super::faces::Faces;
use super::parsed::Parsed;
use super::source::Source;

/// All readers. The first one that recognises a file reads the file.
pub(super) const READERS: [FormatReader; 5] = [
    ply::READER,
    glb::READER,
    stl::BINARY_READER,
    stl::TEXT_READER,
    obj::READER,
];

/// The reader of one format.
#[derive(Debug)]
pub(super) struct FormatReader {
    /// The file extension, in lower case.
    pub(super) extension: &'static str,
    /// Decides between readers with the same extension: `Some(true)` for text, `Some(false)` for
    /// binary data.
    pub(super) is_text: Option<bool>,
    /// Returns true if the beginning of a file proves that it has this format.
    pub(super) recognizes: fn(&Head<'_>) -> bool,
    /// Reads a file from its first byte.
    pub(super) read: fn(&mut Source<'_>, Faces) -> Result<Parsed, Fault>,
}

impl FormatReader {
    /// Returns true if this reader reads files with this extension and beginning.
    pub(super) fn accepts(&self, extension: &str, head: &Head<'_>) -> bool {
        self.extension == extension && self.is_text.is_none_or(|text| text == head.is_text)
    }
}

/// The beginning of a file.
#[derive(Debug)]
pub(super) struct Head<'a> {
    /// The first bytes.
    pub(super) bytes: &'a [u8],
    /// True if the bytes look like text.
    pub(super) is_text: bool,
    /// The length of the whole file, if it is known.
    pub(super) length: Option<u64>,
}

impl<'a> Head<'a> {
    /// Examines the first bytes of a file.
    pub(super) fn new(bytes: &'a [u8], length: Option<u64>) -> Self {
        Self {
            bytes,
            is_text: is_text(bytes),
            length,
        }
    }

    /// Returns the bytes of the first line.
    pub(super) fn first_line(&self) -> &'a [u8] {
        self.bytes.split(is_line_end).next().unwrap_or(self.bytes)
    }

    /// Returns the first word outside of comment lines, which begin with `#`.
    fn first_word(&self) -> Option<&'a [u8]> {
        self.bytes
            .split(is_line_end)
            .map(<[u8]>::trim_ascii)
            .find(|line| !line.is_empty() && !line.starts_with(b"#"))?
            .split(u8::is_ascii_whitespace)
            .next()
    }
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns true if the bytes contain no control characters except white space. At the end they may
/// also contain zeros and the end-of-text mark of CP/M and DOS, which some programs write there.
fn is_text(bytes: &[u8]) -> bool {
    let is_padding = |byte: &u8| matches!(byte, 0 | 0x1a) || byte.is_ascii_whitespace();
    let end = bytes.iter().rposition(|byte| !is_padding(byte));
    end.is_some_and(|end| {
        let mut text = bytes[..=end].iter();
        text.all(|&byte| byte >= b' ' || byte.is_ascii_whitespace())
    })
}
