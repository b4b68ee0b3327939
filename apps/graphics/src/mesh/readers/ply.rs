//! Reads Stanford polygon files (PLY): ASCII, and binary in both byte orders.
//!
//! A PLY file is a header that declares elements (records) and their properties, followed by the
//! elements in the declared order. This reader uses `x y z` and `nx ny nz` of `vertex`, the
//! polygons of `face` (`vertex_indices` or `vertex_index`) and the strips of `tristrips`.
//! Everything else is skipped. One reader handles all three encodings through [`Values`]. The bulk
//! of most large files (binary vertices of fixed size, triangles) has a fast path in [`fast`].
//!
//! In ASCII, a row is one record. Surplus values in it are ignored and counted; missing values are
//! an error. Numbers that do not fit into an `f32` (`double`, wide integers, all text) are read as
//! `f64`.
//!
//! Comments may have facts for a [`Presentation`](crate::mesh::Presentation).
//!
//! The counts in the header are trusted only as far as the remaining bytes can contain that many
//! elements.
//!
//! # Source
//! G. Turk, The PLY Polygon File Format, Stanford University, 1994. Triangle strips (-1 starts a
//! new one): the plyfiles of Stanford's `vrippack`.

mod fast;
mod header;
mod values;

use glam::{DVec3, Vec3};

use self::header::{Element, Encoding, Header, Shape};
use self::values::{BinaryValues, TextValues, Values};
use super::{MeshReader, check_vertices, index_fault};
use crate::file::{Fault, Place, Source};
use crate::mesh::faces::Faces;
use crate::mesh::format::Format;
use crate::mesh::parsed::Parsed;
use crate::mesh::points::{Point, Points, coordinate_fault, is_coordinate};

#[cfg(test)]
mod tests;

/// The properties of a vertex that are read, in the order of their roles.
const VERTEX_PROPERTIES: [&str; 6] = ["x", "y", "z", "nx", "ny", "nz"];
/// The number of vertices that are read one by one between two checks of their memory.
const VERTICES_CHECKED: u64 = 1 << 14;
/// The names of the property with the corners of a face.
const CORNER_PROPERTIES: [&str; 2] = ["vertex_indices", "vertex_index"];

/// The reader of PLY files.
pub(super) const READER: MeshReader = MeshReader {
    extensions: &["ply"],
    is_text: None,
    recognizes: |head| {
        [b"ply\n", b"ply\r", b"ply "]
            .iter()
            .any(|start| head.bytes.starts_with(*start))
    },
    read,
};

/// Reads a PLY file from its first byte.
fn read(source: &mut Source<'_>, faces: Faces) -> Result<Parsed, Fault> {
    let header = Header::read(source)?;
    let format = match header.encoding {
        Encoding::Text => Format::PlyText,
        Encoding::LittleEndian => Format::PlyLittleEndian,
        Encoding::BigEndian => Format::PlyBigEndian,
    };
    let vertex = header.elements.iter().find(|it| it.name == "vertex");
    let is_single = vertex.is_some_and(|vertex| {
        let mut axes = VERTEX_PROPERTIES[..3].iter();
        axes.all(|axis| vertex.is_single(axis))
    });
    match (header.encoding, is_single) {
        (Encoding::Text, _) => {
            let mut values = TextValues::new(source);
            let parsed = read_body::<DVec3, _>(&header, format, faces, &mut values)?;
            // White space after the last row belongs to the mesh.
            source.skip_white_space()?;
            Ok(parsed)
        }
        (Encoding::LittleEndian, _) => {
            let values = &mut BinaryValues::<false> { source };
            if is_single {
                read_body::<Vec3, _>(&header, format, faces, values)
            } else {
                read_body::<DVec3, _>(&header, format, faces, values)
            }
        }
        (Encoding::BigEndian, _) => {
            let values = &mut BinaryValues::<true> { source };
            if is_single {
                read_body::<Vec3, _>(&header, format, faces, values)
            } else {
                read_body::<DVec3, _>(&header, format, faces, values)
            }
        }
    }
}

/// Reads all elements, with vertices in the precision of `P`.
fn read_body<P: Point, V: Values>(
    header: &Header,
    format: Format,
    faces: Faces,
    values: &mut V,
) -> Result<Parsed, Fault> {
    let mut body = Body::<P>::new(header, faces)?.read(header, values)?;
    body.faces.finish(&body.points.list)?;
    let parsed = Parsed::new(format, body.points, body.normals, body.faces)?;
    Ok(Parsed {
        presentation: header.presentation,
        ..parsed
    })
}

/// The data from the elements that have been read so far.
#[derive(Debug)]
struct Body<P> {
    /// The number of vertices that the header declares.
    vertex_count: usize,
    points: Points<P>,
    normals: Vec<Vec3>,
    faces: Faces,
    /// The corners of the current face.
    corners: Vec<i64>,
    polygon: Vec<u32>,
}

impl<P: Point> Body<P> {
    fn new(header: &Header, faces: Faces) -> Result<Self, Fault> {
        let mut vertices = header.elements.iter().filter(|it| it.name == "vertex");
        let (vertex, second) = (vertices.next(), vertices.next());
        if let Some(second) = second {
            return Err(Fault::syntax(
                second.place,
                "a second element vertex",
                "at most one",
            ));
        }
        let count = vertex.map_or(0, |vertex| vertex.count);
        let vertex_count = u32::try_from(count).map_err(|_| {
            let place = vertex.map_or(Place::Whole, |vertex| vertex.place);
            let expected = format!("at most {}, the limit of an index of 32 bits", u32::MAX);
            Fault::too_large(place, format!("{count} vertices"), expected)
        })?;
        Ok(Self {
            vertex_count: vertex_count as usize,
            points: Points::new(),
            normals: Vec::new(),
            faces,
            corners: Vec::new(),
            polygon: Vec::new(),
        })
    }

    fn read<V: Values>(mut self, header: &Header, values: &mut V) -> Result<Self, Fault> {
        for element in &header.elements {
            match element.name.as_str() {
                "vertex" => self.read_vertices(element, values)?,
                "face" => self.read_faces(element, values, Self::add_face)?,
                "tristrips" => self.read_faces(element, values, Self::add_strips)?,
                name => {
                    if name == "edge" && !element.properties.is_empty() {
                        let lines = &mut self.faces.ignored.lines;
                        *lines = lines.saturating_add(element.count);
                    }
                    self.skip(element, values)?;
                }
            }
        }
        Ok(self)
    }

    fn read_vertices<V: Values>(&mut self, element: &Element, values: &mut V) -> Result<(), Fault> {
        let fields = VERTEX_PROPERTIES.map(|name| element.property(name));
        for (name, field) in VERTEX_PROPERTIES.iter().zip(fields).take(3) {
            if !matches!(field, Some((_, Shape::Scalar(_)))) {
                return Err(Fault::syntax(
                    element.place,
                    format!("an element vertex without a number {name}"),
                    "x, y and z",
                ));
            }
        }
        let has_normals = fields
            .iter()
            .all(|field| matches!(field, Some((_, Shape::Scalar(_)))));
        let bytes_min = values.bytes_min(element);
        let source = values.source();
        source.reserve(&mut self.points.list, element.count, bytes_min)?;
        if has_normals {
            source.reserve(&mut self.normals, element.count, bytes_min)?;
        }
        if !values.read_vertices_fast(element, &fields, &mut self.points, &mut self.normals)? {
            self.read_vertices_one_by_one(element, &fields, has_normals, values)?;
        }
        let is_missing = |normal: &&Vec3| !normal.is_finite();
        self.faces.ignored.normals = self.normals.iter().filter(is_missing).count() as u64;
        Ok(())
    }

    fn read_vertices_one_by_one<V: Values>(
        &mut self,
        element: &Element,
        fields: &[Option<(usize, Shape)>; 6],
        has_normals: bool,
        values: &mut V,
    ) -> Result<(), Fault> {
        let role_of = |index| {
            let role = fields
                .iter()
                .position(|field| field.is_some_and(|(at, _)| at == index));
            role.filter(|&role| role < 3 || has_normals)
        };
        let roles: Vec<_> = (0..element.properties.len()).map(role_of).collect();
        for number in 0..element.count {
            values.begin_record()?;
            let mut vertex = [0.0; 6];
            let mut fault = None;
            for (property, &role) in element.properties.iter().zip(&roles) {
                match (property.shape, role) {
                    (Shape::Scalar(scalar), Some(role)) => {
                        let place = values.place();
                        let value = match values.float(scalar)? {
                            Ok(value) if role < 3 && !is_coordinate(value) => {
                                Err(coordinate_fault(values.place_of_last(place), value))
                            }
                            value => value,
                        };
                        match value {
                            Ok(value) => vertex[role] = value,
                            // If a value is not a number, a normal is lost, or the vertex is
                            // broken.
                            Err(_) if role >= 3 => vertex[role] = f64::NAN,
                            Err(broken) => fault = fault.or(Some(broken)),
                        }
                    }
                    (shape, _) => skip_property(shape, values)?,
                }
            }
            self.end_record(values);
            let [x, y, z, normal @ ..] = vertex;
            match fault {
                None => self.points.push(values.place(), [x, y, z]),
                Some(fault) => self.points.push_broken(fault),
            }
            if has_normals {
                self.normals.push(DVec3::from_array(normal).as_vec3());
            }
            if number % VERTICES_CHECKED == 0 {
                let bytes = self.points.bytes() + size_of_val(&self.normals[..]) as u64;
                check_vertices(values.source(), bytes)?;
            }
        }
        Ok(())
    }

    fn end_record<V: Values>(&mut self, values: &mut V) {
        self.faces.ignored.surplus_rows += u64::from(values.end_record());
    }

    /// Skips an element that is not needed.
    fn skip<V: Values>(&mut self, element: &Element, values: &mut V) -> Result<(), Fault> {
        // An element without properties has no bytes, whatever its count is.
        if element.properties.is_empty() || values.skip_fast(element)? {
            return Ok(());
        }
        for _ in 0..element.count {
            values.begin_record()?;
            for property in &element.properties {
                skip_property(property.shape, values)?;
            }
            self.end_record(values);
        }
        Ok(())
    }

    /// Reads an element in which the property `vertex_indices` contains lists of corners, and calls
    /// `add` after each list.
    fn read_faces<V: Values>(
        &mut self,
        element: &Element,
        values: &mut V,
        add: fn(&mut Self, Place) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let found = CORNER_PROPERTIES
            .iter()
            .find_map(|name| element.property(name));
        let Some((list_index, Shape::List { .. })) = found else {
            return Err(Fault::syntax(
                element.place,
                format!("an element {} without a list vertex_indices", element.name),
                "the corners of each face",
            ));
        };
        if element.name == "face" {
            let bytes_min = values.bytes_min(element);
            let triangles = &mut self.faces.triangles;
            values
                .source()
                .reserve(triangles, element.count, bytes_min)?;
        }
        let mut left = element.count;
        while left > 0 {
            if element.name == "face" {
                left -= values.read_triangles_fast(
                    element,
                    list_index,
                    left,
                    self.vertex_count,
                    &mut self.faces,
                );
                if left == 0 {
                    break;
                }
            }
            values.begin_record()?;
            let mut place = values.place();
            for (index, property) in element.properties.iter().enumerate() {
                match property.shape {
                    Shape::List { count, item } if index == list_index => {
                        let length = values.length(count)?;
                        place = values.place_of_last(place);
                        if length > self.faces.capacity_left() as u64 + 2 {
                            let count = usize::try_from(length - 2).unwrap_or(usize::MAX);
                            self.faces.claim(place, count)?;
                        }
                        self.corners.clear();
                        for _ in 0..length {
                            self.corners.push(values.integer(item)?);
                        }
                    }
                    shape => skip_property(shape, values)?,
                }
            }
            self.end_record(values);
            add(self, place)?;
            left -= 1;
        }
        Ok(())
    }

    /// Adds the current corners as a polygon.
    fn add_face(&mut self, place: Place) -> Result<(), Fault> {
        self.polygon.clear();
        for &corner in &self.corners {
            self.polygon.push(index(corner, self.vertex_count, place)?);
        }
        if self.points.len() == self.vertex_count {
            self.faces
                .push_polygon(place, &self.polygon, &[], &self.points.list)
        } else {
            self.faces.push_deferred(place, &self.polygon, &[])
        }
    }

    /// Adds the current corners as triangle strips, which are separated by -1.
    fn add_strips(&mut self, place: Place) -> Result<(), Fault> {
        let corners = std::mem::take(&mut self.corners);
        for strip in corners.split(|&corner| corner == -1) {
            self.polygon.clear();
            for &corner in strip {
                self.polygon.push(index(corner, self.vertex_count, place)?);
            }
            self.faces.push_strip(place, &self.polygon)?;
        }
        self.corners = corners;
        Ok(())
    }
}

/// Checks the index of a vertex.
#[inline]
fn index(corner: i64, vertex_count: usize, place: Place) -> Result<u32, Fault> {
    match u32::try_from(corner) {
        Ok(index) if (index as usize) < vertex_count => Ok(index),
        _ => Err(index_fault(place, corner, vertex_count)),
    }
}

fn skip_property<V: Values>(shape: Shape, values: &mut V) -> Result<(), Fault> {
    match shape {
        Shape::Scalar(scalar) => values.skip(scalar),
        Shape::List { count, item } => {
            for _ in 0..values.length(count)? {
                values.skip(item)?;
            }
            Ok(())
        }
    }
}
