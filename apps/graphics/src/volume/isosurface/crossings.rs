//! The places where a ray crosses a surface in a cell.

use glam::DVec3;

use super::options::Surface;
use crate::volume::cell::{Cell, Cubic};
use crate::volume::traversal::{Faces, GridRay, Span};

/// The maximum number of times that a ray crosses a surface in a cell.
const CROSSINGS_MAX: usize = 3;

/// A point of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Hit {
    /// The distance along the ray.
    pub(super) t: f64,
    /// The gradient, in voxel coordinates.
    pub(super) gradient: DVec3,
    /// The index of the surface.
    pub(super) surface: usize,
}

/// The way of a ray through a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    /// The points of entry and exit, in coordinates from 0 to 1.
    from: [f64; 3],
    to: [f64; 3],
    span: Span,
}

/// The part of the way through a cell in which a ray crosses a surface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing {
    cubic: Cubic,
    /// The ends of the part, as shares of the way.
    part: [f64; 2],
    /// True if the ray is inside before it.
    is_inside: bool,
}

/// The places where a ray crosses a surface in a cell, in their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossings {
    pub(super) surface: usize,
    cubic: Cubic,
    is_inside: bool,
    is_inside_at_end: bool,
    count: usize,
    /// The next place, as a share of the way through the cell.
    pub(super) next: Option<f64>,
}

impl Way {
    /// Returns the way of a ray through a cell. `span` is that of the ray in the cell.
    #[inline(always)]
    pub(super) fn new(ray: &GridRay, cell: [usize; 3], span: Span) -> Self {
        let is_up = ray.direction.map(|it| it > 0.0);
        let is_down = ray.direction.map(|it| it < 0.0);
        Self {
            from: on_faces(ray, cell, span.t_in, span.faces_in, is_down),
            to: on_faces(ray, cell, span.t_out, span.faces_out, is_up),
            span,
        }
    }

    /// Returns the crossings of a surface.
    #[inline(always)]
    pub(super) fn crossings(&self, cell: &Cell, index: usize, surface: &Surface) -> Crossings {
        let (cubic, [is_inside, is_inside_at_end]) = self.polynomial(cell, surface);
        let mut crossings = Crossings {
            surface: index,
            cubic,
            is_inside,
            is_inside_at_end,
            count: 0,
            next: None,
        };
        crossings.find_next(0.0);
        crossings
    }

    /// Returns the first crossing of a surface.
    #[inline(always)]
    pub(super) fn first_crossing(&self, cell: &Cell, surface: &Surface) -> Option<Crossing> {
        let (cubic, [is_inside, is_inside_at_end]) = self.polynomial(cell, surface);
        let part = cubic.first_part(0.0, is_inside, is_inside_at_end)?;
        Some(Crossing {
            cubic,
            part,
            is_inside,
        })
    }

    /// Returns the value along the way minus the isovalue, and the exact sides of both ends.
    #[inline(always)]
    fn polynomial(&self, cell: &Cell, surface: &Surface) -> (Cubic, [bool; 2]) {
        let is_inside = |at| cell.value(at) >= surface.isovalue;
        let sides = [is_inside(self.from), is_inside(self.to)];
        (cell.cubic(self.from, self.to, surface.isovalue), sides)
    }

    /// Returns the hit at a share of the way.
    #[inline(always)]
    pub(super) fn hit(&self, cell: &Cell, share: f64, surface: usize) -> Hit {
        let at = |axis: usize| self.from[axis] + share * (self.to[axis] - self.from[axis]);
        Hit {
            t: self.span.t_in + share * (self.span.t_out - self.span.t_in),
            gradient: cell.gradient([at(0), at(1), at(2)]).into(),
            surface,
        }
    }
}

impl Crossing {
    /// Returns the place of the crossing as a share of the way.
    #[inline(always)]
    pub(super) fn share(&self) -> f64 {
        self.cubic.root(self.part, self.is_inside)
    }
}

impl Crossings {
    /// Proceeds to the next place.
    #[inline]
    pub(super) fn advance(&mut self) {
        let Some(place) = self.next.take() else {
            return;
        };
        self.count += 1;
        self.is_inside = !self.is_inside;
        if self.count < CROSSINGS_MAX {
            self.find_next(place);
        }
    }

    /// Finds the first place after `start`.
    #[inline(always)]
    fn find_next(&mut self, start: f64) {
        self.next = self
            .cubic
            .first_change(start, self.is_inside, self.is_inside_at_end);
    }
}

/// Returns the point at `t` in a cell, exactly on `faces`. They are at 1 for the axes in `upper`,
/// and at 0 for others.
#[inline(always)]
fn on_faces(ray: &GridRay, cell: [usize; 3], t: f64, faces: Faces, upper: [bool; 3]) -> [f64; 3] {
    let coordinate = |axis: usize| match faces.0[axis] {
        true => f64::from(u8::from(upper[axis])),
        false => (ray.at(axis, t) - cell[axis] as f64).clamp(0.0, 1.0),
    };
    [coordinate(0), coordinate(1), coordinate(2)]
}
