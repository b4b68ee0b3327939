//! The numbers after a PLY header, one after the other, however they are written.

use glam::Vec3;

use super::header::{Element, Scalar, Shape};
use super::quick;
use crate::mesh::error::{Fault, Place, quoted};
use crate::mesh::faces::Faces;
use crate::mesh::source::Source;

/// A stream of numbers of declared types.
pub(super) trait Values {
    /// The bytes below.
    fn source(&self) -> &Source<'_>;
    /// The place of the next number; of text, the line that the last one ended on.
    fn place(&self) -> Place;
    /// The place of a number that has just been read, which began at `place`.
    fn place_of_last(&self, place: Place) -> Place;
    /// The least number of bytes that a record of an element can have.
    fn bytes_min(&self, element: &Element) -> u64;
    /// Reads a number as a float; what does not fit becomes infinite.
    fn float(&mut self, scalar: Scalar) -> Result<f32, Fault>;
    /// Reads a whole number. Those beyond 63 bits become the largest.
    fn integer(&mut self, scalar: Scalar) -> Result<i64, Fault>;
    /// Passes over a number.
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

    /// Reads all vertices at once, if there is a quick way for `fields` of `element`; tells whether.
    fn read_vertices_quick(
        &mut self,
        _element: &Element,
        _fields: &[Option<(usize, Shape)>; 6],
        _positions: &mut Vec<Vec3>,
        _normals: &mut Vec<Vec3>,
    ) -> Result<bool, Fault> {
        Ok(false)
    }

    /// Reads some sound triangles, at most `count`, if there is a quick way; returns their number.
    fn read_triangles_quick(
        &mut self,
        _element: &Element,
        _list_index: usize,
        _count: u64,
        _vertex_count: usize,
        _faces: &mut Faces,
    ) -> u64 {
        0
    }

    /// Passes over all records of an element, if there is a quick way; tells whether.
    fn skip_quick(&mut self, _element: &Element) -> Result<bool, Fault> {
        Ok(false)
    }
}

/// Numbers as words of text.
#[derive(Debug)]
pub(super) struct TextValues<'s, 'a> {
    pub(super) source: &'s mut Source<'a>,
}

impl TextValues<'_, '_> {
    fn token(&mut self) -> Result<(Place, &[u8]), Fault> {
        let here = self.source.line();
        match self.source.next_token()? {
            Some(token) => Ok(token),
            None => Err(Fault::truncated(here, "a number")),
        }
    }
}

impl Values for TextValues<'_, '_> {
    fn source(&self) -> &Source<'_> {
        self.source
    }

    fn place(&self) -> Place {
        self.source.line()
    }

    fn place_of_last(&self, _place: Place) -> Place {
        self.source.line()
    }

    fn bytes_min(&self, element: &Element) -> u64 {
        2 * element.properties.len() as u64
    }

    fn float(&mut self, _scalar: Scalar) -> Result<f32, Fault> {
        let (place, token) = self.token()?;
        std::str::from_utf8(token)
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| Fault::syntax(place, quoted(token), "a number"))
    }

    fn integer(&mut self, _scalar: Scalar) -> Result<i64, Fault> {
        let (place, token) = self.token()?;
        std::str::from_utf8(token)
            .ok()
            .and_then(|text| text.parse().ok().or_else(|| whole(text.parse().ok()?)))
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
                // The lists that room is made for are faces; those without three corners are rare.
                Shape::List { count, item } => count.bytes() + 3 * item.bytes(),
            });
        bytes.sum::<usize>() as u64
    }

    fn float(&mut self, scalar: Scalar) -> Result<f32, Fault> {
        let bytes = self.source.peek(scalar.bytes(), "a number")?;
        let value = quick::float::<BIG>(scalar, bytes);
        self.source.consume(scalar.bytes());
        Ok(value)
    }

    fn integer(&mut self, scalar: Scalar) -> Result<i64, Fault> {
        let place = self.place();
        let bytes = self.source.peek(scalar.bytes(), "a whole number")?;
        let value = match scalar {
            Scalar::F32 | Scalar::F64 => {
                let value = quick::double::<BIG>(scalar, bytes);
                whole(value)
                    .ok_or_else(|| Fault::syntax(place, value.to_string(), "a whole number"))?
            }
            _ => quick::integer::<BIG>(scalar, bytes),
        };
        self.source.consume(scalar.bytes());
        Ok(value)
    }

    fn skip(&mut self, scalar: Scalar) -> Result<(), Fault> {
        self.source.skip(scalar.bytes() as u64, "a number")
    }

    fn read_vertices_quick(
        &mut self,
        element: &Element,
        fields: &[Option<(usize, Shape)>; 6],
        positions: &mut Vec<Vec3>,
        normals: &mut Vec<Vec3>,
    ) -> Result<bool, Fault> {
        quick::read_vertices::<BIG>(self.source, element, fields, positions, normals)
    }

    fn read_triangles_quick(
        &mut self,
        element: &Element,
        list_index: usize,
        count: u64,
        vertex_count: usize,
        faces: &mut Faces,
    ) -> u64 {
        quick::read_triangles::<BIG>(self.source, element, list_index, count, vertex_count, faces)
    }

    fn skip_quick(&mut self, element: &Element) -> Result<bool, Fault> {
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

/// A float that stands for a whole number, as one.
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 9.0e15).then_some(value as i64)
}
