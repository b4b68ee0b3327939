//! Splitting a cell that several work on: what one of them does in each phase, on its even share of the lists.
//!
//! | phase | a share | what it leaves |
//! |---|---|---|
//! | `FindBestPartition` | [`Counted::of`], then, knowing what comes before it, [`Counted::lightest`] | the lightest plane of each axis |
//! | `MarkTriangles`, `CopyTriangles` | [`Marked::of`], [`Marked::deal`]; or [`mark_and_deal`], block by block | references of both halves, [`Route`]s |
//! | `CopyEvents` | [`Dealing::deal`] | events of both halves |
//!
//! How the shares' results come together, in one array each or in chunks, is up to the caller: they are written to a [`Sink`].
//!
//! # Why the outcome is that of one alone
//! Shares are stretches of lists in order. The lightest plane is the first of the lightest; references keep their order; and of the events that
//! cutting has made each goes to the share between whose first and last events it belongs, by the order of the halves' lists.
//!
//! # Source
//! Choi et al. 2010 (see [`super::tasks`]), section 4; Jetley, Kalé: Optimizations for message driven applications on multicore architectures.
//! HiPC 2011, section III.

use std::ops::Range;

use raddle_sync::shared_vec::Claim;

use super::cell::{Reference, SharedCell};
use super::deal::{self, BLOCK_LEN, Bases, Dealer, Sink};
use super::event::Event;
use super::split::{self, Added, Counts, Dealt, Halves, Route, Straddler};
use super::sweep::{self, Lightest, Passed, Plane, Stretch, Surface};
use crate::intersect::Corners;

/// One of several equal parts of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) index: usize,
    pub(super) count: usize,
}

impl Share {
    /// Where the share begins and ends in a list of `len`; ends lie at multiples of `unit` or at the end of the list.
    pub(super) fn range(self, len: usize, unit: usize) -> Range<usize> {
        let units = len.div_ceil(unit);
        let end = |index: usize| (units * index / self.count * unit).min(len);
        end(self.index)..end(self.index + 1)
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
            for slice in events.slices(share.range(events.len(), 1)) {
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
        std::array::from_fn(|axis| {
            let (events, surface) = (&cell.events[axis], Surface::new(&cell.extent, axis));
            let mut range = share.range(events.len(), 1);
            let mut passed = before[axis];
            let mut lightest = Lightest::none();
            for (slice, sums) in events.slices(range.clone()).zip(&self.sums[axis]) {
                let stretch = Stretch {
                    events: slice,
                    before: range.start.checked_sub(1).map(|index| events[index]),
                    after: events.get(range.start + slice.len()).copied(),
                };
                let found = stretch.lightest(&surface, passed, cell.len() as u32, sums);
                lightest = lightest.or(found);
                passed = passed + sums.last().copied().unwrap_or_default();
                range.start += slice.len();
            }
            lightest
        })
    }
}

/// The triangles of a share, marked by the halves to which they belong.
#[derive(Debug, Default)]
pub(super) struct Marked {
    pub(super) counts: Counts,
    /// For each block of each slice how many go where, and how many are cut.
    blocks: Vec<(Counts, usize)>,
    /// With indices within their blocks.
    straddlers: Vec<Straddler>,
}

/// Where the references of a share go.
#[derive(Debug)]
pub(super) struct DealtShare<'a, S> {
    pub(super) halves: &'a mut Halves<S>,
    pub(super) routes: &'a mut Claim<Route>,
    /// The indices of the first of each half.
    pub(super) first: Counts,
    pub(super) added: &'a mut Added,
}

impl Marked {
    /// Marks the references in a range.
    pub(super) fn of(
        cell: &SharedCell,
        range: Range<usize>,
        plane: &Plane,
        triangles: &[Corners],
    ) -> Self {
        let mut marked = Self::default();
        for block in blocks(&cell.references, range) {
            marked.mark(cell, block, plane, triangles);
        }
        marked
    }

    fn mark(
        &mut self,
        cell: &SharedCell,
        block: &[Reference],
        plane: &Plane,
        triangles: &[Corners],
    ) {
        let before = self.straddlers.len();
        let straddlers = &mut self.straddlers;
        let counts = split::classify(&cell.extent, block, 0, plane, triangles, straddlers);
        self.counts = self.counts + counts;
        self.blocks.push((counts, self.straddlers.len() - before));
    }

    /// Deals out what was marked in the same range.
    pub(super) fn deal<S: Sink<Reference>>(
        &self,
        cell: &SharedCell,
        range: Range<usize>,
        plane: &Plane,
        mut to: DealtShare<'_, S>,
    ) {
        let mut buffers = Buffers::default();
        let mut straddlers = self.straddlers.as_slice();
        for (block, &(counts, straddler_count)) in blocks(&cell.references, range).zip(&self.blocks)
        {
            let (of_block, others) = straddlers.split_at(straddler_count);
            buffers.deal(block, plane, counts, of_block, &mut to);
            straddlers = others;
        }
    }
}

/// Marks and deals out a range in one go, for callers who need no counts beforehand. Returns how many references each half got.
pub(super) fn mark_and_deal<S: Sink<Reference>>(
    cell: &SharedCell,
    range: Range<usize>,
    plane: &Plane,
    triangles: &[Corners],
    mut to: DealtShare<'_, S>,
) -> Counts {
    let mut buffers = Buffers::default();
    let (mut total, mut straddlers) = (Counts::default(), Vec::new());
    for block in blocks(&cell.references, range) {
        straddlers.clear();
        let counts = split::classify(&cell.extent, block, 0, plane, triangles, &mut straddlers);
        buffers.deal(block, plane, counts, &straddlers, &mut to);
        total = total + counts;
    }
    total
}

/// The slices of a range, cut into blocks.
fn blocks(
    references: &raddle::ChunkedArray<Reference>,
    range: Range<usize>,
) -> impl Iterator<Item = &[Reference]> {
    references
        .slices(range)
        .flat_map(|slice| slice.chunks(BLOCK_LEN))
}

/// A block of references on the way to both halves.
struct Buffers {
    below: [Reference; BLOCK_LEN],
    above: [Reference; BLOCK_LEN],
    routes: [Route; BLOCK_LEN],
}

impl Default for Buffers {
    fn default() -> Self {
        Self {
            below: [Reference::EMPTY; BLOCK_LEN],
            above: [Reference::EMPTY; BLOCK_LEN],
            routes: [Route::default(); BLOCK_LEN],
        }
    }
}

impl Buffers {
    fn deal<S: Sink<Reference>>(
        &mut self,
        block: &[Reference],
        plane: &Plane,
        counts: Counts,
        straddlers: &[Straddler],
        to: &mut DealtShare<'_, S>,
    ) {
        let dealt = Dealt {
            below: &mut self.below[..counts.below],
            above: &mut self.above[..counts.above],
            first: to.first,
            added: to.added,
        };
        split::deal_references(block, 0, plane, straddlers, &mut self.routes, dealt);
        to.halves.below.put(&self.below[..counts.below]);
        to.halves.above.put(&self.above[..counts.above]);
        to.routes.put(&self.routes[..block.len()]);
        to.first = to.first + counts;
    }
}

/// What dealing out the events needs to know.
#[derive(Debug)]
pub(super) struct Dealing<'a> {
    pub(super) cell: &'a SharedCell,
    pub(super) routes: &'a [Route],
    pub(super) bases: &'a Bases,
    /// Sorted, with final numbers.
    pub(super) added: &'a Added,
}

impl Dealing<'_> {
    /// Deals out a range of the events of an axis.
    pub(super) fn deal(&self, axis: usize, range: Range<usize>, to: &mut Halves<impl Sink<Event>>) {
        let mut dealer = Dealer::default();
        let mut added = self.added_in(axis, range.clone());
        for slice in self.cell.events[axis].slices(range) {
            dealer.deal(slice, axis, (self.routes, self.bases), &mut added, to);
        }
        to.below.put(added.below);
        to.above.put(added.above);
    }

    /// Counts how many events of a range each half gets.
    pub(super) fn count(&self, axis: usize, range: Range<usize>) -> Counts {
        let added = self.added_in(axis, range.clone());
        let new = Counts {
            below: added.below.len(),
            above: added.above.len(),
        };
        let slices = self.cell.events[axis].slices(range);
        slices.fold(new, |sum, slice| {
            sum + deal::count(slice, axis, self.routes)
        })
    }

    /// The new events that belong among those of a range.
    fn added_in(&self, axis: usize, range: Range<usize>) -> Halves<&[Event]> {
        let events = &self.cell.events[axis];
        let (all_below, all_above) = (&self.added.below[axis], &self.added.above[axis]);
        // How many come before the event at some index of the list, by the order of each half.
        let before = |index: usize| -> Halves<usize> {
            if index == 0 {
                return Halves::default();
            }
            let Some(&event) = events.get(index) else {
                return Halves {
                    below: all_below.len(),
                    above: all_above.len(),
                };
            };
            let route = self.routes[event.reference() as usize];
            let (below, above) = self.bases.apply(route, event.reference()).indices();
            let count = |list: &[Event], reference: u32| {
                let event = event.with_reference(reference);
                list.partition_point(|&other| other < event)
            };
            Halves {
                below: count(all_below, below),
                above: count(all_above, above),
            }
        };
        let (begin, end) = (before(range.start), before(range.end));
        Halves {
            below: &all_below[begin.below..end.below],
            above: &all_above[begin.above..end.above],
        }
    }
}

#[cfg(test)]
mod tests;
