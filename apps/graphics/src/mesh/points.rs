//! The vertices of an unfinished mesh, and the single step that moves them near the origin.
//!
//! An `f32` has 24 bits. For a house at its map coordinates (5,400,000 m north of the equator) that
//! leaves a resolution of half a metre. So [`Points`] keeps every coordinate as exactly as the file
//! gives it. When the file has been read, [`Points::finish`] subtracts a common offset in `f64`,
//! and only then narrows the coordinates to `f32`. See [`offset`] for its choice.
//!
//! # Broken vertices
//! A coordinate that is not a finite number is an error only if a face uses it. Until the end it is
//! stored as NaN.

use std::fmt;

use glam::{DVec3, Vec3};

use super::COORDINATE_MAX;
use crate::file::{Fault, Place};
use crate::memory::{self, NoMemory};
use crate::offset;

#[cfg(test)]
mod tests;

/// [`COORDINATE_MAX`] as a decimal number. The `f32` is its rounded value, which is a little
/// smaller.
const LIMIT: f64 = 1e12;
/// The maximum number of faults of broken vertices that are kept for a message.
const BROKEN_KEPT_MAX: usize = 1 << 10;

/// A point as a file gives it.
pub(crate) trait Point: Copy + PartialEq + fmt::Debug {
    /// Creates a point from three numbers.
    fn from_array(values: [f64; 3]) -> Self;
    /// Converts a point from `f32`.
    fn from_single(point: Vec3) -> Self;
    /// Converts the point to `f64`.
    fn double(self) -> DVec3;
    /// Returns true if every number of the point is a valid coordinate.
    fn is_sound(self) -> bool;
    /// Returns bits that are equal for equal points, except for zeros of different signs.
    fn bits(self) -> [u64; 3];
    /// Subtracts `offset` from every point, and narrows the results.
    fn narrow(list: Vec<Self>, offset: DVec3) -> Result<Vec<Vec3>, NoMemory>;
}

impl Point for Vec3 {
    #[inline]
    fn from_array(values: [f64; 3]) -> Self {
        Self::from_array(values.map(|value| value as f32))
    }

    #[inline]
    fn from_single(point: Vec3) -> Self {
        point
    }

    #[inline]
    fn is_sound(self) -> bool {
        self.abs().cmple(Self::splat(COORDINATE_MAX)).all()
    }

    #[inline]
    fn double(self) -> DVec3 {
        self.as_dvec3()
    }

    #[inline]
    fn bits(self) -> [u64; 3] {
        self.to_array().map(|value| u64::from(value.to_bits()))
    }

    fn narrow(mut list: Vec<Self>, offset: DVec3) -> Result<Vec<Vec3>, NoMemory> {
        if offset != DVec3::ZERO {
            for point in &mut list {
                *point = moved(*point, offset);
            }
        }
        Ok(list)
    }
}

impl Point for DVec3 {
    #[inline]
    fn from_array(values: [f64; 3]) -> Self {
        Self::from_array(values)
    }

    #[inline]
    fn from_single(point: Vec3) -> Self {
        point.as_dvec3()
    }

    #[inline]
    fn is_sound(self) -> bool {
        self.abs().cmple(Self::splat(LIMIT)).all()
    }

    #[inline]
    fn double(self) -> DVec3 {
        self
    }

    #[inline]
    fn bits(self) -> [u64; 3] {
        self.to_array().map(f64::to_bits)
    }

    fn narrow(list: Vec<Self>, offset: DVec3) -> Result<Vec<Vec3>, NoMemory> {
        let mut narrow = Vec::new();
        memory::reserve(&mut narrow, list.len() as u64)?;
        narrow.extend(list.into_iter().map(|point| moved(point, offset)));
        Ok(narrow)
    }
}

/// Returns a point relative to `offset`. It is clamped, since a vertex that no triangle uses may be
/// out of range of an `f32`.
#[inline]
fn moved(point: impl Point, offset: DVec3) -> Vec3 {
    let limit = DVec3::splat(COORDINATE_MAX.into());
    (point.double() - offset).clamp(-limit, limit).as_vec3()
}

/// The vertices of an unfinished mesh.
#[derive(Debug)]
pub(crate) struct Points<P> {
    pub(crate) list: Vec<P>,
    /// The number of vertices with broken coordinates.
    broken_count: u64,
    /// The faults of the first broken vertices, with their indices in ascending order.
    faults: Vec<(usize, Fault)>,
}

impl<P: Point> Points<P> {
    pub(crate) fn new() -> Self {
        Self {
            list: Vec::new(),
            broken_count: 0,
            faults: Vec::new(),
        }
    }

    /// Returns the number of vertices so far.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the memory of the vertices so far, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.list.len() * size_of::<P>()) as u64
    }

    /// Adds a vertex. The vertex is broken if a coordinate is not a finite number or too large.
    #[inline]
    pub(crate) fn push(&mut self, place: Place, values: [f64; 3]) {
        match values.iter().find(|value| !is_coordinate(**value)) {
            None => self.list.push(P::from_array(values)),
            Some(&bad) => self.push_broken(coordinate_fault(place, bad)),
        }
    }

    /// Adds a broken vertex, which no face may use because of `fault`.
    #[cold]
    pub(crate) fn push_broken(&mut self, fault: Fault) {
        self.list.push(P::from_array([f64::NAN; 3]));
        self.mark_broken(self.list.len() - 1, fault);
    }

    /// Marks a vertex of the list as broken. Vertices must be marked in the order of the list.
    #[cold]
    pub(crate) fn mark_broken(&mut self, index: usize, fault: Fault) {
        self.list[index] = P::from_array([f64::NAN; 3]);
        self.broken_count += 1;
        if self.faults.len() < BROKEN_KEPT_MAX {
            self.faults.push((index, fault));
        }
    }

    /// Returns the number of broken vertices.
    pub(crate) fn broken_count(&self) -> u64 {
        self.broken_count
    }

    /// Returns the positions of a mesh, and the offset that they are relative to.
    ///
    /// # Errors
    /// The fault of the first broken vertex that a triangle uses, or too little memory.
    pub(crate) fn finish(mut self, triangles: &[[u32; 3]]) -> Result<(Vec<Vec3>, DVec3), Fault> {
        if self.broken_count > 0 {
            self.check_used(triangles)?;
            // No triangle uses the remaining broken vertices, so any valid position will do.
            let zero = P::from_array([0.0; 3]);
            for point in self.list.iter_mut().filter(|point| !point.is_sound()) {
                *point = zero;
            }
        }
        let offset = self.offset(triangles);
        let positions =
            P::narrow(self.list, offset).map_err(|none| Fault::no_memory(Place::Whole, none))?;
        Ok((positions, offset))
    }

    /// Returns the fault of the first broken vertex that a triangle uses.
    fn check_used(&mut self, triangles: &[[u32; 3]]) -> Result<(), Fault> {
        let is_broken = |&corner: &u32| self.list[corner as usize].double().is_nan();
        let Some(corner) = triangles.iter().flatten().copied().find(is_broken) else {
            return Ok(());
        };
        let known = self
            .faults
            .binary_search_by_key(&(corner as usize), |(index, _)| *index);
        Err(match known {
            Ok(known) => self.faults.swap_remove(known).1,
            Err(_) => {
                not_a_coordinate(Place::Whole, format!("of vertex {corner}, counted from 0,"))
            }
        })
    }

    /// Returns the offset for the triangles.
    fn offset(&self, triangles: &[[u32; 3]]) -> DVec3 {
        let [mut min, mut max] = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        for &corner in triangles.iter().flatten() {
            let point = self.list[corner as usize].double();
            min = min.min(point);
            max = max.max(point);
        }
        // Relative coordinates must be within the bounds too.
        offset::of_box([min, max], f64::from(COORDINATE_MAX) / 2.0)
    }
}

/// Creates the fault of a number that is not a valid coordinate.
#[cold]
pub(crate) fn coordinate_fault(place: Place, value: f64) -> Fault {
    // For large numbers, the exponent is clearer than many zeros.
    if value.is_finite() && value.abs() >= 1e15 {
        not_a_coordinate(place, format_args!("{value:e}"))
    } else {
        not_a_coordinate(place, value)
    }
}

#[cold]
fn not_a_coordinate(place: Place, found: impl fmt::Display) -> Fault {
    let expected = format!("a finite number of magnitude at most {COORDINATE_MAX:e}");
    Fault::syntax(place, format!("coordinate {found}"), expected)
}

/// Returns true if a number is a valid coordinate, that is, if it is neither NaN nor infinite nor
/// too large.
#[inline]
pub(crate) fn is_coordinate(value: f64) -> bool {
    value.abs() <= LIMIT
}
