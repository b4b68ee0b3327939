//! Reads a series of DICOM images, each in a file of its own, or one file with several frames.
//!
//! Images and frames are sorted by their positions. It is an error if there is a gap, if two are at
//! one position, or if they differ in their size or direction. Images must not be compressed by
//! JPEG or the like.
//!
//! # Source
//! DICOM PS3.3 2024, C.7.6.2 (image plane), C.7.6.3 (image pixel), C.7.6.16 (functional groups of
//! frames), C.11.1 (modality LUT).

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use self::attributes::with_attributes;
use self::image::Image;
use self::series::Chosen;
use self::stack::{Slice, Stack};

use super::{Context, VolumeReader};
use crate::file::{self, Compression, Fault, Place, Progress, Source, Stream};
use crate::volume::format::VolumeFormat;
use crate::volume::load::{LoadOptions, Loaded, VolumeReport, load_file};
use crate::volume::parsed::Parsed;

mod attributes;
mod image;
mod series;
mod stack;

/// The place of the magic bytes in a file.
const MAGIC_AT: usize = 128;

/// The reader of one file with several frames.
pub(super) const READER: VolumeReader = VolumeReader {
    extensions: &["dcm", "dicom"],
    is_text: Some(false),
    recognizes: |head| head.bytes.get(MAGIC_AT..MAGIC_AT + 4) == Some(b"DICM"),
    read,
};

#[cold]
fn wrong(found: impl Into<String>, expected: impl Into<String>) -> Fault {
    Fault::syntax(Place::Whole, found, expected)
}

/// Reads a file with several frames.
fn read(source: &mut Source<'_>, files: &mut Context<'_>) -> Result<Parsed, Fault> {
    with_attributes(source, |source, attributes| {
        let image = Image::of(attributes)?;
        Stack::of_frames(&image)?.read(source, files.file_bytes)
    })
}

/// Reads the images in a folder as a volume. Files that are not DICOM images are ignored.
pub(in crate::volume) fn read_series(
    folder: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Loaded, Fault> {
    let begun = Instant::now();
    let Chosen { files, left_out } = series::choose(folder, options)?;
    let mut loaded = match &files[..] {
        [(path, image)] if image.count > 1 => {
            load_file(path, options, progress).map_err(|fault| fault.in_file(path))?
        }
        [(path, _)] => {
            let found = format!("a single image, {}", path.display());
            return Err(wrong(found, "at least two images"));
        }
        _ => read_files(&files, options, progress)?,
    };
    loaded.report.images_left_out = left_out;
    loaded.report.time = begun.elapsed();
    Ok(loaded)
}

/// Reads the images of a series.
fn read_files(
    files: &[(PathBuf, Image)],
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Loaded, Fault> {
    let mut slices = Vec::new();
    for (path, image) in files {
        let all = Slice::all_of(Some(path), image).map_err(|fault| fault.in_file(path))?;
        slices.extend(all);
    }
    let stack = Stack::of(&slices)?;
    let mut stream = Pixels::new(files, options, progress);
    let file_bytes_all = stream.file_bytes_all;
    let parsed = stack.read(&mut Source::inside(&mut stream), Some(file_bytes_all));
    // An error of a file came through the stream as text. The error itself has more.
    let parsed = match stream.fault.take() {
        Some(fault) => return Err(fault),
        None => parsed?,
    };
    let report = VolumeReport {
        compression: stream.compression,
        file_count: files.len(),
        ..VolumeReport::new(VolumeFormat::Dicom, stream.file_bytes)
    };
    let volume = parsed.volume;
    Ok(Loaded { volume, report })
}

/// Opens a file and calls `read` with its expanded bytes. Errors name the file.
fn with_file<T>(
    path: &Path,
    options: &LoadOptions,
    read: impl FnOnce(&mut Source<'_>, &mut (u64, Compression)) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let outcome = file::open(path, "a DICOM image").and_then(|(file, length)| {
        let mut stream = Stream::new(file, length, options.expanded_bytes_max, |_| ())?;
        let mut facts = (length.unwrap_or(0), stream.compression);
        read(&mut stream.source, &mut facts)
    });
    outcome.map_err(|fault| fault.in_file(path))
}

/// The pixels of all files, one after the other, as a stream.
struct Pixels<'s> {
    files: std::slice::Iter<'s, (PathBuf, Image)>,
    options: &'s LoadOptions,
    /// The pixels of the current file.
    pixels: Vec<u8>,
    used: usize,
    progress: &'s mut dyn FnMut(Progress),
    file_bytes: u64,
    file_bytes_all: u64,
    compression: Compression,
    fault: Option<Fault>,
}

impl<'s> Pixels<'s> {
    fn new(
        files: &'s [(PathBuf, Image)],
        options: &'s LoadOptions,
        progress: &'s mut dyn FnMut(Progress),
    ) -> Self {
        let lengths = files.iter().filter_map(|(path, _)| path.metadata().ok());
        Self {
            files: files.iter(),
            options,
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
        let facts = with_file(path, self.options, |source, facts| {
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
