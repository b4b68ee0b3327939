//! The fast paths through binary PLY: records of fixed size, and triangles.
//!
//! Both process whole records in the buffer, without a call or a check per number. Neither reports
//! a bad face: it stops before the face, and the general reader then reports the error.

use glam::Vec3;

use super::super::check_vertices;
use super::header::{Element, Scalar, Shape};
use crate::file::{Fault, Place, Source};
use crate::mesh::faces::Faces;
use crate::mesh::points::{Point, Points, coordinate_fault, is_coordinate};

/// The offset of a number in a record, and its type.
#[derive(Debug, Clone, Copy)]
struct Field {
    offset: usize,
    scalar: Scalar,
}

/// Reads all vertices of `element`. Returns false and reads nothing if the element has lists.
pub(super) fn read_vertices<const BIG: bool, P: Point>(
    source: &mut Source<'_>,
    element: &Element,
    fields: &[Option<(usize, Shape)>; 6],
    points: &mut Points<P>,
    normals: &mut Vec<Vec3>,
) -> Result<bool, Fault> {
    let Some(stride) = element.stride() else {
        return Ok(false);
    };
    let layout = |part: &[Option<(usize, Shape)>]| -> Option<[Field; 3]> {
        let fields: Option<Vec<Field>> = part.iter().map(|it| field(element, (*it)?)).collect();
        fields?.try_into().ok()
    };
    let (Some(position), normal) = (layout(&fields[..3]), layout(&fields[3..])) else {
        return Ok(false);
    };
    let expected = format!("{} vertices of {stride} bytes", element.count);
    // Reject a file that is too short for its count before reading it.
    let bytes = element.count.saturating_mul(stride as u64);
    if let Some(remaining) = source.remaining().filter(|&remaining| remaining < bytes) {
        source.skip(remaining, &expected)?;
        source.peek(1, &expected)?;
    }
    let mut left = element.count;
    while left > 0 {
        source.peek(stride, &expected)?;
        let records = ((source.buffered().len() / stride) as u64).min(left) as usize;
        let chunk = &source.buffered()[..records * stride];
        let first = points.len();
        append::<BIG, P>(chunk, stride, position, &mut points.list);
        if let Some(normal) = normal {
            append::<BIG, Vec3>(chunk, stride, normal, normals);
        }
        if !points.list[first..].iter().all(|point| point.is_sound()) {
            mark_broken::<BIG, P>(chunk, source.offset(), stride, position, points, first);
        }
        source.consume(records * stride);
        let bytes = points.bytes() + size_of_val(&normals[..]) as u64;
        check_vertices(source, bytes)?;
        left -= records as u64;
    }
    Ok(true)
}

/// Marks the vertices in `chunk` that have broken coordinates. The first vertex of the chunk has
/// index `first`.
#[cold]
fn mark_broken<const BIG: bool, P: Point>(
    chunk: &[u8],
    chunk_offset: u64,
    stride: usize,
    fields: [Field; 3],
    points: &mut Points<P>,
    first: usize,
) {
    for (number, record) in chunk.chunks_exact(stride).enumerate() {
        let value = |field: &Field| float::<BIG>(field.scalar, &record[field.offset..]);
        let bad = fields.iter().find(|field| !is_coordinate(value(field)));
        if let Some(bad) = bad {
            let offset = chunk_offset + (number * stride + bad.offset) as u64;
            points.mark_broken(
                first + number,
                coordinate_fault(Place::Byte(offset), value(bad)),
            );
        }
    }
}

/// Appends the values of `fields` in every record of `chunk`.
fn append<const BIG: bool, P: Point>(
    chunk: &[u8],
    stride: usize,
    fields: [Field; 3],
    points: &mut Vec<P>,
) {
    let [x, y, z] = fields;
    let is_plain = fields.iter().all(|field| field.scalar == Scalar::F32)
        && y.offset == x.offset + 4
        && z.offset == x.offset + 8;
    let records = chunk.chunks_exact(stride);
    if is_plain {
        points.extend(records.map(|record| {
            let bytes: &[u8; 12] = record[x.offset..]
                .first_chunk()
                .expect("layout is in record");
            let value =
                |at: usize| word::<BIG>([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            P::from_single(Vec3::new(
                f32::from_bits(value(0)),
                f32::from_bits(value(4)),
                f32::from_bits(value(8)),
            ))
        }));
    } else {
        points.extend(records.map(|record| {
            let value = |field: Field| float::<BIG>(field.scalar, &record[field.offset..]);
            P::from_array([value(x), value(y), value(z)])
        }));
    }
}

/// Reads triangles from the buffer until a face is not a triangle or is invalid. Returns the number
/// of triangles.
///
/// Applies to faces with a single list and otherwise only scalar properties. The length of the list
/// must have one byte, and its indices must have four.
pub(super) fn read_triangles<const BIG: bool>(
    source: &mut Source<'_>,
    element: &Element,
    list_index: usize,
    count: u64,
    vertex_count: usize,
    faces: &mut Faces,
) -> u64 {
    let size = |property: &super::header::Property| match property.shape {
        Shape::Scalar(scalar) => Some(scalar.bytes()),
        Shape::List { .. } => None,
    };
    let (before, rest) = element.properties.split_at(list_index);
    let [list, after @ ..] = rest else { return 0 };
    let (
        Some(before),
        Some(after),
        Shape::List {
            count: length,
            item,
        },
    ) = (
        before.iter().map(size).sum::<Option<usize>>(),
        after.iter().map(size).sum::<Option<usize>>(),
        list.shape,
    )
    else {
        return 0;
    };
    let small = matches!(length, Scalar::U8 | Scalar::I8);
    if !small || !matches!(item, Scalar::I32 | Scalar::U32) {
        return 0;
    }
    let record_bytes = before + 13 + after;
    let most = count.min(faces.capacity_left() as u64) as usize;
    let buffered = source.buffered();
    let mut done = 0;
    let records = buffered.chunks_exact(record_bytes).take(most);
    faces.triangles.extend(
        records
            .map_while(|record| {
                let list: &[u8; 13] = record[before..].first_chunk()?;
                let corner =
                    |at: usize| word::<BIG>([list[at], list[at + 1], list[at + 2], list[at + 3]]);
                let corners = [corner(1), corner(5), corner(9)];
                let sound = corners.iter().all(|&it| (it as usize) < vertex_count);
                (list[0] == 3 && sound).then_some(corners)
            })
            .inspect(|_| done += 1),
    );
    source.consume(done * record_bytes);
    done as u64
}

/// Returns the field of a scalar property in a record.
fn field(element: &Element, (index, shape): (usize, Shape)) -> Option<Field> {
    let Shape::Scalar(scalar) = shape else {
        return None;
    };
    let before = element.properties[..index].iter();
    let offset = before
        .map(|property| match property.shape {
            Shape::Scalar(scalar) => Some(scalar.bytes()),
            Shape::List { .. } => None,
        })
        .sum::<Option<usize>>()?;
    Some(Field { offset, scalar })
}

#[inline]
fn word<const BIG: bool>(bytes: [u8; 4]) -> u32 {
    if BIG {
        u32::from_be_bytes(bytes)
    } else {
        u32::from_le_bytes(bytes)
    }
}

/// Reads the number of type `scalar` at the beginning of `bytes`, as a float.
#[inline]
pub(super) fn float<const BIG: bool>(scalar: Scalar, bytes: &[u8]) -> f64 {
    match scalar {
        Scalar::F32 | Scalar::F64 => double::<BIG>(scalar, bytes),
        _ => integer::<BIG>(scalar, bytes) as f64,
    }
}

/// Reads the float of type `scalar` at the beginning of `bytes`.
#[inline]
pub(super) fn double<const BIG: bool>(scalar: Scalar, bytes: &[u8]) -> f64 {
    let bits = unsigned::<BIG>(&bytes[..scalar.bytes()]);
    match scalar {
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// Reads the integer of type `scalar` at the beginning of `bytes`.
#[inline]
pub(super) fn integer<const BIG: bool>(scalar: Scalar, bytes: &[u8]) -> i64 {
    let bits = unsigned::<BIG>(&bytes[..scalar.bytes()]);
    match scalar {
        Scalar::I8 => i64::from(bits as i8),
        Scalar::I16 => i64::from(bits as i16),
        Scalar::I32 => i64::from(bits as i32),
        Scalar::I64 => bits as i64,
        _ => i64::try_from(bits).unwrap_or(i64::MAX),
    }
}

#[inline]
fn unsigned<const BIG: bool>(bytes: &[u8]) -> u64 {
    let shift = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
    if BIG {
        bytes.iter().fold(0, shift)
    } else {
        bytes.iter().rev().fold(0, shift)
    }
}
