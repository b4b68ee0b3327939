//! Rays through a regular grid: the 3-D DDA, and the levels of a volume.
//!
//! A ray visits the cells of a grid in their order along the ray. In a volume, it does so level by
//! level: only the occupied macrocells of a level are divided further.
//!
//! # Exactness
//! The distance to a plane of the grid is always computed from the plane itself, never by adding up
//! steps. So a plane has the same distance on each of its sides and at each level, whichever cells
//! the ray has visited before. The [`Span`] of a cell says through which faces the ray enters and
//! leaves it, so that the points there can be exactly on these faces.
//!
//! **Invariant:** the spans of the visited cells depend on the ray and the grid only. A picture is
//! the same, to the last bit, for any macrocells and any division of a volume.
//!
//! # Source
//! J. Amanatides, A. Woo: A Fast Voxel Traversal Algorithm for Ray Tracing. Eurographics 1987.

use std::ops::ControlFlow;

use glam::DVec3;

use super::occupancy::{Occupancy, bit};

#[cfg(test)]
mod tests;

/// A ray in the coordinates of a grid, in which the cells have edges of length 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GridRay {
    pub(crate) origin: [f64; 3],
    pub(crate) direction: [f64; 3],
    inverse: [f64; 3],
}

/// A part of a ray, and the faces at its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    /// The distance at which it begins, in lengths of the direction.
    pub(crate) t_in: f64,
    /// The distance at which it ends. It may be before `t_in` by a rounding error.
    pub(crate) t_out: f64,
    /// The faces through which the ray enters; none if it begins inside.
    pub(crate) faces_in: Faces,
    /// The faces through which the ray leaves; none if it ends inside.
    pub(crate) faces_out: Faces,
}

/// Faces of a cell that meet in a point: at most one across each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Faces(pub(crate) [bool; 3]);

/// A block of cells: the first one, and the one after the last.
pub(crate) type Block = [[usize; 3]; 2];

impl Span {
    /// Returns the part of the span from `t_in` to `t_out`, if there is one.
    #[inline]
    pub(crate) fn within(self, t_in: f64, t_out: f64) -> Option<Self> {
        let mut span = self;
        if t_in > span.t_in {
            (span.t_in, span.faces_in) = (t_in, Faces::default());
        }
        if t_out < span.t_out {
            (span.t_out, span.faces_out) = (t_out, Faces::default());
        }
        (span.t_in < span.t_out).then_some(span)
    }
}

impl GridRay {
    /// Prepares a ray.
    pub(crate) fn new(origin: DVec3, direction: DVec3) -> Self {
        Self {
            origin: origin.to_array(),
            direction: direction.to_array(),
            inverse: direction.recip().to_array(),
        }
    }

    /// Returns the coordinate of a point along an axis.
    #[inline(always)]
    pub(crate) fn at(&self, axis: usize, t: f64) -> f64 {
        self.origin[axis] + t * self.direction[axis]
    }

    /// Returns the point at a distance.
    #[inline]
    pub(crate) fn point(&self, t: f64) -> [f64; 3] {
        [self.at(0, t), self.at(1, t), self.at(2, t)]
    }

    /// Returns the distance to a plane across an axis that is not parallel to the ray.
    #[inline(always)]
    fn distance(&self, axis: usize, plane: f64) -> f64 {
        (plane - self.origin[axis]) * self.inverse[axis]
    }

    /// Returns the part of the ray from `t_min` to `t_max` between the planes 0 and `size` of each
    /// axis.
    #[inline]
    pub(crate) fn clip(&self, size: [usize; 3], t_min: f64, t_max: f64) -> Option<Span> {
        self.span_between([[0; 3], size], t_min, t_max)
    }

    /// Returns the part of the ray in a cell. `whole` is the part in the volume.
    #[inline(always)]
    pub(crate) fn span_in(&self, cell: [usize; 3], whole: &Span) -> Option<Span> {
        self.span_between([cell, cell.map(|at| at + 1)], whole.t_in, whole.t_out)
    }

    /// Returns the part of the ray from `t_in` to `t_out` between the first and the last planes of
    /// a block.
    #[inline(always)]
    fn span_between(&self, block: Block, mut t_in: f64, mut t_out: f64) -> Option<Span> {
        let (mut near, mut far) = ([f64::NEG_INFINITY; 3], [f64::INFINITY; 3]);
        for axis in 0..3 {
            let planes = block.map(|corner| corner[axis] as f64);
            let direction = self.direction[axis];
            if direction == 0.0 {
                // A ray in the last plane belongs to the next cell, if there is one.
                if !(self.origin[axis] >= planes[0] && self.origin[axis] < planes[1]) {
                    return None;
                }
                continue;
            }
            let is_forward = usize::from(direction > 0.0);
            near[axis] = self.distance(axis, planes[1 - is_forward]);
            far[axis] = self.distance(axis, planes[is_forward]);
            t_in = larger(near[axis], t_in);
            t_out = smaller(far[axis], t_out);
        }
        (t_in < t_out).then(|| Span {
            t_in,
            t_out,
            faces_in: Faces(near.map(|near| near == t_in)),
            faces_out: Faces(far.map(|far| far == t_out)),
        })
    }

    /// Visits the cells of a block in a grid with edges of `2^LOG`, in their order along the ray.
    ///
    /// `span` is the part of the ray in the block. `visit` may end the walk.
    #[inline(always)]
    pub(crate) fn walk<const LOG: u32, B>(
        &self,
        [first, end]: Block,
        span: Span,
        mut visit: impl FnMut([usize; 3], Span) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let edge = f64::from(1_u32 << LOG);
        let mut cell = [0_isize; 3];
        // The planes through which the ray leaves the cell, and the distances of the next ones.
        let (mut plane, mut step) = ([f64::INFINITY; 3], [0.0; 3]);
        let mut turn = [0_isize; 3];
        let mut inverse = [1.0; 3];
        for axis in 0..3 {
            // A rounding error must not lead out of the block.
            let place = self.at(axis, span.t_in) * (1.0 / edge);
            let (first, last) = (first[axis] as isize, end[axis] as isize - 1);
            cell[axis] = (place as isize).min(last).max(first);
            // A ray along the other axes never reaches a plane: it stays infinitely far away.
            if self.direction[axis] > 0.0 {
                plane[axis] = (cell[axis] + 1) as f64 * edge;
                (step[axis], turn[axis], inverse[axis]) = (edge, 1, self.inverse[axis]);
            } else if self.direction[axis] < 0.0 {
                plane[axis] = cell[axis] as f64 * edge;
                (step[axis], turn[axis], inverse[axis]) = (-edge, -1, self.inverse[axis]);
            }
        }
        let (mut t_in, mut faces_in) = (span.t_in, span.faces_in);
        loop {
            let next =
                [0, 1, 2].map(|axis: usize| (plane[axis] - self.origin[axis]) * inverse[axis]);
            let nearest = smaller(smaller(next[0], next[1]), next[2]);
            // A ray through an edge or a corner passes several planes at once.
            let passed = [next[0] == nearest, next[1] == nearest, next[2] == nearest];
            let at = [cell[0] as usize, cell[1] as usize, cell[2] as usize];
            if nearest >= span.t_out {
                let part = Span {
                    t_in,
                    t_out: span.t_out,
                    faces_in,
                    faces_out: span.faces_out,
                };
                return visit(at, part);
            }
            let faces_out = Faces(passed);
            let part = Span {
                t_in,
                t_out: nearest,
                faces_in,
                faces_out,
            };
            visit(at, part)?;
            for axis in 0..3 {
                cell[axis] += if passed[axis] { turn[axis] } else { 0 };
                plane[axis] += if passed[axis] { step[axis] } else { 0.0 };
            }
            // A cell that the ray only touches may end before it begins.
            (t_in, faces_in) = (larger(t_in, nearest), faces_out);
            let is_inside = |axis: usize| {
                (cell[axis].wrapping_sub(first[axis] as isize) as usize) < end[axis] - first[axis]
            };
            if !(is_inside(0) && is_inside(1) && is_inside(2)) {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Visits the occupied macrocells of the lowest level, in their order along the ray.
    ///
    /// `span` is the part of the ray in the volume. `steps` counts the visited macrocells of all
    /// levels, including empty ones.
    #[inline(always)]
    pub(crate) fn leaves<B>(
        &self,
        occupancy: &Occupancy,
        span: Span,
        steps: &mut u64,
        mut visit: impl FnMut([usize; 3], Span) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let root = [[0; 3], occupancy.size()];
        let [leaves, middles, tops] = [0, 1, 2].map(|level| occupancy.level(level));
        self.walk::<8, B>(root, span, |cell, span| {
            *steps += 1;
            let top = tops.word(cell);
            if top == 0 {
                return ControlFlow::Continue(());
            }
            self.walk::<6, B>(children(cell), span, |cell, span| {
                *steps += 1;
                if top >> bit(cell) & 1 == 0 {
                    return ControlFlow::Continue(());
                }
                let middle = middles.word(cell);
                self.walk::<4, B>(children(cell), span, |cell, span| {
                    *steps += 1;
                    if middle >> bit(cell) & 1 == 0 {
                        return ControlFlow::Continue(());
                    }
                    let leaf = leaves.word(cell);
                    self.walk::<2, B>(children(cell), span, |cell, span| {
                        *steps += 1;
                        if leaf >> bit(cell) & 1 == 0 {
                            return ControlFlow::Continue(());
                        }
                        visit(cell, span)
                    })
                })
            })
        })
    }
}

/// Returns the block of the 4 × 4 × 4 macrocells in a macrocell of the next level.
#[inline]
pub(crate) fn children(cell: [usize; 3]) -> Block {
    let [x, y, z] = cell;
    let first = [4 * x, 4 * y, 4 * z];
    [first, [first[0] + 4, first[1] + 4, first[2] + 4]]
}

/// Returns the smaller of two numbers. This is a single instruction, unlike `f64::min`, because
/// neither is NaN.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Returns the larger of two numbers, like [`smaller`].
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
