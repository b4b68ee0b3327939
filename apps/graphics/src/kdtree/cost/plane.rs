//! Split planes.

use crate::kdtree::cells::event::{Event, Kind};

/// The half to which the triangles in the split plane belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kdtree) enum Side {
    Below,
    Above,
}

/// A split plane and its cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::kdtree) struct Plane {
    pub(in crate::kdtree) axis: usize,
    pub(in crate::kdtree) position: f32,
    pub(in crate::kdtree) planar_side: Side,
    /// The number of triangles that reach into each half, judged by their boxes.
    pub(in crate::kdtree) counts: [u32; 2],
    pub(in crate::kdtree) cost: f64,
}

impl Plane {
    /// Returns the number of references in both halves per reference of the cell, which has `count`
    /// references; at least 1.
    pub(in crate::kdtree) fn copies(&self, count: usize) -> f64 {
        let [below, above] = self.counts.map(f64::from);
        (below + above) / count as f64
    }

    /// Returns a value that separates the events below the plane from those above it: no event
    /// below is greater or equal, and no event above is smaller.
    #[inline]
    pub(in crate::kdtree) fn first_above(&self) -> Event {
        let kind = match self.planar_side {
            Side::Above => Kind::Planar,
            Side::Below => Kind::Start,
        };
        Event::new(self.position, kind, 0)
    }

    /// Returns the number of events along the plane's axis that are below the plane. Takes one
    /// binary search.
    pub(in crate::kdtree) fn split(&self, events: &[Event]) -> usize {
        let first_above = self.first_above();
        events.partition_point(|&event| event < first_above)
    }

    /// Returns the half that no triangle reaches into, if there is one: 0 for below, 1 for above. A
    /// plane with such a half cuts off empty space.
    ///
    /// `first` and `last` are the first and the last event along the plane's axis.
    pub(in crate::kdtree) fn empty_half(&self, (first, last): (Event, Event)) -> Option<usize> {
        let first_above = self.first_above();
        if first >= first_above {
            Some(0)
        } else {
            (last < first_above).then_some(1)
        }
    }
}
