//! Reads a series of DICOM images, each in a file of its own, or one file with several frames.
//!
//! The images are sorted by their positions. A series with a gap, with two images at one position,
//! or with images of different sizes is an error. Images must not be compressed by JPEG or the
//! like.
//!
//! # Source
//! DICOM PS3.3 2024, C.7.6.2 (image plane), C.7.6.3 (image pixel), C.11.1 (modality LUT).

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use glam::{DMat3, DVec3};

use self::attributes::{Attributes, with_attributes};
use self::image::{Image, ROWS};

use super::{Context, VolumeReader};
use crate::file::{self, Compression, Fault, FileProblem, Place, Progress, Source, Stream};
use crate::volume::format::{EXPECTED, VolumeFormat};
use crate::volume::load::{LoadOptions, Loaded, VolumeReport};
use crate::volume::parsed::{Geometry, Parsed};
use crate::volume::voxels::{Voxel, Voxels, with_voxels};

mod attributes;
mod image;

/// The place of the magic bytes in a file.
const MAGIC_AT: usize = 128;
/// The permitted difference between two gaps, as a share of the gap.
const GAP_TOLERANCE: f64 = 0.02;

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
fn read(source: &mut Source<'_>, _: &mut Context<'_>) -> Result<Parsed, Fault> {
    let read = |source: &mut Source<'_>, attributes: &Attributes| {
        let image = Image::of(attributes)?;
        if image.frames < 2 {
            return Err(wrong(
                "a single image",
                "several frames, or the folder of a series",
            ));
        }
        let layout = image.layout(image.frames);
        check_pixels(attributes, layout.bytes()?)?;
        let voxels = layout.read(source, None)?;
        let steps = DMat3::from_cols(image.steps[0], image.steps[1], image.gap * image.normal());
        let geometry = Geometry::of_steps(steps, image.position.unwrap_or_default());
        Parsed::new(
            VolumeFormat::Dicom,
            layout.size,
            voxels,
            geometry,
            Place::Whole,
        )
    };
    with_attributes(source, read)
}

/// Checks that a file says that it has as many bytes of pixels as it needs.
fn check_pixels(attributes: &Attributes, expected: u64) -> Result<(), Fault> {
    let found = attributes
        .pixel_bytes
        .ok_or_else(|| wrong("a file without pixels", "an image"))?;
    // An odd number of bytes is padded.
    if u64::from(found) != expected.next_multiple_of(2) && u64::from(found) != expected {
        return Err(wrong(
            format!("{found} bytes of pixels"),
            format!("{expected} bytes"),
        ));
    }
    Ok(())
}

/// Reads the images in a folder as a volume. Files that are not DICOM images are ignored.
pub(in crate::volume) fn read_series(
    folder: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Loaded, Fault> {
    let begun = Instant::now();
    let mut slices = slices(folder, options)?;
    let first = slices[0].1.clone();
    for (path, image) in &slices {
        if !image.fits(&first) {
            let found = format!("{} with another size, type or direction", path.display());
            let expected = format!("an image like {}", slices[0].0.display());
            return Err(wrong(found, expected));
        }
    }
    let steps = sort(&mut slices)?;
    let geometry = Geometry::of_steps(steps, slices[0].1.position.unwrap_or_default());
    let depth = slices.len() as u64;
    let is_one_scale = slices
        .iter()
        .all(|(_, image)| image.slope == first.slope && image.intercept == first.intercept);
    let mut layout = first.layout(depth);
    if !is_one_scale {
        (layout.slope, layout.intercept) = (1.0, 0.0);
    }
    let mut stream = Slices::new(&slices, options, layout.bytes()? / depth, progress);
    let voxels = {
        let mut source = Source::inside(&mut stream);
        layout.read(&mut source, None)
    };
    // An error of a file came through the stream as text. The error itself has more.
    let voxels = match stream.fault.take() {
        Some(fault) => return Err(fault),
        None => voxels?,
    };
    let (file_bytes, compression) = (stream.file_bytes, stream.compression);
    let voxels = match is_one_scale {
        true => voxels,
        false => scaled_by_slice(&voxels, &slices),
    };
    let parsed = Parsed::new(
        VolumeFormat::Dicom,
        layout.size,
        voxels,
        geometry,
        Place::Whole,
    )?;
    Ok(Loaded {
        volume: parsed.volume,
        report: VolumeReport {
            format: VolumeFormat::Dicom,
            compression,
            file_bytes,
            trailing_bytes: 0,
            file_count: slices.len(),
            offset: DVec3::ZERO,
            time: begun.elapsed(),
        },
    })
}

/// Applies to each slice its own slope and intercept.
fn scaled_by_slice(voxels: &Voxels, slices: &[(PathBuf, Image)]) -> Voxels {
    let slice_len = voxels.len() / slices.len();
    with_voxels!(voxels, list => {
        let scaled = list.chunks(slice_len).zip(slices).flat_map(|(slice, (_, image))| {
            let scale = |value: f64| (value * image.slope + image.intercept) as f32;
            slice.iter().map(move |voxel| scale(voxel.value()))
        });
        Voxels::F32(scaled.collect())
    })
}

/// Finds the images of the series in a folder.
fn slices(folder: &Path, options: &LoadOptions) -> Result<Vec<(PathBuf, Image)>, Fault> {
    let unreadable = |error| Fault::new(Place::Whole, FileProblem::Open(error));
    let mut series: BTreeMap<String, Vec<(PathBuf, Image)>> = BTreeMap::new();
    let mut paths = Vec::new();
    for entry in folder.read_dir().map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() {
            paths.push(path);
        }
    }
    // The order of a folder is arbitrary. Errors must not depend on it.
    paths.sort();
    for path in paths {
        let image = with_file(&path, options, |source, _| {
            let is_image =
                source.ensure(MAGIC_AT + 4)? && source.buffered()[MAGIC_AT..].starts_with(b"DICM");
            if !is_image {
                return Ok(None);
            }
            with_attributes(source, |_, attributes| {
                // A folder may contain an index (DICOMDIR) or reports, which have no pixels.
                let has_size = attributes.number(ROWS).is_some();
                has_size.then(|| Image::of(attributes)).transpose()
            })
        })?;
        if let Some(image) = image {
            series
                .entry(image.series.clone())
                .or_default()
                .push((path, image));
        }
    }
    let mut all = series.into_iter();
    match (all.next(), all.next()) {
        (None, _) => {
            let found = "a folder without DICOM images";
            Err(wrong(
                found,
                format!("{EXPECTED}, or the folder of a DICOM series"),
            ))
        }
        (Some((_, slices)), None) if slices.len() > 1 => Ok(slices),
        (Some((_, slices)), None) => {
            let found = format!("a single image, {}", slices[0].0.display());
            Err(wrong(found, "at least two images"))
        }
        (Some(first), Some(second)) => {
            let found = [first, second]
                .into_iter()
                .chain(all)
                .map(|(name, slices)| {
                    let file = slices[0]
                        .0
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned();
                    format!("{name} ({} images, such as {file})", slices.len())
                });
            let found: Vec<String> = found.collect();
            let found = format!("{} series, {}", found.len(), found.join(", "));
            Err(wrong(found, "a folder with one series"))
        }
    }
}

/// Sorts slices by their positions, and returns the steps between columns, rows and slices.
fn sort(slices: &mut [(PathBuf, Image)]) -> Result<DMat3, Fault> {
    let normal = slices[0].1.normal();
    let mut heights = Vec::new();
    for (path, image) in slices.iter() {
        let position = image.position.ok_or_else(|| {
            let found = format!("{} without a position", path.display());
            wrong(found, "the position of each image (0020,0032)")
        })?;
        heights.push(position.dot(normal));
    }
    let mut order: Vec<usize> = (0..slices.len()).collect();
    order.sort_by(|&a, &b| heights[a].total_cmp(&heights[b]));
    let sorted: Vec<_> = order.iter().map(|&index| slices[index].clone()).collect();
    slices.clone_from_slice(&sorted);
    heights.sort_by(f64::total_cmp);
    let gaps: Vec<f64> = heights.windows(2).map(|two| two[1] - two[0]).collect();
    let mut by_size = gaps.clone();
    by_size.sort_by(f64::total_cmp);
    let usual = by_size[(by_size.len() - 1) / 2];
    for (gap, two) in gaps.iter().zip(slices.windows(2)) {
        if (gap - usual).abs() <= GAP_TOLERANCE * usual && usual > 0.0 {
            continue;
        }
        let found = format!(
            "a gap of {gap:.3} between {} and {}",
            two[0].0.display(),
            two[1].0.display()
        );
        let expected = match *gap == 0.0 || usual <= 0.0 {
            true => "images at different positions".to_owned(),
            false => format!("{usual:.3}, as between other images; is one missing?"),
        };
        return Err(wrong(found, expected));
    }
    let [first, last] = [&slices[0].1, &slices[slices.len() - 1].1];
    let way = last.position.unwrap_or_default() - first.position.unwrap_or_default();
    let step = way / (slices.len() - 1) as f64;
    Ok(DMat3::from_cols(first.steps[0], first.steps[1], step))
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

/// The pixels of all slices, one after the other, as a stream.
struct Slices<'s> {
    slices: std::slice::Iter<'s, (PathBuf, Image)>,
    options: &'s LoadOptions,
    /// The number of bytes of the pixels of a slice.
    slice_bytes: u64,
    pixels: Vec<u8>,
    used: usize,
    progress: &'s mut dyn FnMut(Progress),
    file_bytes: u64,
    file_bytes_all: u64,
    compression: Compression,
    fault: Option<Fault>,
}

impl<'s> Slices<'s> {
    fn new(
        slices: &'s [(PathBuf, Image)],
        options: &'s LoadOptions,
        slice_bytes: u64,
        progress: &'s mut dyn FnMut(Progress),
    ) -> Self {
        let lengths = slices.iter().filter_map(|(path, _)| path.metadata().ok());
        Self {
            slices: slices.iter(),
            options,
            slice_bytes,
            pixels: Vec::new(),
            used: 0,
            progress,
            file_bytes: 0,
            file_bytes_all: lengths.map(|metadata| metadata.len()).sum(),
            compression: Compression::None,
            fault: None,
        }
    }

    /// Reads the pixels of a slice.
    fn open(&mut self, path: &Path) -> Result<(), Fault> {
        let slice_bytes = self.slice_bytes;
        let (pixels, facts) = with_file(path, self.options, |source, facts| {
            let read = |source: &mut Source<'_>, attributes: &Attributes| {
                check_pixels(attributes, slice_bytes)?;
                let mut pixels = Vec::new();
                source.read_into(&mut pixels, slice_bytes)?;
                if pixels.len() as u64 != slice_bytes {
                    let expected = format!("{slice_bytes} bytes of pixels");
                    return Err(Fault::truncated(source.byte(), expected));
                }
                Ok(pixels)
            };
            Ok((with_attributes(source, read)?, *facts))
        })?;
        (self.pixels, self.used) = (pixels, 0);
        self.file_bytes += facts.0;
        self.compression = facts.1;
        (self.progress)(Progress {
            bytes_read: self.file_bytes,
            bytes_total: Some(self.file_bytes_all),
        });
        Ok(())
    }
}

impl Read for Slices<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.used == self.pixels.len() {
            let Some((path, _)) = self.slices.next() else {
                return Ok(0);
            };
            if let Err(fault) = self.open(path) {
                self.fault = Some(fault);
                return Err(std::io::Error::other("a slice cannot be read"));
            }
        }
        let rest = &self.pixels[self.used..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.used += count;
        Ok(count)
    }
}
