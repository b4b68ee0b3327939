//! Triangulates plane polygons: by a fan if the polygon is convex, otherwise by ear clipping.
//!
//! `n` corners always give `n - 2` triangles over the same corners, with the orientation of the
//! polygon, however broken it is. If no ear is left because edges cross or corners coincide, the
//! next corner is cut off regardless. Triangles without area arise only from collinear corners.
//!
//! Takes O(n) time for a convex polygon, and O(n · r) time for a polygon with r corners that are
//! not convex. If that would exceed [`TESTS_MAX`] (which takes a zigzag polygon of some 45,000
//! corners, and no real file contains one), the polygon is rejected, so that no file can keep the
//! reader busy for hours. Cutting off its corners in their order would be fast. But the resulting
//! slivers, each as long as the polygon, overlap each other and would cost a tree over them far
//! more.
//!
//! # Source
//! G. H. Meisters, Polygons Have Ears, American Mathematical Monthly 82(6), 1975; the update of the
//! two neighbours after each cut: J. O'Rourke, Computational Geometry in C, 2nd edition, section
//! 1.4. Normal: M. Newell's method, in F. Tampieri, Newell's Method for Computing the Plane
//! Equation of a Polygon, Graphics Gems III, 1992. Convexity by the changes of direction: P. Schorn
//! and F. Fisher, Testing the Convexity of a Polygon, Graphics Gems IV, 1994.

use glam::{DVec2, DVec3};

use super::points::Point;

#[cfg(test)]
mod tests;

/// The maximum number of tests of a corner against an ear. They take about two seconds.
pub(crate) const TESTS_MAX: usize = 1 << 30;

/// The error for a polygon that would take too many tests to triangulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooComplex {
    /// The number of corners that are not convex.
    pub(crate) reflex_count: usize,
}

/// Triangulates polygons, and reuses its lists from one polygon to the next.
#[derive(Debug, Default)]
pub(crate) struct Triangulator {
    /// The corners projected to a plane, in anticlockwise order.
    points: Vec<DVec2>,
    previous: Vec<u32>,
    next: Vec<u32>,
    /// The corners that are not convex. Only these can lie inside an ear.
    reflex: Vec<u32>,
    /// Corners that were ears when last tested.
    ears: Vec<u32>,
    is_ear: Vec<bool>,
}

impl Triangulator {
    /// Calls `emit` with the triangles of a polygon. The polygon has at least three corners, which
    /// are indices into `positions`.
    ///
    /// A triangle refers to its corners by their numbers in the polygon, from 0.
    ///
    /// # Errors
    /// Returns [`TooComplex`] if the search for ears could take more than [`TESTS_MAX`] tests.
    /// `emit` has not been called in that case.
    ///
    /// # Panics
    /// Panics if a corner is not below `positions.len()`.
    pub(crate) fn triangulate<P: Point>(
        &mut self,
        corners: &[u32],
        positions: &[P],
        mut emit: impl FnMut([u32; 3]),
    ) -> Result<(), TooComplex> {
        self.flatten(corners, positions);
        if is_convex(&self.points) {
            for second in 1..corners.len() as u32 - 1 {
                emit([0, second, second + 1]);
            }
            return Ok(());
        }
        self.clip(emit)
    }

    /// Projects the corners along the largest component of the normal, so that they are in
    /// anticlockwise order.
    fn flatten<P: Point>(&mut self, corners: &[u32], positions: &[P]) {
        let point = |corner: u32| positions[corner as usize].double();
        let origin = point(corners[0]);
        let mut normal = DVec3::ZERO;
        for (&corner, &following) in corners.iter().zip(corners.iter().cycle().skip(1)) {
            normal += (point(corner) - origin).cross(point(following) - origin);
        }
        let size = normal.abs();
        let (flip, project): (bool, fn(DVec3) -> DVec2) = if size.z >= size.x && size.z >= size.y {
            (normal.z < 0.0, |point| DVec2::new(point.x, point.y))
        } else if size.y >= size.x {
            (normal.y < 0.0, |point| DVec2::new(point.z, point.x))
        } else {
            (normal.x < 0.0, |point| DVec2::new(point.y, point.z))
        };
        self.points.clear();
        self.points.extend(corners.iter().map(|&corner| {
            let flat = project(point(corner) - origin);
            if flip {
                DVec2::new(-flat.x, flat.y)
            } else {
                flat
            }
        }));
    }

    /// Cuts off one ear after the other, and emits each with its corners in order.
    fn clip(&mut self, mut emit: impl FnMut([u32; 3])) -> Result<(), TooComplex> {
        self.link()?;
        let mut left = self.points.len();
        let mut at = 0;
        while left > 3 {
            let ear = loop {
                match self.ears.pop() {
                    Some(ear) if self.is_ear[ear as usize] => break ear,
                    Some(_) => {}
                    // No ear is left, so the polygon is broken. Cut off any corner.
                    None => break at,
                }
            };
            let (before, after) = (self.previous[ear as usize], self.next[ear as usize]);
            emit([before, ear, after]);
            self.is_ear[ear as usize] = false;
            self.next[before as usize] = after;
            self.previous[after as usize] = before;
            left -= 1;
            at = after;
            for corner in [before, after] {
                self.reconsider(corner);
            }
        }
        emit([self.previous[at as usize], at, self.next[at as usize]]);
        Ok(())
    }

    /// Links the corners into a ring and finds the first ears.
    fn link(&mut self) -> Result<(), TooComplex> {
        let count = self.points.len() as u32;
        self.previous.clear();
        self.previous
            .extend((0..count).map(|corner| (corner + count - 1) % count));
        self.next.clear();
        self.next
            .extend((0..count).map(|corner| (corner + 1) % count));
        self.is_ear.clear();
        self.is_ear.resize(self.points.len(), false);
        self.ears.clear();
        self.reflex.clear();
        for corner in 0..count {
            if self.bulge(corner) <= 0.0 {
                self.reflex.push(corner);
            }
        }
        let reflex_count = self.reflex.len();
        if self.points.len().saturating_mul(reflex_count) > TESTS_MAX {
            return Err(TooComplex { reflex_count });
        }
        for corner in (0..count).rev() {
            if self.is_free(corner) {
                self.is_ear[corner as usize] = true;
                self.ears.push(corner);
            }
        }
        Ok(())
    }

    /// Tests a corner again, after one of its neighbours has been cut off.
    fn reconsider(&mut self, corner: u32) {
        let free = self.is_free(corner);
        if free && !self.is_ear[corner as usize] {
            self.ears.push(corner);
        }
        self.is_ear[corner as usize] = free;
    }

    /// Returns twice the area of the triangle at a corner, which is positive if the corner is
    /// convex.
    fn bulge(&self, corner: u32) -> f64 {
        let at = self.points[corner as usize];
        let before = self.points[self.previous[corner as usize] as usize];
        let after = self.points[self.next[corner as usize] as usize];
        turn(before, at, after)
    }

    /// Returns true if the triangle at a corner has an area and contains no other corner.
    fn is_free(&self, corner: u32) -> bool {
        if self.bulge(corner) <= 0.0 {
            return false;
        }
        let ear = [
            self.previous[corner as usize],
            corner,
            self.next[corner as usize],
        ];
        let [a, b, c] = ear.map(|corner| self.points[corner as usize]);
        !self.reflex.iter().any(|&other| {
            let point = self.points[other as usize];
            // A corner that was cut off is no longer linked from its predecessor.
            let gone = self.next[self.previous[other as usize] as usize] != other;
            !gone
                && !ear.contains(&other)
                && point != a
                && point != b
                && point != c
                && turn(a, b, point) >= 0.0
                && turn(b, c, point) >= 0.0
                && turn(c, a, point) >= 0.0
        })
    }
}

/// Returns true if the corners, which are in anticlockwise order on the whole, turn left everywhere
/// and go around only once.
fn is_convex(points: &[DVec2]) -> bool {
    let around = |skip: usize| points.iter().cycle().skip(skip);
    let mut swings = 0;
    let mut leftward = None;
    for ((&a, &b), &c) in points.iter().zip(around(1)).zip(around(2)) {
        if turn(a, b, c) < 0.0 {
            return false;
        }
        // Once around a convex polygon, x increases in one stretch and decreases in one stretch.
        if a.x != b.x {
            swings += usize::from(leftward.is_some_and(|leftward| leftward != (b.x < a.x)));
            leftward = Some(b.x < a.x);
        }
    }
    swings <= 2
}

/// Returns twice the area of a triangle, which is positive if its corners are in anticlockwise
/// order.
fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}
