//! Reads stereolithography files (STL), ASCII and binary.
//!
//! An STL file is a list of triangles, each with its own corners. Identical corners become one
//! vertex. The normals contain no information beyond the corners and are often wrong, so they are
//! skipped. So are the two bytes after each binary triangle, which some programs use for colours.
//!
//! The ASCII reader accepts common deviations: `end` separated from the word that it ends, solids
//! that begin or end twice, lines of colours, and a missing `endsolid` at the end of the file.
//!
//! # Source
//! 3D Systems, StereoLithography Interface Specification, 1988, section 6.5.

use glam::{DVec3, Vec3};

use super::MeshReader;
use crate::file::{Fault, Head, Place, Source, quoted};
use crate::mesh::faces::Faces;
use crate::mesh::format::Format;
use crate::mesh::parsed::Parsed;
use crate::mesh::points::{Point, coordinate_fault, is_coordinate};
use crate::mesh::weld::Welder;

#[cfg(test)]
mod tests;

const HEADER_BYTES: usize = 80;
const TRIANGLE_BYTES: usize = 50;

/// The reader of binary STL files.
pub(super) const BINARY_READER: MeshReader = MeshReader {
    extensions: &["stl"],
    is_text: Some(false),
    recognizes: is_binary,
    read: read_binary,
};

/// The reader of ASCII STL files.
pub(super) const TEXT_READER: MeshReader = MeshReader {
    extensions: &["stl"],
    is_text: Some(true),
    recognizes: |head| {
        let is_solid = |word: &[u8]| word.eq_ignore_ascii_case(b"solid");
        head.is_text && head.first_word().is_some_and(is_solid)
    },
    read: read_text,
};

/// Returns true if a file has exactly the length that a binary STL header promises, or if it begins
/// with `solid` but is not text. Many binary STL files begin with `solid`.
fn is_binary(head: &Head<'_>) -> bool {
    let count = head
        .bytes
        .get(HEADER_BYTES..)
        .and_then(|rest| rest.first_chunk::<4>());
    let has_promised_length = count.is_some_and(|&count| {
        let bytes = 84 + 50 * u64::from(u32::from_le_bytes(count));
        head.length == Some(bytes)
    });
    has_promised_length || (!head.is_text && head.bytes.starts_with(b"solid"))
}

/// Reads a binary STL file from its first byte.
fn read_binary(source: &mut Source<'_>, mut faces: Faces) -> Result<Parsed, Fault> {
    source.skip(HEADER_BYTES as u64, "a header of 80 bytes")?;
    let count_place = source.byte();
    let count = u32::from_le_bytes(source.take("the number of triangles")?);
    let expected = format!("{count} triangles of {TRIANGLE_BYTES} bytes");
    let bytes = u64::from(count) * TRIANGLE_BYTES as u64;
    // Reject a file that is too short for its count before reading it.
    if let Some(remaining) = source.remaining().filter(|&remaining| remaining < bytes) {
        source.skip(remaining, &expected)?;
        source.peek(1, &expected)?;
    }
    faces.claim(count_place, count as usize)?;
    source.reserve(
        &mut faces.triangles,
        u64::from(count),
        TRIANGLE_BYTES as u64,
    )?;
    let mut welder = Welder::<Vec3>::new();
    let mut left = count as usize;
    while left > 0 {
        source.peek(TRIANGLE_BYTES, &expected)?;
        let first_byte = source.offset();
        let records = source.buffered().chunks_exact(TRIANGLE_BYTES);
        let mut used = 0;
        for record in records.take(left) {
            let place = Place::Byte(first_byte + used as u64);
            faces.push_triangle(place, binary_triangle(record, place, &mut welder)?)?;
            used += TRIANGLE_BYTES;
        }
        source.consume(used);
        left -= used / TRIANGLE_BYTES;
    }
    Parsed::new(Format::StlBinary, welder.points, Vec::new(), faces)
}

fn binary_triangle(
    record: &[u8],
    place: Place,
    welder: &mut Welder<Vec3>,
) -> Result<[u32; 3], Fault> {
    let mut corners = [0; 3];
    for (corner, bytes) in corners.iter_mut().zip(record[12..48].chunks_exact(12)) {
        let value = |at: usize| {
            let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            f64::from(f32::from_le_bytes(bytes))
        };
        *corner = weld(welder, [value(0), value(4), value(8)], place)?;
    }
    Ok(corners)
}

/// Reads an ASCII STL file from its first byte.
fn read_text(source: &mut Source<'_>, mut faces: Faces) -> Result<Parsed, Fault> {
    let mut welder = Welder::<DVec3>::new();
    let mut corners = Vec::new();
    let (mut has_begun, mut has_ended) = (false, false);
    while let Some((place, token)) = source.next_token()? {
        let is = |word: &[u8]| token.eq_ignore_ascii_case(word);
        if is(b"facet") && has_begun {
            has_ended = false;
            read_facet(source, &mut welder, &mut corners)?;
            faces.push_polygon(place, &corners, &[], &welder.points.list)?;
        } else if is(b"solid") {
            (has_begun, has_ended) = (true, false);
            source.next_line()?;
        } else if is(b"endsolid") && has_begun {
            has_ended = true;
            source.next_line()?;
        } else if is(b"end") && has_begun {
            has_ended = true;
            expect_word(source, "solid")?;
            source.next_line()?;
        } else if is(b"color") && has_begun {
            source.next_line()?;
        } else {
            let expected = ["\"solid\"", "\"facet\" or \"endsolid\""][usize::from(has_begun)];
            return Err(Fault::syntax(place, quoted(token), expected));
        }
    }
    faces.ignored.missing_ends = u64::from(!has_ended);
    Parsed::new(Format::StlText, welder.points, Vec::new(), faces)
}

/// Reads the lines between `facet` and `endfacet`.
fn read_facet(
    source: &mut Source<'_>,
    welder: &mut Welder<DVec3>,
    corners: &mut Vec<u32>,
) -> Result<(), Fault> {
    corners.clear();
    expect_word(source, "normal")?;
    for _ in 0..3 {
        next_word(source, "a normal")?;
    }
    expect_word(source, "outer")?;
    expect_word(source, "loop")?;
    loop {
        let (place, token) = next_word(source, "\"vertex\" or \"endloop\"")?;
        if token.eq_ignore_ascii_case(b"endloop") {
            return expect_end(source, "facet");
        }
        if token.eq_ignore_ascii_case(b"end") {
            expect_word(source, "loop")?;
            return expect_end(source, "facet");
        }
        if !token.eq_ignore_ascii_case(b"vertex") {
            return Err(Fault::syntax(
                place,
                quoted(token),
                "\"vertex\" or \"endloop\"",
            ));
        }
        let mut point = [0.0; 3];
        for value in &mut point {
            let (place, token) = next_word(source, "a coordinate")?;
            *value = std::str::from_utf8(token)
                .ok()
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| Fault::syntax(place, quoted(token), "a coordinate"))?;
        }
        corners.push(weld(welder, point, place)?);
    }
}

fn next_word<'s>(source: &'s mut Source<'_>, expected: &str) -> Result<(Place, &'s [u8]), Fault> {
    let here = source.line();
    source
        .next_token()?
        .ok_or_else(|| Fault::truncated(here, expected))
}

fn expect_word(source: &mut Source<'_>, word: &str) -> Result<(), Fault> {
    let expected = format!("\"{word}\"");
    let (place, token) = next_word(source, &expected)?;
    if token.eq_ignore_ascii_case(word.as_bytes()) {
        Ok(())
    } else {
        Err(Fault::syntax(place, quoted(token), expected))
    }
}

/// Reads `end` and a word, together or separated.
fn expect_end(source: &mut Source<'_>, word: &str) -> Result<(), Fault> {
    let expected = format!("\"end{word}\"");
    let (place, token) = next_word(source, &expected)?;
    if token.eq_ignore_ascii_case(b"end") {
        return expect_word(source, word);
    }
    let end = token.get(..3).zip(token.get(3..));
    let is_end = end.is_some_and(|(end, rest)| {
        end.eq_ignore_ascii_case(b"end") && rest.eq_ignore_ascii_case(word.as_bytes())
    });
    if is_end {
        Ok(())
    } else {
        Err(Fault::syntax(place, quoted(token), expected))
    }
}

/// Checks the coordinates of a point and returns the number of its vertex.
fn weld<P: Point>(welder: &mut Welder<P>, point: [f64; 3], place: Place) -> Result<u32, Fault> {
    if let Some(&bad) = point.iter().find(|value| !is_coordinate(**value)) {
        return Err(coordinate_fault(place, bad));
    }
    welder
        .vertex(P::from_array(point))
        .ok_or_else(|| Fault::too_large(place, "one more vertex", format!("at most {}", u32::MAX)))
}
