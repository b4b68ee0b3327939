//! The attributes that describe an image.

use dicom_core::Tag;
use glam::DVec3;

use super::attributes::Attributes;
use super::wrong;
use crate::file::{Fault, Place};
use crate::volume::data::Layout;
use crate::volume::parsed::Scalar;

const SERIES: Tag = Tag(0x0020, 0x000E);
const POSITION: Tag = Tag(0x0020, 0x0032);
const ORIENTATION: Tag = Tag(0x0020, 0x0037);
const SAMPLES: Tag = Tag(0x0028, 0x0002);
const FRAMES: Tag = Tag(0x0028, 0x0008);
pub(super) const ROWS: Tag = Tag(0x0028, 0x0010);
const COLUMNS: Tag = Tag(0x0028, 0x0011);
const PIXEL_SPACING: Tag = Tag(0x0028, 0x0030);
const BITS: Tag = Tag(0x0028, 0x0100);
const BITS_STORED: Tag = Tag(0x0028, 0x0101);
const HIGH_BIT: Tag = Tag(0x0028, 0x0102);
const IS_SIGNED: Tag = Tag(0x0028, 0x0103);
const INTERCEPT: Tag = Tag(0x0028, 0x1052);
const SLOPE: Tag = Tag(0x0028, 0x1053);
const THICKNESS: Tag = Tag(0x0018, 0x0050);
const GAP: Tag = Tag(0x0018, 0x0088);

/// The description of an image, or of all frames of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Image {
    pub(super) size: [u64; 2],
    pub(super) frames: u64,
    pub(super) scalar: Scalar,
    /// The number of low bits of a pixel that count, if there are others.
    pub(super) stored_bits: Option<u32>,
    pub(super) is_big_endian: bool,
    pub(super) slope: f64,
    pub(super) intercept: f64,
    /// The steps to the next column and to the next row.
    pub(super) steps: [DVec3; 2],
    pub(super) position: Option<DVec3>,
    pub(super) gap: f64,
    pub(super) series: String,
}

impl Image {
    /// Examines the attributes of an image.
    pub(super) fn of(attributes: &Attributes) -> Result<Self, Fault> {
        let whole = |tag: Tag, what: &str| {
            attributes
                .number(tag)
                .filter(|value| (1.0..=1e6).contains(value) && value.fract() == 0.0)
                .map(|value| value as u64)
                .ok_or_else(|| {
                    wrong(
                        format!("an image without {what}"),
                        format!("{what} ({tag})"),
                    )
                })
        };
        let samples = attributes.number(SAMPLES).unwrap_or(1.0);
        if samples != 1.0 {
            return Err(wrong(
                format!("{samples} samples per pixel"),
                "1: an image in grey",
            ));
        }
        let bits = whole(BITS, "the number of bits")?;
        let is_signed = attributes.number(IS_SIGNED) == Some(1.0);
        let scalar = match (bits, is_signed) {
            (8, false) => Scalar::U8,
            (8, true) => Scalar::I8,
            (16, false) => Scalar::U16,
            (16, true) => Scalar::I16,
            (32, false) => Scalar::U32,
            (32, true) => Scalar::I32,
            _ => return Err(wrong(format!("{bits} bits per pixel"), "8, 16 or 32")),
        };
        let stored = attributes.number(BITS_STORED).unwrap_or(bits as f64);
        let high = attributes.number(HIGH_BIT).unwrap_or(stored - 1.0);
        let is_whole = stored == bits as f64;
        let is_low = high == stored - 1.0 && stored.fract() == 0.0;
        if !is_low || stored < 1.0 || stored > bits as f64 || (bits == 32 && !is_whole) {
            let found = format!("pixels of {bits} bits, with {stored} bits up to number {high}");
            let expected = "the lowest bits of 8 or 16, or all bits (0028,0101)";
            return Err(wrong(found, expected));
        }
        let vector = |list: &[f64]| DVec3::new(list[0], list[1], list[2]);
        let orientation = attributes
            .numbers(ORIENTATION)
            .filter(|list| list.len() == 6);
        let [along_row, along_column] = match orientation {
            Some(list) => [vector(&list[..3]), vector(&list[3..])],
            None => [DVec3::X, DVec3::Y],
        };
        let spacing = attributes
            .numbers(PIXEL_SPACING)
            .filter(|list| list.len() == 2);
        let spacing = spacing.unwrap_or_else(|| vec![1.0, 1.0]);
        let position = attributes.numbers(POSITION).filter(|list| list.len() == 3);
        Ok(Self {
            size: [
                whole(COLUMNS, "the number of columns")?,
                whole(ROWS, "the number of rows")?,
            ],
            frames: attributes.number(FRAMES).map_or(1, |count| count as u64),
            scalar,
            stored_bits: (!is_whole).then_some(stored as u32),
            is_big_endian: attributes.is_big_endian,
            slope: attributes.number(SLOPE).unwrap_or(1.0),
            intercept: attributes.number(INTERCEPT).unwrap_or(0.0),
            // The spacing between rows comes first.
            steps: [along_row * spacing[1], along_column * spacing[0]],
            position: position.map(|list| vector(&list)),
            gap: attributes
                .number(GAP)
                .or_else(|| attributes.number(THICKNESS))
                .unwrap_or(1.0)
                .abs(),
            series: attributes.text(SERIES),
        })
    }

    /// Returns the direction from one image to the next.
    pub(super) fn normal(&self) -> DVec3 {
        self.steps[0].cross(self.steps[1]).normalize_or(DVec3::Z)
    }

    /// Returns the layout of `depth` images.
    pub(super) fn layout(&self, depth: u64) -> Layout {
        let [width, height] = self.size;
        Layout {
            is_big_endian: self.is_big_endian,
            slope: self.slope,
            intercept: self.intercept,
            stored_bits: self.stored_bits,
            ..Layout::new([width, height, depth], self.scalar, Place::Whole)
        }
    }

    /// Returns true if two images can be slices of one volume.
    pub(super) fn fits(&self, other: &Self) -> bool {
        let is_close = |a: DVec3, b: DVec3| (a - b).length() <= 1e-3 * (a.length() + b.length());
        self.size == other.size
            && self.scalar == other.scalar
            && self.stored_bits == other.stored_bits
            && self.is_big_endian == other.is_big_endian
            && self.frames == 1
            && other.frames == 1
            && is_close(self.steps[0], other.steps[0])
            && is_close(self.steps[1], other.steps[1])
    }
}
