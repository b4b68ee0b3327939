//! The state between the phases of splitting a large cell.
//!
//! In [`TrianglePhase`] triangles are marked and distributed. In [`EventPhase`], which follows,
//! events are distributed. The shares of either phase can be processed in any order, by tasks or by
//! messages.

use std::ops::Range;
use std::sync::Arc;

use raddle::ChunkedArray;
use raddle_collections::shared_vec::SharedVec;
use raddle_collections::two_lists::TwoLists;

use super::input::Input;
use super::shares::{self, Names, Share, ShareCounts, ShareNames};
use super::store::Store;
use crate::intersect::Corners;
use crate::kdtree::cells::cell::SharedCell;
use crate::kdtree::cells::event::Event;
use crate::kdtree::cells::names::Name;
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::phases::copy_events::Routes;
use crate::kdtree::phases::copy_triangles::Split;
use crate::kdtree::phases::lists::Lists;
use crate::kdtree::phases::mark::{self, SharedMarks, Shorter};
use crate::kdtree::phases::route::{Counts, Halves, Route};

/// A cell, the plane that splits it, and the sides of its triangles.
#[derive(Debug)]
pub(super) struct TrianglePhase {
    pub(super) cell: Arc<SharedCell>,
    pub(super) plane: Plane,
    shorter: Shorter,
    /// The range of the shorter side in the list of the plane's axis.
    side: Range<usize>,
    marks: SharedMarks,
    routes: SharedVec<Route>,
}

impl TrianglePhase {
    pub(super) fn new(cell: &Arc<SharedCell>, plane: Plane, store: &Store) -> Self {
        let (shorter, side) = shares::shorter_side(&cell.events[plane.axis], &plane);
        let mut marks = store.marks();
        marks.grow(cell.len());
        Self {
            cell: Arc::clone(cell),
            plane,
            shorter,
            side,
            marks,
            routes: SharedVec::within(store.take(cell.len()), cell.len()),
        }
    }

    /// Marks the triangles of a share of the events.
    pub(super) fn mark(&self, share: Share) {
        let events = &self.cell.events[self.plane.axis];
        shares::mark(events, &self.side, share, &self.marks);
    }

    /// Distributes a share of the names, after all shares have been marked.
    pub(super) fn distribute(
        &self,
        triangles: &[Corners],
        share: Share,
        store: &Store,
    ) -> ShareNames {
        let split = Split {
            extent: &self.cell.extent,
            plane: &self.plane,
            shorter: self.shorter,
            triangles,
        };
        let len = share.range(self.cell.len()).len();
        let halves = [store.take(len), store.take(len)];
        let take = |index: usize| self.marks.take(index);
        ShareNames::of(&self.cell, share, &split, take, (halves, store.take(len)))
    }

    /// Assigns final numbers to the output of a share, given the counts of all shares before it.
    pub(super) fn renumber(
        &self,
        share_names: &mut ShareNames,
        share: Share,
        before: ShareCounts,
        store: &Store,
    ) {
        let mut routes = self.routes.claim(share.range(self.cell.len()));
        store.put(share_names.renumber(&self.cell.arena, before, &mut routes));
    }

    /// Starts the phase of the events, given the output of all shares in order.
    ///
    /// # Panics
    /// Panics if some share has not been distributed and renumbered.
    pub(super) fn into_event_phase(
        self,
        shares: impl IntoIterator<Item = ShareNames>,
        store: &Store,
    ) -> EventPhase {
        store.put_marks(self.marks);
        EventPhase {
            names: Names::of(&self.cell.arena, shares),
            cell: self.cell,
            plane: self.plane,
            routes: self.routes.into_vec().expect("every share has its routes"),
        }
    }
}

/// The events of each axis that a share contributes to both halves.
pub(super) type ShareEvents = [Halves<Vec<Event>>; 3];

/// The arrays for the events of each axis, if they are not in chunks.
pub(super) type EventArrays = [Halves<SharedVec<Event>>; 3];

/// The place of a share's events in the arrays of an axis.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EventPlace {
    /// The number of events of the shares before it.
    pub(super) before: Counts,
    pub(super) own: Counts,
}

/// A cell with distributed triangles, and the routes of its events.
#[derive(Debug)]
pub(super) struct EventPhase {
    cell: Arc<SharedCell>,
    plane: Plane,
    routes: Vec<Route>,
    pub(super) names: Names,
}

impl EventPhase {
    fn routes(&self) -> Routes<'_> {
        Routes {
            plane: &self.plane,
            routes: &self.routes,
            straddlers: &self.names.straddlers,
            added: &self.names.added,
        }
    }

    /// Distributes a share of each axis into new chunks.
    pub(super) fn distribute(&self, share: Share, store: &Store) -> ShareEvents {
        std::array::from_fn(|axis| {
            let chunks = |capacity: Counts| {
                TwoLists::new(store.take(capacity.below), store.take(capacity.above))
            };
            let [below, above] = self.distribute_axis(axis, share, chunks).into_spaces();
            Halves { below, above }
        })
    }

    /// Counts the events that a share of each axis contributes to both halves.
    pub(super) fn count(&self, share: Share) -> [Counts; 3] {
        std::array::from_fn(|axis| self.distribute_axis(axis, share, |_| Counts::default()))
    }

    /// Distributes a share of each axis into arrays, at the given places.
    pub(super) fn distribute_to(
        &self,
        share: Share,
        arrays: &EventArrays,
        places: &[EventPlace; 3],
    ) {
        for (axis, (arrays, place)) in arrays.iter().zip(places).enumerate() {
            let EventPlace { before, own } = place;
            let claim = |array: &SharedVec<Event>, first, own| array.claim(first..first + own);
            let to = TwoLists::new(
                claim(&arrays.below, before.below, own.below),
                claim(&arrays.above, before.above, own.above),
            );
            drop(self.distribute_axis(axis, share, |_| to).into_spaces());
        }
    }

    fn distribute_axis<L: Lists<Event>>(
        &self,
        axis: usize,
        share: Share,
        to: impl FnOnce(Counts) -> L,
    ) -> L {
        shares::distribute_events(&self.routes(), &self.cell.events[axis], axis, share, to)
    }

    /// Returns the halves, given the events of all shares in order.
    pub(super) fn halves_of_chunks(
        self,
        shares: impl IntoIterator<Item = ShareEvents>,
        store: &Store,
    ) -> [SharedCell; 2] {
        let mut events: [Halves<ChunkedArray<Event>>; 3] = Default::default();
        for share in shares {
            for (all, chunk) in events.iter_mut().zip(share) {
                all.below.push_chunk(chunk.below);
                all.above.push_chunk(chunk.above);
            }
        }
        self.halves(events, store)
    }

    /// Returns the halves, given their events.
    pub(super) fn halves(
        self,
        events: [Halves<ChunkedArray<Event>>; 3],
        store: &Store,
    ) -> [SharedCell; 2] {
        store.put(self.routes);
        let (below, above) = self
            .cell
            .extent
            .halves(self.plane.axis, self.plane.position);
        let Names { halves, arena, .. } = self.names;
        let [x, y, z] = events;
        [
            SharedCell {
                extent: below,
                names: halves.below,
                events: [x.below, y.below, z.below],
                arena: Arc::clone(&arena),
                is_external: false,
            },
            SharedCell {
                extent: above,
                names: halves.above,
                events: [x.above, y.above, z.above],
                arena,
                is_external: false,
            },
        ]
    }

    /// Replaces the chunks of names by one array for each half.
    pub(super) fn with_names(&mut self, names: Halves<Vec<Name>>) {
        let whole = |names| ChunkedArray::from_chunks([names]);
        self.names.halves = Halves {
            below: whole(names.below),
            above: whole(names.above),
        };
    }
}

/// Splits a cell on the calling thread.
pub(super) fn split_on_one_thread(
    cell: &Arc<SharedCell>,
    plane: Plane,
    input: &Input<'_>,
    store: &Store,
) -> [SharedCell; 2] {
    let count = cell.len();
    let events = &cell.events[plane.axis];
    let (shorter, side) = shares::shorter_side(events, &plane);
    // `MarkTriangles`, with plain marks instead of shared ones.
    let mut marks = store.take(count);
    marks.resize(count, 0);
    events
        .slices(side)
        .for_each(|side| mark::mark(side, &mut marks));
    let split = Split {
        extent: &cell.extent,
        plane: &plane,
        shorter,
        triangles: &input.triangles,
    };
    // `CopyTriangles`. No share comes before this one, so the numbers and routes are final.
    let halves = [store.take(count), store.take(count)];
    let take = |index: usize| marks[index];
    let mut share_names = ShareNames::of(
        cell,
        Share::WHOLE,
        &split,
        take,
        (halves, store.take(count)),
    );
    store.put(marks);
    let routes = share_names.take_routes();
    let event_phase = EventPhase {
        names: Names::of(&cell.arena, [share_names]),
        cell: Arc::clone(cell),
        plane,
        routes,
    };
    // `CopyEvents`.
    let events = event_phase.distribute(Share::WHOLE, store);
    event_phase.halves_of_chunks([events], store)
}
