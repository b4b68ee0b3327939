//! Detects the compression and the format of a file by its content, or by its name if the content
//! is not conclusive.
//!
//! A byte-order mark before a text is skipped.
//!
//! | beginning of the file                          | result               |
//! |------------------------------------------------|----------------------|
//! | `1f 8b`                                        | gzip                 |
//! | `28 b5 2f fd`, or a skippable frame            | zstd                 |
//! | `ply` and the end of a line                    | PLY                  |
//! | `glTF`                                         | binary glTF          |
//! | 84 bytes and 50 for each promised triangle     | binary STL           |
//! | text with the first word `solid`               | ASCII STL            |
//! | text with a keyword of OBJ as its first word   | OBJ                  |
//!
//! Many binary STL files begin with `solid` too. They are recognised by their length or, if that is
//! unknown because they are compressed, by the zero bytes in their header.
//!
//! # Source
//! RFC 1952 (gzip, section 2.3.1), RFC 8878 (zstd, sections 3.1.1 and 3.1.2).

use std::io::{BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::error::{Fault, MeshProblem, Place, quoted};
use super::readers::{FormatReader, Head, READERS};
use super::report::Compression;
use super::source::{BYTE_ORDER_MARK, Source};

#[cfg(test)]
mod tests;

/// The largest permitted window of a zstd frame, as a power of two.
const WINDOW_LOG_MAX: u32 = if usize::BITS == 64 { 31 } else { 30 };
/// The number of bytes of the expanded file that are examined for the format.
const HEAD_BYTES: usize = 64 << 10;
/// Input with its first bytes examined and put back.
pub(crate) type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// Detects the compression of `input`, and returns the input with all its bytes.
pub(crate) fn compression<R: Read>(mut input: R) -> std::io::Result<(Compression, Peeked<R>)> {
    let mut head = Vec::with_capacity(4);
    input.by_ref().take(4).read_to_end(&mut head)?;
    let compression = match head[..] {
        [0x1f, 0x8b, ..] => Compression::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Compression::Zstd,
        _ => Compression::None,
    };
    Ok((compression, Cursor::new(head).chain(input)))
}

/// Wraps `input` in the decompressor that it needs.
///
/// A zstd window may be as large as the format permits. The system provides memory only for the
/// part of it that is used.
pub(crate) fn expand<'a>(
    compression: Compression,
    input: impl Read + 'a,
) -> std::io::Result<Box<dyn Read + 'a>> {
    Ok(match compression {
        Compression::None => Box::new(input),
        Compression::Gzip => Box::new(GzipMembers(Some(GzDecoder::new(BufReader::new(input))))),
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::new(input)?;
            decoder.window_log_max(WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
    })
}

/// Reads the members of a gzip file, one after the other, up to padding with zeros or the end.
struct GzipMembers<R>(Option<GzDecoder<BufReader<R>>>);

impl<R: Read> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(finished) = self.0.take() else { break };
            let mut input = finished.into_inner();
            if skip_zeros(&mut input)? {
                self.0 = Some(GzDecoder::new(input));
            }
        }
        Ok(0)
    }
}

/// Skips zero bytes. Returns false if nothing else follows.
fn skip_zeros(input: &mut impl BufRead) -> std::io::Result<bool> {
    loop {
        let buffered = input.fill_buf()?;
        let zero_count = buffered.iter().take_while(|byte| **byte == 0).count();
        let (is_end, is_other) = (buffered.is_empty(), zero_count < buffered.len());
        input.consume(zero_count);
        if is_end || is_other {
            return Ok(!is_end);
        }
    }
}

/// Selects the reader for the content at the beginning of `source`. If the content is not
/// conclusive, the extension of `name` decides.
pub(crate) fn reader(source: &mut Source<'_>, name: &Path) -> Result<&'static FormatReader, Fault> {
    source.ensure(HEAD_BYTES)?;
    if source.buffered().starts_with(BYTE_ORDER_MARK) {
        source.consume(BYTE_ORDER_MARK.len());
    }
    let length = source.remaining();
    let bytes = source.buffered();
    let bytes = &bytes[..bytes.len().min(HEAD_BYTES)];
    if bytes.is_empty() {
        return Err(Fault::new(Place::Whole, MeshProblem::Empty));
    }
    let head = Head::new(bytes, length);
    let extension = extension(name);
    let by_content = READERS.iter().find(|reader| (reader.recognizes)(&head));
    let by_name = || {
        READERS
            .iter()
            .find(|reader| reader.accepts(&extension, &head))
    };
    by_content.or_else(by_name).ok_or_else(|| {
        let found = match (head.is_text, bytes.trim_ascii_start().first()) {
            (true, Some(b'{')) => "JSON".to_owned(),
            _ => format!("a file that begins with {}", quoted(head.first_line())),
        };
        Fault::new(Place::Whole, MeshProblem::UnknownFormat { found })
    })
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
