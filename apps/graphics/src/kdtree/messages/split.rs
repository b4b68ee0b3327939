//! The phases of splitting a cell, one after the other, as the node task coordinates them.
//!
//! ```text
//! phase               arrays   to the team     from the team
//! FindBestPartition            find_plane      the lightest planes, reduced
//! MarkTriangles                mark            that all are done
//! CopyTriangles       chunked  deal_names      chunks, gathered
//!                     plain    count_names     counts, summed
//!                              copy_names      the rest, gathered
//! CopyEvents          chunked  deal_events     chunks, gathered
//!                     plain    count_events    counts, summed
//!                              copy_events     that all are done
//! ```
//! With plain arrays `CopyEvents` begins with a scan, by which each task knows where in the arrays it writes. `CopyTriangles` has a scan with either
//! kind: events name triangles by numbers that go through all chunks.

use std::sync::Arc;

use raddle::ChunkedArray;
use raddle::chare::{ScanForm, Section};
use raddle_collections::shared_vec::SharedVec;

use super::node::Build;
use super::options::SharedArrays;
use super::team::Team;
use super::worker::{Job, WorkerTask};
use crate::kdtree::cell::SharedCell;
use crate::kdtree::halving::{Dealing, DealtEvents, EventArrays, Halving};
use crate::kdtree::level::Level;
use crate::kdtree::route::{Counts, Halves};
use crate::kdtree::shares::DealtNames;
use crate::kdtree::sweep::{Lightest, Plane};
use crate::kdtree::work::Step;

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

    /// Goes through all phases, as far as the plane wants it.
    pub(super) async fn run(self) -> (Step, Option<[SharedCell; 2]>) {
        let cell = Arc::clone(self.cell);
        self.section.all().find_plane(self.section, cell, self.scan);
        let lightest = self.section.reduction::<[Lightest; 3]>().await;
        let step = self.build.work.step(self.cell, lightest, self.level);
        let Step::Split(plane) = step else {
            return (step, None);
        };
        let halving = self.mark(plane).await;
        let halves = match self.build.options.arrays {
            SharedArrays::Chunked => self.deal_to_chunks(halving).await,
            SharedArrays::Plain => self.deal_to_arrays(halving).await,
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

    async fn mark(&self, plane: Plane) -> Arc<Halving> {
        let halving = Arc::new(Halving::new(self.cell, plane, self.build.store()));
        self.section.all().mark(self.section, self.job(&halving));
        self.section.reduction::<()>().await;
        halving
    }

    /// Goes on to the events, with all that the team has made of the names.
    fn dealt(&self, halving: Arc<Halving>, names: Vec<DealtNames>) -> Dealing {
        let halving = Arc::into_inner(halving).expect("worker tasks keep no job");
        halving.dealt(names, self.build.store())
    }

    async fn deal_to_chunks(&self, halving: Arc<Halving>) -> [SharedCell; 2] {
        let job = self.job(&halving);
        self.section.all().deal_names(self.section, job);
        let names = self.section.reduction::<Vec<DealtNames>>().await;
        let dealing = Arc::new(self.dealt(halving, names));
        let job = self.job(&dealing);
        self.section.all().deal_events(self.section, job);
        let events = self.section.reduction::<Vec<DealtEvents>>().await;
        let dealing = Arc::into_inner(dealing).expect("worker tasks keep no job");
        dealing.halves_of_chunks(events, self.build.store())
    }

    async fn deal_to_arrays(&self, halving: Arc<Halving>) -> [SharedCell; 2] {
        let job = self.job(&halving);
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
        let rest = self.section.reduction::<Vec<DealtNames>>().await;
        let mut dealing = self.dealt(halving, rest);
        dealing.with_names(Halves {
            below: filled(names.below),
            above: filled(names.above),
        });
        let dealing = Arc::new(dealing);
        let job = self.job(&dealing);
        self.section.all().count_events(self.section, job);
        let counts = self.section.reduction::<[Counts; 3]>().await;
        let array = |count| SharedVec::within(store.take(count), count);
        let arrays: EventArrays = counts.map(|counts| Halves {
            below: array(counts.below),
            above: array(counts.above),
        });
        let job = self.job(&dealing);
        self.section
            .all()
            .copy_events(self.section, job, arrays.clone());
        self.section.reduction::<()>().await;
        let dealing = Arc::into_inner(dealing).expect("worker tasks keep no job");
        let events = arrays.map(|arrays| Halves {
            below: ChunkedArray::from_chunks([filled(arrays.below)]),
            above: ChunkedArray::from_chunks([filled(arrays.above)]),
        });
        dealing.halves(events, store)
    }
}

fn filled<T: Copy>(array: SharedVec<T>) -> Vec<T> {
    array.into_vec().expect("every task has written its part")
}
