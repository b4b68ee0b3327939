//! Limits how far compressed data may expand, so that a small file cannot use up the memory.

use std::cell::Cell;
use std::io::{self, Read};

use flate2::bufread::ZlibDecoder;

/// The number of bytes that any file may expand to.
const BYTES_FREE: u64 = 1 << 20;
/// The number of expanded bytes for each byte of the file. Timelines that [`Writer`](crate::Writer)
/// makes have less than 30, because times differ.
const RATIO_MAX: u64 = 256;

/// The number of expanded bytes that a file may still have. It counts all levels of compression.
#[derive(Debug, Default)]
pub(crate) struct Allowance {
    read: Cell<u64>,
    expanded: Cell<u64>,
}

/// Compressed data that exceeds an [`Allowance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {bytes_max} expanded bytes")]
pub(crate) struct Exceeded {
    pub(crate) bytes_max: u64,
}

impl Allowance {
    /// Counts bytes of the file.
    pub(crate) fn add_read(&self, bytes: u64) {
        self.read.set(self.read.get() + bytes);
    }

    /// Counts expanded bytes.
    ///
    /// # Errors
    /// [`Exceeded`] if they are too many for the bytes of the file so far.
    pub(crate) fn spend(&self, bytes: u64) -> Result<(), Exceeded> {
        self.expanded.set(self.expanded.get() + bytes);
        match self.expanded.get() <= self.max() {
            true => Ok(()),
            false => Err(Exceeded {
                bytes_max: self.max(),
            }),
        }
    }

    fn max(&self) -> u64 {
        self.read
            .get()
            .saturating_mul(RATIO_MAX)
            .saturating_add(BYTES_FREE)
    }

    fn left(&self) -> u64 {
        self.max().saturating_sub(self.expanded.get())
    }
}

/// The outcome of expanding a batch.
#[derive(Debug)]
pub(crate) enum Expanded {
    /// All of it.
    Whole,
    /// The part before the place where the batch is cut off or damaged, and the reason.
    Part(io::Error),
}

/// Expands `batch` (zlib) into `out`, which is cleared first.
///
/// # Errors
/// [`Exceeded`].
pub(crate) fn expand(
    batch: &[u8],
    allowance: &Allowance,
    out: &mut Vec<u8>,
) -> Result<Expanded, Exceeded> {
    out.clear();
    let bytes_max = allowance.left();
    let expanded = ZlibDecoder::new(batch)
        .take(bytes_max.saturating_add(1))
        .read_to_end(out);
    allowance.spend(out.len() as u64)?;
    Ok(match expanded {
        Ok(_) => Expanded::Whole,
        Err(error) => Expanded::Part(error),
    })
}

/// A reader of expanded data within an allowance.
#[derive(Debug)]
pub(crate) struct Limited<'a, R> {
    pub(crate) input: R,
    pub(crate) allowance: &'a Allowance,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(buffer)?;
        self.allowance.spend(len as u64).map_err(io::Error::other)?;
        Ok(len)
    }
}

/// A reader that counts the bytes of a file for an allowance.
#[derive(Debug)]
pub(crate) struct Counted<'a, R> {
    pub(crate) input: R,
    pub(crate) allowance: &'a Allowance,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(buffer)?;
        self.allowance.add_read(len as u64);
        Ok(len)
    }
}
