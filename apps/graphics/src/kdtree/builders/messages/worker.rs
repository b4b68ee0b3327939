//! Worker tasks. Each one does an equal share of every phase of splitting a cell and contributes
//! its results.

use std::sync::Arc;

use raddle::chare::{ScanForm, Section};
use raddle::prelude::*;
use raddle::reduce::{Gather, Mismatch, Neutral, Operand, Reducer, Sum, op};
use raddle_collections::shared_vec::SharedVec;

use super::node::Build;
use crate::kdtree::builders::shares::{Counted, Share, ShareCounts, ShareNames};
use crate::kdtree::builders::split_phases::{EventArrays, EventPhase, EventPlace, TrianglePhase};
use crate::kdtree::cells::cell::SharedCell;
use crate::kdtree::cells::names::Name;
use crate::kdtree::cost::sweep::{Lightest, Passed};
use crate::kdtree::phases::route::{Counts, Halves};

/// One of the tasks that share the work on a cell.
#[derive(Debug)]
pub(super) struct WorkerTask {
    share: Share,
    /// With plain arrays: the output for the names, and the number of names before it.
    share_names: Option<(ShareNames, Counts)>,
    /// With plain arrays: the positions of the events of each axis.
    places: [EventPlace; 3],
}

/// Shared data of a phase. The waiting node task takes the data back after all worker tasks have
/// dropped their references.
#[derive(Debug)]
pub(super) struct Job<T> {
    pub(super) build: Arc<Build>,
    pub(super) of: Arc<T>,
    /// The form of the scans.
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
            share_names: None,
            places: Default::default(),
        }
    }

    /// Distributes this share of the names and assigns their final numbers, which takes a scan with
    /// either kind of arrays. Also returns the number of names before this share.
    async fn distribute(
        &self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<TrianglePhase>,
    ) -> (ShareNames, Counts) {
        let Job {
            build,
            of: triangle_phase,
            scan,
        } = job;
        let triangles = &build.work.input.triangles;
        let mut share_names = triangle_phase.distribute(triangles, self.share, build.store());
        let before = Sum(share_names.share_counts());
        let before: ShareCounts = cx.scan_in_with(team, scan, before).await;
        triangle_phase.renumber(&mut share_names, self.share, before, build.store());
        (share_names, before.counts)
    }
}

#[chare]
impl WorkerTask {
    /// Implements `FindBestPartition`: contributes the lightest plane along each axis.
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

    /// Implements `MarkTriangles`.
    #[entry]
    pub(super) fn mark(&mut self, cx: &mut Cx<Self>, team: Section<Self>, job: Job<TrianglePhase>) {
        job.of.mark(self.share);
        drop(job);
        cx.contribute_to(team, ());
    }

    /// Implements `CopyTriangles` with chunked arrays.
    #[entry]
    pub(super) async fn distribute_names(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<TrianglePhase>,
    ) {
        let (share_names, _) = self.distribute(cx, team, job).await;
        cx.contribute_to(team, Gather::new(share_names));
    }

    /// Implements the first part of `CopyTriangles` with plain arrays: contributes the number of
    /// names for each half.
    #[entry]
    pub(super) async fn count_names(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<TrianglePhase>,
    ) {
        let (share_names, first) = self.distribute(cx, team, job).await;
        let counts = share_names.share_counts().counts;
        self.share_names = Some((share_names, first));
        cx.contribute_to(team, Sum(counts));
    }

    /// Implements the second part of `CopyTriangles` with plain arrays: copies the names, and
    /// contributes the rest of the output.
    #[entry]
    pub(super) fn copy_names(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        build: Arc<Build>,
        arrays: Halves<SharedVec<Name>>,
    ) {
        let (mut share_names, first) = self
            .share_names
            .take()
            .expect("names are counted before they are copied");
        let Halves { below, above } = std::mem::take(&mut share_names.halves);
        for chunk in [
            copied(below, &arrays.below, first.below),
            copied(above, &arrays.above, first.above),
        ] {
            build.store().put(chunk);
        }
        drop((build, arrays));
        cx.contribute_to(team, Gather::new(share_names));
    }

    /// Implements `CopyEvents` with chunked arrays.
    #[entry]
    pub(super) fn distribute_events(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<EventPhase>,
    ) {
        let share_events = job.of.distribute(self.share, job.build.store());
        drop(job);
        cx.contribute_to(team, Gather::new(share_events));
    }

    /// Implements the first part of `CopyEvents` with plain arrays: contributes the number of
    /// events for each half.
    #[entry]
    pub(super) async fn count_events(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<EventPhase>,
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

    /// Implements the second part of `CopyEvents` with plain arrays: copies the events.
    #[entry]
    pub(super) fn copy_events(
        &mut self,
        cx: &mut Cx<Self>,
        team: Section<Self>,
        job: Job<EventPhase>,
        arrays: EventArrays,
    ) {
        job.of.distribute_to(self.share, &arrays, &self.places);
        drop((job, arrays));
        cx.contribute_to(team, ());
    }

    /// Ends this task.
    #[entry]
    pub(super) fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

/// Copies a chunk to its place in an array, and returns the chunk.
#[must_use]
fn copied<T: Copy>(chunk: Vec<T>, array: &SharedVec<T>, first: usize) -> Vec<T> {
    let mut claim = array.claim(first..first + chunk.len());
    claim.extend_from_slice(&chunk);
    chunk
}

/// The reducer for the lightest plane along each axis.
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

/// Implements addition as a reduction for counters.
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

sums!(Passed, Counts, ShareCounts);
