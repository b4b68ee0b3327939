//! Splitting a cell that several work on: what one of them does in each phase, on its even share of the lists.
//!
//! | phase | a share | what it leaves |
//! |---|---|---|
//! | `FindBestPartition` | [`Counted::of`], then, knowing what comes before it, [`Counted::lightest`] | the lightest plane of each axis |
//! | `MarkTriangles` | [`mark`] | marks |
//! | `CopyTriangles` | [`DealtNames::of`], then, knowing what comes before it, [`DealtNames::renumber`] | names of both halves, routes |
//! | `CopyEvents` | [`deal_events`] | events of both halves |
//!
//! How the shares' results come together, in one array each or in chunks, is up to the caller.
//!
//! # Why the outcome is that of one alone
//! Shares are stretches of lists in order. The lightest plane is the first of the lightest; names keep their order; and of the events that
//! cutting has made each goes to the share between whose first event and the next share's it belongs.
//!
//! # Source
//! Choi et al. 2010 (see [`super::tasks`]), section 4; Jetley, Kalé: Optimizations for message driven applications on multicore architectures.
//! HiPC 2011, section III.

use std::ops::Range;
use std::sync::Arc;

use raddle::ChunkedArray;
use raddle_collections::shared_vec::Claim;
use raddle_collections::two_lists::TwoLists;

use crate::kdtree::cells::arena::Arena;
use crate::kdtree::cells::cell::SharedCell;
use crate::kdtree::cells::event::Event;
use crate::kdtree::cells::names::Name;
use crate::kdtree::cells::names::Reference;
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::cost::sweep::{self, Lightest, Passed, Stretch, Surface};
use crate::kdtree::phases::copy_events::Routes;
use crate::kdtree::phases::copy_triangles::{Split, SplitOutput};
use crate::kdtree::phases::lists::Lists;
use crate::kdtree::phases::mark::{SharedMarks, Shorter};
use crate::kdtree::phases::route::{Added, Counts, Halves, Route, Straddler};
use crate::kdtree::sums::sum_of_fields;

/// One of several equal parts of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) index: usize,
    pub(super) count: usize,
}

impl Share {
    /// All of a list.
    pub(super) const WHOLE: Self = Self { index: 0, count: 1 };

    /// Where the share begins and ends in a list of `len`.
    pub(super) fn range(self, len: usize) -> Range<usize> {
        len * self.index / self.count..len * (self.index + 1) / self.count
    }
}

/// What a sweep passes in a share of each axis.
#[derive(Debug, Default)]
pub(super) struct Counted {
    pub(super) passed: [Passed; 3],
    /// Within each slice of the share.
    sums: [Vec<Vec<Passed>>; 3],
}

impl Counted {
    /// Counts, as the prescan of a parallel scan does.
    pub(super) fn of(cell: &SharedCell, share: Share) -> Self {
        let mut counted = Self::default();
        for (axis, events) in cell.events.iter().enumerate() {
            for slice in events.slices(share.range(events.len())) {
                let mut sums = Vec::with_capacity(slice.len() / 32 + 2);
                let passed = sweep::count(slice, &mut sums);
                counted.passed[axis] = counted.passed[axis] + passed;
                counted.sums[axis].push(sums);
            }
        }
        counted
    }

    /// Finds the lightest plane of the share along each axis; `before` is what all shares before it have counted.
    pub(super) fn lightest(
        &self,
        cell: &SharedCell,
        share: Share,
        before: [Passed; 3],
    ) -> [Lightest; 3] {
        let mut bounds = Vec::new();
        std::array::from_fn(|axis| {
            let (events, surface) = (&cell.events[axis], Surface::new(&cell.extent, axis));
            let mut range = share.range(events.len());
            let mut passed = before[axis];
            let mut lightest = Lightest::none();
            for (slice, sums) in events.slices(range.clone()).zip(&self.sums[axis]) {
                let stretch = Stretch {
                    events: slice,
                    before: range.start.checked_sub(1).map(|index| events[index]),
                    after: events.get(range.start + slice.len()).copied(),
                };
                let found =
                    stretch.lightest(&surface, passed, cell.len() as u32, sums, &mut bounds);
                lightest = lightest.or(found);
                passed = passed + sums.last().copied().unwrap_or_default();
                range.start += slice.len();
            }
            lightest
        })
    }
}

/// How the plane cuts the list of its axis: which side is the shorter one, and where that is in the list.
pub(super) fn shorter_side(events: &ChunkedArray<Event>, plane: &Plane) -> (Shorter, Range<usize>) {
    let split = events.chunks().map(|chunk| plane.split(chunk)).sum();
    let shorter = Shorter::of(events.len(), split);
    if shorter.is_above() {
        (shorter, split..events.len())
    } else {
        (shorter, 0..split)
    }
}

/// Marks by a share of the shorter side.
pub(super) fn mark(
    events: &ChunkedArray<Event>,
    side: &Range<usize>,
    share: Share,
    marks: &SharedMarks,
) {
    let Range { start, end } = share.range(side.len());
    let range = side.start + start..side.start + end;
    events.slices(range).for_each(|slice| marks.mark(slice));
}

/// How much the shares before one have made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ShareCounts {
    /// Names.
    pub(super) counts: Counts,
    pub(super) straddlers: usize,
    pub(super) pieces: usize,
}

sum_of_fields!(ShareCounts: counts, straddlers, pieces);

/// What a share of the names has become.
#[derive(Debug, Default)]
pub(super) struct ShareNames {
    pub(super) halves: Halves<Vec<Name>>,
    pub(super) straddlers: Vec<Straddler>,
    pub(super) added: Added,
    pub(super) pieces: Vec<Reference>,
    routes: Vec<Route>,
}

impl ShareNames {
    /// Deals out a share of the names, as if nothing came before it, to memory that is empty.
    pub(super) fn of(
        cell: &SharedCell,
        share: Share,
        split: &Split<'_>,
        marks: impl Fn(usize) -> u8,
        (halves, mut routes): ([Vec<Name>; 2], Vec<Route>),
    ) -> Self {
        let range = share.range(cell.len());
        routes.resize(range.len(), Route::default());
        let mut share_names = Self {
            routes,
            ..Self::default()
        };
        let mut arena = Arena::below(&cell.arena);
        let [below, above] = halves;
        let mut names = TwoLists::new(below, above);
        let mut first = range.start;
        for slice in cell.names.slices(range.clone()) {
            let mut to = SplitOutput {
                routes: &mut share_names.routes[first - range.start..],
                straddlers: &mut share_names.straddlers,
                added: &mut share_names.added,
                arena: &mut arena,
            };
            names = split.distribute(slice, first, |index| marks(first + index), names, &mut to);
            first += slice.len();
        }
        let [below, above] = names.into_rooms();
        share_names.halves = Halves { below, above };
        share_names.pieces = arena.into_pieces();
        share_names
    }

    fn counts(&self) -> Counts {
        Counts {
            below: self.halves.below.len(),
            above: self.halves.above.len(),
        }
    }

    /// How much there is.
    pub(super) fn share_counts(&self) -> ShareCounts {
        ShareCounts {
            counts: self.counts(),
            straddlers: self.straddlers.len(),
            pieces: self.pieces.len(),
        }
    }

    /// Gives everything its final number, knowing what comes before it, and writes down the routes. Returns their memory.
    pub(super) fn renumber(
        &mut self,
        arena: &Arena,
        before: ShareCounts,
        routes: &mut Claim<Route>,
    ) -> Vec<Route> {
        let mut piece = arena.len() + before.pieces;
        for straddler in &mut self.straddlers {
            let halves = [
                (
                    &mut straddler.below,
                    &mut self.halves.below,
                    before.counts.below,
                ),
                (
                    &mut straddler.above,
                    &mut self.halves.above,
                    before.counts.above,
                ),
            ];
            for (piece_route, names, first) in halves {
                if let Some(name) = names.get_mut(piece_route.index as usize) {
                    *name = Name::piece(piece);
                    piece += 1;
                }
                *piece_route = piece_route.behind(first);
            }
        }
        for route in &mut self.routes {
            *route = route.behind(before.counts, before.straddlers);
        }
        routes.extend_from_slice(&self.routes);
        self.take_routes()
    }

    /// The routes. They are final where nothing comes before the share.
    pub(super) fn take_routes(&mut self) -> Vec<Route> {
        std::mem::take(&mut self.routes)
    }
}

/// What all shares of the names have become.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) halves: Halves<ChunkedArray<Name>>,
    pub(super) straddlers: Vec<Straddler>,
    /// Sorted.
    pub(super) added: Added,
    /// Knows the names of both halves.
    pub(super) arena: Arc<Arena>,
}

impl Names {
    /// Puts the shares together.
    pub(super) fn of(above: &Arc<Arena>, shares: impl IntoIterator<Item = ShareNames>) -> Self {
        let mut halves = Halves::<ChunkedArray<Name>>::default();
        let (mut straddlers, mut added) = (Vec::new(), Added::default());
        let mut arena = Arena::below(above);
        for share in shares {
            halves.below.push_chunk(share.halves.below);
            halves.above.push_chunk(share.halves.above);
            straddlers.extend(share.straddlers);
            added.append(&share.added);
            arena.extend(share.pieces);
        }
        added.sort();
        Self {
            halves,
            straddlers,
            added,
            arena: Arc::new(arena),
        }
    }
}

/// Deals out a share of the events of an axis to lists with room for at most so many.
pub(super) fn distribute_events<L: Lists<Event>>(
    routes: &Routes<'_>,
    events: &ChunkedArray<Event>,
    axis: usize,
    share: Share,
    to: impl FnOnce(Counts) -> L,
) -> L {
    let range = share.range(events.len());
    let added = added_in(routes, events, axis, &range);
    let to = to(Counts {
        below: range.len() + added.below.len(),
        above: range.len() + added.above.len(),
    });
    routes.distribute_stretch(events.slices(range), axis, added, to)
}

/// The new events that go with a range: an empty one has none, since the next begins where it does.
fn added_in<'a>(
    routes: &Routes<'a>,
    events: &ChunkedArray<Event>,
    axis: usize,
    range: &Range<usize>,
) -> Halves<&'a [Event]> {
    if range.is_empty() {
        return Halves::default();
    }
    let first = (range.start > 0).then(|| events[range.start]);
    routes.added_between(axis, first, events.get(range.end).copied())
}

#[cfg(test)]
mod tests;
