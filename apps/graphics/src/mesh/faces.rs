//! Collects the faces that a reader finds, and converts them to triangles.
//!
//! A face with more than three corners is triangulated at once if all its vertices are known. If a
//! file refers to vertices before it defines them, the face is deferred until [`Faces::finish`]. A
//! file with normals that are separate from vertices (OBJ) gets a second list, of the normals at
//! the corners of every triangle.

use glam::Vec3;

use super::ignored::Ignored;
use super::points::Point;
use super::polygon::{TESTS_MAX, Triangulator};
use crate::file::{Fault, Place};

/// The triangles of an unfinished mesh.
#[derive(Debug)]
pub(crate) struct Faces {
    pub(crate) triangles: Vec<[u32; 3]>,
    /// For each element of `triangles`, the indices of the normals at its corners; empty if the
    /// file refers to none.
    pub(crate) corner_normals: Vec<[u32; 3]>,
    pub(crate) polygon_count: u64,
    /// The content that the file has and the mesh does not.
    pub(crate) ignored: Ignored,
    triangle_count_max: usize,
    deferred: Vec<Deferred>,
    deferred_triangle_count: usize,
    triangulator: Triangulator,
}

/// A polygon with vertices that are still to be read.
#[derive(Debug)]
struct Deferred {
    place: Place,
    corners: Box<[u32]>,
    normals: Box<[u32]>,
}

impl Faces {
    pub(crate) fn new(triangle_count_max: usize) -> Self {
        Self {
            triangles: Vec::new(),
            corner_normals: Vec::new(),
            polygon_count: 0,
            ignored: Ignored::default(),
            triangle_count_max,
            deferred: Vec::new(),
            deferred_triangle_count: 0,
            triangulator: Triangulator::default(),
        }
    }

    /// Returns the number of triangles that may still be added.
    #[inline]
    pub(crate) fn capacity_left(&self) -> usize {
        self.triangle_count_max - self.triangles.len() - self.deferred_triangle_count
    }

    /// Returns the maximum number of vertices of a mesh: as many as triangles up to the limit can
    /// use.
    pub(crate) fn vertex_count_max(&self) -> usize {
        self.triangle_count_max
            .saturating_mul(3)
            .min(u32::MAX as usize)
    }

    /// Adds a triangle.
    #[inline]
    pub(crate) fn push_triangle(&mut self, place: Place, corners: [u32; 3]) -> Result<(), Fault> {
        self.claim(place, 1)?;
        self.triangles.push(corners);
        Ok(())
    }

    /// Adds a face with any number of corners, all of which must be indices into `positions`.
    ///
    /// There must be as many `normals` as corners, or none.
    pub(crate) fn push_polygon<P: Point>(
        &mut self,
        place: Place,
        corners: &[u32],
        normals: &[u32],
        positions: &[P],
    ) -> Result<(), Fault> {
        match *corners {
            [a, b, c] => {
                self.push_triangle(place, [a, b, c])?;
                if let &[a, b, c] = normals {
                    self.corner_normals.push([a, b, c]);
                }
            }
            [_, _, _, ..] => {
                self.claim(place, corners.len() - 2)?;
                self.triangulate(place, corners, normals, positions)?;
            }
            _ => self.ignored.faces += 1,
        }
        Ok(())
    }

    /// Adds a face with any number of corners before all of its vertices are known.
    ///
    /// Its triangles come after all others.
    pub(crate) fn push_deferred(
        &mut self,
        place: Place,
        corners: &[u32],
        normals: &[u32],
    ) -> Result<(), Fault> {
        if corners.len() <= 3 {
            return self.push_polygon::<Vec3>(place, corners, normals, &[]);
        }
        self.claim(place, corners.len() - 2)?;
        self.deferred_triangle_count += corners.len() - 2;
        self.deferred.push(Deferred {
            place,
            corners: corners.into(),
            normals: normals.into(),
        });
        Ok(())
    }

    /// Adds a strip: a triangle for every three consecutive corners. Every other triangle is
    /// reversed.
    ///
    /// Triangles that contain a corner twice, which writers use to join strips, are left out.
    pub(crate) fn push_strip(&mut self, place: Place, corners: &[u32]) -> Result<(), Fault> {
        for (number, window) in corners.windows(3).enumerate() {
            let [a, b, c] = [window[0], window[1], window[2]];
            if a != b && b != c && c != a {
                let turned = if number % 2 == 0 {
                    [a, b, c]
                } else {
                    [b, a, c]
                };
                self.push_triangle(place, turned)?;
            }
        }
        Ok(())
    }

    /// Triangulates the deferred polygons. By now every corner must be an index into `positions`.
    pub(crate) fn finish<P: Point>(&mut self, positions: &[P]) -> Result<(), Fault> {
        for polygon in std::mem::take(&mut self.deferred) {
            let Deferred {
                place,
                corners,
                normals,
            } = &polygon;
            self.triangulate(*place, corners, normals, positions)?;
        }
        self.deferred_triangle_count = 0;
        Ok(())
    }

    fn triangulate<P: Point>(
        &mut self,
        place: Place,
        corners: &[u32],
        normals: &[u32],
        positions: &[P],
    ) -> Result<(), Fault> {
        self.polygon_count += 1;
        let (triangles, corner_normals) = (&mut self.triangles, &mut self.corner_normals);
        let outcome = self
            .triangulator
            .triangulate(corners, positions, |triangle| {
                triangles.push(triangle.map(|corner| corners[corner as usize]));
                if !normals.is_empty() {
                    corner_normals.push(triangle.map(|corner| normals[corner as usize]));
                }
            });
        outcome.map_err(|too_complex| {
            let (count, reflex_count) = (corners.len(), too_complex.reflex_count);
            Fault::too_large(
                place,
                format!("a face of {count} corners, {reflex_count} of them not convex"),
                format!("a product of both numbers of at most {TESTS_MAX}, or triangles instead"),
            )
        })
    }

    /// Checks that `count` more triangles do not exceed the limit.
    #[inline]
    pub(crate) fn claim(&self, place: Place, count: usize) -> Result<(), Fault> {
        if count > self.capacity_left() {
            return Err(Fault::too_large(
                place,
                format!("{count} more triangles after {}", self.triangles.len()),
                format!("at most {} in all", self.triangle_count_max),
            ));
        }
        Ok(())
    }
}
