//! The data of arrays: parts in binary or base64, text up to a tag, and compressed blocks.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read};

use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use flate2::bufread::ZlibDecoder;

use crate::file::{Rest, Source};
use crate::memory;

/// Binary data in one or several parts. In base64, each part is encoded by itself.
pub(super) trait Part {
    /// Returns the next part, of at most `bytes` bytes.
    fn part(&mut self, bytes: u64) -> impl Read + '_;
}

/// Data as they are.
pub(super) struct Plain<R>(pub(super) R);

impl<R: Read> Part for Plain<R> {
    fn part(&mut self, bytes: u64) -> impl Read + '_ {
        (&mut self.0).take(bytes)
    }
}

/// Data in base64, without white space.
pub(super) struct Base64<R>(pub(super) R);

impl<R: Read> Part for Base64<R> {
    fn part(&mut self, bytes: u64) -> impl Read + '_ {
        // Three bytes take four characters. The decoder must not read more than its part.
        let chars = bytes.div_ceil(3).saturating_mul(4);
        DecoderReader::new((&mut self.0).take(chars), &STANDARD)
    }
}

/// The text of an element, up to the next tag.
pub(super) struct UntilTag<'s, 'a> {
    rest: Rest<'s, 'a>,
    /// True if white space is a part of the text.
    has_space: bool,
}

impl<'s, 'a> UntilTag<'s, 'a> {
    /// Returns numbers, which white space separates.
    pub(super) fn numbers(source: &'s mut Source<'a>) -> Self {
        let (rest, has_space) = (Rest(source), true);
        Self { rest, has_space }
    }

    /// Returns base64.
    pub(super) fn base64(source: &'s mut Source<'a>) -> Self {
        let (rest, has_space) = (Rest(source), false);
        Self { rest, has_space }
    }
}

impl Read for UntilTag<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let available = self.rest.fill_buf()?;
            // Not more than is asked for: the search would take most of the time.
            let available = &available[..available.len().min(buffer.len())];
            let end = available.iter().position(|&byte| byte == b'<');
            let text = &available[..end.unwrap_or(available.len())];
            if text.is_empty() {
                return Ok(0);
            }
            let used = text.len();
            let mut count = 0;
            for &byte in text
                .iter()
                .filter(|byte| self.has_space || !byte.is_ascii_whitespace())
            {
                buffer[count] = byte;
                count += 1;
            }
            self.rest.consume(used);
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
        }
    }
}

/// The compression of an array.
#[derive(Debug, Clone, Copy)]
pub(super) enum Compressor {
    Zlib,
    Lz4,
}

/// Blocks compressed by zlib, one after the other.
pub(super) struct ZlibBlocks<R> {
    /// The decoder of the current block; none after the last one.
    decoder: Option<ZlibDecoder<BufReader<R>>>,
    left: u64,
}

impl<R: Read> ZlibBlocks<R> {
    pub(super) fn new(data: R, count: u64) -> Self {
        Self {
            decoder: (count > 0).then(|| ZlibDecoder::new(BufReader::new(data))),
            left: count,
        }
    }
}

impl<R: Read> Read for ZlibBlocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.left -= 1;
            let data = self.decoder.take().map(ZlibDecoder::into_inner);
            self.decoder = data.filter(|_| self.left > 0).map(ZlibDecoder::new);
        }
        Ok(0)
    }
}

/// The largest number of bytes that LZ4 can expand one byte to.
const LZ4_RATIO_MAX: u64 = 255;

/// Blocks compressed by LZ4, one after the other. Each is expanded as a whole.
pub(super) struct Lz4Blocks<R> {
    data: R,
    /// The compressed bytes of the blocks that follow.
    packed_sizes: std::vec::IntoIter<u64>,
    /// The expanded bytes of each block except the last.
    block: u64,
    /// The expanded bytes of the blocks that follow.
    left: u64,
    packed: Vec<u8>,
    expanded: Vec<u8>,
    used: usize,
}

impl<R: Read> Lz4Blocks<R> {
    /// Reads blocks of `block` bytes, `all` bytes in total, which takes the memory of one block.
    pub(super) fn new(data: R, packed_sizes: Vec<u64>, block: u64, all: u64) -> Self {
        Self {
            data,
            packed_sizes: packed_sizes.into_iter(),
            block,
            left: all,
            packed: Vec::new(),
            expanded: Vec::new(),
            used: 0,
        }
    }

    /// Expands the next block, of `size` bytes.
    fn expand(&mut self, size: u64) -> std::io::Result<()> {
        self.packed.clear();
        self.used = 0;
        let read = (&mut self.data).take(size).read_to_end(&mut self.packed)? as u64;
        let bytes = self.block.min(self.left);
        let broken = |text: &str| Error::new(ErrorKind::InvalidData, text);
        if read < size {
            return Err(broken("a block of LZ4 is cut off"));
        } else if bytes > size.saturating_mul(LZ4_RATIO_MAX) {
            return Err(broken("a block of LZ4 is too short for its voxels"));
        }
        self.left -= bytes;
        self.expanded.clear();
        memory::reserve(&mut self.expanded, bytes).map_err(|_| ErrorKind::OutOfMemory)?;
        self.expanded.resize(bytes as usize, 0);
        let count = lz4_flex::block::decompress_into(&self.packed, &mut self.expanded)
            .map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
        if count as u64 != bytes {
            return Err(broken("a block of LZ4 is too short for its voxels"));
        }
        Ok(())
    }
}

impl<R: Read> Read for Lz4Blocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.used == self.expanded.len() {
            let Some(size) = self.packed_sizes.next() else {
                return Ok(0);
            };
            self.expand(size)?;
        }
        let count = (&self.expanded[self.used..]).read(buffer)?;
        self.used += count;
        Ok(count)
    }
}
