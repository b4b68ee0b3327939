//! Selects the reader of a file by its content, or by its name if the content is not conclusive.
//!
//! A byte-order mark before a text is skipped.

use std::path::Path;

use super::error::{Fault, FileProblem, Place, quoted};
use super::source::{BYTE_ORDER_MARK, Source};

/// The number of bytes of the expanded file that are examined for the format.
const HEAD_BYTES: usize = 64 << 10;

/// A reader of one format. `Read` is the function that reads a file from its first byte.
#[derive(Debug)]
pub(crate) struct FormatReader<Read> {
    /// The file extensions, in lower case.
    pub(crate) extensions: &'static [&'static str],
    /// Decides between readers with the same extension: `Some(true)` for text, `Some(false)` for
    /// binary data.
    pub(crate) is_text: Option<bool>,
    /// Returns true if the beginning of a file proves that it has this format.
    pub(crate) recognizes: fn(&Head<'_>) -> bool,
    /// Reads a file from its first byte.
    pub(crate) read: Read,
}

impl<Read> FormatReader<Read> {
    /// Returns true if this reader reads files with this extension and beginning.
    pub(crate) fn accepts(&self, extension: &str, head: &Head<'_>) -> bool {
        self.extensions.contains(&extension) && self.is_text.is_none_or(|text| text == head.is_text)
    }
}

/// The beginning of a file.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    /// The first bytes.
    pub(crate) bytes: &'a [u8],
    /// True if the bytes look like text.
    pub(crate) is_text: bool,
    /// The length of the whole file, if it is known.
    pub(crate) length: Option<u64>,
}

impl<'a> Head<'a> {
    /// Examines the first bytes of a file.
    pub(crate) fn new(bytes: &'a [u8], length: Option<u64>) -> Self {
        Self {
            bytes,
            is_text: is_text(bytes),
            length,
        }
    }

    /// Returns the bytes of the first line.
    pub(crate) fn first_line(&self) -> &'a [u8] {
        self.bytes.split(is_line_end).next().unwrap_or(self.bytes)
    }

    /// Returns the first word outside of comment lines, which begin with `#`.
    pub(crate) fn first_word(&self) -> Option<&'a [u8]> {
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

/// Selects one of `readers` for the content at the beginning of `source`: the first one that
/// recognises it. If the content is not conclusive, the extension of `name` decides. `expected`
/// names the formats in errors.
pub(crate) fn reader<'r, Read>(
    readers: &'r [FormatReader<Read>],
    source: &mut Source<'_>,
    name: &Path,
    expected: &'static str,
) -> Result<&'r FormatReader<Read>, Fault> {
    source.ensure(HEAD_BYTES)?;
    if source.buffered().starts_with(BYTE_ORDER_MARK) {
        source.consume(BYTE_ORDER_MARK.len());
    }
    let length = source.remaining();
    let bytes = source.buffered();
    let bytes = &bytes[..bytes.len().min(HEAD_BYTES)];
    if bytes.is_empty() {
        return Err(Fault::new(Place::Whole, FileProblem::Empty { expected }));
    }
    let head = Head::new(bytes, length);
    let found = find(readers, &head, name);
    found.map(|(reader, _)| reader).ok_or_else(|| {
        let found = match (head.is_text, bytes.trim_ascii_start().first()) {
            (true, Some(b'{')) => "JSON".to_owned(),
            _ => format!("a file that begins with {}", quoted(head.first_line())),
        };
        let problem = FileProblem::UnknownFormat { found, expected };
        Fault::new(Place::Whole, problem)
    })
}

/// The reason for which a reader was selected, the weaker one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// The extension of the name.
    Name,
    /// The content.
    Content,
}

/// Returns the reason for which one of `readers` would be selected; `None` if none would be.
pub(crate) fn match_of<Read>(
    readers: &[FormatReader<Read>],
    source: &mut Source<'_>,
    name: &Path,
) -> Result<Option<Match>, Fault> {
    source.ensure(HEAD_BYTES)?;
    let length = source.remaining();
    let bytes = source.buffered();
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let head = Head::new(&bytes[..bytes.len().min(HEAD_BYTES)], length);
    Ok(find(readers, &head, name).map(|(_, reason)| reason))
}

/// Finds the reader for the beginning of a file, and the reason.
fn find<'r, Read>(
    readers: &'r [FormatReader<Read>],
    head: &Head<'_>,
    name: &Path,
) -> Option<(&'r FormatReader<Read>, Match)> {
    let extension = extension(name);
    let by_content = readers.iter().find(|reader| (reader.recognizes)(head));
    let by_name = || {
        readers
            .iter()
            .find(|reader| reader.accepts(&extension, head))
    };
    by_content
        .map(|reader| (reader, Match::Content))
        .or_else(|| Some((by_name()?, Match::Name)))
}

/// Returns the extension in lower case. A final `.gz` or `.zst` is ignored.
fn extension(name: &Path) -> String {
    let lower = |path: &Path| {
        path.extension()
            .map(|extension| extension.to_string_lossy().to_ascii_lowercase())
            .unwrap_or_default()
    };
    match lower(name).as_str() {
        "gz" | "zst" => lower(Path::new(name.file_stem().unwrap_or_default())),
        other => other.to_owned(),
    }
}
