//! Reads the header of a PLY file: lines of text that declare the encoding, the elements and their
//! properties.

use crate::file::{Fault, Place, Source, quoted};
use crate::mesh::presentation::Presentation;

/// The maximum number of properties of all elements together. No mesh has more.
const PROPERTY_COUNT_MAX: usize = 4096;

/// The encoding of the elements after the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

/// The type of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    /// Returns the size in binary files, in bytes.
    #[inline]
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Returns true if every number of the type is also an `f32`.
    fn is_single(self) -> bool {
        matches!(
            self,
            Self::I8 | Self::U8 | Self::I16 | Self::U16 | Self::F32
        )
    }

    fn from_name(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"int64" | b"long" => Self::I64,
            b"uint64" | b"ulong" => Self::U64,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }
}

/// The shape of a property: a number, or a list that begins with its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar(Scalar),
    List { count: Scalar, item: Scalar },
}

/// A named part of an element.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) shape: Shape,
}

/// A declaration of `count` records of the same structure.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
    /// The line of the declaration.
    pub(super) place: Place,
}

impl Element {
    /// Finds a property by its name. Returns its position among the properties, and its shape.
    pub(super) fn property(&self, name: &str) -> Option<(usize, Shape)> {
        let index = self
            .properties
            .iter()
            .position(|property| property.name == name)?;
        Some((index, self.properties[index].shape))
    }

    /// Returns true if a property is a number that an `f32` represents exactly.
    pub(super) fn is_single(&self, name: &str) -> bool {
        matches!(self.property(name), Some((_, Shape::Scalar(scalar))) if scalar.is_single())
    }

    /// Returns the size of a record in a binary file. Returns `None` if the element has a list, so
    /// that its records differ in size.
    pub(super) fn stride(&self) -> Option<usize> {
        self.properties
            .iter()
            .map(|property| match property.shape {
                Shape::Scalar(scalar) => Some(scalar.bytes()),
                Shape::List { .. } => None,
            })
            .sum()
    }
}

/// The declarations of a PLY file.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) encoding: Encoding,
    pub(super) elements: Vec<Element>,
    pub(super) presentation: Presentation,
}

impl Header {
    /// Reads up to the end of the line `end_header`.
    pub(super) fn read(source: &mut Source<'_>) -> Result<Self, Fault> {
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        let mut presentation = Presentation::default();
        let mut property_count = 0;
        // All lines have the same line end as the first one. This separates the end of the last
        // line from the data after it.
        let mut line_end = None;
        loop {
            let end = source.line();
            let Some((place, line, this_end)) = source.next_line_ended_by(line_end)? else {
                return Err(Fault::truncated(end, "a line end_header"));
            };
            let words: Vec<&[u8]> = line
                .split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty())
                .collect();
            if line_end.is_none() && words != [b"ply"] {
                return Err(Fault::syntax(place, quoted(line), "\"ply\""));
            }
            line_end = line_end.or(Some(this_end));
            match words[..] {
                [b"comment", b"raddle", ref words @ ..] => presentation.add(words),
                [b"comment" | b"obj_info" | b"ply", ..] | [] => {}
                [b"end_header"] => break,
                [b"format", name, _version] => encoding = Some(format(name, place)?),
                [b"element", name, count] => elements.push(Element {
                    name: String::from_utf8_lossy(name).into_owned(),
                    count: parse_count(count, place)?,
                    properties: Vec::new(),
                    place,
                }),
                [b"property", ref declaration @ ..] => {
                    property_count += 1;
                    if property_count > PROPERTY_COUNT_MAX {
                        let expected = format!("at most {PROPERTY_COUNT_MAX}");
                        return Err(Fault::too_large(place, "too many properties", expected));
                    }
                    let property = property(declaration)
                        .ok_or_else(|| Fault::syntax(place, quoted(line), PROPERTY_EXPECTED))?;
                    let Some(element) = elements.last_mut() else {
                        return Err(Fault::syntax(
                            place,
                            "a property before all elements",
                            "\"element NAME COUNT\" first",
                        ));
                    };
                    element.properties.push(property);
                }
                _ => return Err(Fault::syntax(place, quoted(line), LINE_EXPECTED)),
            }
        }
        match encoding {
            Some(encoding) => Ok(Self {
                encoding,
                elements,
                presentation,
            }),
            None => Err(Fault::syntax(
                source.line(),
                "the end of a header without an encoding",
                FORMAT_EXPECTED,
            )),
        }
    }
}

const LINE_EXPECTED: &str =
    "\"format\", \"element NAME COUNT\", \"property\", \"comment\" or \"end_header\"";
const PROPERTY_EXPECTED: &str = "\"property TYPE NAME\" or \
    \"property list TYPE TYPE NAME\" with types \
     char, uchar, short, ushort, int, uint, int64, uint64, float or double";
const FORMAT_EXPECTED: &str = "\"format\" with ascii, binary_little_endian or binary_big_endian";

fn format(name: &[u8], place: Place) -> Result<Encoding, Fault> {
    match name {
        b"ascii" => Ok(Encoding::Text),
        b"binary_little_endian" => Ok(Encoding::LittleEndian),
        b"binary_big_endian" => Ok(Encoding::BigEndian),
        _ => Err(Fault::syntax(place, quoted(name), FORMAT_EXPECTED)),
    }
}

fn parse_count(word: &[u8], place: Place) -> Result<u64, Fault> {
    std::str::from_utf8(word)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Fault::syntax(place, quoted(word), "the number of elements"))
}

fn property(declaration: &[&[u8]]) -> Option<Property> {
    let (shape, name) = match *declaration {
        [b"list", count, item, name] => {
            let (count, item) = (Scalar::from_name(count)?, Scalar::from_name(item)?);
            (Shape::List { count, item }, name)
        }
        [scalar, name] => (Shape::Scalar(Scalar::from_name(scalar)?), name),
        _ => return None,
    };
    let name = String::from_utf8_lossy(name).into_owned();
    Some(Property { name, shape })
}
