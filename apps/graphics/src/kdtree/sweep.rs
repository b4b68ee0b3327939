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

use super::Parameters;
use super::cell::{Cell, Extent};
use super::event::{Event, Kind};

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
    pub(super) cost: f64,
}

/// The surface of the halves of one box as functions of where it is cut along one axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surface {
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
        let position = f64::from(position);
        let low = self.cross + self.perimeter * (position - f64::from(self.low));
        let high = self.cross + self.perimeter * (f64::from(self.high) - position);
        low * f64::from(below) + high * f64::from(above)
    }

    pub(super) fn cost(&self, weight: f64, parameters: &Parameters) -> f64 {
        parameters.traversal_cost + parameters.intersection_cost * (weight / self.whole)
    }
}

/// The lightest plane of a stretch of events.
#[derive(Debug, Clone, Copy)]
struct Lightest {
    weight: f64,
    event: Event,
    planar_side: Side,
}

/// Finds the cheapest plane, or none when the cell has no surface or no triangles.
///
/// The plane may well cost more than a leaf; that is for the caller to weigh. Cost: O(events).
pub(super) fn cheapest_plane(cell: &Cell<'_>, parameters: &Parameters) -> Option<Plane> {
    let planes = [0, 1, 2].map(|axis| cheapest_plane_along(cell, axis, parameters));
    cheapest_of(planes)
}

/// Finds the cheapest plane across one axis.
pub(super) fn cheapest_plane_along(
    cell: &Cell<'_>,
    axis: usize,
    parameters: &Parameters,
) -> Option<Plane> {
    let surface = Surface::new(&cell.extent, axis);
    let events = cell.events[axis];
    let (&first, &last) = (events.first()?, events.last()?);
    if surface.whole <= 0.0 {
        return None;
    }
    let count = cell.references.len() as u32;
    let lightest = sweep(events, count, &surface);
    let between = Plane {
        axis,
        position: lightest.event.position(),
        planar_side: lightest.planar_side,
        cost: surface.cost(lightest.weight, parameters),
    };
    let empty = |position: f32, planar_side, below, above| Plane {
        axis,
        position,
        planar_side,
        cost: parameters.empty_bonus
            * surface.cost(surface.weight(position, below, above), parameters),
    };
    let (front, back) = (first.position(), last.position());
    let cut_front = (front > surface.low).then(|| empty(front, Side::Above, 0, count));
    let cut_back = (back < surface.high).then(|| empty(back, Side::Below, count, 0));
    cheapest_of([cut_front, Some(between), cut_back])
}

/// The first of the cheapest.
pub(super) fn cheapest_of(planes: [Option<Plane>; 3]) -> Option<Plane> {
    planes
        .into_iter()
        .flatten()
        .reduce(|best, plane| if plane.cost < best.cost { plane } else { best })
}

/// Runs over the events of one axis and weighs the plane through each.
///
/// Weighing at every event instead of every position needs no look ahead: within the ends at one position
/// all but the last, and within the starts all but the first, count some triangle on both sides and are too
/// heavy to win.
fn sweep(events: &[Event], count: u32, surface: &Surface) -> Lightest {
    let (mut below, mut above) = (0, count);
    let mut planar = 0;
    let mut lightest = Lightest {
        weight: f64::INFINITY,
        event: Event::default(),
        planar_side: Side::Above,
    };
    for (index, &event) in events.iter().enumerate() {
        let kind = event.kind();
        if kind == Kind::Planar as u32 {
            if planar == 0 {
                lightest.weigh(surface, event, below, above, Side::Above);
            }
            planar += 1;
            let goes_on = events
                .get(index + 1)
                .is_some_and(|next| next.is_planar_with(event));
            if !goes_on {
                below += planar;
                above -= planar;
                planar = 0;
                lightest.weigh(surface, event, below, above, Side::Below);
            }
            continue;
        }
        // The kinds left are `End` = 0 and `Start` = 2.
        let starts = kind >> 1;
        above -= 1 - starts;
        lightest.weigh(surface, event, below, above, Side::Above);
        below += starts;
    }
    lightest
}

impl Lightest {
    #[inline(always)]
    fn weigh(&mut self, surface: &Surface, event: Event, below: u32, above: u32, side: Side) {
        let weight = surface.weight(event.position(), below, above);
        if weight < self.weight {
            *self = Self {
                weight,
                event,
                planar_side: side,
            };
        }
    }
}
