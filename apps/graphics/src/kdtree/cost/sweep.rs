//! The surface-area heuristic (SAH): finds the cheapest plane of a cell by one sweep along each
//! axis.
//!
//! # Cost
//! A ray that meets a cell of surface `S` meets the halves with the probabilities `S_l / S` and
//! `S_r / S`. So a split costs
//! ```text
//! λ · (traversal + intersection · (S_l · n_l + S_r · n_r) / S)
//! ```
//! where `λ < 1` if one half is not flat and contains no triangle at all, and `λ = 1` otherwise.
//! The candidate planes are at the ends of the extents of the triangles. Between them the cost is
//! linear, so no minimum is missed. A triangle that lies in the plane counts once, for the half
//! where it is cheaper.
//!
//! # Ties
//! Among equally cheap planes, the first in the order axis, position, side (above, then below)
//! wins, no matter how the sweep is divided. So the choice depends on the cell alone.
//!
//! # Source
//! Wald, Havran 2006 (see [`crate::kdtree`]), sections 3 and 4. Empty-space bonus: section 5.1
//! there, after V. Havran's dissertation, 2000.

mod stretch;

use super::parameters::Parameters;
use crate::kdtree::cells::cell::Cell;
use crate::kdtree::cells::event::Event;
use crate::kdtree::cells::extent::Extent;
pub(in crate::kdtree) use stretch::{Lightest, Passed, Stretch, count};

use super::plane::{Plane, Side};

#[cfg(test)]
mod tests;

/// The surface areas of both halves of a box, as functions of the position of a cut along one axis.
#[derive(Debug, Clone, Copy)]
pub(in crate::kdtree) struct Surface {
    axis: usize,
    low: f32,
    high: f32,
    /// The area of the cut.
    cross: f64,
    /// Half of the perimeter of the cut.
    perimeter: f64,
    /// Half of the surface area of the whole box.
    whole: f64,
}

impl Surface {
    pub(in crate::kdtree) fn new(extent: &Extent, axis: usize) -> Self {
        let edge = |axis: usize| f64::from(extent.high[axis % 3]) - f64::from(extent.low[axis % 3]);
        let (a, b) = (edge(axis + 1), edge(axis + 2));
        Self {
            axis,
            low: extent.low[axis],
            high: extent.high[axis],
            cross: a * b,
            perimeter: a + b,
            whole: extent.half_area(),
        }
    }

    /// Returns the weight of a plane: the sum of surface area times number of triangles over both
    /// halves.
    #[inline(always)]
    pub(in crate::kdtree) fn weight(&self, position: f32, below: u32, above: u32) -> f64 {
        self.area_below(position) * f64::from(below) + self.area_above(position) * f64::from(above)
    }

    #[inline(always)]
    fn area_below(&self, position: f32) -> f64 {
        self.cross + self.perimeter * (f64::from(position) - f64::from(self.low))
    }

    #[inline(always)]
    fn area_above(&self, position: f32) -> f64 {
        self.cross + self.perimeter * (f64::from(self.high) - f64::from(position))
    }

    pub(in crate::kdtree) fn cost(&self, weight: f64, parameters: &Parameters) -> f64 {
        parameters.traversal_cost + parameters.intersection_cost * (weight / self.whole)
    }

    /// Returns the cheapest of the lightest plane and the planes that cut off empty space, or
    /// `None` if the cell has no surface.
    ///
    /// `first` and `last` are the first and the last event along the axis, and `count` is the
    /// number of triangles.
    pub(in crate::kdtree) fn plane(
        &self,
        lightest: Lightest,
        (first, last): (Event, Event),
        count: u32,
        parameters: &Parameters,
    ) -> Option<Plane> {
        if self.whole <= 0.0 {
            return None;
        }
        let between = Plane {
            axis: self.axis,
            position: lightest.event.position(),
            planar_side: lightest.planar_side,
            counts: lightest.counts,
            cost: self.cost(lightest.weight, parameters),
        };
        let empty = |position: f32, planar_side, below, above| Plane {
            axis: self.axis,
            position,
            planar_side,
            counts: [below, above],
            cost: parameters.empty_bonus
                * self.cost(self.weight(position, below, above), parameters),
        };
        let (front, back) = (first.position(), last.position());
        let cut_front = (front > self.low).then(|| empty(front, Side::Above, 0, count));
        let cut_back = (back < self.high).then(|| empty(back, Side::Below, count, 0));
        cheapest_of([cut_front, Some(between), cut_back])
    }
}

/// Scratch memory for sweeps.
#[derive(Debug, Default)]
pub(in crate::kdtree) struct Scratch {
    sums: Vec<Passed>,
    bounds: Vec<f64>,
}

/// Finds the cheapest plane. Returns `None` if the cell has no surface or no triangles.
///
/// The plane may cost more than a leaf; the caller compares the two. Takes O(events) time.
pub(in crate::kdtree) fn cheapest_plane(
    cell: &Cell<'_>,
    parameters: &Parameters,
    scratch: &mut Scratch,
) -> Option<Plane> {
    let planes = [0, 1, 2].map(|axis| cheapest_plane_along(cell, axis, parameters, scratch));
    cheapest_of(planes)
}

/// Finds the cheapest plane perpendicular to one axis.
pub(in crate::kdtree) fn cheapest_plane_along(
    cell: &Cell<'_>,
    axis: usize,
    parameters: &Parameters,
    Scratch { sums, bounds }: &mut Scratch,
) -> Option<Plane> {
    let surface = Surface::new(&cell.extent, axis);
    let events = cell.events[axis];
    let ends = (*events.first()?, *events.last()?);
    let triangle_count = cell.names.len() as u32;
    let all = Stretch {
        events,
        before: None,
        after: None,
    };
    if !all.is_short() {
        count(events, sums);
    }
    let lightest = all.lightest(&surface, Passed::default(), triangle_count, sums, bounds);
    surface.plane(lightest, ends, triangle_count, parameters)
}

/// Returns the first of the cheapest planes.
pub(in crate::kdtree) fn cheapest_of(planes: [Option<Plane>; 3]) -> Option<Plane> {
    planes
        .into_iter()
        .flatten()
        .reduce(|best, plane| if plane.cost < best.cost { plane } else { best })
}
