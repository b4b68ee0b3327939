//! The attributes that describe an image and its frames.

use dicom_core::Tag;
use glam::DVec3;

use super::attributes::{Attributes, Values, wrong};
use crate::file::{Fault, Place};
use crate::volume::data::Layout;
use crate::volume::parsed::Scalar;

const POSITION: Tag = Tag(0x0020, 0x0032);
const ORIENTATION: Tag = Tag(0x0020, 0x0037);
const STACK: Tag = Tag(0x0020, 0x9056);
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

/// The description of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Image {
    pub(super) pixels: Pixels,
    /// The number of frames.
    pub(super) count: u64,
    /// The description of each frame; or only one, if the frames differ in nothing but the number
    /// of gaps from the first one.
    pub(super) frames: Vec<Frame>,
}

/// The size and the type of the pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pixels {
    pub(super) size: [u64; 2],
    scalar: Scalar,
    /// The number of low bits of a pixel that count, if there are others.
    stored_bits: Option<u32>,
    is_big_endian: bool,
}

/// The place and the scale of one frame.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    /// The steps to the next column and to the next row.
    pub(super) steps: [DVec3; 2],
    /// False if the file lacks the lengths of these steps.
    pub(super) has_spacing: bool,
    pub(super) position: Option<DVec3>,
    pub(super) gap: f64,
    /// Slope and intercept.
    pub(super) scale: [f64; 2],
    /// The name of the stack of frames that it belongs to, if there is one.
    pub(super) stack: String,
}

impl Image {
    /// Examines the attributes of an image.
    pub(super) fn of(attributes: &Attributes) -> Result<Self, Fault> {
        let Attributes { image, shared, .. } = attributes;
        let count = image.number(FRAMES).filter(|&count| count >= 1.0);
        let count = count.map_or(1, |count| count as u64);
        let frames: Vec<Frame> = match &attributes.frames[..] {
            [] => vec![Frame::of(&[shared, image])],
            frames => {
                let frames = frames.iter();
                frames.map(|own| Frame::of(&[own, shared, image])).collect()
            }
        };
        let described = attributes.frames.len() as u64;
        if described > 0 && described != count {
            let found = format!("descriptions of {described} frames (5200,9230)");
            return Err(wrong(found, format!("{count}, one for each frame")));
        }
        let pixels = Pixels::of(image, attributes.is_big_endian)?;
        let image = Self {
            pixels,
            count,
            frames,
        };
        image.check_pixels(attributes.pixel_bytes)?;
        Ok(image)
    }

    /// Checks that a file says that it has as many bytes of pixels as it needs.
    fn check_pixels(&self, found: Option<u32>) -> Result<(), Fault> {
        let found = found.ok_or_else(|| wrong("a file without pixels", "an image"))?;
        let expected = u128::from(self.count) * u128::from(self.pixels.bytes());
        // An odd number of bytes is padded.
        if ![expected, expected.next_multiple_of(2)].contains(&u128::from(found)) {
            return Err(wrong(
                format!("{found} bytes of pixels"),
                format!("{expected} bytes"),
            ));
        }
        Ok(())
    }

    /// Returns true if there are several frames, and nothing describes them one by one.
    pub(super) fn is_regular(&self) -> bool {
        self.count != self.frames.len() as u64
    }

    /// Returns the number of bytes of all pixels.
    pub(super) fn bytes(&self) -> u64 {
        self.count * self.pixels.bytes()
    }
}

impl Pixels {
    fn of(image: &Values, is_big_endian: bool) -> Result<Self, Fault> {
        let whole = |tag: Tag, what: &str| {
            image
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
        let samples = image.number(SAMPLES).unwrap_or(1.0);
        if samples != 1.0 {
            return Err(wrong(
                format!("{samples} samples per pixel"),
                "1: an image in grey",
            ));
        }
        let bits = whole(BITS, "the number of bits")?;
        let is_signed = image.number(IS_SIGNED) == Some(1.0);
        let scalar = match (bits, is_signed) {
            (8, false) => Scalar::U8,
            (8, true) => Scalar::I8,
            (16, false) => Scalar::U16,
            (16, true) => Scalar::I16,
            (32, false) => Scalar::U32,
            (32, true) => Scalar::I32,
            _ => return Err(wrong(format!("{bits} bits per pixel"), "8, 16 or 32")),
        };
        let stored = image.number(BITS_STORED).unwrap_or(bits as f64);
        let high = image.number(HIGH_BIT).unwrap_or(stored - 1.0);
        let is_whole = stored == bits as f64;
        let is_low = high == stored - 1.0 && stored.fract() == 0.0;
        if !is_low || stored < 1.0 || stored > bits as f64 || (bits == 32 && !is_whole) {
            let found = format!("pixels of {bits} bits, with {stored} bits up to number {high}");
            let expected = "the lowest bits of 8 or 16, or all bits (0028,0101)";
            return Err(wrong(found, expected));
        }
        Ok(Self {
            size: [
                whole(COLUMNS, "the number of columns")?,
                whole(ROWS, "the number of rows")?,
            ],
            scalar,
            stored_bits: (!is_whole).then_some(stored as u32),
            is_big_endian,
        })
    }

    /// Returns the number of bytes of an image.
    fn bytes(&self) -> u64 {
        self.size[0] * self.size[1] * self.scalar.bytes()
    }

    /// Returns the layout of `depth` images without a scale.
    pub(super) fn layout(&self, depth: u64) -> Layout {
        let [width, height] = self.size;
        Layout {
            is_big_endian: self.is_big_endian,
            stored_bits: self.stored_bits,
            ..Layout::new([width, height, depth], self.scalar, Place::Whole)
        }
    }
}

impl Frame {
    /// Examines the values that describe a frame. The first of the lists that has a value wins.
    fn of(lists: &[&Values]) -> Self {
        let number = |tag| lists.iter().find_map(|values| values.number(tag));
        let numbers = |tag, count| {
            let found = lists.iter().find_map(|values| values.numbers(tag));
            found.filter(|list| list.len() == count)
        };
        let vector = |list: &[f64]| DVec3::new(list[0], list[1], list[2]);
        let [along_row, along_column] = match numbers(ORIENTATION, 6) {
            Some(list) => [vector(&list[..3]), vector(&list[3..])],
            None => [DVec3::X, DVec3::Y],
        };
        let spacing = numbers(PIXEL_SPACING, 2);
        let has_spacing = spacing.is_some();
        let spacing = spacing.unwrap_or_else(|| vec![1.0, 1.0]);
        let stacks = lists.iter().map(|values| values.text(STACK));
        Self {
            // The spacing between rows comes first.
            steps: [along_row * spacing[1], along_column * spacing[0]],
            has_spacing,
            position: numbers(POSITION, 3)
                .map(|list| vector(&list))
                .filter(|position| position.is_finite()),
            gap: number(GAP)
                .or_else(|| number(THICKNESS))
                .unwrap_or(1.0)
                .abs(),
            scale: [
                number(SLOPE).unwrap_or(1.0),
                number(INTERCEPT).unwrap_or(0.0),
            ],
            stack: stacks
                .into_iter()
                .find(|it| !it.is_empty())
                .unwrap_or_default(),
        }
    }

    /// Returns the direction from one image to the next.
    pub(super) fn normal(&self) -> DVec3 {
        self.steps[0].cross(self.steps[1]).normalize_or(DVec3::Z)
    }
}
