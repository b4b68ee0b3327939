//! The bytes of a timeline that is read, with their positions.

use std::io::{self, BufRead, ErrorKind, Read};

use crate::error::{Place, ReadError};
use crate::expansion::Exceeded;

/// A file, or the expanded content of a compressed file.
#[derive(Debug)]
pub(crate) struct Input<R> {
    input: R,
    /// The number of bytes that have been read.
    byte: u64,
    /// True if compressed data is cut off. It is then the end.
    has_ended: bool,
}

impl<R: BufRead> Input<R> {
    /// Starts to read.
    pub(crate) const fn new(input: R) -> Self {
        Self {
            input,
            byte: 0,
            has_ended: false,
        }
    }

    /// Returns the number of bytes that have been read.
    pub(crate) const fn byte(&self) -> u64 {
        self.byte
    }

    /// Returns the input.
    pub(crate) fn into_inner(self) -> R {
        self.input
    }

    /// Returns the next byte without reading it; `None` at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            if self.has_ended {
                return Ok(None);
            }
            match self.input.fill_buf() {
                Ok(buffer) => return Ok(buffer.first().copied()),
                Err(error) => self.fail(error)?,
            }
        }
    }

    /// Reads the byte that [`peek`](Self::peek) has returned.
    #[inline]
    pub(crate) fn skip(&mut self) {
        self.input.consume(1);
        self.byte += 1;
    }

    /// Reads a byte; `None` at the end.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<u8>, ReadError> {
        let byte = self.peek()?;
        if byte.is_some() {
            self.skip();
        }
        Ok(byte)
    }

    /// Reads up to `len` bytes and appends them to `out`. Returns true if there were that many.
    pub(crate) fn read(&mut self, len: u64, out: &mut Vec<u8>) -> Result<bool, ReadError> {
        let before = out.len();
        if !self.has_ended {
            // Memory is allocated for bytes that exist, not for the length that is claimed.
            let read = (&mut self.input).take(len).read_to_end(out);
            self.byte += (out.len() - before) as u64;
            if let Err(error) = read {
                self.fail(error)?;
            }
        }
        Ok((out.len() - before) as u64 == len)
    }

    /// Handles an error: returns it, unless it is the early end of compressed data.
    #[cold]
    fn fail(&mut self, error: io::Error) -> Result<(), ReadError> {
        let place = Place {
            byte: self.byte,
            item: 0,
        };
        if let Some(&Exceeded { bytes_max }) = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Exceeded>())
        {
            return Err(ReadError::Expansion { place, bytes_max });
        }
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::UnexpectedEof => {
                self.has_ended = true;
                Ok(())
            }
            ErrorKind::InvalidData | ErrorKind::InvalidInput => Err(ReadError::Malformed {
                place,
                found: error.to_string(),
                expected: "data compressed by gzip",
            }),
            _ => Err(ReadError::Input(error)),
        }
    }
}
