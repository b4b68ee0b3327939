//! Reads Wavefront OBJ files: points, normals and polygons. Everything else is skipped.
//!
//! Indices count from 1, or backwards from the last with a minus sign. Faces may refer to points
//! that come later in the file. If every corner of every face has a normal, the mesh gets normals.
//! A point with two normals (on a sharp edge) becomes two vertices, of which the second comes after
//! all points of the file. If only some corners have normals, all normals are ignored. If a normal
//! does not exist or does not consist of three numbers, only that normal is lost.
//!
//! A backslash at the end of a line of numbers joins it with the next line. Names and comments may
//! end in a backslash too (Windows paths do), so it joins nothing there.
//!
//! A line with an unknown first word is skipped, like the lines with known words that a mesh does
//! not need, because programs add words of their own. If the file contains no point at all, the
//! first such line is an error, because the file is then probably not OBJ.
//!
//! # Source
//! Alias|Wavefront, Advanced Visualizer Manual, appendix B1: Object Files, version 3.0.

use std::collections::HashMap;

use glam::{DVec3, Vec3};

use super::{MeshReader, check_vertices};
use crate::file::{Fault, LINE_BYTES_MAX, Place, Source, line_too_long, quoted};
use crate::mesh::faces::Faces;
use crate::mesh::format::Format;
use crate::mesh::parsed::Parsed;
use crate::mesh::points::Points;

#[cfg(test)]
mod tests;

/// The common first words of OBJ lines, by which the format is detected.
const FIRST_WORDS: &[&[u8]] = &[
    b"v", b"vn", b"vt", b"vp", b"f", b"fo", b"l", b"p", b"g", b"o", b"s", b"mtllib", b"usemtl",
    b"mg",
];
/// The first words of lines that contain numbers and no names.
const NUMERIC: &[&[u8]] = &[
    b"v", b"vn", b"vt", b"vp", b"f", b"fo", b"l", b"p", b"bmat", b"step", b"curv", b"curv2",
    b"surf", b"parm", b"trim", b"hole", b"scrv", b"sp", b"con", b"deg",
];
/// The number of points that are read between two checks of their memory.
const POINTS_CHECKED: usize = 1 << 14;
/// The other words with which a line of OBJ may begin before all points.
const PREAMBLE: &[&[u8]] = &[
    b"g",
    b"o",
    b"s",
    b"mtllib",
    b"usemtl",
    b"maplib",
    b"usemap",
    b"call",
    b"csh",
    b"mg",
    b"lod",
    b"bevel",
    b"c_interp",
    b"d_interp",
    b"shadow_obj",
    b"trace_obj",
    b"cstype",
];
const LINE_EXPECTED: &str = "a line of OBJ, such as \"v X Y Z\" or \"f A B C\"";

/// The reader of OBJ files.
pub(super) const READER: MeshReader = MeshReader {
    extensions: &["obj"],
    is_text: None,
    recognizes: |head| {
        let is_first_word = |word: &[u8]| FIRST_WORDS.contains(&word);
        head.is_text && head.first_word().is_some_and(is_first_word)
    },
    read,
};

/// Reads an OBJ file from its first byte.
fn read(source: &mut Source<'_>, faces: Faces) -> Result<Parsed, Fault> {
    let mut reader = Reader {
        points: Points::new(),
        normals: Vec::new(),
        faces,
        has_normals: true,
        farthest_point: None,
        corners: Vec::new(),
        corner_normals: Vec::new(),
        first_unknown: None,
    };
    let mut joined = Vec::new();
    let mut points_checked = 0;
    while let Some((place, line)) = source.next_line()? {
        let (line, continues) = content(line);
        if continues {
            joined.clear();
            joined.extend_from_slice(line);
            join(source, place, &mut joined)?;
            reader.read_line(place, &joined)?;
        } else {
            reader.read_line(place, line)?;
        }
        if reader.points.len() >= points_checked {
            check_vertices(source, reader.points.bytes())?;
            points_checked += POINTS_CHECKED;
        }
    }
    reader.finish()
}

/// Returns the part of a line before its comment, and whether the next line continues it.
fn content(line: &[u8]) -> (&[u8], bool) {
    let word = line
        .split(u8::is_ascii_whitespace)
        .find(|word| !word.is_empty());
    if !word.is_some_and(|word| NUMERIC.contains(&word)) {
        return (line, false);
    }
    if let Some(comment) = memchr::memchr(b'#', line) {
        return (&line[..comment], false);
    }
    match line.trim_ascii_end().strip_suffix(b"\\") {
        Some(beginning) => (beginning, true),
        None => (line, false),
    }
}

/// Appends to a line the lines that continue it.
fn join(source: &mut Source<'_>, place: Place, joined: &mut Vec<u8>) -> Result<(), Fault> {
    while let Some((_, line)) = source.next_line()? {
        joined.push(b' ');
        let comment = memchr::memchr(b'#', line);
        let line = &line[..comment.unwrap_or(line.len())];
        match line.trim_ascii_end().strip_suffix(b"\\") {
            Some(more) if comment.is_none() => joined.extend_from_slice(more),
            _ => {
                joined.extend_from_slice(line);
                break;
            }
        }
        if joined.len() > LINE_BYTES_MAX {
            return Err(line_too_long(place, joined));
        }
    }
    Ok(())
}

/// The state of reading a file.
#[derive(Debug)]
struct Reader {
    points: Points<DVec3>,
    /// The normals of the file; broken ones are NaN.
    normals: Vec<Vec3>,
    faces: Faces,
    /// True as long as every corner has a normal.
    has_normals: bool,
    /// The largest index of a point that a face refers to, counted from 0, and the place of that
    /// face. It is checked at the end of the file.
    farthest_point: Option<(u32, Place)>,
    /// The corners of the current face.
    corners: Vec<u32>,
    corner_normals: Vec<u32>,
    /// The fault of the first line before all points that does not begin with a word of OBJ.
    first_unknown: Option<Fault>,
}

impl Reader {
    fn read_line(&mut self, place: Place, line: &[u8]) -> Result<(), Fault> {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let ignored = &mut self.faces.ignored;
        match words.next() {
            None => {}
            Some(b"v") => match vector(place, line, words) {
                Ok(point) => self.points.push(place, point),
                Err(fault) => self.points.push_broken(fault),
            },
            Some(b"vn") => {
                let normal = vector(place, line, words).map(DVec3::from_array);
                self.normals
                    .push(normal.map_or(Vec3::NAN, |normal| normal.as_vec3()));
            }
            Some(b"f" | b"fo") => self.read_face(place, words)?,
            Some(b"l") => ignored.lines += 1,
            Some(b"p") => ignored.points += words.count() as u64,
            Some(b"curv" | b"curv2" | b"surf") => ignored.curves += 1,
            Some(word) => {
                let is_known =
                    word.starts_with(b"#") || NUMERIC.contains(&word) || PREAMBLE.contains(&word);
                if !is_known && self.points.len() == 0 && self.first_unknown.is_none() {
                    self.first_unknown = Some(Fault::syntax(place, quoted(line), LINE_EXPECTED));
                }
            }
        }
        Ok(())
    }

    fn read_face<'w>(
        &mut self,
        place: Place,
        words: impl Iterator<Item = &'w [u8]>,
    ) -> Result<(), Fault> {
        self.corners.clear();
        self.corner_normals.clear();
        for word in words {
            let mut parts = word.split(|&byte| byte == b'/');
            let point = parts.next().unwrap_or_default();
            let normal = parts.nth(1).filter(|normal| !normal.is_empty());
            if parts.next().is_some() {
                return Err(Fault::syntax(place, quoted(word), CORNER_EXPECTED));
            }
            let index = self.point_index(place, point)?;
            self.corners.push(index);
            if let Some(normal) = normal {
                let index = from_zero(normal, self.normals.len());
                self.corner_normals.push(index.unwrap_or(MISSING));
            }
        }
        if self.corner_normals.len() != self.corners.len() && self.corners.len() >= 3 {
            self.has_normals = false;
        }
        if !self.has_normals {
            self.corner_normals.clear();
        }
        let is_known = |&corner: &u32| (corner as usize) < self.points.len();
        if self.corners.iter().all(is_known) {
            self.faces.push_polygon(
                place,
                &self.corners,
                &self.corner_normals,
                &self.points.list,
            )
        } else {
            self.faces
                .push_deferred(place, &self.corners, &self.corner_normals)
        }
    }

    /// Reads the index of a point, and returns it counted from 0.
    ///
    /// An index that counts from the beginning may refer to a point that is still to come.
    #[inline]
    fn point_index(&mut self, place: Place, word: &[u8]) -> Result<u32, Fault> {
        let count = self.points.len();
        let Some(index) = from_zero(word, count) else {
            return Err(match integer(word) {
                Some(number) => bad_index(place, number, count, "vertices so far"),
                None => Fault::syntax(place, quoted(word), CORNER_EXPECTED),
            });
        };
        if self
            .farthest_point
            .is_none_or(|(farthest, _)| farthest < index)
        {
            self.farthest_point = Some((index, place));
        }
        Ok(index)
    }

    fn finish(mut self) -> Result<Parsed, Fault> {
        if let (0, Some(fault)) = (self.points.len(), self.first_unknown) {
            return Err(fault);
        }
        let count = self.points.len();
        if let Some((index, place)) = self.farthest_point
            && index as usize >= count
        {
            return Err(bad_index(place, i64::from(index) + 1, count, "vertices"));
        }
        self.faces.finish(&self.points.list)?;
        let mut normals = Vec::new();
        if self.has_normals && self.faces.corner_normals.len() == self.faces.triangles.len() {
            for normal in self.faces.corner_normals.iter_mut().flatten() {
                let known = self.normals.get(*normal as usize);
                if !known.is_some_and(|known| known.is_finite()) {
                    *normal = MISSING;
                    self.faces.ignored.normals += 1;
                }
            }
            normals = split_by_normals(&mut self.points, &mut self.faces, &self.normals)?;
        }
        Parsed::new(Format::Obj, self.points, normals, self.faces)
    }
}

/// The index of a normal that the file does not contain, or that does not consist of three numbers.
const MISSING: u32 = u32::MAX;
const CORNER_EXPECTED: &str = "a corner V, V/T, V//N or V/T/N";

/// Reads three numbers; more may follow.
fn vector<'w>(
    place: Place,
    line: &[u8],
    mut words: impl Iterator<Item = &'w [u8]>,
) -> Result<[f64; 3], Fault> {
    let mut values = [0.0; 3];
    for value in &mut values {
        let word = words.next();
        *value = word
            .and_then(|word| std::str::from_utf8(word).ok()?.parse().ok())
            .ok_or_else(|| {
                let found = quoted(word.unwrap_or(line));
                Fault::syntax(
                    place,
                    found,
                    ["three numbers", "a number"][usize::from(word.is_some())],
                )
            })?;
    }
    Ok(values)
}

/// Converts a word to an index counted from 0, given the number of items so far.
#[inline]
fn from_zero(word: &[u8], count: usize) -> Option<u32> {
    let number = integer(word)?;
    let from_zero = if number < 0 {
        number + count as i64
    } else {
        number - 1
    };
    u32::try_from(from_zero)
        .ok()
        .filter(|index| *index < MISSING)
}

/// Parses an integer of at most 18 digits.
#[inline]
fn integer(word: &[u8]) -> Option<i64> {
    let (digits, sign) = match word {
        [b'-', digits @ ..] => (digits, -1),
        [b'+', digits @ ..] => (digits, 1),
        digits => (digits, 1),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let value = digits.iter().try_fold(0, |value, digit| {
        digit
            .is_ascii_digit()
            .then(|| 10 * value + i64::from(digit - b'0'))
    })?;
    Some(sign * value)
}

#[cold]
fn bad_index(place: Place, found: i64, count: usize, items: &str) -> Fault {
    let expected = match count {
        0 => format!("none at all, with 0 {items}"),
        _ => format!("1 to {count} or -{count} to -1, with {count} {items}"),
    };
    Fault::syntax(place, format!("vertex index {found}"), expected)
}

/// Returns a normal for each vertex, NaN if it has none. Adds a vertex for each further normal at a
/// point. A corner without a normal shares the vertex of another corner at the same point.
fn split_by_normals(
    points: &mut Points<DVec3>,
    faces: &mut Faces,
    normals: &[Vec3],
) -> Result<Vec<Vec3>, Fault> {
    let mut normal_of = vec![MISSING; points.len()];
    let mut further = HashMap::new();
    let corners = faces.triangles.iter_mut().flatten();
    for (corner, &normal) in corners.zip(faces.corner_normals.iter().flatten()) {
        let first = &mut normal_of[*corner as usize];
        if *first == MISSING {
            *first = normal;
        }
        if *first != normal && normal != MISSING {
            let next = points.len();
            let split = *further.entry((*corner, normal)).or_insert(next);
            if split == next {
                points.list.push(points.list[*corner as usize]);
                normal_of.push(normal);
            }
            *corner = u32::try_from(split).map_err(|_| {
                let expected = format!("at most {}", u32::MAX);
                Fault::too_large(Place::Whole, "one more vertex", expected)
            })?;
        }
    }
    let normal = |&normal: &u32| normals.get(normal as usize).copied().unwrap_or(Vec3::NAN);
    Ok(normal_of.iter().map(normal).collect())
}
