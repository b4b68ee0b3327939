//! Worker tasks: each does its even share of every phase of splitting a cell, and says what it has found or made.

use std::ops::Range;
use std::sync::Arc;

use raddle::chare::{ScanForm, Section};
use raddle::prelude::*;
use raddle::reduce::{Gather, Mismatch, Neutral, Operand, Reducer, Sum, op};
use raddle_sync::shared_vec::SharedVec;

use super::node::Build;
use crate::kdtree::cell::{Reference, SharedCell};
use crate::kdtree::deal::Bases;
use crate::kdtree::event::Event;
use crate::kdtree::shares::{Counted, Dealing, DealtShare, Marked, Share, mark_and_deal};
use crate::kdtree::split::{Added, Counts, Halves, Route};
use crate::kdtree::sweep::{Lightest, Passed, Plane};

/// One of those who share the work on a cell.
#[derive(Debug)]
pub(super) struct WorkerTask {
    share: Share,
    /// With plain arrays: what was marked, and where it goes.
    marked: Option<(Marked, Counts)>,
    /// With plain arrays: where the events of each axis go, and how many.
    counted: [(Counts, Counts); 3],
}

/// The cell to find a plane for, and how to scan.
#[derive(Debug, Clone)]
pub(super) struct FindPlane {
    pub(super) cell: Arc<SharedCell>,
    pub(super) scan: ScanForm,
}

/// The references to deal out.
#[derive(Debug, Clone)]
pub(super) struct DealReferences {
    pub(super) build: Arc<Build>,
    pub(super) cell: Arc<SharedCell>,
    pub(super) plane: Plane,
    pub(super) routes: SharedVec<Route>,
    pub(super) unit_log2: u32,
}

/// What a worker task has made of its references, in chunks of its own.
#[derive(Debug)]
pub(super) struct DealtReferences {
    pub(super) halves: Halves<Vec<Reference>>,
    pub(super) added: Added,
}

impl DealReferences {
    /// Deals a share into chunks of its own.
    pub(super) fn deal(&self, share: Share) -> DealtReferences {
        let range = self.range(share);
        let room = || self.build.store.references(range.len());
        let mut dealt = DealtReferences {
            halves: Halves {
                below: room(),
                above: room(),
            },
            added: Added::default(),
        };
        let to = DealtShare {
            halves: &mut dealt.halves,
            routes: &mut self.routes.claim(range.clone()),
            first: Counts::default(),
            added: &mut dealt.added,
        };
        mark_and_deal(&self.cell, range, &self.plane, self.build.triangles(), to);
        dealt
    }

    /// Copies what a share has marked into one array for each half, and returns the events that cutting has made.
    fn copy(
        &self,
        share: Share,
        marked: &Marked,
        first: Counts,
        arrays: &Halves<SharedVec<Reference>>,
    ) -> Added {
        let (range, end) = (self.range(share), first + marked.counts);
        let mut added = Added::default();
        let to = DealtShare {
            halves: &mut Halves {
                below: arrays.below.claim(first.below..end.below),
                above: arrays.above.claim(first.above..end.above),
            },
            routes: &mut self.routes.claim(range.clone()),
            first,
            added: &mut added,
        };
        marked.deal(&self.cell, range, &self.plane, to);
        added
    }

    /// The references of a share.
    pub(super) fn range(&self, share: Share) -> Range<usize> {
        share.range(self.cell.len(), 1 << self.unit_log2)
    }
}

/// The events to deal out.
#[derive(Debug)]
pub(super) struct DealEvents {
    pub(super) build: Arc<Build>,
    pub(super) cell: Arc<SharedCell>,
    pub(super) routes: Vec<Route>,
    pub(super) bases: Bases,
    pub(super) added: Added,
    /// Which halves need any.
    pub(super) wanted: Halves<bool>,
}

/// The events of each axis for both halves.
pub(super) type DealtEvents = [Halves<Vec<Event>>; 3];

impl DealEvents {
    /// Deals a share of each axis into chunks of its own.
    pub(super) fn deal(&self, share: Share) -> DealtEvents {
        std::array::from_fn(|axis| {
            let range = share.range(self.cell.events[axis].len(), 1);
            let room = |wanted: bool| wanted.then(|| self.build.store.events(range.len()));
            let mut halves = Halves {
                below: room(self.wanted.below),
                above: room(self.wanted.above),
            };
            self.dealing().deal(axis, range, &mut halves);
            Halves {
                below: halves.below.unwrap_or_default(),
                above: halves.above.unwrap_or_default(),
            }
        })
    }

    fn dealing(&self) -> Dealing<'_> {
        Dealing {
            cell: &self.cell,
            routes: &self.routes,
            bases: &self.bases,
            added: &self.added,
        }
    }
}

/// The arrays that events go to, where they are plain; none for a half that needs no events.
pub(super) type EventArrays = [Halves<Option<SharedVec<Event>>>; 3];

impl WorkerTask {
    pub(super) fn new(share: Share) -> Self {
        Self {
            share,
            marked: None,
            counted: Default::default(),
        }
    }

    /// The events of an axis that this task has.
    fn events(&self, cell: &SharedCell, axis: usize) -> Range<usize> {
        self.share.range(cell.events[axis].len(), 1)
    }
}

#[chare]
impl WorkerTask {
    /// `FindBestPartition`: contributes the lightest plane along each axis.
    #[entry]
    pub(super) async fn find_plane(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: FindPlane,
    ) {
        let counted = Counted::of(&job.cell, self.share);
        let before = cx.scan_in_with(team, job.scan, Sum(counted.passed)).await;
        let lightest = counted.lightest(&job.cell, self.share, before);
        cx.contribute_to(team, LightestOfAll(lightest));
    }

    /// `MarkTriangles` and `CopyTriangles` at once, for chunked arrays.
    #[entry]
    pub(super) fn deal_references(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: DealReferences,
    ) {
        let dealt = job.deal(self.share);
        // Whoever waits for this takes the routes over.
        drop(job);
        cx.contribute_to(team, Gather::new(dealt));
    }

    /// `CopyEvents`, for chunked arrays.
    #[entry]
    pub(super) fn deal_events(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Arc<DealEvents>,
    ) {
        let dealt = job.deal(self.share);
        drop(job);
        cx.contribute_to(team, Gather::new(dealt));
    }

    /// `MarkTriangles`, for plain arrays: contributes how many references each half gets.
    #[entry]
    pub(super) async fn mark(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: DealReferences,
    ) {
        let range = job.range(self.share);
        let marked = Marked::of(&job.cell, range, &job.plane, job.build.triangles());
        drop(job);
        let counts = marked.counts;
        let first = cx
            .scan_in_with(team, ScanForm::PrescanPush, Sum(counts))
            .await;
        self.marked = Some((marked, first));
        cx.contribute_to(team, Sum(counts));
    }

    /// `CopyTriangles`, for plain arrays.
    #[entry]
    pub(super) fn copy_references(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: DealReferences,
        arrays: Halves<SharedVec<Reference>>,
    ) {
        let (marked, first) = self.marked.take().expect("what is copied was marked");
        let added = job.copy(self.share, &marked, first, &arrays);
        drop((job, arrays));
        cx.contribute_to(team, Gather::new(added));
    }

    /// The scan before `CopyEvents`, for plain arrays: contributes how many events each half gets.
    #[entry]
    pub(super) async fn count_events(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Arc<DealEvents>,
    ) {
        let counts: [Counts; 3] =
            std::array::from_fn(|axis| job.dealing().count(axis, self.events(&job.cell, axis)));
        drop(job);
        let first = cx
            .scan_in_with(team, ScanForm::PrescanPush, Sum(counts))
            .await;
        self.counted = std::array::from_fn(|axis| (first[axis], counts[axis]));
        cx.contribute_to(team, Sum(counts));
    }

    /// `CopyEvents`, for plain arrays.
    #[entry]
    pub(super) fn copy_events(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Arc<DealEvents>,
        arrays: EventArrays,
    ) {
        for (axis, arrays) in arrays.iter().enumerate() {
            let (first, counts) = self.counted[axis];
            let claim = |array: &Option<SharedVec<Event>>, first: usize, count: usize| {
                array
                    .as_ref()
                    .map(|array| array.claim(first..first + count))
            };
            let mut halves = Halves {
                below: claim(&arrays.below, first.below, counts.below),
                above: claim(&arrays.above, first.above, counts.above),
            };
            job.dealing()
                .deal(axis, self.events(&job.cell, axis), &mut halves);
        }
        drop((job, arrays));
        cx.contribute_to(team, ());
    }

    /// Nobody needs this task any more.
    #[entry]
    pub(super) fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

/// The lightest planes of all shares, along each axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct LightestOfAll(pub(super) [Lightest; 3]);

impl Reducer for LightestOfAll {
    type Output = [Lightest; 3];

    fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
        self.0 = std::array::from_fn(|axis| self.0[axis].or(other.0[axis]));
        Ok(())
    }

    fn finish(self) -> Self::Output {
        self.0
    }
}

/// Sums of what shares have counted.
macro_rules! sums {
    ($($type:ty),+) => {$(
        impl Operand<op::Add> for $type {
            fn combine(&mut self, other: Self) -> Result<(), Mismatch> {
                *self = *self + other;
                Ok(())
            }
        }

        impl Neutral<op::Add> for $type {
            fn neutral() -> Self {
                Self::default()
            }
        }
    )+};
}

sums!(Passed, Counts);
