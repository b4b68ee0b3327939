//! Worker tasks: each does its even share of every phase of splitting a cell, and says what it has found or made.

use std::sync::Arc;

use raddle::chare::{ScanForm, Section};
use raddle::prelude::*;
use raddle::reduce::{Gather, Mismatch, Neutral, Operand, Reducer, Sum, op};
use raddle_collections::shared_vec::SharedVec;

use super::node::Build;
use crate::kdtree::arena::Name;
use crate::kdtree::cell::SharedCell;
use crate::kdtree::halving::{Dealing, EventArrays, EventPlace, Halving};
use crate::kdtree::route::{Counts, Halves};
use crate::kdtree::shares::{Counted, DealtNames, Share, Tally};
use crate::kdtree::sweep::{Lightest, Passed};

/// One of those who share the work on a cell.
#[derive(Debug)]
pub(super) struct WorkerTask {
    share: Share,
    /// With plain arrays: what the names have become, and what comes before them.
    dealt: Option<(DealtNames, Counts)>,
    /// With plain arrays: where the events of each axis go.
    places: [EventPlace; 3],
}

/// A part of some work is to be done. Whoever waits for it takes the work over when all have let go of it.
#[derive(Debug)]
pub(super) struct Job<T> {
    pub(super) build: Arc<Build>,
    pub(super) of: Arc<T>,
    /// How to scan.
    pub(super) scan: ScanForm,
}

impl<T> Clone for Job<T> {
    fn clone(&self) -> Self {
        Self {
            build: Arc::clone(&self.build),
            of: Arc::clone(&self.of),
            scan: self.scan,
        }
    }
}

impl WorkerTask {
    pub(super) fn new(share: Share) -> Self {
        Self {
            share,
            dealt: None,
            places: Default::default(),
        }
    }

    /// Deals out the names and gives them their final numbers, which takes a scan however arrays are made; tells what comes before them.
    async fn deal(
        &self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<Halving>,
    ) -> (DealtNames, Counts) {
        let Job {
            build,
            of: halving,
            scan,
        } = job;
        let triangles = &build.work.input.triangles;
        let mut dealt = halving.deal(triangles, self.share, build.store());
        let before = Sum(dealt.tally());
        let before: Tally = cx.scan_in_with(team, scan, before).await;
        halving.renumber(&mut dealt, self.share, before, build.store());
        (dealt, before.counts)
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
        cell: Arc<SharedCell>,
        scan: ScanForm,
    ) {
        let counted = Counted::of(&cell, self.share);
        let before = cx.scan_in_with(team, scan, Sum(counted.passed)).await;
        let lightest = counted.lightest(&cell, self.share, before);
        drop(cell);
        cx.contribute_to(team, LightestOfAll(lightest));
    }

    /// `MarkTriangles`.
    #[entry]
    pub(super) fn mark(&mut self, cx: &mut Cx<Self>, team: Section<Self>, job: Job<Halving>) {
        job.of.mark(self.share);
        drop(job);
        cx.contribute_to(team, ());
    }

    /// `CopyTriangles`, for chunked arrays.
    #[entry]
    pub(super) async fn deal_names(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<Halving>,
    ) {
        let (dealt, _) = self.deal(cx, team, job).await;
        cx.contribute_to(team, Gather::new(dealt));
    }

    /// `CopyTriangles`, for plain arrays: contributes how many names each half gets.
    #[entry]
    pub(super) async fn count_names(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<Halving>,
    ) {
        let (dealt, first) = self.deal(cx, team, job).await;
        let counts = dealt.tally().counts;
        self.dealt = Some((dealt, first));
        cx.contribute_to(team, Sum(counts));
    }

    /// The copying of `CopyTriangles`, for plain arrays: contributes what else there is.
    #[entry]
    pub(super) fn copy_names(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        build: Arc<Build>,
        arrays: Halves<SharedVec<Name>>,
    ) {
        let (mut dealt, first) = self.dealt.take().expect("what is copied was dealt");
        let Halves { below, above } = std::mem::take(&mut dealt.halves);
        for chunk in [
            copied(below, &arrays.below, first.below),
            copied(above, &arrays.above, first.above),
        ] {
            build.store().put(chunk);
        }
        drop((build, arrays));
        cx.contribute_to(team, Gather::new(dealt));
    }

    /// `CopyEvents`, for chunked arrays.
    #[entry]
    pub(super) fn deal_events(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<Dealing>,
    ) {
        let dealt = job.of.deal(self.share, job.build.store());
        drop(job);
        cx.contribute_to(team, Gather::new(dealt));
    }

    /// The scan of `CopyEvents`, for plain arrays: contributes how many events each half gets.
    #[entry]
    pub(super) async fn count_events(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<Dealing>,
    ) {
        let own = job.of.count(self.share);
        let scan = job.scan;
        drop(job);
        let before: [Counts; 3] = cx.scan_in_with(team, scan, Sum(own)).await;
        self.places = std::array::from_fn(|axis| EventPlace {
            before: before[axis],
            own: own[axis],
        });
        cx.contribute_to(team, Sum(own));
    }

    /// `CopyEvents`, for plain arrays.
    #[entry]
    pub(super) fn copy_events(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<Dealing>,
        arrays: EventArrays,
    ) {
        job.of.deal_to(self.share, &arrays, &self.places);
        drop((job, arrays));
        cx.contribute_to(team, ());
    }

    /// Nobody needs this task any more.
    #[entry]
    pub(super) fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

/// Copies a chunk to its place in an array, and gives it back.
#[must_use]
fn copied<T: Copy>(chunk: Vec<T>, array: &SharedVec<T>, first: usize) -> Vec<T> {
    let mut claim = array.claim(first..first + chunk.len());
    claim.extend_from_slice(&chunk);
    chunk
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

sums!(Passed, Counts, Tally);
