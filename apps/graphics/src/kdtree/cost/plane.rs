//! Split planes.

use crate::kdtree::cells::event::{Event, Kind};

/// The half that triangles in the split plane belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kdtree) enum Side {
    Below,
    Above,
}

/// A split plane and what it would cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::kdtree) struct Plane {
    pub(in crate::kdtree) axis: usize,
    pub(in crate::kdtree) position: f32,
    pub(in crate::kdtree) planar_side: Side,
    /// The triangles that reach into each half, as far as their boxes tell.
    pub(in crate::kdtree) counts: [u32; 2],
    pub(in crate::kdtree) cost: f64,
}

impl Plane {
    /// How many references the halves have for each one of a cell with `count` of them; at least 1.
    pub(in crate::kdtree) fn copies(&self, count: usize) -> f64 {
        let [below, above] = self.counts.map(f64::from);
        (below + above) / count as f64
    }

    /// What no event below the plane comes behind, and none above it before.
    #[inline]
    pub(in crate::kdtree) fn first_above(&self) -> Event {
        let kind = match self.planar_side {
            Side::Above => Kind::Planar,
            Side::Below => Kind::Start,
        };
        Event::new(self.position, kind, 0)
    }

    /// How many of the events along its axis are below. Cost: a search.
    pub(in crate::kdtree) fn split(&self, events: &[Event]) -> usize {
        let first_above = self.first_above();
        events.partition_point(|&event| event < first_above)
    }

    /// The half that no triangle reaches into, if there is one: 0 for below, 1 for above. `ends` are the first and the last event along the
    /// plane's axis.
    pub(in crate::kdtree) fn empty_half(&self, (first, last): (Event, Event)) -> Option<usize> {
        let first_above = self.first_above();
        if first >= first_above {
            Some(0)
        } else {
            (last < first_above).then_some(1)
        }
    }
}
