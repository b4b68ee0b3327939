//! The attributes of a DICOM file, up to its pixels.
//!
//! The parser shows the header of each attribute before it reads the value. So memory is reserved
//! only for short values of the file and of its frames, never for a length that a damaged file
//! claims.
//!
//! # Source
//! DICOM PS3.10 2024, chapter 7 (file meta information), PS3.5, chapter 7 and annex A (transfer
//! syntaxes), PS3.3, C.7.6.16 (functional groups of frames).

use std::io::Read;

use dicom_core::{PrimitiveValue, Tag};
use dicom_parser::DynStatefulDecoder;
use dicom_parser::dataset::LazyDataToken;
use dicom_parser::dataset::lazy_read::LazyDataSetReader;
use dicom_transfer_syntax_registry::entries;
use flate2::read::DeflateDecoder;

use crate::file::{Fault, Place, Rest, Source, quoted};

/// The place of the magic bytes in a file.
pub(super) const MAGIC_AT: usize = 128;
/// The maximum length of a value that is read. All needed values are much shorter.
const LEN_MAX: u32 = 1 << 10;
/// The maximum number of frames that a file describes one by one. Each takes some hundred bytes.
const FRAMES_MAX: usize = 1 << 16;
/// The length of the element that says how long the file meta information is.
const META_LEN_LEN: usize = 12;

const TRANSFER_SYNTAX: Tag = Tag(0x0002, 0x0010);
/// The description that all frames share, and those of single frames.
const SHARED: Tag = Tag(0x5200, 0x9229);
const FRAMES: Tag = Tag(0x5200, 0x9230);
/// The parts of a description with facts that are needed. Other parts, above all those of vendors,
/// may have the same attributes with another meaning.
const GROUPS: [Tag; 5] = [
    // Frame content, with the stack.
    Tag(0x0020, 0x9111),
    Tag(0x0020, 0x9113),
    Tag(0x0020, 0x9116),
    // Pixel measures and values.
    Tag(0x0028, 0x9110),
    Tag(0x0028, 0x9145),
];
const PIXELS: Tag = Tag(0x7FE0, 0x0010);

const IMPLICIT: &str = "1.2.840.10008.1.2";
const EXPLICIT: &str = "1.2.840.10008.1.2.1";
const DEFLATED: &str = "1.2.840.10008.1.2.1.99";
const BIG_ENDIAN: &str = "1.2.840.10008.1.2.2";

/// The short attributes of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attributes {
    /// The attributes at the top level.
    pub(super) image: Values,
    /// The attributes of all frames.
    pub(super) shared: Values,
    /// The attributes of each frame, if the file describes frames one by one.
    pub(super) frames: Vec<Values>,
    pub(super) is_big_endian: bool,
    /// The number of bytes of the pixels, of which the first one is next in the source.
    pub(super) pixel_bytes: Option<u32>,
}

/// Short values, by their tags.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Values(Vec<(Tag, PrimitiveValue)>);

impl Values {
    fn get(&self, tag: Tag) -> Option<&PrimitiveValue> {
        let found = self.0.iter().find(|(known, _)| *known == tag);
        found.map(|(_, value)| value)
    }

    /// Returns a finite number.
    pub(super) fn number(&self, tag: Tag) -> Option<f64> {
        let value = self.get(tag)?.to_float64().ok();
        value.filter(|value| value.is_finite())
    }

    /// Returns a list of numbers.
    pub(super) fn numbers(&self, tag: Tag) -> Option<Vec<f64>> {
        self.get(tag)?.to_multi_float64().ok()
    }

    /// Returns a text, which is empty if the attribute is missing.
    pub(super) fn text(&self, tag: Tag) -> String {
        let text = self.get(tag).map(PrimitiveValue::to_str);
        text.unwrap_or_default()
            .trim_matches(['\0', ' '])
            .to_owned()
    }
}

/// Reads the attributes of a file, and calls `read` with them and with the source of the pixels.
pub(super) fn with_attributes<T>(
    source: &mut Source<'_>,
    read: impl FnOnce(&mut Source<'_>, &Attributes) -> Result<T, Fault>,
) -> Result<T, Fault> {
    source.skip(MAGIC_AT as u64, "\"DICM\"")?;
    let magic = source.take::<4>("\"DICM\"")?;
    if magic != *b"DICM" {
        return Err(wrong(quoted(&magic), "\"DICM\" at byte 128"));
    }
    let syntax = transfer_syntax(source)?;
    match syntax.as_str() {
        IMPLICIT | EXPLICIT | BIG_ENDIAN => {
            let attributes = attributes(source, &syntax)?;
            read(source, &attributes)
        }
        DEFLATED => {
            let mut inflated = Source::inside(DeflateDecoder::new(Rest(source)));
            let attributes = attributes(&mut inflated, EXPLICIT)?;
            read(&mut inflated, &attributes)
        }
        other => {
            let found = format!("images compressed by transfer syntax {other}");
            let expected = "images without compression (gdcmconv --raw)";
            Err(wrong(found, expected))
        }
    }
}

/// Reads the file meta information, and returns the transfer syntax of the rest.
fn transfer_syntax(source: &mut Source<'_>) -> Result<String, Fault> {
    let header = source.take::<META_LEN_LEN>("the length of the file meta information")?;
    // Group 2, element 0, with a type of UL and four bytes.
    let Some(len) = header.strip_prefix(b"\x02\0\0\0UL\x04\0") else {
        let expected = "the length of the file meta information (0002,0000)";
        return Err(wrong("a damaged header", expected));
    };
    let len = len
        .iter()
        .rev()
        .fold(0, |len, &byte| len << 8 | u64::from(byte));
    let mut meta = Source::inside(Rest(source).take(len));
    let meta = attributes(&mut meta, EXPLICIT)?;
    Ok(meta.image.text(TRANSFER_SYNTAX))
}

/// Reads the short attributes up to the pixels.
fn attributes(source: &mut Source<'_>, syntax: &str) -> Result<Attributes, Fault> {
    let entry = match syntax {
        IMPLICIT => entries::IMPLICIT_VR_LITTLE_ENDIAN.erased(),
        BIG_ENDIAN => entries::EXPLICIT_VR_BIG_ENDIAN.erased(),
        _ => entries::EXPLICIT_VR_LITTLE_ENDIAN.erased(),
    };
    let decoder = DynStatefulDecoder::new_with_ts(Rest(source), &entry, 0).map_err(damaged)?;
    let mut reader = LazyDataSetReader::new(decoder);
    let mut attributes = Attributes {
        image: Values::default(),
        shared: Values::default(),
        frames: Vec::new(),
        is_big_endian: syntax == BIG_ENDIAN,
        pixel_bytes: None,
    };
    // The sequences around the current attribute, the outermost one first.
    let mut path = Vec::new();
    while let Some(token) = reader.advance() {
        match token.map_err(damaged)? {
            LazyDataToken::SequenceStart { tag, .. } => path.push(tag),
            LazyDataToken::PixelSequenceStart if !path.is_empty() => path.push(PIXELS),
            LazyDataToken::PixelSequenceStart => {
                let found = "images compressed in fragments";
                return Err(wrong(found, "images without compression (gdcmconv --raw)"));
            }
            LazyDataToken::SequenceEnd => drop(path.pop()),
            LazyDataToken::ItemStart { .. } if path == [FRAMES] => {
                if attributes.frames.len() == FRAMES_MAX {
                    let found = "descriptions of further frames (5200,9230)";
                    return Err(wrong(found, format!("at most {FRAMES_MAX} frames")));
                }
                attributes.frames.push(Values::default());
            }
            LazyDataToken::ElementHeader(header) if path.is_empty() && header.tag == PIXELS => {
                attributes.pixel_bytes = Some(header.len.0);
                break;
            }
            LazyDataToken::LazyValue { header, decoder } => {
                let token = LazyDataToken::LazyValue { header, decoder };
                let values = attributes.values_at(&path);
                if let Some(Values(list)) = values.filter(|_| header.len.0 <= LEN_MAX) {
                    list.push((header.tag, token.into_value().map_err(damaged)?));
                } else {
                    token.skip().map_err(damaged)?;
                }
            }
            LazyDataToken::LazyItemValue { len, decoder } => {
                let token = LazyDataToken::LazyItemValue { len, decoder };
                token.skip().map_err(damaged)?;
            }
            _ => (),
        }
    }
    Ok(attributes)
}

impl Attributes {
    /// Returns the list for the attributes inside some sequences; `None` if they are not needed.
    fn values_at(&mut self, path: &[Tag]) -> Option<&mut Values> {
        match path {
            [] => Some(&mut self.image),
            [SHARED, group] if GROUPS.contains(group) => Some(&mut self.shared),
            [FRAMES, group] if GROUPS.contains(group) => self.frames.last_mut(),
            _ => None,
        }
    }
}

/// Returns the fault of a file that is not the expected one.
#[cold]
pub(super) fn wrong(found: impl Into<String>, expected: impl Into<String>) -> Fault {
    Fault::syntax(Place::Whole, found, expected)
}

/// Describes an error of the parser.
#[cold]
fn damaged(error: impl std::error::Error) -> Fault {
    // The message is a chain, of which the last part has the reason.
    let mut reason: &dyn std::error::Error = &error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    wrong(
        format!("a DICOM file that cannot be parsed: {reason}"),
        "a sound file",
    )
}
