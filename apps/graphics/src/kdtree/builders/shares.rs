//! One task's share of splitting a cell that several tasks work on.
//!
//! | phase               | work on a share                                    | result           |
//! |---------------------|----------------------------------------------------|------------------|
//! | `FindBestPartition` | [`Counted::of`], scan, [`Counted::lightest`]       | lightest planes  |
//! | `MarkTriangles`     | [`mark`]                                           | marks            |
//! | `CopyTriangles`     | [`ShareNames::of`], scan, [`ShareNames::renumber`] | names and routes |
//! | `CopyEvents`        | [`distribute_events`]                              | events           |
//!
//! A scan tells each share what the shares before it have counted. The caller decides how the
//! results of the shares are combined: in one array each, or in chunks.
//!
//! # Why the result is that of a single task
//! Shares are consecutive stretches of the lists. The lightest plane is the first of the lightest
//! planes of all shares. Names keep their order. Each new event of a cut triangle belongs to the
//! share that would contain it: it lies behind the first event of that share and before the first
//! event of the next one.
//!
//! # Source
//! Choi et al. 2010 (see [`crate::kdtree::phases`]), section 4; Jetley, Kalé: Optimizations for
//! message driven applications on multicore architectures. HiPC 2011, section III.

use std::ops::Range;
use std::sync::Arc;

use raddle::ChunkedArray;
use raddle_collections::shared_vec::Claim;
use raddle_collections::two_lists::TwoLists;

use crate::kdtree::cells::arena::Arena;
use crate::kdtree::cells::cell::SharedCell;
use crate::kdtree::cells::event::Event;
use crate::kdtree::cells::names::{Name, Reference};
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
    /// The share that is the whole list.
    pub(super) const WHOLE: Self = Self { index: 0, count: 1 };

    /// Returns the range of the share in a list of length `len`.
    pub(super) fn range(self, len: usize) -> Range<usize> {
        len * self.index / self.count..len * (self.index + 1) / self.count
    }
}

/// The triangles that a sweep enters and leaves in a share of each axis.
#[derive(Debug, Default)]
pub(super) struct Counted {
    pub(super) passed: [Passed; 3],
    /// The counts within each slice of the share, as returned by [`sweep::count`].
    sums: [Vec<Vec<Passed>>; 3],
}

impl Counted {
    /// Counts, like the prescan of a parallel scan.
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

    /// Finds the lightest plane of the share along each axis. `before` is the count of all shares
    /// before it.
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

/// Returns the shorter side of a plane, and its range in the list of the plane's axis.
pub(super) fn shorter_side(events: &ChunkedArray<Event>, plane: &Plane) -> (Shorter, Range<usize>) {
    let split = events.chunks().map(|chunk| plane.split(chunk)).sum();
    let shorter = Shorter::of(events.len(), split);
    if shorter.is_above() {
        (shorter, split..events.len())
    } else {
        (shorter, 0..split)
    }
}

/// Marks the triangles of a share of the shorter side.
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

/// The counts of a share's output, or of all shares before one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ShareCounts {
    /// The number of names in each half.
    pub(super) counts: Counts,
    /// The number of triangles that straddle the plane.
    pub(super) straddlers: usize,
    /// The number of pieces into which these were cut.
    pub(super) pieces: usize,
}

sum_of_fields!(ShareCounts: counts, straddlers, pieces);

/// The output for a share of the names.
#[derive(Debug, Default)]
pub(super) struct ShareNames {
    pub(super) halves: Halves<Vec<Name>>,
    pub(super) straddlers: Vec<Straddler>,
    pub(super) added: Added,
    pub(super) pieces: Vec<Reference>,
    routes: Vec<Route>,
}

impl ShareNames {
    /// Distributes a share of the names, as if no share came before it, into the given empty
    /// buffers.
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
        let [below, above] = names.into_spaces();
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

    /// Returns the counts of this output.
    pub(super) fn share_counts(&self) -> ShareCounts {
        ShareCounts {
            counts: self.counts(),
            straddlers: self.straddlers.len(),
            pieces: self.pieces.len(),
        }
    }

    /// Assigns final numbers, given the counts of all shares before this one, and writes the routes
    /// to `routes`. Returns the memory of the routes.
    pub(super) fn renumber(
        &mut self,
        arena: &Arena,
        before: ShareCounts,
        routes: &mut Claim<Route>,
    ) -> Vec<Route> {
        // Pieces are numbered in the order in which this share has cut them.
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
        // Shift the routes by the triangles of the shares before.
        for route in &mut self.routes {
            *route = route.behind(before.counts, before.straddlers);
        }
        routes.extend_from_slice(&self.routes);
        self.take_routes()
    }

    /// Removes and returns the routes. They are final if no share comes before this one.
    pub(super) fn take_routes(&mut self) -> Vec<Route> {
        std::mem::take(&mut self.routes)
    }
}

/// The combined output of all shares of the names.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) halves: Halves<ChunkedArray<Name>>,
    pub(super) straddlers: Vec<Straddler>,
    /// The new events of cut triangles, sorted.
    pub(super) added: Added,
    /// The arena that holds the names of both halves.
    pub(super) arena: Arc<Arena>,
}

impl Names {
    /// Combines the output of all shares, in order.
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

/// Distributes a share of the events of an axis. `to` creates the lists, given an upper limit for
/// their lengths.
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

/// Returns the new events that belong to a range. An empty range has none, because the next range
/// begins at the same position.
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
