//! Loads a volume from a path or from any stream of bytes.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use glam::DVec3;

use super::array::Volume;
use super::format::{EXPECTED, VolumeFormat};
use super::parsed::{Parsed, volume_fault};
use super::readers::{self, Context, READERS};
use crate::file::{self, Compression, Fault, FileError, Place, Progress, Stream};

/// Limits, and facts that a file does not contain.
///
/// # Examples
/// ```
/// use raddle_graphics::volume::LoadOptions;
///
/// let options = LoadOptions::default();
/// assert!(options.raw_size.is_none());
/// ```
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// The number of voxels of a raw file, if its name does not say it. A file is raw if this or
    /// `raw_type` is given, whatever its name and its content are.
    pub raw_size: Option<[u64; 3]>,
    /// The type of the voxels of a raw file, such as `u8`, `i16` or `f32be`, if its name does not
    /// say it.
    pub raw_type: Option<String>,
    /// The distances between voxels, in place of those in the file.
    pub spacing: Option<DVec3>,
    /// The series to read from a folder with several series of DICOM images: its number or its UID.
    pub series: Option<String>,
    /// The name of the array to read from VTK image data. The default is that of the active
    /// scalars, or else the first one with a number for each voxel.
    pub array: Option<String>,
    /// The maximum number of bytes that a compressed file may expand to. The default is 64 GiB.
    pub expanded_bytes_max: u64,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            raw_size: None,
            raw_type: None,
            spacing: None,
            series: None,
            array: None,
            expanded_bytes_max: 64 << 30,
        }
    }
}

impl LoadOptions {
    /// Returns true if the file has to be read as a raw one.
    fn is_raw(&self) -> bool {
        self.raw_size.is_some() || self.raw_type.is_some()
    }
}

/// A volume and a report on the file that it was loaded from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// The volume.
    pub volume: Volume,
    /// The content of the file and the cost of loading it.
    pub report: VolumeReport,
}

/// The content of a file and the cost of loading it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VolumeReport {
    /// The format of the content.
    pub format: VolumeFormat,
    /// The type of the numbers in the file: `u8`, `i8`, `u16`, `i16`, `u32`, `i32`, `u64`, `i64`,
    /// `f32` or `f64`. That of the voxels differs if `f32` has to represent them, or if the file
    /// has a scale.
    pub file_type: &'static str,
    /// The compression of the file.
    pub compression: Compression,
    /// The number of bytes read from the file, and from the files beside it.
    pub file_bytes: u64,
    /// The number of bytes after the end of the volume, which were ignored.
    pub trailing_bytes: u64,
    /// The files that were read, the one with the header first. A stream is named as by the caller.
    pub files: Vec<PathBuf>,
    /// The point of the file that is the origin of the world. A coordinate of the file is that of
    /// the world plus this offset. It is zero unless the volume is far from the origin for its
    /// size.
    pub offset: DVec3,
    /// The name of the array that was read, if arrays have names.
    pub array: Option<String>,
    /// The names of the other arrays in the file.
    pub arrays_left_out: Vec<String>,
    /// The number of images in the folder that belong to other series.
    pub images_left_out: usize,
    /// The time from opening the file to the finished volume.
    pub time: Duration,
}

impl VolumeReport {
    /// Creates a report without names of files and compression, on work that took no time.
    pub(super) fn new(parsed: &Parsed, file_bytes: u64) -> Self {
        Self {
            format: parsed.format,
            file_type: parsed.scalar.name(),
            compression: Compression::None,
            file_bytes,
            trailing_bytes: 0,
            files: Vec::new(),
            offset: DVec3::ZERO,
            array: None,
            arrays_left_out: Vec::new(),
            images_left_out: 0,
            time: Duration::ZERO,
        }
    }
}

impl Volume {
    /// Loads a volume from a file in one of the [formats](crate::volume::FORMATS), or from a folder
    /// with the images of a DICOM series. If there are none in the folder itself, its sub-folders
    /// are searched, as on a disc of a scanner.
    ///
    /// The format and the compression are detected from the content; the name is used only for raw
    /// files and if the content is not conclusive. The voxels take as much memory as their type
    /// needs, and nothing else takes more than a few hundred kilobytes.
    ///
    /// If the volume is far from the origin for its size, an offset is subtracted from its place,
    /// which only [`load_with`](Self::load_with) reports.
    ///
    /// # Errors
    /// Returns a [`FileError`] if the file cannot be read, is truncated or violates its format, if
    /// it does not contain a volume of numbers, or if a voxel is not finite.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::load_with(path, &LoadOptions::default(), |_| ()).map(|loaded| loaded.volume)
    }

    /// Loads a volume as [`load`](Self::load) does, with options, and reports the progress.
    ///
    /// # Errors
    /// As for [`load`](Self::load). It is also an error if the file exceeds the limits of
    /// `options`.
    pub fn load_with(
        path: impl AsRef<Path>,
        options: &LoadOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Loaded, FileError> {
        let path = path.as_ref();
        let outcome = if path.is_dir() {
            readers::read_series(path, options, &mut progress)
        } else {
            load_file(path, options, &mut progress)
        };
        let outcome = outcome.and_then(|loaded| finished(loaded, options));
        outcome.map_err(|fault| fault.at(path))
    }

    /// Reads a volume from any stream. Errors refer to it by `name`, which is also a hint at the
    /// format. Files beside it are not read.
    ///
    /// `length` is the number of bytes that `input` delivers, if that is certain.
    ///
    /// # Errors
    /// As for [`load_with`](Self::load_with).
    ///
    /// # Examples
    /// ```
    /// use raddle_graphics::volume::{LoadOptions, Volume};
    ///
    /// let name = "block_2x3x4_u8.raw";
    /// let loaded = Volume::read(&[7; 24][..], Some(24), name, &LoadOptions::default(), |_| ())?;
    /// assert_eq!(loaded.volume.size(), [2, 3, 4]);
    /// # Ok::<(), raddle_graphics::file::FileError>(())
    /// ```
    pub fn read(
        input: impl Read,
        length: Option<u64>,
        name: impl AsRef<Path>,
        options: &LoadOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Loaded, FileError> {
        let name = name.as_ref();
        let files = Context::alone(name, options);
        let outcome = read_stream(input, length, files, &mut progress);
        let outcome = outcome.and_then(|loaded| finished(loaded, options));
        outcome.map_err(|fault| fault.at(name))
    }
}

/// Loads a file.
pub(super) fn load_file(
    path: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Loaded, Fault> {
    let (file, length) = file::open(path, EXPECTED)?;
    read_stream(file, length, Context::new(path, options), progress)
}

fn read_stream(
    input: impl Read,
    length: Option<u64>,
    mut files: Context<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Loaded, Fault> {
    let begun = Instant::now();
    let limit = files.options.expanded_bytes_max;
    let mut stream = Stream::new(input, length, limit, progress)?;
    files.file_bytes = length;
    let reader = match files.options.is_raw() {
        true => &readers::RAW,
        false => file::reader(&READERS, &mut stream.source, files.name, EXPECTED)?,
    };
    let parsed = (reader.read)(&mut stream.source, &mut files)?;
    // Read to the end, so that the decompressor verifies its checksum.
    let trailing_bytes = stream.source.drain()?;
    let mut read = vec![files.name.to_owned()];
    read.append(&mut files.files_beside);
    let report = VolumeReport {
        compression: stream.compression,
        trailing_bytes,
        files: read,
        array: files.arrays.read,
        arrays_left_out: files.arrays.others,
        time: begun.elapsed(),
        ..VolumeReport::new(&parsed, stream.bytes_read() + files.bytes_beside)
    };
    let volume = parsed.volume;
    Ok(Loaded { volume, report })
}

/// Applies the options that do not depend on the format, and moves the volume near the origin.
fn finished(loaded: Loaded, options: &LoadOptions) -> Result<Loaded, Fault> {
    if options.array.is_some() && loaded.report.array.is_none() {
        let found = "content in which arrays have no names";
        return Err(Fault::syntax(Place::Whole, found, "no name of an array"));
    }
    with_spacing(loaded, options).map(near_origin)
}

/// Replaces the distances between voxels by those of the options.
fn with_spacing(loaded: Loaded, options: &LoadOptions) -> Result<Loaded, Fault> {
    let Some(spacing) = options.spacing else {
        return Ok(loaded);
    };
    let Loaded { volume, report } = loaded;
    let (origin, direction) = (volume.origin(), volume.direction());
    let volume = volume
        .with_geometry(spacing, origin, direction)
        .map_err(|error| volume_fault(Place::Whole, &error))?;
    Ok(Loaded { volume, report })
}

/// Moves a volume that is far from the origin near it, since rays have the precision of `f32`.
fn near_origin(Loaded { volume, mut report }: Loaded) -> Loaded {
    (_, report.offset) = volume.grid().near_origin();
    let volume = volume.moved_by(-report.offset);
    Loaded { volume, report }
}

/// Returns the path of a file beside another one.
pub(super) fn beside(path: &Path, name: &str) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(name)
}
