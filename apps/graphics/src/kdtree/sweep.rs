//! The surface-area heuristic: the cheapest plane for a cell, found by one sweep along each axis.
//!
//! # Cost
//! A ray that meets a cell of surface `S` meets the halves with the chances `S_l / S` and `S_r / S`. Splitting
//! therefore costs
//! ```text
//! λ · (traversal + intersection · (S_l · n_l + S_r · n_r) / S)
//! ```
//! where `λ < 1` when one half has some thickness and no triangle at all, else 1. Candidates are the ends of
//! the extents of the triangles: between them the cost is linear, so no minimum is missed. A triangle that
//! lies in the plane counts once, for the half where it is cheaper.
//!
//! # Ties
//! The first of equally cheap planes in the order axis, position, side (above, then below) wins, whatever
//! parts the sweep is done in: the choice depends on the cell alone.
//!
//! # Source
//! Wald, Havran 2006 (see [`super`]), sections 3 and 4; empty-space bonus: section 5.1 there, after V. Havran's
//! dissertation, 2000.

mod stretch;

use super::Parameters;
use super::cell::{Cell, Extent};
use super::event::{Event, Kind};
pub(super) use stretch::{Lightest, Passed, Stretch, count};

#[cfg(test)]
mod tests;

/// The half that triangles in the split plane belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Below,
    Above,
}

/// A split plane and what it would cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plane {
    pub(super) axis: usize,
    pub(super) position: f32,
    pub(super) planar_side: Side,
    /// The triangles that reach into each half, as far as their boxes tell.
    pub(super) counts: [u32; 2],
    pub(super) cost: f64,
}

impl Plane {
    /// How many references the halves have for each one of a cell with `count` of them; at least 1.
    pub(super) fn copies(&self, count: usize) -> f64 {
        let [below, above] = self.counts.map(f64::from);
        (below + above) / count as f64
    }

    /// What no event below the plane comes behind, and none above it before.
    #[inline]
    pub(super) fn first_above(&self) -> Event {
        let kind = match self.planar_side {
            Side::Above => Kind::Planar,
            Side::Below => Kind::Start,
        };
        Event::new(self.position, kind, 0)
    }

    /// How many of the events along its axis are below. Cost: a search.
    pub(super) fn split(&self, events: &[Event]) -> usize {
        let first_above = self.first_above();
        events.partition_point(|&event| event < first_above)
    }

    /// The half that no triangle reaches into, if there is one: 0 for below, 1 for above. `ends` are the first and the last event along the
    /// plane's axis.
    pub(super) fn empty_half(&self, (first, last): (Event, Event)) -> Option<usize> {
        let first_above = self.first_above();
        if first >= first_above {
            Some(0)
        } else {
            (last < first_above).then_some(1)
        }
    }
}

/// The surface of the halves of one box as functions of where it is cut along one axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surface {
    axis: usize,
    low: f32,
    high: f32,
    /// Area of the cut.
    cross: f64,
    /// Half of its perimeter.
    perimeter: f64,
    /// Half of the surface of the whole box.
    whole: f64,
}

impl Surface {
    pub(super) fn new(extent: &Extent, axis: usize) -> Self {
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

    /// The sum of surface times triangles over both halves.
    #[inline(always)]
    pub(super) fn weight(&self, position: f32, below: u32, above: u32) -> f64 {
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

    pub(super) fn cost(&self, weight: f64, parameters: &Parameters) -> f64 {
        parameters.traversal_cost + parameters.intersection_cost * (weight / self.whole)
    }

    /// The cheapest plane, of the lightest and of those that cut off what is empty; `ends` are the first and the last event along the
    /// axis, `count` the triangles. None when the cell has no surface.
    pub(super) fn plane(
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

/// Memory that sweeps use.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    sums: Vec<Passed>,
    bounds: Vec<f64>,
}

/// Finds the cheapest plane, or none when the cell has no surface or no triangles.
///
/// The plane may well cost more than a leaf; that is for the caller to weigh. Cost: O(events).
pub(super) fn cheapest_plane(
    cell: &Cell<'_>,
    parameters: &Parameters,
    scratch: &mut Scratch,
) -> Option<Plane> {
    let planes = [0, 1, 2].map(|axis| cheapest_plane_along(cell, axis, parameters, scratch));
    cheapest_of(planes)
}

/// Finds the cheapest plane across one axis.
pub(super) fn cheapest_plane_along(
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

/// The first of the cheapest.
pub(super) fn cheapest_of(planes: [Option<Plane>; 3]) -> Option<Plane> {
    planes
        .into_iter()
        .flatten()
        .reduce(|best, plane| if plane.cost < best.cost { plane } else { best })
}
