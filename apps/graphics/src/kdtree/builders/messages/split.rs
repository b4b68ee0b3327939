//! The phases of splitting a cell, as the node task coordinates them.
//!
//! ```text
//! phase               arrays   to the team        from the team
//! FindBestPartition            find_plane         the lightest planes, reduced
//! MarkTriangles                mark               an empty reduction
//! CopyTriangles       chunked  distribute_names   chunks, gathered
//!                     plain    count_names        counts, summed
//!                              copy_names         the rest, gathered
//! CopyEvents          chunked  distribute_events  chunks, gathered
//!                     plain    count_events       counts, summed
//!                              copy_events        an empty reduction
//! ```
//! With plain arrays `CopyEvents` begins with a scan, from which each task learns where to write in
//! the arrays. `CopyTriangles` needs a scan with either kind of arrays, because events refer to
//! triangles by numbers that are consecutive over all chunks.

use std::sync::Arc;

use raddle::ChunkedArray;
use raddle::chare::{ScanForm, Section};
use raddle_collections::shared_vec::SharedVec;

use super::node::Build;
use super::options::SharedArrays;
use super::team::Team;
use super::worker::{Job, WorkerTask};
use crate::kdtree::builders::shares::ShareNames;
use crate::kdtree::builders::split_phases::{EventArrays, EventPhase, ShareEvents, TrianglePhase};
use crate::kdtree::builders::work::Step;
use crate::kdtree::cells::cell::SharedCell;
use crate::kdtree::cost::level::Level;
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::cost::sweep::Lightest;
use crate::kdtree::phases::route::{Counts, Halves};

/// A cell that a team splits.
#[derive(Debug)]
pub(super) struct Split<'a> {
    build: &'a Arc<Build>,
    section: Section<WorkerTask>,
    cell: &'a Arc<SharedCell>,
    level: Level,
    scan: ScanForm,
}

impl<'a> Split<'a> {
    pub(super) fn new(
        build: &'a Arc<Build>,
        team: &Team,
        (cell, level): (&'a Arc<SharedCell>, Level),
        scan: ScanForm,
    ) -> Self {
        Self {
            build,
            section: team.section,
            cell,
            level,
            scan,
        }
    }

    /// Runs the phases. If the plane does not split the cell, the later phases are skipped.
    pub(super) async fn run(self) -> (Step, Option<[SharedCell; 2]>) {
        let cell = Arc::clone(self.cell);
        self.section.all().find_plane(self.section, cell, self.scan);
        let lightest = self.section.reduction::<[Lightest; 3]>().await;
        let step = self.build.work.step(self.cell, lightest, self.level);
        let Step::Split(plane) = step else {
            return (step, None);
        };
        let triangle_phase = self.mark(plane).await;
        let halves = match self.build.options.arrays {
            SharedArrays::Chunked => self.split_to_chunks(triangle_phase).await,
            SharedArrays::Plain => self.split_to_arrays(triangle_phase).await,
        };
        (step, Some(halves))
    }

    fn job<T>(&self, of: &Arc<T>) -> Job<T> {
        Job {
            build: Arc::clone(self.build),
            of: Arc::clone(of),
            scan: self.scan,
        }
    }

    async fn mark(&self, plane: Plane) -> Arc<TrianglePhase> {
        let triangle_phase = Arc::new(TrianglePhase::new(self.cell, plane, self.build.store()));
        self.section
            .all()
            .mark(self.section, self.job(&triangle_phase));
        self.section.reduction::<()>().await;
        triangle_phase
    }

    /// Starts the phase of the events, with the names that all tasks of the team have produced.
    fn start_event_phase(
        &self,
        triangle_phase: Arc<TrianglePhase>,
        names: Vec<ShareNames>,
    ) -> EventPhase {
        let triangle_phase = Arc::into_inner(triangle_phase).expect("worker tasks keep no job");
        triangle_phase.into_event_phase(names, self.build.store())
    }

    async fn split_to_chunks(&self, triangle_phase: Arc<TrianglePhase>) -> [SharedCell; 2] {
        let job = self.job(&triangle_phase);
        self.section.all().distribute_names(self.section, job);
        let names = self.section.reduction::<Vec<ShareNames>>().await;
        let event_phase = Arc::new(self.start_event_phase(triangle_phase, names));
        let job = self.job(&event_phase);
        self.section.all().distribute_events(self.section, job);
        let events = self.section.reduction::<Vec<ShareEvents>>().await;
        let event_phase = Arc::into_inner(event_phase).expect("worker tasks keep no job");
        event_phase.halves_of_chunks(events, self.build.store())
    }

    async fn split_to_arrays(&self, triangle_phase: Arc<TrianglePhase>) -> [SharedCell; 2] {
        let job = self.job(&triangle_phase);
        self.section.all().count_names(self.section, job);
        let counts = self.section.reduction::<Counts>().await;
        let store = self.build.store();
        let array = |count| SharedVec::within(store.take(count), count);
        let names = Halves {
            below: array(counts.below),
            above: array(counts.above),
        };
        let build = Arc::clone(self.build);
        self.section
            .all()
            .copy_names(self.section, build, names.clone());
        let rest = self.section.reduction::<Vec<ShareNames>>().await;
        let mut event_phase = self.start_event_phase(triangle_phase, rest);
        event_phase.with_names(Halves {
            below: filled(names.below),
            above: filled(names.above),
        });
        let event_phase = Arc::new(event_phase);
        let job = self.job(&event_phase);
        self.section.all().count_events(self.section, job);
        let counts = self.section.reduction::<[Counts; 3]>().await;
        let array = |count| SharedVec::within(store.take(count), count);
        let arrays: EventArrays = counts.map(|counts| Halves {
            below: array(counts.below),
            above: array(counts.above),
        });
        let job = self.job(&event_phase);
        self.section
            .all()
            .copy_events(self.section, job, arrays.clone());
        self.section.reduction::<()>().await;
        let event_phase = Arc::into_inner(event_phase).expect("worker tasks keep no job");
        let events = arrays.map(|arrays| Halves {
            below: ChunkedArray::from_chunks([filled(arrays.below)]),
            above: ChunkedArray::from_chunks([filled(arrays.above)]),
        });
        event_phase.halves(events, store)
    }
}

fn filled<T: Copy>(array: SharedVec<T>) -> Vec<T> {
    array.into_vec().expect("every task has written its part")
}
