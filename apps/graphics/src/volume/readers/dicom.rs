//! Reads a series of DICOM images, each in a file of its own, or one file with several frames.
//!
//! Images and frames are sorted by their positions. It is an error if there is a gap, if two are at
//! one position, or if they differ in their size or direction. Images must not be compressed by
//! JPEG or the like.
//!
//! # Source
//! DICOM PS3.3 2024, C.7.6.2 (image plane), C.7.6.3 (image pixel), C.7.6.16 (functional groups of
//! frames), C.11.1 (modality LUT).

use std::path::{Path, PathBuf};
use std::time::Instant;

use self::attributes::{MAGIC_AT, with_attributes, wrong};
use self::files::Pixels;
use self::image::Image;
use self::series::{Chosen, INDEX};
use self::stack::{Slice, Stack};

use super::{Context, VolumeReader};
use crate::file::{Fault, Progress, Source};
use crate::volume::load::{LoadOptions, Loaded, VolumeReport, load_file};
use crate::volume::parsed::Parsed;

mod attributes;
mod files;
mod image;
mod series;
mod stack;

/// The reader of one file with several frames.
pub(super) const READER: VolumeReader = VolumeReader {
    extensions: &["dcm", "dicom"],
    is_text: Some(false),
    recognizes: |head| head.bytes.get(MAGIC_AT..MAGIC_AT + 4) == Some(b"DICM"),
    read,
};

/// Reads a file with several frames.
fn read(source: &mut Source<'_>, files: &mut Context<'_>) -> Result<Parsed, Fault> {
    if files.name.ends_with(INDEX) {
        return Err(wrong("the index of a disc", "its folder"));
    }
    with_attributes(source, |source, attributes| {
        let image = Image::of(attributes)?;
        check_spacing(&image, files.options)?;
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
        let all = check_spacing(image, options);
        let all = all.and_then(|()| Slice::all_of(Some(path), image));
        let all = all.map_err(|fault| fault.in_file(path))?;
        slices.extend(all);
    }
    let stack = Stack::of(&slices)?;
    let mut pixels = Pixels::new(files, options.expanded_bytes_max, progress);
    let file_bytes_all = pixels.file_bytes_all;
    let parsed = stack.read(&mut Source::inside(&mut pixels), Some(file_bytes_all));
    // An error of a file came through the stream as text. The error itself has more.
    let parsed = match pixels.fault.take() {
        Some(fault) => return Err(fault),
        None => parsed?,
    };
    let report = VolumeReport {
        compression: pixels.compression,
        files: files.iter().map(|(path, _)| path.clone()).collect(),
        ..VolumeReport::new(&parsed, pixels.file_bytes)
    };
    let volume = parsed.volume;
    Ok(Loaded { volume, report })
}

/// Checks that the distances between pixels are in the file or in the options.
fn check_spacing(image: &Image, options: &LoadOptions) -> Result<(), Fault> {
    if options.spacing.is_some() || image.frames.iter().all(|frame| frame.has_spacing) {
        return Ok(());
    }
    let expected = "pixel spacing (0028,0030) in each image, or --spacing";
    Err(wrong(
        "an image without distances between its pixels",
        expected,
    ))
}
