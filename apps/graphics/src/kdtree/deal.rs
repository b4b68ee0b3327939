//! Dealing out events: those of one axis go to both halves, in order, and the new ones that cutting has made go in between.
//!
//! Blocks of events are dealt into buffers that stay in the nearest cache, and go on from there, merged with the new ones, to a [`Sink`]
//! for each half: so nobody has to know beforehand how much room a half needs. A block is gone over twice: first its routes are
//! fetched, by loads that do not wait for each other, for these are spread over more memory than any near cache has; then every event is
//! written to both buffers, without a branch, and only those that it belongs to move on.
//!
//! # Source
//! Wald, Havran 2006 (see [`super`]), section 4.3.

use raddle_sync::shared_vec::Claim;

use super::event::{self, Event};
use super::split::{Added, Counts, Halves, Route};

/// Events that are dealt at a time.
pub(super) const BLOCK_LEN: usize = 256;

/// Where results go, in order.
pub(super) trait Sink<T> {
    /// Takes some more.
    fn put(&mut self, items: &[T]);
}

impl<T: Copy> Sink<T> for Vec<T> {
    #[inline]
    fn put(&mut self, items: &[T]) {
        self.extend_from_slice(items);
    }
}

impl<T: Copy> Sink<T> for Claim<T> {
    #[inline]
    fn put(&mut self, items: &[T]) {
        self.extend_from_slice(items);
    }
}

/// Nothing is kept without a sink.
impl<T, S: Sink<T>> Sink<T> for Option<S> {
    #[inline]
    fn put(&mut self, items: &[T]) {
        if let Some(sink) = self {
            sink.put(items);
        }
    }
}

/// How routes number the references of a half: those of a share count from the share's own first.
#[derive(Debug)]
pub(super) struct Bases {
    /// For each unit of references what to add.
    units: Vec<Route>,
    unit_log2: u32,
}

impl Bases {
    /// Routes have final numbers.
    pub(super) const NONE: Self = Self {
        units: Vec::new(),
        unit_log2: 0,
    };

    /// Numbers what shares of a list have dealt, each so many to both halves. All but the last have a multiple of 2^`unit_log2` references.
    pub(super) fn new(shares: impl Iterator<Item = (usize, Counts)>, unit_log2: u32) -> Self {
        let (mut units, mut first) = (Vec::new(), Counts::default());
        for (len, counts) in shares {
            let base = Route::new(first.below as u32, first.above as u32);
            units.resize(units.len() + len.div_ceil(1 << unit_log2), base);
            first = first + counts;
        }
        Self { units, unit_log2 }
    }

    /// A route with final numbers.
    #[inline]
    pub(super) fn apply(&self, route: Route, reference: u32) -> Route {
        if self.units.is_empty() {
            route
        } else {
            route.behind(self.units[(reference >> self.unit_log2) as usize])
        }
    }
}

/// A block of events on the way to both halves.
#[derive(Debug)]
pub(super) struct Dealer {
    routes: [Route; BLOCK_LEN],
    below: [Event; BLOCK_LEN],
    above: [Event; BLOCK_LEN],
}

impl Default for Dealer {
    fn default() -> Self {
        Self {
            routes: [Route::default(); BLOCK_LEN],
            below: [Event::default(); BLOCK_LEN],
            above: [Event::default(); BLOCK_LEN],
        }
    }
}

impl Dealer {
    /// Deals some events of an axis, and those of `added` that come before the last of them in their half. Cost: O(events).
    pub(super) fn deal(
        &mut self,
        events: &[Event],
        axis: usize,
        (routes, bases): (&[Route], &Bases),
        added: &mut Halves<&[Event]>,
        to: &mut Halves<impl Sink<Event>>,
    ) {
        for block in events.chunks(BLOCK_LEN) {
            for (slot, event) in self.routes.iter_mut().zip(block) {
                let reference = event.reference();
                *slot = bases.apply(routes[reference as usize], reference);
            }
            let counts = self.deal_block(block, axis);
            put_merged(&self.below[..counts.below], &mut added.below, &mut to.below);
            put_merged(&self.above[..counts.above], &mut added.above, &mut to.above);
        }
    }

    #[inline]
    fn deal_block(&mut self, block: &[Event], axis: usize) -> Counts {
        let mut counts = Counts::default();
        for (&event, &route) in block.iter().zip(&self.routes) {
            let (below, above) = route.indices();
            let goes = route.goes(axis, event.kind());
            // Both stay below the length of the block; the mask says so to the compiler.
            self.below[counts.below % BLOCK_LEN] = event.with_reference(below);
            self.above[counts.above % BLOCK_LEN] = event.with_reference(above);
            counts.below += goes.below;
            counts.above += goes.above;
        }
        counts
    }
}

/// Counts how many of some events each half gets, without new ones.
pub(super) fn count(events: &[Event], axis: usize, routes: &[Route]) -> Counts {
    events.iter().fold(Counts::default(), |sum, event| {
        let route = routes[event.reference() as usize];
        sum + route.goes(axis, event.kind())
    })
}

/// Deals all events of an axis to the fronts of two slices, with the new ones. Returns how many each half got. Cost: O(events).
///
/// The slices have room for two events per reference of the half; one without any room gets none. Where memory is there already, this is
/// quicker than by a [`Dealer`].
pub(super) fn deal_to_slices(
    events: &[Event],
    axis: usize,
    routes: &[Route],
    added: &Added,
    below: &mut [Event],
    above: &mut [Event],
) -> Counts {
    /// Writes to where the next event belongs; one too many goes nowhere.
    #[inline(always)]
    fn write(events: &mut [Event], at: usize, event: Event) {
        if let Some(slot) = events.get_mut(at) {
            *slot = event;
        }
    }
    let mut counts = Counts::default();
    for &event in events {
        let route = routes[event.reference() as usize];
        let indices = route.indices();
        write(below, counts.below, event.with_reference(indices.0));
        write(above, counts.above, event.with_reference(indices.1));
        counts = counts + route.goes(axis, event.kind());
    }
    let merged = |events: &mut [Event], len, added| {
        if events.is_empty() {
            0
        } else {
            event::merge_into(events, len, added)
        }
    };
    Counts {
        below: merged(below, counts.below, &added.below[axis]),
        above: merged(above, counts.above, &added.above[axis]),
    }
}

/// Puts old events down, and before each of them the new ones that are earlier.
#[inline]
fn put_merged(mut old: &[Event], added: &mut &[Event], to: &mut impl Sink<Event>) {
    while let (Some(&event), Some(&last)) = (added.first(), old.last()) {
        if last < event {
            break;
        }
        let (before, behind) = old.split_at(old.partition_point(|&other| other < event));
        to.put(before);
        to.put(&[event]);
        old = behind;
        *added = &added[1..];
    }
    to.put(old);
}
