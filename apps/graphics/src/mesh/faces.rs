//! Where the readers put faces: triangles come out, whatever went in.
//!
//! A face of more than three corners is cut up at once if all vertices are known; where a file may name
//! vertices before it gives them, the face waits until [`Faces::finish`]. A file that names normals apart
//! from vertices (OBJ) gets a second list, of the normals at the corners of every triangle.

use glam::Vec3;

use super::error::{Fault, Place};
use super::ignored::Ignored;
use super::points::Point;
use super::polygon::{Cutter, TESTS_MAX};

/// The triangles of a mesh in the making.
#[derive(Debug)]
pub(crate) struct Faces {
    pub(crate) triangles: Vec<[u32; 3]>,
    /// What the file names as normals at the corners of `triangles`; empty if it names none.
    pub(crate) corner_normals: Vec<[u32; 3]>,
    pub(crate) polygon_count: u64,
    /// What the file holds and the mesh does not.
    pub(crate) ignored: Ignored,
    triangle_count_max: usize,
    waiting: Vec<Waiting>,
    waiting_triangle_count: usize,
    cutter: Cutter,
}

/// A polygon that waits for its vertices.
#[derive(Debug)]
struct Waiting {
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
            waiting: Vec::new(),
            waiting_triangle_count: 0,
            cutter: Cutter::default(),
        }
    }

    /// The number of triangles that may still come.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.triangle_count_max - self.triangles.len() - self.waiting_triangle_count
    }

    /// The number of vertices that triangles up to the limit can use, and that a mesh may have.
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

    /// Adds a face of any number of corners, all of which are indices into `positions`.
    ///
    /// `normals` are as many as corners, or none.
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
                self.cut(place, corners, normals, positions)?;
            }
            _ => self.ignored.faces += 1,
        }
        Ok(())
    }

    /// Adds a face of any number of corners whose vertices are not all known yet.
    ///
    /// Its triangles come after all others, so a caller that pushes normals keeps to one order.
    pub(crate) fn push_waiting(
        &mut self,
        place: Place,
        corners: &[u32],
        normals: &[u32],
    ) -> Result<(), Fault> {
        if corners.len() <= 3 {
            return self.push_polygon::<Vec3>(place, corners, normals, &[]);
        }
        self.claim(place, corners.len() - 2)?;
        self.waiting_triangle_count += corners.len() - 2;
        self.waiting.push(Waiting {
            place,
            corners: corners.into(),
            normals: normals.into(),
        });
        Ok(())
    }

    /// Adds a strip: a triangle for every three corners in a row, every other one turned round.
    ///
    /// Triangles with a corner twice, which writers use to sew strips together, are left out.
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

    /// Cuts up the polygons that have waited. Every corner must be an index into `positions` by now.
    pub(crate) fn finish<P: Point>(&mut self, positions: &[P]) -> Result<(), Fault> {
        for polygon in std::mem::take(&mut self.waiting) {
            let Waiting {
                place,
                corners,
                normals,
            } = &polygon;
            self.cut(*place, corners, normals, positions)?;
        }
        self.waiting_triangle_count = 0;
        Ok(())
    }

    fn cut<P: Point>(
        &mut self,
        place: Place,
        corners: &[u32],
        normals: &[u32],
        positions: &[P],
    ) -> Result<(), Fault> {
        self.polygon_count += 1;
        let (triangles, corner_normals) = (&mut self.triangles, &mut self.corner_normals);
        let outcome = self.cutter.cut(corners, positions, |triangle| {
            triangles.push(triangle.map(|corner| corners[corner as usize]));
            if !normals.is_empty() {
                corner_normals.push(triangle.map(|corner| normals[corner as usize]));
            }
        });
        outcome.map_err(|intricate| {
            let (count, reflex_count) = (corners.len(), intricate.reflex_count);
            Fault::too_large(
                place,
                format!("a face of {count} corners, {reflex_count} of which do not bulge outwards"),
                format!("a product of these two of at most {TESTS_MAX}, or triangles instead"),
            )
        })
    }

    /// Makes sure that `count` more triangles keep to the limit.
    #[inline]
    pub(crate) fn claim(&self, place: Place, count: usize) -> Result<(), Fault> {
        if count > self.room() {
            return Err(Fault::too_large(
                place,
                format!("{count} more triangles after {}", self.triangles.len()),
                format!("at most {} in all", self.triangle_count_max),
            ));
        }
        Ok(())
    }
}
