//! Which compression and which format a file has: by its content first, by its name where that says nothing.
//!
//! A byte-order mark before a text is passed over.
//!
//! | found at the beginning                         | taken for            |
//! |------------------------------------------------|----------------------|
//! | `1f 8b`                                        | gzip                 |
//! | `28 b5 2f fd`, or a skippable frame            | zstd                 |
//! | `ply` and the end of a line                    | PLY                  |
//! | `glTF`                                         | binary glTF          |
//! | 84 bytes and 50 for each promised triangle     | binary STL           |
//! | text whose first word is `solid`               | ASCII STL            |
//! | text whose first word is a keyword of OBJ      | OBJ                  |
//!
//! Many binary STL files begin with `solid`, too; their length gives them away, and if that is not known
//! because they are compressed, the zero bytes in their header.
//!
//! # Source
//! RFC 1952 (gzip, section 2.3.1), RFC 8878 (zstd, sections 3.1.1 and 3.1.2).

use std::io::{BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;

use super::error::{Fault, MeshProblem, Place, quoted};
use super::report::Compression;
use super::source::Source;

#[cfg(test)]
mod tests;

/// The largest window that a zstd frame may have, as a power of two.
const WINDOW_LOG_MAX: u32 = if usize::BITS == 64 { 31 } else { 30 };
/// What some editors write before a text in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How much of the expanded file the format is told from.
const HEAD_BYTES: usize = 64 << 10;
/// The first words of OBJ lines that anybody writes.
const OBJ_WORDS: &[&[u8]] = &[
    b"v", b"vn", b"vt", b"vp", b"f", b"fo", b"l", b"p", b"g", b"o", b"s", b"mtllib", b"usemtl",
    b"mg",
];

/// A format as far as the first bytes tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ply,
    Obj,
    StlText,
    StlBinary,
    Glb,
}

/// Input whose first bytes have been looked at and put back.
pub(crate) type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// Tells the compression of `input`, and returns it as it was.
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

/// Puts the decompressor before `input` that it needs.
///
/// A window of zstd may be as large as the format allows; the system gives memory only for the part
/// of it that is used.
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

/// The members of a gzip file, one after the other, up to padding with zeros or the end.
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

/// Passes over zero bytes; false if nothing else follows.
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

/// Tells the format of what `source` stands at the beginning of; `name` counts where the content is mute.
pub(crate) fn format(source: &mut Source<'_>, name: &Path) -> Result<Kind, Fault> {
    source.ensure(HEAD_BYTES)?;
    if source.buffered().starts_with(BYTE_ORDER_MARK) {
        source.consume(BYTE_ORDER_MARK.len());
    }
    let length = source.remaining();
    let head = source.buffered();
    let head = &head[..head.len().min(HEAD_BYTES)];
    if head.is_empty() {
        return Err(Fault::new(Place::Whole, MeshProblem::Empty));
    }
    let text = is_text(head);
    if let Some(kind) = by_content(head, text, length) {
        return Ok(kind);
    }
    match extension(name).as_str() {
        "ply" => Ok(Kind::Ply),
        "obj" => Ok(Kind::Obj),
        "stl" if text => Ok(Kind::StlText),
        "stl" => Ok(Kind::StlBinary),
        "glb" => Ok(Kind::Glb),
        _ => {
            let first_line = head.split(is_line_end).next().unwrap_or(head);
            let found = match (text, head.trim_ascii_start().first()) {
                (true, Some(b'{')) => "JSON".to_owned(),
                _ => format!("a file that begins with {}", quoted(first_line)),
            };
            let problem = MeshProblem::UnknownFormat { found };
            Err(Fault::new(Place::Whole, problem))
        }
    }
}

fn by_content(head: &[u8], text: bool, length: Option<u64>) -> Option<Kind> {
    if head.starts_with(b"ply\n") || head.starts_with(b"ply\r") || head.starts_with(b"ply ") {
        return Some(Kind::Ply);
    }
    if head.starts_with(b"glTF") {
        return Some(Kind::Glb);
    }
    if let Some(&count) = head.get(80..).and_then(|rest| rest.first_chunk::<4>()) {
        let bytes = 84 + 50 * u64::from(u32::from_le_bytes(count));
        if length == Some(bytes) {
            return Some(Kind::StlBinary);
        }
    }
    if !text {
        return head.starts_with(b"solid").then_some(Kind::StlBinary);
    }
    let word = head
        .split(is_line_end)
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !line.starts_with(b"#"))?
        .split(u8::is_ascii_whitespace)
        .next()?;
    if word.eq_ignore_ascii_case(b"solid") {
        Some(Kind::StlText)
    } else {
        OBJ_WORDS.contains(&word).then_some(Kind::Obj)
    }
}

/// The extension in small letters, that of a compressed file without `.gz` or `.zst`.
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

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Tells whether there are no control characters but white space, and what some programs write at
/// the end of a text: zeros, and the mark of an end under CP/M and DOS.
fn is_text(head: &[u8]) -> bool {
    let is_padding = |byte: &u8| matches!(byte, 0 | 0x1a) || byte.is_ascii_whitespace();
    let end = head.iter().rposition(|byte| !is_padding(byte));
    end.is_some_and(|end| {
        let mut text = head[..=end].iter();
        text.all(|&byte| byte >= b' ' || byte.is_ascii_whitespace())
    })
}
