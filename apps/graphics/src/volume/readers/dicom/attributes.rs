//! The attributes of a DICOM file, up to its pixels.
//!
//! The parser shows the header of each attribute before it reads the value. So memory is reserved
//! only for short values at the top level, never for a length that a damaged file claims.
//!
//! # Source
//! DICOM PS3.10 2024, chapter 7 (file meta information), PS3.5, chapter 7 and annex A (transfer
//! syntaxes).

use std::collections::BTreeMap;
use std::io::Read;

use dicom_core::{PrimitiveValue, Tag};
use dicom_parser::DynStatefulDecoder;
use dicom_parser::dataset::LazyDataToken;
use dicom_parser::dataset::lazy_read::LazyDataSetReader;
use dicom_transfer_syntax_registry::entries;
use flate2::read::DeflateDecoder;

use super::{MAGIC_AT, wrong};
use crate::file::{Fault, Rest, Source, quoted};

/// The maximum length of a value that is read. All needed values are much shorter.
const LEN_MAX: u32 = 1 << 10;
/// The length of the element that says how long the file meta information is.
const META_LEN_LEN: usize = 12;

const TRANSFER_SYNTAX: Tag = Tag(0x0002, 0x0010);
/// The descriptions of single frames.
const FRAME_GROUPS: Tag = Tag(0x5200, 0x9230);
const PIXELS: Tag = Tag(0x7FE0, 0x0010);

const IMPLICIT: &str = "1.2.840.10008.1.2";
const EXPLICIT: &str = "1.2.840.10008.1.2.1";
const DEFLATED: &str = "1.2.840.10008.1.2.1.99";
const BIG_ENDIAN: &str = "1.2.840.10008.1.2.2";

/// The short attributes of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attributes {
    values: BTreeMap<Tag, PrimitiveValue>,
    pub(super) is_big_endian: bool,
    /// The number of bytes of the pixels, of which the first one is next in the source.
    pub(super) pixel_bytes: Option<u32>,
}

impl Attributes {
    /// Returns a finite number.
    pub(super) fn number(&self, tag: Tag) -> Option<f64> {
        let value = self.values.get(&tag)?.to_float64().ok();
        value.filter(|value| value.is_finite())
    }

    /// Returns a list of numbers.
    pub(super) fn numbers(&self, tag: Tag) -> Option<Vec<f64>> {
        self.values.get(&tag)?.to_multi_float64().ok()
    }

    /// Returns a text, which is empty if the attribute is missing.
    pub(super) fn text(&self, tag: Tag) -> String {
        let text = self.values.get(&tag).map(PrimitiveValue::to_str);
        text.unwrap_or_default()
            .trim_end_matches(['\0', ' '])
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
            let expected = "images without compression (dcmdjpeg or gdcmconv --raw)";
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
    Ok(meta.text(TRANSFER_SYNTAX))
}

/// Reads the short attributes at the top level, up to the pixels.
fn attributes(source: &mut Source<'_>, syntax: &str) -> Result<Attributes, Fault> {
    let entry = match syntax {
        IMPLICIT => entries::IMPLICIT_VR_LITTLE_ENDIAN.erased(),
        BIG_ENDIAN => entries::EXPLICIT_VR_BIG_ENDIAN.erased(),
        _ => entries::EXPLICIT_VR_LITTLE_ENDIAN.erased(),
    };
    let decoder = DynStatefulDecoder::new_with_ts(Rest(source), &entry, 0).map_err(damaged)?;
    let mut reader = LazyDataSetReader::new(decoder);
    let mut attributes = Attributes {
        values: BTreeMap::new(),
        is_big_endian: syntax == BIG_ENDIAN,
        pixel_bytes: None,
    };
    // The number of sequences around the current attribute.
    let mut depth = 0_u64;
    while let Some(token) = reader.advance() {
        match token.map_err(damaged)? {
            LazyDataToken::SequenceStart { tag, .. } if depth == 0 && tag == FRAME_GROUPS => {
                let found = "an enhanced image, which describes each frame of its own";
                let expected = "one image for each file (dcm2dcm or gdcmconv --split)";
                return Err(wrong(found, expected));
            }
            LazyDataToken::SequenceStart { .. } => depth += 1,
            LazyDataToken::SequenceEnd => depth = depth.saturating_sub(1),
            LazyDataToken::PixelSequenceStart if depth == 0 => {
                let found = "images compressed in fragments";
                return Err(wrong(
                    found,
                    "images without compression (dcmdjpeg or gdcmconv --raw)",
                ));
            }
            LazyDataToken::ElementHeader(header) if depth == 0 && header.tag == PIXELS => {
                attributes.pixel_bytes = Some(header.len.0);
                break;
            }
            LazyDataToken::LazyValue { header, decoder } => {
                let is_short = depth == 0 && header.len.0 <= LEN_MAX;
                let token = LazyDataToken::LazyValue { header, decoder };
                if is_short {
                    let value = token.into_value().map_err(damaged)?;
                    attributes.values.insert(header.tag, value);
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
