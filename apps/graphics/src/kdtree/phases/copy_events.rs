//! The phase `CopyEvents`: distributes the events of a cell to its halves. The events of one axis
//! follow the [`Route`]s of their triangles and keep their order; the new events of cut triangles
//! are merged in.
//!
//! An event of a triangle in one half only is written once, to the end of that half's list. Which
//! half this is, is computed without a branch; along the split axis it is known beforehand. The few
//! events of straddling triangles and the new events are handled out of line.
//!
//! # Source
//! Wald, Havran 2006 (see [`crate::kdtree`]), section 4.3; Choi et al. 2010 (see [`super`]),
//! section 4.

use super::lists::Lists;
use super::route::{Added, Halves, PieceRoute, Route, Straddler};
use crate::kdtree::cells::event::Event;
use crate::kdtree::cost::plane::Plane;

/// Triangles may be in either half.
const EITHER: u8 = 0;
/// All triangles except straddling ones are below.
const BELOW: u8 = 1;
/// All triangles except straddling ones are above.
const ABOVE: u8 = 2;

/// Everything that determines where the events of a cell go.
#[derive(Debug, Clone, Copy)]
pub(in crate::kdtree) struct Routes<'a> {
    pub(in crate::kdtree) plane: &'a Plane,
    pub(in crate::kdtree) routes: &'a [Route],
    pub(in crate::kdtree) straddlers: &'a [Straddler],
    /// The new events of cut triangles, sorted.
    pub(in crate::kdtree) added: &'a Added,
}

impl<'a> Routes<'a> {
    /// Distributes all events of an axis to both lists. Each list must have space for two events
    /// per triangle of its half. Takes O(events) time.
    pub(in crate::kdtree) fn distribute<L: Lists<Event>>(
        &self,
        events: &[Event],
        axis: usize,
        to: L,
    ) -> L {
        self.distribute_stretch([events].into_iter(), axis, self.all_added(axis), to)
    }

    /// Distributes a stretch of the events of an axis, given as slices, and merges in the new
    /// events `added`, which belong into that stretch.
    pub(in crate::kdtree) fn distribute_stretch<'b, L: Lists<Event>>(
        &self,
        slices: impl Iterator<Item = &'b [Event]>,
        axis: usize,
        added: Halves<&'a [Event]>,
        mut to: L,
    ) -> L {
        let mut stream = Stream {
            routes: self.routes,
            straddlers: self.straddlers,
            split: (axis == self.plane.axis).then(|| self.plane.first_above()),
            axis,
            added,
        };
        for events in slices {
            to = stream.run_along(events, to);
        }
        stream.put_added(Event::LAST, to)
    }

    fn all_added(&self, axis: usize) -> Halves<&'a [Event]> {
        Halves {
            below: &self.added.below[axis],
            above: &self.added.above[axis],
        }
    }

    /// Returns the new events that belong into a stretch of an axis. `first` is the first event of
    /// the stretch, or `None` at the start of the list; `next` is the first event behind the
    /// stretch, or `None` at the end of the list.
    pub(in crate::kdtree) fn added_between(
        &self,
        axis: usize,
        first: Option<Event>,
        next: Option<Event>,
    ) -> Halves<&'a [Event]> {
        let between = |list: &'a [Event]| {
            let place = |event: Event| list.partition_point(|&other| other < event);
            &list[first.map_or(0, place)..next.map_or(list.len(), place)]
        };
        let all = self.all_added(axis);
        Halves {
            below: between(all.below),
            above: between(all.above),
        }
    }
}

/// The state of distributing the events of one axis.
struct Stream<'a> {
    routes: &'a [Route],
    straddlers: &'a [Straddler],
    /// Along the split axis, a value that separates the events below the plane from those above it.
    split: Option<Event>,
    axis: usize,
    /// The new events that have not been merged in yet.
    added: Halves<&'a [Event]>,
}

impl Stream<'_> {
    /// Distributes the next events of the axis.
    #[inline]
    fn run_along<L: Lists<Event>>(&mut self, events: &[Event], to: L) -> L {
        let Some(first_above) = self.split else {
            return self.run::<EITHER, L>(events, to);
        };
        let split = events.partition_point(|&event| event < first_above);
        let (below, above) = events.split_at(split);
        let to = self.run::<BELOW, L>(below, to);
        self.run::<ABOVE, L>(above, to)
    }

    /// Distributes events in order. The lists are passed and returned by value so that their write
    /// positions stay in registers.
    #[inline(always)]
    fn run<const WAY: u8, L: Lists<Event>>(&mut self, events: &[Event], mut to: L) -> L {
        let mut next_added = self.next_added();
        let routes = self.routes;
        for &event in events {
            if event >= next_added {
                to = self.put_added(event, to);
                next_added = self.next_added();
            }
            let route = routes[event.reference() as usize];
            if route.straddler().is_some() {
                to = self.put_straddling(event, route, to);
                continue;
            }
            let half = match WAY {
                BELOW => 0,
                ABOVE => 1,
                _ => route.side() as usize,
            };
            to.put(half, event.moved_down(route.distance()));
        }
        to
    }

    fn next_added(&self) -> Event {
        let first = |list: &[Event]| list.first().copied().unwrap_or(Event::LAST);
        first(self.added.below).min(first(self.added.above))
    }

    /// Merges in the new events that come before `event`.
    #[cold]
    #[inline(never)]
    fn put_added<L: Lists<Event>>(&mut self, event: Event, mut to: L) -> L {
        let (routes, straddlers) = (self.routes, self.straddlers);
        let mut put =
            |half: usize, list: &mut &[Event], piece_route: fn(&Straddler) -> PieceRoute| {
                while let Some((&added, rest)) = list.split_first()
                    && added < event
                {
                    let route = routes[added.reference() as usize];
                    let number = route.straddler().expect("new events are of straddlers");
                    to.put(
                        half,
                        added.with_reference(piece_route(&straddlers[number]).index),
                    );
                    *list = rest;
                }
            };
        put(0, &mut self.added.below, |straddler| straddler.below);
        put(1, &mut self.added.above, |straddler| straddler.above);
        to
    }

    #[cold]
    #[inline(never)]
    fn put_straddling<L: Lists<Event>>(&self, event: Event, route: Route, mut to: L) -> L {
        let number = route.straddler().unwrap_or_default();
        let Straddler { below, above } = self.straddlers[number];
        for (half, piece_route) in [below, above].into_iter().enumerate() {
            if piece_route.keeps(self.axis, event.kind()) {
                to.put(half, event.with_reference(piece_route.index));
            }
        }
        to
    }
}
