//! Dealing out events: those of one axis go to both halves along the [`Route`]s of their triangles, in order, and the new ones that
//! cutting has made go in between.
//!
//! An event of a triangle in one half is written once, to where that half's list has got; which half that is, is computed and not jumped on, and
//! along the split axis it is known beforehand. The few events of triangles in both halves, and the new ones, are dealt with out of line.
//!
//! # Source
//! Wald, Havran 2006 (see [`super`]), section 4.3; Choi et al. 2010 (see [`super::tasks`]), section 4 (`CopyEvents`).

use super::lists::Lists;
use super::route::{Added, Halves, PieceRoute, Route, Straddler};
use crate::kdtree::cells::event::Event;
use crate::kdtree::cost::plane::Plane;

/// Triangles may be in either half.
const EITHER: u8 = 0;
/// All but straddling triangles are below.
const BELOW: u8 = 1;
/// All but straddling triangles are above.
const ABOVE: u8 = 2;

/// What the events of a cell go along.
#[derive(Debug, Clone, Copy)]
pub(in crate::kdtree) struct Routes<'a> {
    pub(in crate::kdtree) plane: &'a Plane,
    pub(in crate::kdtree) routes: &'a [Route],
    pub(in crate::kdtree) straddlers: &'a [Straddler],
    /// Sorted.
    pub(in crate::kdtree) added: &'a Added,
}

impl<'a> Routes<'a> {
    /// Deals all events of an axis to both lists, which have room for two events of each triangle of the half. Cost: O(events).
    pub(in crate::kdtree) fn distribute<L: Lists<Event>>(
        &self,
        events: &[Event],
        axis: usize,
        to: L,
    ) -> L {
        self.distribute_stretch([events].into_iter(), axis, self.all_added(axis), to)
    }

    /// Deals a stretch of the events of an axis, which comes in slices, and the new ones that belong into it.
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

    /// The new events that belong behind what comes before `first` and before `next`, neither of which are there at the list's ends.
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

/// Events of one axis on their way.
struct Stream<'a> {
    routes: &'a [Route],
    straddlers: &'a [Straddler],
    /// Along the split axis, what comes before all events above the plane.
    split: Option<Event>,
    axis: usize,
    /// New events that have not been put in.
    added: Halves<&'a [Event]>,
}

impl Stream<'_> {
    /// Deals the next events.
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

    /// The lists come and go by value, so that where they have got stays in registers.
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

    /// Puts in the new events that come before one.
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
