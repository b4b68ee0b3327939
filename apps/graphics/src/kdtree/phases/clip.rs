//! Perfect splits: the exact boxes of the pieces of a triangle in both halves of a cell.
//!
//! The box of a whole triangle is too large for a cell that contains only a corner of the triangle.
//! So a triangle that straddles a split plane is clipped to its cell and then cut by the plane, and
//! each half gets the box of its own piece.
//!
//! # Rounding
//! Clipping is done in `f64` and always starts from the original corners, so that errors do not add
//! up over the levels. The result is rounded outward to `f32`. A box may be one unit in the last
//! place too large, but never too small. So a triangle is never missing from a cell that it reaches
//! into.
//!
//! # Source
//! Wald, Havran 2006 (see [`crate::kdtree`]), section 4.4; I. Sutherland, G. Hodgman: Reentrant
//! polygon clipping. CACM 17(1), 1974.

use crate::intersect::Corners;
use crate::kdtree::cells::extent::Extent;

#[cfg(test)]
mod tests;

/// A triangle has three corners, and each of the six planes of a box adds at most one.
const CORNERS_MAX: usize = 9;

/// A point in `f64`.
type Point = [f64; 3];

/// A convex polygon.
#[derive(Debug, Clone, Copy)]
struct Polygon {
    corners: [Point; CORNERS_MAX],
    len: usize,
}

impl Polygon {
    const EMPTY: Self = Self {
        corners: [[0.0; 3]; CORNERS_MAX],
        len: 0,
    };

    fn of_triangle(triangle: &Corners) -> Self {
        let mut polygon = Self::EMPTY;
        for (corner, source) in polygon.corners.iter_mut().zip(triangle) {
            *corner = source.map(f64::from);
        }
        Self { len: 3, ..polygon }
    }

    fn corners(&self) -> &[Point] {
        &self.corners[..self.len]
    }

    #[inline]
    fn push(&mut self, corner: Point) {
        // A convex polygon cannot outgrow the array. Rounding can at most add a corner that nearly
        // coincides with its neighbour, and such a corner can be dropped.
        if let Some(slot) = self.corners.get_mut(self.len) {
            *slot = corner;
            self.len += 1;
        }
    }
}

/// A polygon that is clipped by one plane after another.
struct Clipping {
    /// The current polygon, and memory for the next one. They change places with each plane,
    /// because copying a polygon takes as long as clipping it.
    polygons: [Polygon; 2],
    current: usize,
}

impl Clipping {
    fn of_triangle(triangle: &Corners) -> Self {
        Self {
            polygons: [Polygon::of_triangle(triangle), Polygon::EMPTY],
            current: 0,
        }
    }

    fn polygon(&self) -> &Polygon {
        &self.polygons[self.current]
    }

    /// Keeps the part where `sign * coordinate <= sign * plane`.
    fn clip(&mut self, axis: usize, plane: f64, sign: f64) {
        let outside = |corner: &Point| sign * (corner[axis] - plane);
        let [first, second] = &mut self.polygons;
        let (polygon, kept) = match self.current {
            0 => (&*first, second),
            _ => (&*second, first),
        };
        let corners = polygon.corners();
        let Some(&last) = corners.last() else { return };
        if corners.iter().all(|corner| outside(corner) <= 0.0) {
            return;
        }
        kept.len = 0;
        let mut previous = last;
        let mut previous_outside = outside(&last);
        for &corner in corners {
            let outside = outside(&corner);
            if (outside < 0.0 && previous_outside > 0.0)
                || (outside > 0.0 && previous_outside < 0.0)
            {
                kept.push(crossing(previous, corner, axis, plane));
            }
            if outside <= 0.0 {
                kept.push(corner);
            }
            previous = corner;
            previous_outside = outside;
        }
        self.current = 1 - self.current;
    }
}

/// Returns the point where the edge between two points on different sides of a plane crosses the
/// plane.
#[inline]
fn crossing(a: Point, b: Point, axis: usize, plane: f64) -> Point {
    let share = (plane - a[axis]) / (b[axis] - a[axis]);
    let mut point = [0.0; 3];
    for (out, (from, to)) in point.iter_mut().zip(a.into_iter().zip(b)) {
        *out = from + share * (to - from);
    }
    point[axis] = plane;
    point
}

/// The box of a piece while it is still in `f64`.
#[derive(Debug, Clone, Copy)]
struct Piece {
    low: Point,
    high: Point,
}

impl Piece {
    const EMPTY: Self = Self {
        low: [f64::INFINITY; 3],
        high: [f64::NEG_INFINITY; 3],
    };

    #[inline]
    fn include(&mut self, point: Point) {
        for (axis, value) in point.into_iter().enumerate() {
            self.low[axis] = self.low[axis].min(value);
            self.high[axis] = self.high[axis].max(value);
        }
    }

    /// Rounds the box outward and clips it to `limit`, which contains the exact piece. Returns
    /// `None` if the piece is empty.
    fn rounded_within(&self, limit: &Extent) -> Option<Extent> {
        if self.low[0] > self.high[0] {
            return None;
        }
        let mut extent = *limit;
        for axis in 0..3 {
            let (low, high) = (limit.low[axis], limit.high[axis]);
            extent.low[axis] = round_down(self.low[axis]).max(low).min(high);
            extent.high[axis] = round_up(self.high[axis]).max(low).min(high);
        }
        Some(extent)
    }
}

/// Returns the largest `f32` at or below a number within the range of `f32`.
#[inline(always)]
fn round_down(value: f64) -> f32 {
    let nearest = value as f32;
    stepped(nearest, -i32::from(f64::from(nearest) > value))
}

/// Returns the smallest `f32` at or above a number within the range of `f32`.
#[inline(always)]
fn round_up(value: f64) -> f32 {
    let nearest = value as f32;
    stepped(nearest, i32::from(f64::from(nearest) < value))
}

/// Returns the `f32` that is some steps above another one.
///
/// The step is added without a branch, because a processor cannot predict whether rounding needs
/// one. Zeros need no special case: a number rounds to a zero of its own sign.
#[inline(always)]
fn stepped(value: f32, steps: i32) -> f32 {
    // Maps the bits to integers in the order of the numbers, and back.
    let ordered = |bits: i32| bits ^ (bits >> 31 & i32::MAX);
    f32::from_bits(ordered(ordered(value.to_bits() as i32) + steps) as u32)
}

/// Returns the box of the part of a triangle within `cell`. The triangle must reach into the cell.
pub(in crate::kdtree) fn within(triangle: &Corners, cell: &Extent) -> Extent {
    let whole = Extent::of_triangle(triangle);
    let mut limit = *cell;
    let mut clipping = Clipping::of_triangle(triangle);
    for side in 0..3 {
        if whole.low[side] < cell.low[side] {
            clipping.clip(side, f64::from(cell.low[side]), -1.0);
        }
        if whole.high[side] > cell.high[side] {
            clipping.clip(side, f64::from(cell.high[side]), 1.0);
        }
        limit.low[side] = limit.low[side].max(whole.low[side]);
        limit.high[side] = limit.high[side].min(whole.high[side]);
    }
    let mut part = Piece::EMPTY;
    for &corner in clipping.polygon().corners() {
        part.include(corner);
    }
    // If the part is so thin that it vanishes in `f64`, the limit is the best known box.
    part.rounded_within(&limit).unwrap_or(limit)
}

/// Cuts a triangle by a plane and returns the boxes of its pieces below and above, within `cell`.
///
/// `extent` is the box of the part of the triangle inside `cell`. It must reach to both sides of
/// the plane, and the returned boxes never extend beyond it. A piece is `None` if the triangle
/// touches that half only because `extent` was rounded.
pub(in crate::kdtree) fn halves(
    triangle: &Corners,
    extent: &Extent,
    cell: &Extent,
    axis: usize,
    plane: f32,
) -> (Option<Extent>, Option<Extent>) {
    let mut clipping = Clipping::of_triangle(triangle);
    for side in 0..3 {
        // A plane of the cell that the part inside does not touch cuts nothing off, by convexity.
        if extent.low[side] <= cell.low[side] {
            clipping.clip(side, f64::from(cell.low[side]), -1.0);
        }
        if extent.high[side] >= cell.high[side] {
            clipping.clip(side, f64::from(cell.high[side]), 1.0);
        }
    }
    let mut below_limit = *extent;
    below_limit.high[axis] = plane;
    let mut above_limit = *extent;
    above_limit.low[axis] = plane;
    let (below, above) = cut(clipping.polygon(), axis, f64::from(plane));
    match (
        below.rounded_within(&below_limit),
        above.rounded_within(&above_limit),
    ) {
        // The part inside the cell is so thin that it vanishes in `f64`: return the largest boxes
        // that are possible.
        (None, None) => (Some(below_limit), Some(above_limit)),
        pieces => pieces,
    }
}

/// Returns the boxes of the two parts of a polygon. Corners in the plane belong to both parts.
fn cut(polygon: &Polygon, axis: usize, plane: f64) -> (Piece, Piece) {
    let (mut below, mut above) = (Piece::EMPTY, Piece::EMPTY);
    let (mut reaches_below, mut reaches_above) = (false, false);
    let corners = polygon.corners();
    let Some(&last) = corners.last() else {
        return (below, above);
    };
    let mut previous = last;
    for &corner in corners {
        let (from, to) = (previous[axis] - plane, corner[axis] - plane);
        if (from < 0.0 && to > 0.0) || (from > 0.0 && to < 0.0) {
            let point = crossing(previous, corner, axis, plane);
            below.include(point);
            above.include(point);
        }
        if to <= 0.0 {
            below.include(corner);
        }
        if to >= 0.0 {
            above.include(corner);
        }
        reaches_below |= to < 0.0;
        reaches_above |= to > 0.0;
        previous = corner;
    }
    // A polygon that merely touches the plane from one side has no part in the other half.
    match (reaches_below, reaches_above) {
        (true, false) => (below, Piece::EMPTY),
        (false, true) => (Piece::EMPTY, above),
        _ => (below, above),
    }
}
