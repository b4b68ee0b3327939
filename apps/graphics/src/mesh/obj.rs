//! Wavefront OBJ: points, normals and polygons; everything else is passed over.
//!
//! Indices count from 1, or backwards from the last with a minus sign. Faces may name points that come
//! later in the file. Where every corner of every face names a normal, the mesh gets normals: a point with
//! two normals (on a sharp edge) becomes two vertices, the second after all points of the file. Where only
//! some corners name normals, none is taken.
//!
//! A word at the beginning of a line that we do not know is passed over like those that we know and do not
//! need, because programs add words of their own; before the first point it is an error, because then the
//! file is something else.
//!
//! # Source
//! Alias|Wavefront, Advanced Visualizer Manual, appendix B1: Object Files, version 3.0.

use std::collections::HashMap;

use glam::Vec3;

use super::error::{Fault, MeshProblem, Place, quoted};
use super::faces::Faces;
use super::load::Parsed;
use super::report::Format;
use super::source::{LINE_BYTES_MAX, Source, line_too_long};
use super::{Mesh, is_coordinate};

#[cfg(test)]
mod tests;

/// Words that lines may begin with before the first point.
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
    b"deg",
    b"bmat",
    b"step",
];
const LINE_EXPECTED: &str = "a line of OBJ, such as \"v X Y Z\" or \"f A B C\"";

/// Reads an OBJ file from its first byte.
pub(crate) fn read(source: &mut Source<'_>, faces: Faces) -> Result<Parsed, Fault> {
    let mut reader = Reader {
        points: Vec::new(),
        normals: Vec::new(),
        faces,
        has_normals: true,
        farthest_point: None,
        farthest_normal: None,
        corners: Vec::new(),
        corner_normals: Vec::new(),
    };
    let mut joined = Vec::new();
    while let Some((place, line)) = source.next_line()? {
        let Some(beginning) = line.strip_suffix(b"\\") else {
            reader.read_line(place, line)?;
            continue;
        };
        // A backslash at the end joins a line with the next.
        joined.clear();
        joined.extend_from_slice(beginning);
        while let Some((_, line)) = source.next_line()? {
            joined.push(b' ');
            let Some(more) = line.strip_suffix(b"\\") else {
                joined.extend_from_slice(line);
                break;
            };
            joined.extend_from_slice(more);
            if joined.len() > LINE_BYTES_MAX {
                return Err(line_too_long(place, &joined));
            }
        }
        reader.read_line(place, &joined)?;
    }
    reader.finish()
}

/// What the lines so far have come to.
#[derive(Debug)]
struct Reader {
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
    faces: Faces,
    /// Every corner so far has had a normal.
    has_normals: bool,
    /// The largest indices that faces name, from 0, and where; checked when the file has been read.
    farthest_point: Option<(u32, Place)>,
    farthest_normal: Option<(u32, Place)>,
    /// The corners of the face at hand.
    corners: Vec<u32>,
    corner_normals: Vec<u32>,
}

impl Reader {
    fn read_line(&mut self, place: Place, line: &[u8]) -> Result<(), Fault> {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        match words.next() {
            None => {}
            Some(b"v") => {
                let point = vector(place, line, words)?;
                if let Some(bad) = point
                    .to_array()
                    .iter()
                    .find(|value| !is_coordinate(**value))
                {
                    return Err(Fault::coordinate(place, bad));
                }
                self.points.push(point);
            }
            Some(b"vn") => self.normals.push(vector(place, line, words)?),
            Some(b"f" | b"fo") => self.read_face(place, words)?,
            Some(word) => {
                let known = word.starts_with(b"#") || word == b"vt" || word == b"vp";
                if self.points.is_empty() && !known && !PREAMBLE.contains(&word) {
                    return Err(Fault::syntax(place, quoted(line), LINE_EXPECTED));
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
        for word in words.take_while(|word| !word.starts_with(b"#")) {
            let mut parts = word.split(|&byte| byte == b'/');
            let point = parts.next().unwrap_or_default();
            let normal = parts.nth(1).filter(|normal| !normal.is_empty());
            if parts.next().is_some() {
                return Err(Fault::syntax(place, quoted(word), CORNER_EXPECTED));
            }
            let count = self.points.len();
            let farthest = &mut self.farthest_point;
            self.corners.push(index(place, point, count, farthest)?);
            if let Some(normal) = normal {
                let count = self.normals.len();
                let farthest = &mut self.farthest_normal;
                self.corner_normals
                    .push(index(place, normal, count, farthest)?);
            }
        }
        if self.corner_normals.len() != self.corners.len() {
            self.has_normals = false;
        }
        if !self.has_normals {
            self.corner_normals.clear();
        }
        let is_known = |&corner: &u32| (corner as usize) < self.points.len();
        if self.corners.iter().all(is_known) {
            self.faces
                .push_polygon(place, &self.corners, &self.corner_normals, &self.points)
        } else {
            self.faces
                .push_waiting(place, &self.corners, &self.corner_normals)
        }
    }

    fn finish(mut self) -> Result<Parsed, Fault> {
        check_farthest(self.farthest_point, self.points.len(), "vertices")?;
        check_farthest(self.farthest_normal, self.normals.len(), NORMALS)?;
        self.faces.finish(&self.points)?;
        let mut mesh = Mesh {
            positions: self.points,
            normals: Vec::new(),
            triangles: std::mem::take(&mut self.faces.triangles),
        };
        if self.has_normals && self.faces.corner_normals.len() == mesh.triangles.len() {
            split_by_normals(&mut mesh, &self.normals, &self.faces.corner_normals)?;
        }
        Ok(Parsed {
            mesh,
            format: Format::Obj,
            polygon_count: self.faces.polygon_count,
            dropped_count: self.faces.dropped_count,
        })
    }
}

/// What a corner may name besides vertices.
const NORMALS: &str = "normals";
const CORNER_EXPECTED: &str = "a corner V, V/T, V//N or V/T/N";

/// Reads three numbers; more may follow.
fn vector<'w>(
    place: Place,
    line: &[u8],
    mut words: impl Iterator<Item = &'w [u8]>,
) -> Result<Vec3, Fault> {
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
    Ok(Vec3::from_array(values))
}

/// Reads an index as the file has it, and returns it counted from 0.
///
/// One that counts from the beginning may be beyond `count`; the largest of them is kept in `farthest`.
#[inline]
fn index(
    place: Place,
    word: &[u8],
    count: usize,
    farthest: &mut Option<(u32, Place)>,
) -> Result<u32, Fault> {
    let number: i64 = match integer(word) {
        Some(number) => number,
        None => return Err(Fault::syntax(place, quoted(word), CORNER_EXPECTED)),
    };
    let from_zero = if number < 0 {
        number + count as i64
    } else {
        number - 1
    };
    match u32::try_from(from_zero) {
        Ok(index) if index < u32::MAX => {
            if farthest.is_none_or(|(farthest, _)| farthest < index) {
                *farthest = Some((index, place));
            }
            Ok(index)
        }
        _ => Err(bad_index(place, number, count, "so far")),
    }
}

/// A whole number of at most 18 digits.
#[inline]
fn integer(word: &[u8]) -> Option<i64> {
    let (digits, sign) = match word {
        [b'-', digits @ ..] => (digits, -1),
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

fn check_farthest(farthest: Option<(u32, Place)>, count: usize, what: &str) -> Result<(), Fault> {
    match farthest {
        Some((index, place)) if index as usize >= count => {
            Err(bad_index(place, i64::from(index) + 1, count, what))
        }
        _ => Ok(()),
    }
}

#[cold]
fn bad_index(place: Place, found: i64, count: usize, what: &str) -> Fault {
    let expected = match count {
        0 => format!("none at all, with 0 {what}"),
        _ => format!("1 to {count} or -{count} to -1, with {count} {what}"),
    };
    let problem = MeshProblem::Index {
        of: if what == NORMALS { "normal" } else { "vertex" },
        found,
        expected,
    };
    Fault::new(place, problem)
}

/// Gives each vertex of `mesh` a normal, and makes a vertex more of a point for each further normal there.
fn split_by_normals(
    mesh: &mut Mesh,
    normals: &[Vec3],
    corner_normals: &[[u32; 3]],
) -> Result<(), Fault> {
    /// No normal has been seen at this vertex.
    const NONE: u32 = u32::MAX;
    let mut normal_of = vec![NONE; mesh.positions.len()];
    let mut further = HashMap::new();
    let corners = mesh.triangles.iter_mut().flatten();
    for (corner, &normal) in corners.zip(corner_normals.iter().flatten()) {
        let first = &mut normal_of[*corner as usize];
        if *first == NONE {
            *first = normal;
        }
        if *first != normal {
            let next = mesh.positions.len();
            let split = *further.entry((*corner, normal)).or_insert(next);
            if split == next {
                mesh.positions.push(mesh.positions[*corner as usize]);
                normal_of.push(normal);
            }
            *corner = u32::try_from(split).map_err(|_| {
                let expected = format!("at most {}", u32::MAX);
                Fault::too_large(Place::Whole, "one more vertex", expected)
            })?;
        }
    }
    let normal = |&normal: &u32| normals.get(normal as usize).copied().unwrap_or(Vec3::ZERO);
    mesh.normals = normal_of.iter().map(normal).collect();
    Ok(())
}
