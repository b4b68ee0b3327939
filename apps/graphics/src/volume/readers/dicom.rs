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

use dicom_object::file::ReadPreamble;
use dicom_object::{DefaultDicomObject, OpenFileOptions, Tag};
use glam::{DMat3, DVec3};

use super::{Context, VolumeReader};
use crate::file::{self, Compression, Fault, FileProblem, Place, Progress, Rest, Source, Stream};
use crate::volume::data::Layout;
use crate::volume::format::{EXPECTED, VolumeFormat};
use crate::volume::load::{LoadOptions, Loaded, VolumeReport};
use crate::volume::parsed::{Geometry, Parsed, Scalar};
use crate::volume::voxels::{Voxel, Voxels, with_voxels};

/// The place of the magic bytes in a file.
const MAGIC_AT: usize = 128;
/// The permitted difference between two gaps, as a share of the gap.
const GAP_TOLERANCE: f64 = 0.02;

const SERIES: Tag = Tag(0x0020, 0x000E);
const POSITION: Tag = Tag(0x0020, 0x0032);
const ORIENTATION: Tag = Tag(0x0020, 0x0037);
const SAMPLES: Tag = Tag(0x0028, 0x0002);
const FRAMES: Tag = Tag(0x0028, 0x0008);
const ROWS: Tag = Tag(0x0028, 0x0010);
const COLUMNS: Tag = Tag(0x0028, 0x0011);
const PIXEL_SPACING: Tag = Tag(0x0028, 0x0030);
const BITS: Tag = Tag(0x0028, 0x0100);
const IS_SIGNED: Tag = Tag(0x0028, 0x0103);
const INTERCEPT: Tag = Tag(0x0028, 0x1052);
const SLOPE: Tag = Tag(0x0028, 0x1053);
const THICKNESS: Tag = Tag(0x0018, 0x0050);
const GAP: Tag = Tag(0x0018, 0x0088);
const PIXELS: Tag = Tag(0x7FE0, 0x0010);

/// The reader of one file with several frames.
pub(super) const READER: VolumeReader = VolumeReader {
    extensions: &["dcm", "dicom"],
    is_text: Some(false),
    recognizes: |head| head.bytes.get(MAGIC_AT..MAGIC_AT + 4) == Some(b"DICM"),
    read,
};

/// The description of an image, or of all frames of a file.
#[derive(Debug, Clone, PartialEq)]
struct Image {
    size: [u64; 2],
    frames: u64,
    scalar: Scalar,
    is_big_endian: bool,
    slope: f64,
    intercept: f64,
    /// The steps to the next column and to the next row.
    steps: [DVec3; 2],
    position: Option<DVec3>,
    gap: f64,
    series: String,
}

impl Image {
    /// Examines the attributes of an image.
    fn of(object: &DefaultDicomObject) -> Result<Self, Fault> {
        let number = |tag: Tag| {
            let element = object.element_opt(tag).ok().flatten()?;
            element.to_float64().ok().filter(|value| value.is_finite())
        };
        let numbers = |tag: Tag| {
            let element = object.element_opt(tag).ok().flatten()?;
            element.to_multi_float64().ok()
        };
        let whole = |tag: Tag, what: &str| {
            number(tag)
                .filter(|value| (1.0..=1e6).contains(value) && value.fract() == 0.0)
                .map(|value| value as u64)
                .ok_or_else(|| {
                    wrong(
                        format!("an image without {what}"),
                        format!("{what} ({tag})"),
                    )
                })
        };
        let samples = number(SAMPLES).unwrap_or(1.0);
        if samples != 1.0 {
            return Err(wrong(
                format!("{samples} samples per pixel"),
                "1: an image in grey",
            ));
        }
        let bits = whole(BITS, "the number of bits")?;
        let is_signed = number(IS_SIGNED) == Some(1.0);
        let scalar = match (bits, is_signed) {
            (8, false) => Scalar::U8,
            (8, true) => Scalar::I8,
            (16, false) => Scalar::U16,
            (16, true) => Scalar::I16,
            (32, false) => Scalar::U32,
            (32, true) => Scalar::I32,
            _ => return Err(wrong(format!("{bits} bits per pixel"), "8, 16 or 32")),
        };
        let syntax = object.meta().transfer_syntax().trim_end_matches('\0');
        let is_big_endian = match syntax {
            "1.2.840.10008.1.2" | "1.2.840.10008.1.2.1" | "1.2.840.10008.1.2.1.99" => false,
            "1.2.840.10008.1.2.2" => true,
            other => {
                let found = format!("images compressed by transfer syntax {other}");
                return Err(wrong(
                    found,
                    "images without compression (dcmdjpeg or gdcmconv --raw)",
                ));
            }
        };
        let vector = |list: &[f64]| DVec3::new(list[0], list[1], list[2]);
        let orientation = numbers(ORIENTATION).filter(|list| list.len() == 6);
        let [along_row, along_column] = match orientation {
            Some(list) => [vector(&list[..3]), vector(&list[3..])],
            None => [DVec3::X, DVec3::Y],
        };
        let spacing = numbers(PIXEL_SPACING).filter(|list| list.len() == 2);
        let spacing = spacing.unwrap_or_else(|| vec![1.0, 1.0]);
        let position = numbers(POSITION).filter(|list| list.len() == 3);
        let series = object.element_opt(SERIES).ok().flatten();
        let series = series.and_then(|element| element.to_str().ok().map(|text| text.to_string()));
        Ok(Self {
            size: [
                whole(COLUMNS, "the number of columns")?,
                whole(ROWS, "the number of rows")?,
            ],
            frames: number(FRAMES).map_or(1, |count| count as u64),
            scalar,
            is_big_endian,
            slope: number(SLOPE).unwrap_or(1.0),
            intercept: number(INTERCEPT).unwrap_or(0.0),
            // The spacing between rows comes first.
            steps: [along_row * spacing[1], along_column * spacing[0]],
            position: position.map(|list| vector(&list)),
            gap: number(GAP)
                .or_else(|| number(THICKNESS))
                .unwrap_or(1.0)
                .abs(),
            series: series.unwrap_or_default().trim_end_matches('\0').to_owned(),
        })
    }

    /// Returns the direction from one image to the next.
    fn normal(&self) -> DVec3 {
        self.steps[0].cross(self.steps[1]).normalize_or(DVec3::Z)
    }

    /// Returns the layout of `depth` images.
    fn layout(&self, depth: u64) -> Layout {
        let [width, height] = self.size;
        Layout {
            is_big_endian: self.is_big_endian,
            slope: self.slope,
            intercept: self.intercept,
            ..Layout::new([width, height, depth], self.scalar, Place::Whole)
        }
    }

    /// Returns true if two images can be slices of one volume.
    fn fits(&self, other: &Self) -> bool {
        let is_close = |a: DVec3, b: DVec3| (a - b).length() <= 1e-3 * (a.length() + b.length());
        self.size == other.size
            && self.scalar == other.scalar
            && self.is_big_endian == other.is_big_endian
            && self.frames == 1
            && other.frames == 1
            && is_close(self.steps[0], other.steps[0])
            && is_close(self.steps[1], other.steps[1])
    }
}

#[cold]
fn wrong(found: impl Into<String>, expected: impl Into<String>) -> Fault {
    Fault::syntax(Place::Whole, found, expected)
}

/// Parses a DICOM file, up to the pixels or with them.
fn parse(source: &mut Source<'_>, with_pixels: bool) -> Result<DefaultDicomObject, Fault> {
    let options = OpenFileOptions::new().read_preamble(ReadPreamble::Always);
    let options = if with_pixels {
        options
    } else {
        options.read_until(PIXELS)
    };
    options.from_reader(Rest(source)).map_err(|error| {
        // The message of the parser is a chain, of which the last part has the reason.
        let mut reason: &dyn std::error::Error = &error;
        while let Some(source) = reason.source() {
            reason = source;
        }
        wrong(
            format!("a DICOM file that cannot be parsed: {reason}"),
            "a sound file",
        )
    })
}

/// Returns the bytes of the pixels.
fn pixels(object: &DefaultDicomObject) -> Result<Vec<u8>, Fault> {
    let element = object.element_opt(PIXELS).ok().flatten();
    let element = element.ok_or_else(|| wrong("a file without pixels", "an image"))?;
    let bytes = element
        .to_bytes()
        .map_err(|error| wrong(error.to_string(), "pixels"))?;
    Ok(bytes.into_owned())
}

/// Reads a file with several frames.
fn read(source: &mut Source<'_>, _: &mut Context<'_>) -> Result<Parsed, Fault> {
    let object = parse(source, true)?;
    let image = Image::of(&object)?;
    if image.frames < 2 {
        return Err(wrong(
            "a single image",
            "several frames, or the folder of a series",
        ));
    }
    let bytes = pixels(&object)?;
    drop(object);
    let layout = image.layout(image.frames);
    let length = Some(bytes.len() as u64);
    let mut inner = Source::new(Box::new(&bytes[..]), length, u64::MAX, Box::new(|| ()));
    let voxels = layout.read(&mut inner, None)?;
    let steps = DMat3::from_cols(image.steps[0], image.steps[1], image.gap * image.normal());
    let geometry = Geometry::of_steps(steps, image.position.unwrap_or_default());
    Parsed::new(
        VolumeFormat::Dicom,
        layout.size,
        voxels,
        geometry,
        Place::Whole,
    )
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
            let object = parse(source, false)?;
            // A folder may contain an index (DICOMDIR) or reports, which have no pixels.
            let has_size = object
                .element_opt(ROWS)
                .is_ok_and(|element| element.is_some());
            has_size.then(|| Image::of(&object)).transpose()
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
            let mut pixels = pixels(&parse(source, true)?)?;
            // An odd number of bytes is padded.
            if pixels.len() as u64 == slice_bytes + 1 {
                pixels.pop();
            }
            if pixels.len() as u64 != slice_bytes {
                let found = format!("{} bytes of pixels", pixels.len());
                return Err(wrong(found, format!("{slice_bytes} bytes")));
            }
            Ok((pixels, *facts))
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
