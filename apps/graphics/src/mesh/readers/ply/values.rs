//! The numbers after a PLY header, in sequence and independent of their encoding.

use glam::Vec3;

use super::fast;
use super::header::{Element, Scalar, Shape};
use crate::file::{Fault, Place, Source, quoted};
use crate::mesh::faces::Faces;
use crate::mesh::points::{Point, Points};

/// A stream of numbers of declared types.
pub(super) trait Values {
    /// Returns the underlying stream.
    fn source(&self) -> &Source<'_>;
    /// Returns the place of the next number. In a text, this is the line of the record.
    fn place(&self) -> Place;
    /// Returns the place of a number that has just been read and that began at `place`.
    fn place_of_last(&self, place: Place) -> Place;
    /// Returns the minimum number of bytes of a record of an element.
    fn bytes_min(&self, element: &Element) -> u64;
    /// Begins a record. In a text, that is a row.
    fn begin_record(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Ends a record. Returns true if it has more values than were read.
    fn end_record(&mut self) -> bool {
        false
    }

    /// Reads a number as a float. The inner error is that of a word that is not a number.
    fn float(&mut self, scalar: Scalar) -> Result<Result<f64, Fault>, Fault>;
    /// Reads an integer. Values of more than 63 bits become the largest integer.
    fn integer(&mut self, scalar: Scalar) -> Result<i64, Fault>;
    /// Skips a number.
    fn skip(&mut self, scalar: Scalar) -> Result<(), Fault>;

    /// Reads the length of a list.
    fn length(&mut self, scalar: Scalar) -> Result<u64, Fault> {
        let place = self.place();
        let length = self.integer(scalar)?;
        u64::try_from(length).map_err(|_| {
            let found = format!("a list of length {length}");
            Fault::syntax(self.place_of_last(place), found, "a length of zero or more")
        })
    }

    /// Reads all vertices if there is a fast path for `fields` of `element`. Returns false
    /// otherwise.
    fn read_vertices_fast<P: Point>(
        &mut self,
        _element: &Element,
        _fields: &[Option<(usize, Shape)>; 6],
        _points: &mut Points<P>,
        _normals: &mut Vec<Vec3>,
    ) -> Result<bool, Fault> {
        Ok(false)
    }

    /// Reads some valid triangles, at most `count`, if there is a fast path. Returns their number.
    fn read_triangles_fast(
        &mut self,
        _element: &Element,
        _list_index: usize,
        _count: u64,
        _vertex_count: usize,
        _faces: &mut Faces,
    ) -> u64 {
        0
    }

    /// Skips all records of an element if there is a fast path. Returns false otherwise.
    fn skip_fast(&mut self, _element: &Element) -> Result<bool, Fault> {
        Ok(false)
    }
}

/// Numbers as words of text, one row for each record.
#[derive(Debug)]
pub(super) struct TextValues<'s, 'a> {
    source: &'s mut Source<'a>,
    /// The current row, the number of bytes of it that have been read, and its line.
    row: Vec<u8>,
    read_len: usize,
    place: Place,
}

impl<'s, 'a> TextValues<'s, 'a> {
    pub(super) fn new(source: &'s mut Source<'a>) -> Self {
        Self {
            place: source.line(),
            source,
            row: Vec::new(),
            read_len: 0,
        }
    }

    /// Returns the next word of the row.
    fn word(&mut self) -> Option<&[u8]> {
        let rest = &self.row[self.read_len..];
        let first = rest.iter().position(|byte| *byte > b' ')?;
        let length = rest[first..].iter().position(|byte| *byte <= b' ');
        let end = length.map_or(rest.len(), |length| first + length);
        self.read_len += end;
        Some(&rest[first..end])
    }

    /// Returns the next word of the row, or an error if there is none.
    fn token(&mut self) -> Result<(Place, &[u8]), Fault> {
        let place = self.place;
        match self.word() {
            Some(word) => Ok((place, word)),
            None => Err(Fault::syntax(place, "the end of the row", "a number")),
        }
    }
}

impl Values for TextValues<'_, '_> {
    fn source(&self) -> &Source<'_> {
        self.source
    }

    fn place(&self) -> Place {
        self.place
    }

    fn place_of_last(&self, place: Place) -> Place {
        place
    }

    fn bytes_min(&self, element: &Element) -> u64 {
        2 * element.properties.len() as u64
    }

    fn begin_record(&mut self) -> Result<(), Fault> {
        self.read_len = 0;
        loop {
            let end = self.source.line();
            let Some((place, row)) = self.source.next_line()? else {
                return Err(Fault::truncated(end, "a number"));
            };
            // Skip empty lines between rows.
            if row.iter().any(|byte| *byte > b' ') {
                self.row.clear();
                self.row.extend_from_slice(row);
                self.place = place;
                return Ok(());
            }
        }
    }

    fn end_record(&mut self) -> bool {
        self.word().is_some()
    }

    fn float(&mut self, _scalar: Scalar) -> Result<Result<f64, Fault>, Fault> {
        let (place, token) = self.token()?;
        let value = std::str::from_utf8(token)
            .ok()
            .and_then(|text| text.parse().ok());
        Ok(value.ok_or_else(|| Fault::syntax(place, quoted(token), "a number")))
    }

    fn integer(&mut self, _scalar: Scalar) -> Result<i64, Fault> {
        let (place, token) = self.token()?;
        std::str::from_utf8(token)
            .ok()
            .and_then(|text| text.parse().ok().or_else(|| as_integer(text.parse().ok()?)))
            .ok_or_else(|| Fault::syntax(place, quoted(token), "a whole number"))
    }

    fn skip(&mut self, _scalar: Scalar) -> Result<(), Fault> {
        self.token().map(|_| ())
    }
}

/// Numbers as bytes, most significant byte first if `BIG`.
#[derive(Debug)]
pub(super) struct BinaryValues<'s, 'a, const BIG: bool> {
    pub(super) source: &'s mut Source<'a>,
}

impl<const BIG: bool> Values for BinaryValues<'_, '_, BIG> {
    fn source(&self) -> &Source<'_> {
        self.source
    }

    fn place(&self) -> Place {
        self.source.byte()
    }

    fn place_of_last(&self, place: Place) -> Place {
        place
    }

    fn bytes_min(&self, element: &Element) -> u64 {
        let bytes = element
            .properties
            .iter()
            .map(|property| match property.shape {
                Shape::Scalar(scalar) => scalar.bytes(),
                // Memory is reserved only for lists of faces, and faces with fewer than three
                // corners are rare.
                Shape::List { count, item } => count.bytes() + 3 * item.bytes(),
            });
        bytes.sum::<usize>() as u64
    }

    fn float(&mut self, scalar: Scalar) -> Result<Result<f64, Fault>, Fault> {
        let bytes = self.source.peek(scalar.bytes(), "a number")?;
        let value = fast::float::<BIG>(scalar, bytes);
        self.source.consume(scalar.bytes());
        Ok(Ok(value))
    }

    fn integer(&mut self, scalar: Scalar) -> Result<i64, Fault> {
        let place = self.place();
        let bytes = self.source.peek(scalar.bytes(), "a whole number")?;
        let value = match scalar {
            Scalar::F32 | Scalar::F64 => {
                let value = fast::double::<BIG>(scalar, bytes);
                as_integer(value)
                    .ok_or_else(|| Fault::syntax(place, value.to_string(), "a whole number"))?
            }
            _ => fast::integer::<BIG>(scalar, bytes),
        };
        self.source.consume(scalar.bytes());
        Ok(value)
    }

    fn skip(&mut self, scalar: Scalar) -> Result<(), Fault> {
        self.source.skip(scalar.bytes() as u64, "a number")
    }

    fn read_vertices_fast<P: Point>(
        &mut self,
        element: &Element,
        fields: &[Option<(usize, Shape)>; 6],
        points: &mut Points<P>,
        normals: &mut Vec<Vec3>,
    ) -> Result<bool, Fault> {
        fast::read_vertices::<BIG, P>(self.source, element, fields, points, normals)
    }

    fn read_triangles_fast(
        &mut self,
        element: &Element,
        list_index: usize,
        count: u64,
        vertex_count: usize,
        faces: &mut Faces,
    ) -> u64 {
        fast::read_triangles::<BIG>(self.source, element, list_index, count, vertex_count, faces)
    }

    fn skip_fast(&mut self, element: &Element) -> Result<bool, Fault> {
        let Some(stride) = element.stride() else {
            return Ok(false);
        };
        let bytes = element.count.saturating_mul(stride as u64);
        let name = quoted(element.name.as_bytes());
        let expected = format!("the end of {} elements {name}", element.count);
        self.source.skip(bytes, &expected)?;
        Ok(true)
    }
}

/// Converts a float without a fractional part to an integer.
fn as_integer(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 9.0e15).then_some(value as i64)
}
