//! Opens a file or any stream, undoes its compression, and counts its bytes.

use std::cell::Cell;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::rc::Rc;

use super::compression::{self, Compression};
use super::error::{Fault, FileProblem, Place};
use super::source::Source;

/// The progress of loading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The number of bytes of the file that have been read.
    pub bytes_read: u64,
    /// The number of bytes of the whole file; unknown for a pipe.
    pub bytes_total: Option<u64>,
}

/// A file that is being read.
#[derive(Debug)]
pub(crate) struct Stream<'a> {
    /// The expanded bytes.
    pub(crate) source: Source<'a>,
    /// The compression of the file.
    pub(crate) compression: Compression,
    bytes_read: Rc<Cell<u64>>,
}

impl<'a> Stream<'a> {
    /// Begins to read `input`. A compressed input may expand to at most `expanded_bytes_max` bytes.
    ///
    /// `length` is the number of bytes that `input` delivers, if that is certain. `progress` is
    /// called about once per 256 KiB of expanded data.
    pub(crate) fn new(
        input: impl Read + 'a,
        length: Option<u64>,
        expanded_bytes_max: u64,
        mut progress: impl FnMut(Progress) + 'a,
    ) -> Result<Self, Fault> {
        let unreadable = |error| Fault::new(Place::Byte(0), FileProblem::Read(error));
        let bytes_read = Rc::new(Cell::new(0));
        let counted = Counted {
            input,
            bytes_read: Rc::clone(&bytes_read),
        };
        // The length of the expanded data is known only without compression.
        let (compression, input) = compression::detect(counted).map_err(unreadable)?;
        let (length_expanded, bytes_max) = match compression {
            Compression::None => (length, u64::MAX),
            Compression::Gzip | Compression::Zstd => (None, expanded_bytes_max),
        };
        let bytes_so_far = Rc::clone(&bytes_read);
        let mut source = Source::new(
            compression::expand(compression, input).map_err(unreadable)?,
            length_expanded,
            bytes_max,
            Box::new(move || {
                progress(Progress {
                    bytes_read: bytes_so_far.get(),
                    bytes_total: length,
                });
            }),
        );
        if compression != Compression::None {
            source.bound_by(Rc::clone(&bytes_read));
        }
        Ok(Self {
            source,
            compression,
            bytes_read,
        })
    }

    /// Returns the number of bytes of the file that have been read, before decompression.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read.get()
    }
}

/// Opens a file for reading. Also returns its length if it is a regular file. `expected` names the
/// content and its formats in errors.
pub(crate) fn open(path: &Path, expected: &'static str) -> Result<(File, Option<u64>), Fault> {
    let fault = |error| Fault::new(Place::Whole, FileProblem::Open(error));
    let file = File::open(path).map_err(fault)?;
    let metadata = file.metadata().map_err(fault)?;
    if metadata.is_dir() {
        return Err(Fault::new(
            Place::Whole,
            FileProblem::Directory { expected },
        ));
    }
    // The files of /proc are regular and report length zero, whatever they deliver.
    let length = Some(metadata.len()).filter(|&length| metadata.is_file() && length > 0);
    Ok((file, length))
}

/// Counts the bytes that are read from the file, below the decompressor.
struct Counted<R> {
    input: R,
    bytes_read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = loop {
            match self.input.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                outcome => break outcome?,
            }
        };
        self.bytes_read.set(self.bytes_read.get() + read as u64);
        Ok(read)
    }
}
