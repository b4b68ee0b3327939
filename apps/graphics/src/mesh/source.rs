//! The bytes of a mesh file on their way to a reader, with their place always known.
//!
//! A [`Source`] is one buffer over whatever delivers the bytes: a file, a decompressor, a slice. Binary
//! readers look at what is [`buffered`](Source::buffered) and consume whole records of it; text readers ask
//! for tokens or lines. Nothing here allocates on a promise of the input: buffers grow with the bytes that
//! really came, up to a limit.

use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};

use super::error::{Fault, MeshProblem, Place, quoted};
use crate::memory;

#[cfg(test)]
mod tests;

/// What is read from the input at once: fits the second-level cache together with what is made of it.
const BUFFER_BYTES: usize = 256 << 10;
/// The longest line or token: a polygon of a million corners on one line of an OBJ file fits.
pub(super) const LINE_BYTES_MAX: usize = 32 << 20;

/// How much is read before memory is asked for the first time.
const MEMORY_ASKED_FIRST: u64 = 1 << 20;

/// A buffered stream that knows where it is.
pub(crate) struct Source<'a> {
    input: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where `buffer[start]` stands in the expanded data.
    offset: u64,
    /// Lines that ended before `buffer[start]`; kept by the text calls only.
    lines_done: u64,
    /// The length of the expanded data, where it is known beforehand.
    length: Option<u64>,
    bytes_max: u64,
    ended: bool,
    input_time: Duration,
    after_fill: Box<dyn FnMut() + 'a>,
    /// Where in the expanded data memory is asked for the next time.
    memory_asked_at: u64,
}

impl<'a> Source<'a> {
    /// Wraps `input`, which may deliver at most `bytes_max` bytes.
    ///
    /// `length` is the number of bytes that it will deliver, if that is certain; `after_fill` is called
    /// after every filling of the buffer.
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
            memory_asked_at: MEMORY_ASKED_FIRST,
        }
    }

    /// Returns the bytes that have been read and not consumed.
    #[inline]
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Gives up the first `count` buffered bytes.
    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    /// The offset of the next byte.
    #[inline]
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The place of the next byte, in bytes.
    #[inline]
    pub(crate) fn byte(&self) -> Place {
        Place::Byte(self.offset)
    }

    /// The place of the next byte, in lines; right after the end of a line, the line that begins there.
    #[inline]
    pub(crate) fn line(&self) -> Place {
        Place::Line(self.lines_done + 1)
    }

    /// The number of bytes that are still to come, where that is certain.
    pub(crate) fn remaining(&self) -> Option<u64> {
        self.length.map(|length| length.saturating_sub(self.offset))
    }

    /// How long the input (disk and decompressor) has taken so far.
    pub(crate) fn input_time(&self) -> Duration {
        self.input_time
    }

    /// How many items of at least `item_bytes` to make room for when the file promises `count`.
    ///
    /// No more than the remaining bytes can hold; of a compressed file, whose length is not known, a million.
    fn reservation(&self, count: u64, item_bytes: u64) -> usize {
        let possible = self
            .remaining()
            .map_or(1 << 20, |bytes| bytes / item_bytes.max(1));
        usize::try_from(count.min(possible)).unwrap_or(0)
    }

    /// Reads until at least `count` bytes are buffered; tells whether there are that many.
    ///
    /// The buffer grows to `count`, so a caller asks for no more than it can vouch for.
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

    /// Passes over `count` bytes.
    pub(crate) fn skip(&mut self, mut count: u64, expected: &str) -> Result<(), Fault> {
        while count > 0 {
            self.peek(1, expected)?;
            let step = (self.buffered().len() as u64).min(count);
            self.consume(step as usize);
            count -= step;
        }
        Ok(())
    }

    /// Reads everything up to the end and returns the number of bytes passed over, so that a decompressor
    /// gets to see its checksum.
    pub(crate) fn drain(&mut self) -> Result<u64, Fault> {
        let before = self.offset;
        loop {
            self.consume(self.end - self.start);
            if !self.fill(1)? {
                return Ok(self.offset - before);
            }
        }
    }

    /// Appends everything up to the end, or up to `count` bytes, to `bytes`.
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

    /// Returns the next line without its end (`\n` or `\r\n`), and its place; none at the end of the file.
    pub(crate) fn next_line(&mut self) -> Result<Option<(Place, &[u8])>, Fault> {
        let mut searched = 0;
        let length = loop {
            if let Some(position) = memchr::memchr(b'\n', &self.buffered()[searched..]) {
                break Some(searched + position);
            }
            searched = self.end - self.start;
            if !self.ensure_longer(searched)? {
                break None;
            }
        };
        let available = self.end - self.start;
        if length.is_none() && available == 0 {
            return Ok(None);
        }
        let (line, used) = length.map_or((available, available), |length| (length, length + 1));
        let (first, place) = (self.start, self.line());
        self.consume(used);
        self.lines_done += 1;
        let line = &self.buffer[first..first + line];
        Ok(Some((place, line.strip_suffix(b"\r").unwrap_or(line))))
    }

    /// Passes over white space; false at the end of the file.
    pub(crate) fn skip_white_space(&mut self) -> Result<bool, Fault> {
        loop {
            let mut used = 0;
            let mut lines = 0;
            for &byte in self.buffered() {
                if byte > b' ' {
                    break;
                }
                lines += u64::from(byte == b'\n');
                used += 1;
            }
            self.lines_done += lines;
            self.consume(used);
            if !self.buffered().is_empty() {
                return Ok(true);
            }
            if !self.fill(1)? {
                return Ok(false);
            }
        }
    }

    /// Returns the next word between white space, and the place of it; none at the end of the file.
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

    /// Reads more than the `have` bytes that a line or token has so far; false at the end of the file.
    fn ensure_longer(&mut self, have: usize) -> Result<bool, Fault> {
        if have >= LINE_BYTES_MAX {
            return Err(line_too_long(self.line(), self.buffered()));
        }
        self.ensure(have + 1)
    }

    /// Reads once, making room for `count` bytes in all; false at the end of the file.
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
        let read = outcome.map_err(|error| Fault::new(here, MeshProblem::Read(error)))?;
        self.end += read;
        self.ended = read == 0;
        if self.offset + self.end as u64 > self.bytes_max {
            return Err(Fault::too_large(
                here,
                "more data",
                format!("at most {} bytes after decompression", self.bytes_max),
            ));
        }
        self.ask_for_memory(here)?;
        (self.after_fill)();
        Ok(!self.ended)
    }
}

impl Source<'_> {
    /// Asks for what the lists of a mesh may grow by until twice as much has been read: they double now and then,
    /// and take no more than the text that they stand for.
    fn ask_for_memory(&mut self, here: Place) -> Result<(), Fault> {
        if self.offset < self.memory_asked_at {
            return Ok(());
        }
        self.memory_asked_at = 2 * self.offset;
        memory::ask(2 * self.offset).map_err(|none| Fault::no_memory(here, none))
    }

    /// Makes room in a list for what the file promises, as [`reservation`](Self::reservation) sees it.
    pub(crate) fn reserve<T>(
        &self,
        list: &mut Vec<T>,
        count: u64,
        item_bytes: u64,
    ) -> Result<(), Fault> {
        let room = self.reservation(count, item_bytes) as u64;
        memory::reserve(list, room).map_err(|none| Fault::no_memory(self.byte(), none))
    }
}

/// The fault of a line, the beginning of which is given, that is longer than [`LINE_BYTES_MAX`].
#[cold]
pub(super) fn line_too_long(place: Place, line: &[u8]) -> Fault {
    Fault::too_large(
        place,
        format!("a line that begins {}", quoted(line)),
        format!("lines of at most {LINE_BYTES_MAX} bytes"),
    )
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
