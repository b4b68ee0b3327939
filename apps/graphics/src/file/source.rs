//! The bytes of a file on their way to a reader, with their places in the file.
//!
//! A [`Source`] is a buffer over a stream: a file, a decompressor, or a slice. Binary readers look
//! at the [`buffered`](Source::buffered) bytes and consume whole records of them. Text readers ask
//! for tokens or lines. A source never allocates memory because of a count in the input: buffers
//! grow with the bytes that have really been read, up to a limit.

use std::cell::Cell;
use std::io::{BufRead, ErrorKind, Read};
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::error::{Fault, FileProblem, Place, quoted};
use crate::memory;

/// The byte-order mark that some editors write before a text in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests;

/// The number of bytes read from the input at once. Together with the data made from them they fit
/// into the second-level cache.
const BUFFER_BYTES: usize = 256 << 10;
/// The maximum length of a line or token. A polygon of a million corners fits on one line of an OBJ
/// file.
pub(crate) const LINE_BYTES_MAX: usize = 32 << 20;

/// The number of bytes after which memory is first requested.
const MEMORY_ASKED_FIRST: u64 = 1 << 20;
/// The maximum number of characters of a line end.
const LINE_END_BYTES_MAX: usize = 3;

/// The number of bytes that any file may expand to, and the number of further bytes for each
/// compressed byte.
///
/// zstd expands zeros by a factor of 32,768, and a million equal faces by some thousands.
const EXPANDED_FREE: u64 = 256 << 20;
const EXPANDED_PER_BYTE: u64 = 1024;

/// A buffered stream that tracks its position.
pub(crate) struct Source<'a> {
    input: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The offset of `buffer[start]` in the expanded data.
    offset: u64,
    /// The number of lines that ended before `buffer[start]`; updated by the text methods only.
    lines_done: u64,
    /// The length of the expanded data, if it is known beforehand.
    length: Option<u64>,
    bytes_max: u64,
    ended: bool,
    input_time: Duration,
    after_fill: Box<dyn FnMut() + 'a>,
    /// The offset in the expanded data at which memory is requested the next time; `u64::MAX` if
    /// the reader reserves its memory itself.
    memory_asked_at: u64,
    /// The number of compressed bytes read so far; `None` if the input is not compressed.
    compressed_bytes: Option<Rc<Cell<u64>>>,
}

/// A line end of a text: `\n`, `\r\n`, `\r`, `\n\r` or `\r\r\n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineEnd {
    bytes: [u8; LINE_END_BYTES_MAX],
    len: usize,
}

impl<'a> Source<'a> {
    /// Wraps `input`, which may deliver at most `bytes_max` bytes.
    ///
    /// `length` is the number of bytes that it will deliver, if that is certain. `after_fill` is
    /// called each time the buffer has been filled.
    pub(crate) fn new(
        input: Box<dyn Read + 'a>,
        length: Option<u64>,
        bytes_max: u64,
        after_fill: Box<dyn FnMut() + 'a>,
    ) -> Self {
        Self {
            input,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            offset: 0,
            lines_done: 0,
            length,
            bytes_max,
            ended: false,
            input_time: Duration::ZERO,
            after_fill,
            memory_asked_at: u64::MAX,
            compressed_bytes: None,
        }
    }

    /// Wraps a decoder of a part of a file.
    pub(crate) fn inside(decoder: impl Read + 'a) -> Self {
        Self::new(Box::new(decoder), None, u64::MAX, Box::new(|| ()))
    }

    /// Limits the expanded data by the number of compressed bytes read so far, which the caller
    /// keeps up to date.
    pub(crate) fn bound_by(&mut self, compressed_bytes: Rc<Cell<u64>>) {
        self.compressed_bytes = Some(compressed_bytes);
    }

    /// Requests the memory by which the lists of the reader may grow, from time to time.
    ///
    /// The lists may double, and take no more memory than the text that they were read from.
    pub(crate) fn ask_for_lists(&mut self) {
        self.memory_asked_at = MEMORY_ASKED_FIRST;
    }

    /// Returns the bytes that have been read and not consumed.
    #[inline]
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Consumes the first `count` buffered bytes.
    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// Returns the offset of the next byte.
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the place of the next byte, as a byte offset.
    #[inline]
    pub(crate) fn byte(&self) -> Place {
        Place::Byte(self.offset)
    }

    /// Returns the place of the next byte, as a line. Right after a line end, this is the line that
    /// begins there.
    #[inline]
    pub(crate) fn line(&self) -> Place {
        Place::Line(self.lines_done + 1)
    }

    /// Returns the number of bytes that are still to come, if the length is known.
    pub(crate) fn remaining(&self) -> Option<u64> {
        self.length.map(|length| length.saturating_sub(self.offset))
    }

    /// Returns the time spent in the input (disk and decompressor) so far.
    pub(crate) fn input_time(&self) -> Duration {
        self.input_time
    }

    /// Returns the number of items of at least `item_bytes` bytes for which to reserve memory if
    /// the file declares `count` of them.
    ///
    /// This is at most the number that the remaining bytes can contain, or a million if the length
    /// is unknown because the file is compressed.
    fn reservation(&self, count: u64, item_bytes: u64) -> usize {
        let possible = self
            .remaining()
            .map_or(1 << 20, |bytes| bytes / item_bytes.max(1));
        usize::try_from(count.min(possible)).unwrap_or(0)
    }

    /// Reads until at least `count` bytes are buffered. Returns false if the input ends before.
    ///
    /// The buffer grows to `count`, so the caller must not pass an unchecked number from the input.
    #[inline]
    pub(crate) fn ensure(&mut self, count: usize) -> Result<bool, Fault> {
        while self.end - self.start < count {
            if !self.fill(count)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the next `count` bytes, which stay buffered until they are consumed.
    pub(crate) fn peek(&mut self, count: usize, expected: &str) -> Result<&[u8], Fault> {
        if !self.ensure(count)? {
            let end = Place::Byte(self.offset + self.buffered().len() as u64);
            return Err(Fault::truncated(end, expected));
        }
        Ok(&self.buffer[self.start..self.start + count])
    }

    /// Consumes the next `count` bytes into an array.
    pub(crate) fn take<const COUNT: usize>(
        &mut self,
        expected: &str,
    ) -> Result<[u8; COUNT], Fault> {
        let mut bytes = [0; COUNT];
        bytes.copy_from_slice(self.peek(COUNT, expected)?);
        self.consume(COUNT);
        Ok(bytes)
    }

    /// Skips `count` bytes.
    pub(crate) fn skip(&mut self, mut count: u64, expected: &str) -> Result<(), Fault> {
        while count > 0 {
            self.peek(1, expected)?;
            let step = (self.buffered().len() as u64).min(count);
            self.consume(step as usize);
            count -= step;
        }
        Ok(())
    }

    /// Reads to the end, so that a decompressor verifies its checksum. Returns the number of
    /// skipped bytes.
    pub(crate) fn drain(&mut self) -> Result<u64, Fault> {
        // The rest is not kept, so its size does not matter.
        self.compressed_bytes = None;
        let before = self.offset;
        loop {
            self.consume(self.end - self.start);
            if !self.fill(1)? {
                return Ok(self.offset - before);
            }
        }
    }

    /// Appends the bytes up to the end, but at most `count` bytes, to `bytes`.
    pub(crate) fn read_into(&mut self, bytes: &mut Vec<u8>, count: u64) -> Result<(), Fault> {
        let mut left = count;
        while left > 0 && self.ensure(1)? {
            let step = (self.buffered().len() as u64).min(left) as usize;
            bytes.extend_from_slice(&self.buffered()[..step]);
            self.consume(step);
            left -= step as u64;
        }
        Ok(())
    }

    /// Returns the next line without its end, and its place; `None` at the end of the file.
    pub(crate) fn next_line(&mut self) -> Result<Option<(Place, &[u8])>, Fault> {
        let line = self.take_line(None)?;
        Ok(line.map(|(place, line, _)| (place, &self.buffer[line])))
    }

    /// Returns the next line as [`next_line`](Self::next_line) does, and its end.
    ///
    /// A line end that begins like `expected` is taken for exactly that. So binary data after the
    /// line stay whole, even if they begin with a byte that could belong to a line end.
    pub(crate) fn next_line_ended_by(
        &mut self,
        expected: Option<LineEnd>,
    ) -> Result<Option<EndedLine<'_>>, Fault> {
        let line = self.take_line(expected)?;
        Ok(line.map(|(place, line, end)| (place, &self.buffer[line], end)))
    }

    /// Consumes a line with its end. Returns the line as a range of the buffer.
    fn take_line(
        &mut self,
        expected: Option<LineEnd>,
    ) -> Result<Option<(Place, Range<usize>, LineEnd)>, Fault> {
        let mut searched = 0;
        let length = loop {
            if let Some(position) = memchr::memchr2(b'\n', b'\r', &self.buffered()[searched..]) {
                break searched + position;
            }
            searched = self.end - self.start;
            if !self.ensure_longer(searched)? {
                break searched;
            }
        };
        if length == 0 && self.buffered().is_empty() {
            return Ok(None);
        }
        // The line end may extend beyond the buffered bytes; at the end of the file it is shorter.
        self.ensure(length + LINE_END_BYTES_MAX + 1)?;
        let end = LineEnd::of(&self.buffered()[length..], expected);
        let (first, place) = (self.start, self.line());
        self.consume(length + end.len);
        self.lines_done += 1;
        Ok(Some((place, first..first + length, end)))
    }

    /// Skips white space. Returns false at the end of the file.
    pub(crate) fn skip_white_space(&mut self) -> Result<bool, Fault> {
        loop {
            self.ensure(LINE_END_BYTES_MAX + 1)?;
            match self.buffered() {
                [] => return Ok(false),
                [b'\n' | b'\r', ..] => {
                    let end = LineEnd::of(self.buffered(), None);
                    self.consume(end.len);
                    self.lines_done += 1;
                }
                blanks => {
                    let is_blank = |byte: &&u8| **byte <= b' ' && !matches!(byte, b'\n' | b'\r');
                    let used = blanks.iter().take_while(is_blank).count();
                    if used == 0 {
                        return Ok(true);
                    }
                    self.consume(used);
                }
            }
        }
    }

    /// Returns the next word between white space, and its place; `None` at the end of the file.
    pub(crate) fn next_token(&mut self) -> Result<Option<(Place, &[u8])>, Fault> {
        if !self.skip_white_space()? {
            return Ok(None);
        }
        let mut searched = 0;
        let length = loop {
            let rest = &self.buffered()[searched..];
            if let Some(position) = rest.iter().position(|&byte| byte <= b' ') {
                break searched + position;
            }
            searched = self.end - self.start;
            if !self.ensure_longer(searched)? {
                break searched;
            }
        };
        let (first, place) = (self.start, self.line());
        self.consume(length);
        Ok(Some((place, &self.buffer[first..first + length])))
    }

    /// Reads more than the `have` bytes that a line or token has so far. Returns false at the end
    /// of the file.
    fn ensure_longer(&mut self, have: usize) -> Result<bool, Fault> {
        if have >= LINE_BYTES_MAX {
            return Err(line_too_long(self.line(), self.buffered()));
        }
        self.ensure(have + 1)
    }

    /// Reads once, after making space for `count` bytes in total. Returns false at the end of the
    /// file.
    #[cold]
    fn fill(&mut self, count: usize) -> Result<bool, Fault> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() || count > self.buffer.len() {
            let larger = (2 * self.buffer.len()).max(count);
            self.buffer.resize(larger, 0);
        }
        let begun = Instant::now();
        let outcome = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                outcome => break outcome,
            }
        };
        self.input_time += begun.elapsed();
        let here = Place::Byte(self.offset + self.end as u64);
        let read = outcome.map_err(|error| {
            let problem = match self.compressed_bytes {
                Some(_) if error.kind() != ErrorKind::OutOfMemory => FileProblem::Expand(error),
                _ => FileProblem::Read(error),
            };
            Fault::new(here, problem)
        })?;
        self.end += read;
        self.ended = read == 0;
        if self.offset + self.end as u64 > self.bytes_max {
            return Err(Fault::too_large(
                here,
                "more data",
                format!("at most {} bytes after decompression", self.bytes_max),
            ));
        }
        let expanded = self.offset + self.end as u64;
        self.check_expansion(here, "data", expanded, EXPANDED_FREE, EXPANDED_PER_BYTE)?;
        self.ask_for_memory(here)?;
        (self.after_fill)();
        Ok(!self.ended)
    }
}

/// A line with its place and its end.
pub(crate) type EndedLine<'s> = (Place, &'s [u8], LineEnd);

impl LineEnd {
    /// Returns the line end at the beginning of `bytes`: `expected`, if `bytes` begin with it.
    fn of(bytes: &[u8], expected: Option<Self>) -> Self {
        if let Some(expected) = expected
            && expected.len > 0
            && bytes.starts_with(&expected.bytes[..expected.len])
        {
            return expected;
        }
        let len = match bytes {
            [b'\r', b'\r', b'\n', ..] => 3,
            [b'\r', b'\n', ..] => 2,
            // A line feed and an empty line that ends in CR LF are not LF CR, which may occur twice
            // in a row.
            [b'\n', b'\r', b'\n', b'\r', ..] => 2,
            [b'\n', b'\r', b'\n', ..] => 1,
            [b'\n', b'\r', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            _ => 0,
        };
        let mut end = Self {
            bytes: [0; LINE_END_BYTES_MAX],
            len,
        };
        end.bytes[..len].copy_from_slice(&bytes[..len]);
        end
    }
}

impl Source<'_> {
    /// Requests the memory by which the lists may grow until twice as much has been read, see
    /// [`ask_for_lists`](Self::ask_for_lists).
    fn ask_for_memory(&mut self, here: Place) -> Result<(), Fault> {
        if self.offset < self.memory_asked_at {
            return Ok(());
        }
        self.memory_asked_at = 2 * self.offset;
        memory::ask(2 * self.offset).map_err(|none| Fault::no_memory(here, none))
    }

    /// Checks that a compressed file can contain `bytes` bytes of `content`: at most `free` bytes,
    /// and `per_byte` further bytes for each compressed byte that was read so far.
    pub(crate) fn check_expansion(
        &self,
        here: Place,
        content: &str,
        bytes: u64,
        free: u64,
        per_byte: u64,
    ) -> Result<(), Fault> {
        let Some(compressed) = &self.compressed_bytes else {
            return Ok(());
        };
        let compressed = compressed.get();
        if bytes <= free.saturating_add(per_byte.saturating_mul(compressed)) {
            return Ok(());
        }
        Err(Fault::too_large(
            here,
            format!("{content} of {bytes} bytes out of {compressed} compressed bytes"),
            format!("at most {free} and {per_byte} for each compressed byte"),
        ))
    }

    /// Reserves memory in a list for the items that the file declares, up to the
    /// [`reservation`](Self::reservation).
    pub(crate) fn reserve<T>(
        &self,
        list: &mut Vec<T>,
        count: u64,
        item_bytes: u64,
    ) -> Result<(), Fault> {
        let capacity = self.reservation(count, item_bytes) as u64;
        memory::reserve(list, capacity).map_err(|none| Fault::no_memory(self.byte(), none))
    }
}

/// Creates the fault of a line longer than [`LINE_BYTES_MAX`]. `line` is its beginning.
#[cold]
pub(crate) fn line_too_long(place: Place, line: &[u8]) -> Fault {
    Fault::too_large(
        place,
        format!("a line that begins {}", quoted(line)),
        format!("lines of at most {LINE_BYTES_MAX} bytes"),
    )
}

/// The rest of a source, for decoders inside of a file.
///
/// An error of the source is passed on as its message.
#[derive(Debug)]
pub(crate) struct Rest<'s, 'a>(pub(crate) &'s mut Source<'a>);

impl Read for Rest<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Rest<'_, '_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.0
            .ensure(1)
            .map_err(|fault| std::io::Error::other(fault.problem.to_string()))?;
        Ok(self.0.buffered())
    }

    fn consume(&mut self, count: usize) {
        self.0.consume(count);
    }
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Source")
            .field("offset", &self.offset)
            .field("buffered", &(self.end - self.start))
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}
