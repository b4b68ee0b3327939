//! Detects the compression of a file by its first bytes, and undoes it.
//!
//! | beginning of the file                   | compression |
//! |-----------------------------------------|-------------|
//! | `1f 8b`                                 | gzip        |
//! | `28 b5 2f fd`, or a skippable frame     | zstd        |
//!
//! # Source
//! RFC 1952 (gzip, section 2.3.1), RFC 8878 (zstd, sections 3.1.1 and 3.1.2).

use std::fmt;
use std::io::{BufRead, BufReader, Chain, Cursor, Error, ErrorKind, Read};

use flate2::bufread::GzDecoder;

#[cfg(test)]
mod tests;

/// The largest permitted window of a zstd frame, as a power of two.
const WINDOW_LOG_MAX: u32 = if usize::BITS == 64 { 31 } else { 30 };

/// The result of a function of zstd that has no memory (`ZSTD_error_memory_allocation` is 64).
const ZSTD_NO_MEMORY: usize = 0_usize.wrapping_sub(64);

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// No compression.
    None,
    /// gzip, one member or several.
    Gzip,
    /// zstd, one frame or several.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// Input with its first bytes examined and put back.
pub(crate) type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// Detects the compression of `input`, and returns the input with all its bytes.
pub(crate) fn detect<R: Read>(mut input: R) -> std::io::Result<(Compression, Peeked<R>)> {
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
            Box::new(ZstdFrames(decoder))
        }
    })
}

/// Reads frames of zstd. A lack of memory, which a large window can cause, has a kind of its own.
struct ZstdFrames<R: Read>(zstd::Decoder<'static, BufReader<R>>);

impl<R: Read> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            let no_memory = zstd::zstd_safe::get_error_name(ZSTD_NO_MEMORY);
            match error.to_string() == no_memory {
                true => Error::new(ErrorKind::OutOfMemory, "no memory for the window of zstd"),
                false => error,
            }
        })
    }
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
