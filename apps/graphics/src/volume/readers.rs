//! The readers of all formats.
//!
//! To add a format, write a reader in a new submodule, add it to [`READERS`], and add the format to
//! [`super::format`]. A reader finds the [`Layout`](super::data::Layout) of the voxels, which then
//! reads them.

use std::fmt::Display;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use super::load::{LoadOptions, beside};
use super::parsed::Parsed;
use crate::file::{self, Fault, FileProblem, FormatReader, Place, Source, Stream};

mod bricks;
mod den;
mod detached;
mod dicom;
mod metaimage;
mod nifti;
mod nrrd;
mod raw;
mod text;
mod vti;

pub(super) use self::dicom::read_series;
pub(super) use self::raw::READER as RAW;

/// All readers. The first one that recognises a file reads the file.
pub(super) const READERS: [VolumeReader; 8] = [
    bricks::READER,
    nrrd::READER,
    nifti::READER,
    dicom::READER,
    vti::READER,
    metaimage::READER,
    den::READER,
    raw::READER,
];

/// The reader of a volume format. It gets access to the files beside the file.
pub(super) type VolumeReader =
    FormatReader<fn(&mut Source<'_>, &mut Context<'_>) -> Result<Parsed, Fault>>;

/// The data that a reader needs besides the bytes of its file.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// The name of the file.
    pub(super) name: &'a Path,
    /// The options of the caller.
    pub(super) options: &'a LoadOptions,
    /// The number of bytes of the file, before decompression, if it is known.
    pub(super) file_bytes: Option<u64>,
    /// The number of bytes read from other files, and these files.
    pub(super) bytes_beside: u64,
    pub(super) files_beside: Vec<PathBuf>,
    /// The arrays of the file, if it may have several.
    pub(super) arrays: Arrays,
    may_open: bool,
}

/// The names of the arrays in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Arrays {
    /// The array that was read.
    pub(super) read: Option<String>,
    /// The other arrays.
    pub(super) others: Vec<String>,
}

impl<'a> Context<'a> {
    /// Returns the context of a file.
    pub(super) fn new(name: &'a Path, options: &'a LoadOptions) -> Self {
        Self {
            name,
            options,
            file_bytes: None,
            bytes_beside: 0,
            files_beside: Vec::new(),
            arrays: Arrays::default(),
            may_open: true,
        }
    }

    /// Returns the context of a stream, which has no files beside it.
    pub(super) fn alone(name: &'a Path, options: &'a LoadOptions) -> Self {
        Self {
            may_open: false,
            ..Self::new(name, options)
        }
    }

    /// Reads a file beside this one. Errors name that file.
    pub(super) fn read_beside<T>(
        &mut self,
        place: Place,
        name: &str,
        read: impl FnOnce(&mut Source<'_>, Option<u64>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if !self.may_open {
            let found = format!("data in another file, {}", file::quoted(name.as_bytes()));
            return Err(Fault::syntax(place, found, "data in this file"));
        }
        let path = beside(self.name, name);
        let opened = open_data(&path, place)?;
        let (file, length) = opened;
        let outcome = Stream::new(file, length, self.options.expanded_bytes_max, |_| ()).and_then(
            |mut stream| {
                let value = read(&mut stream.source, length)?;
                stream.source.drain()?;
                Ok((value, stream.bytes_read()))
            },
        );
        let (value, bytes) = outcome.map_err(|fault| fault.in_file(&path))?;
        self.bytes_beside += bytes;
        self.files_beside.push(path);
        Ok(value)
    }
}

/// Opens a file of data that a header names. If it does not exist, the place of its name is at
/// fault.
fn open_data(path: &PathBuf, place: Place) -> Result<(File, Option<u64>), Fault> {
    let wrong = |reason: &dyn Display| {
        let found = format!("the file of voxels, {}: {reason}", path.display());
        Fault::syntax(place, found, "a file that can be read")
    };
    // A device may have no end, and opening a pipe may take forever.
    let is_special = |metadata: &Metadata| !metadata.is_file() && !metadata.is_dir();
    if path.metadata().as_ref().is_ok_and(is_special) {
        return Err(wrong(&"not a regular file"));
    }
    file::open(path, "a file of voxels").map_err(|fault| match fault.problem {
        FileProblem::Open(error) => wrong(&error),
        _ => fault.in_file(path),
    })
}
