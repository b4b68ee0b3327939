//! The files of a series, one after the other.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::attributes::{with_attributes, wrong};
use super::image::Image;
use crate::file::{self, Compression, Fault, Progress, Source, Stream};

/// The pixels of all files, one after the other, as a stream.
pub(super) struct Pixels<'s> {
    files: std::slice::Iter<'s, (PathBuf, Image)>,
    expanded_bytes_max: u64,
    /// The pixels of the current file.
    pixels: Vec<u8>,
    used: usize,
    progress: &'s mut dyn FnMut(Progress),
    pub(super) file_bytes: u64,
    pub(super) file_bytes_all: u64,
    pub(super) compression: Compression,
    pub(super) fault: Option<Fault>,
}

impl<'s> Pixels<'s> {
    pub(super) fn new(
        files: &'s [(PathBuf, Image)],
        expanded_bytes_max: u64,
        progress: &'s mut dyn FnMut(Progress),
    ) -> Self {
        let lengths = files.iter().filter_map(|(path, _)| path.metadata().ok());
        Self {
            files: files.iter(),
            expanded_bytes_max,
            pixels: Vec::new(),
            used: 0,
            progress,
            file_bytes: 0,
            file_bytes_all: lengths.map(|metadata| metadata.len()).sum(),
            compression: Compression::None,
            fault: None,
        }
    }

    /// Reads the pixels of a file.
    fn open(&mut self, path: &Path, image: &Image) -> Result<(), Fault> {
        self.pixels.clear();
        self.used = 0;
        let facts = with_file(path, self.expanded_bytes_max, |source, facts| {
            with_attributes(source, |source, attributes| {
                if Image::of(attributes)? != *image {
                    return Err(wrong("another image than before", "a file at rest"));
                }
                source.read_into(&mut self.pixels, image.bytes())?;
                if self.pixels.len() as u64 != image.bytes() {
                    let expected = format!("{} bytes of pixels", image.bytes());
                    return Err(Fault::truncated(source.byte(), expected));
                }
                Ok(())
            })?;
            Ok(*facts)
        })?;
        self.file_bytes += facts.0;
        self.compression = facts.1;
        (self.progress)(Progress {
            bytes_read: self.file_bytes,
            bytes_total: Some(self.file_bytes_all),
        });
        Ok(())
    }
}

impl Read for Pixels<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.used == self.pixels.len() {
            let Some((path, image)) = self.files.next() else {
                return Ok(0);
            };
            if let Err(fault) = self.open(path, image) {
                self.fault = Some(fault);
                return Err(std::io::Error::other("an image cannot be read"));
            }
        }
        let rest = &self.pixels[self.used..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.used += count;
        Ok(count)
    }
}

/// Opens a file and calls `read` with its expanded bytes. Errors name the file.
pub(super) fn with_file<T>(
    path: &Path,
    expanded_bytes_max: u64,
    read: impl FnOnce(&mut Source<'_>, &mut (u64, Compression)) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let outcome = file::open(path, "a DICOM image").and_then(|(file, length)| {
        let mut stream = Stream::new(file, length, expanded_bytes_max, |_| ())?;
        let mut facts = (length.unwrap_or(0), stream.compression);
        read(&mut stream.source, &mut facts)
    });
    outcome.map_err(|fault| fault.in_file(path))
}
