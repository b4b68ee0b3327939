//! The phases of splitting a cell, one after the other, as the node task coordinates them.
//!
//! ```text
//! arrays   phase                                   to the team        from the team
//! all      FindBestPartition                       find_plane         the lightest planes, reduced
//! chunked  MarkTriangles and CopyTriangles         deal_references    chunks, gathered
//!          CopyEvents                              deal_events        chunks, gathered
//! plain    MarkTriangles, scan                     mark               counts, summed
//!          CopyTriangles                           copy_references    new events, gathered
//!          scan                                    count_events       counts, summed
//!          CopyEvents                              copy_events        that all are done
//! ```

use std::sync::Arc;

use raddle::ChunkedArray;
use raddle::chare::{ScanForm, Section};
use raddle_sync::shared_vec::SharedVec;

use super::node::Build;
use super::options::SharedArrays;
use super::team::Team;
use super::worker::{
    DealEvents, DealReferences, DealtEvents, DealtReferences, EventArrays, FindPlane, WorkerTask,
};
use crate::kdtree::cell::{Reference, SharedCell};
use crate::kdtree::crew::Everybody;
use crate::kdtree::deal::Bases;
use crate::kdtree::event::Event;
use crate::kdtree::shares::{Counted, Share};
use crate::kdtree::split::{Added, Counts, Halves};
use crate::kdtree::sweep::{Lightest, Passed, Plane};
use crate::kdtree::tasks::joined;

/// So many units of references have numbers of their own; ranges of shares end at their borders.
const UNITS_PER_TASK: usize = 16;

/// The halves of a cell, and the plane between them.
pub(super) type Outcome = (Plane, [SharedCell; 2]);

/// Splits a cell without anybody's help; none where no plane is worth it.
pub(super) fn alone(build: &Arc<Build>, cell: &Arc<SharedCell>, depth: u32) -> Option<Outcome> {
    let share = Share { index: 0, count: 1 };
    let lightest = Counted::of(cell, share).lightest(cell, share, [Passed::default(); 3]);
    let plane = build.plane(cell, lightest)?;
    let job = references_of(build, cell, plane, 1);
    let dealt = vec![job.deal(share)];
    let (job, references) = chunks_of_references(job, depth, dealt);
    let events = vec![job.deal(share)];
    build.store.put_routes(job.routes);
    Some((
        plane,
        cells(cell, &plane, references, chunks_of_events(events)),
    ))
}

/// What dealing out the references takes, for so many tasks.
fn references_of(
    build: &Arc<Build>,
    cell: &Arc<SharedCell>,
    plane: Plane,
    task_count: usize,
) -> DealReferences {
    let unit = cell.len() / (task_count * UNITS_PER_TASK);
    DealReferences {
        build: Arc::clone(build),
        cell: Arc::clone(cell),
        plane,
        routes: SharedVec::within(build.store.routes(cell.len()), cell.len()),
        unit_log2: unit.max(1).ilog2(),
    }
}

/// Puts chunks of references together, and what dealing out the events takes.
fn chunks_of_references(
    job: DealReferences,
    depth: u32,
    dealt: Vec<DealtReferences>,
) -> (DealEvents, Halves<ChunkedArray<Reference>>) {
    let count = dealt.len();
    let lens = (0..count).map(|index| job.range(Share { index, count }).len());
    let counts = dealt.iter().map(|dealt| Counts {
        below: dealt.halves.below.len(),
        above: dealt.halves.above.len(),
    });
    let bases = match count {
        1 => Bases::NONE,
        _ => Bases::new(lens.zip(counts), job.unit_log2),
    };
    let mut halves = Halves::<ChunkedArray<Reference>>::default();
    let parts: Vec<(Added, Counts)> = dealt
        .into_iter()
        .map(|dealt| {
            let first = Counts {
                below: halves.below.len(),
                above: halves.above.len(),
            };
            halves.below.push_chunk(dealt.halves.below);
            halves.above.push_chunk(dealt.halves.above);
            (dealt.added, first)
        })
        .collect();
    let total = Counts {
        below: halves.below.len(),
        above: halves.above.len(),
    };
    let events = DealEvents {
        wanted: job.build.wanted(total, depth),
        build: job.build,
        cell: job.cell,
        routes: job
            .routes
            .into_vec()
            .expect("every task has written its routes"),
        bases,
        added: joined(parts.into_iter(), &Everybody),
    };
    (events, halves)
}

fn chunks_of_events(dealt: Vec<DealtEvents>) -> [Halves<ChunkedArray<Event>>; 3] {
    let mut events: [Halves<ChunkedArray<Event>>; 3] = Default::default();
    for dealt in dealt {
        for (all, chunk) in events.iter_mut().zip(dealt) {
            all.below.push_chunk(chunk.below);
            all.above.push_chunk(chunk.above);
        }
    }
    events
}

fn cells(
    cell: &SharedCell,
    plane: &Plane,
    references: Halves<ChunkedArray<Reference>>,
    events: [Halves<ChunkedArray<Event>>; 3],
) -> [SharedCell; 2] {
    let (below, above) = cell.extent.halves(plane.axis, plane.position);
    let [x, y, z] = events;
    [
        SharedCell {
            extent: below,
            references: references.below,
            events: [x.below, y.below, z.below],
        },
        SharedCell {
            extent: above,
            references: references.above,
            events: [x.above, y.above, z.above],
        },
    ]
}

/// A cell that a team splits.
#[derive(Debug)]
pub(super) struct Split<'a> {
    build: &'a Arc<Build>,
    section: Section<WorkerTask>,
    len: usize,
    cell: &'a Arc<SharedCell>,
    depth: u32,
}

impl<'a> Split<'a> {
    pub(super) fn new(
        build: &'a Arc<Build>,
        team: &Team,
        cell: &'a Arc<SharedCell>,
        depth: u32,
    ) -> Self {
        Self {
            build,
            section: team.section,
            len: team.len,
            cell,
            depth,
        }
    }

    /// Goes through all phases; none where no plane is worth it.
    pub(super) async fn run(self, scan: ScanForm) -> Option<Outcome> {
        let plane = self.find_plane(scan).await?;
        let halves = match self.build.options.arrays {
            SharedArrays::Chunked => self.deal_to_chunks(plane).await,
            SharedArrays::Plain => self.deal_to_arrays(plane).await,
        };
        Some((plane, halves))
    }

    async fn find_plane(&self, scan: ScanForm) -> Option<Plane> {
        let job = FindPlane {
            cell: Arc::clone(self.cell),
            scan,
        };
        self.section.all().find_plane(self.section, job);
        let lightest = self.section.reduction::<[Lightest; 3]>().await;
        self.build.plane(self.cell, lightest)
    }

    async fn deal_to_chunks(&self, plane: Plane) -> [SharedCell; 2] {
        let job = references_of(self.build, self.cell, plane, self.len);
        self.section
            .all()
            .deal_references(self.section, job.clone());
        let dealt = self.section.reduction::<Vec<DealtReferences>>().await;
        let (job, references) = chunks_of_references(job, self.depth, dealt);
        let job = Arc::new(job);
        self.section
            .all()
            .deal_events(self.section, Arc::clone(&job));
        let dealt = self.section.reduction::<Vec<DealtEvents>>().await;
        let job = Arc::into_inner(job).expect("worker tasks keep no job");
        self.build.store.put_routes(job.routes);
        cells(self.cell, &plane, references, chunks_of_events(dealt))
    }

    async fn deal_to_arrays(&self, plane: Plane) -> [SharedCell; 2] {
        let job = references_of(self.build, self.cell, plane, self.len);
        self.section.all().mark(self.section, job.clone());
        let counts = self.section.reduction::<Counts>().await;
        let references = Halves {
            below: SharedVec::new(counts.below),
            above: SharedVec::new(counts.above),
        };
        self.section
            .all()
            .copy_references(self.section, job.clone(), references.clone());
        let added = self.section.reduction::<Vec<Added>>().await;
        let wanted = self.build.wanted(counts, self.depth);
        let added = added.into_iter().map(|added| (added, Counts::default()));
        let job = Arc::new(DealEvents {
            build: Arc::clone(self.build),
            wanted,
            cell: job.cell,
            routes: filled(job.routes),
            bases: Bases::NONE,
            added: joined(added, &Everybody),
        });
        self.section
            .all()
            .count_events(self.section, Arc::clone(&job));
        let counts = self.section.reduction::<[Counts; 3]>().await;
        let arrays: EventArrays = counts.map(|counts| Halves {
            below: wanted.below.then(|| SharedVec::new(counts.below)),
            above: wanted.above.then(|| SharedVec::new(counts.above)),
        });
        self.section
            .all()
            .copy_events(self.section, job, arrays.clone());
        self.section.reduction::<()>().await;
        let events = arrays.map(|arrays| Halves {
            below: whole(arrays.below.map_or_else(Vec::new, filled)),
            above: whole(arrays.above.map_or_else(Vec::new, filled)),
        });
        let references = Halves {
            below: whole(filled(references.below)),
            above: whole(filled(references.above)),
        };
        cells(self.cell, &plane, references, events)
    }
}

fn filled<T: Copy>(array: SharedVec<T>) -> Vec<T> {
    array.into_vec().expect("every task has written its part")
}

fn whole<T>(array: Vec<T>) -> ChunkedArray<T> {
    ChunkedArray::from_chunks([array])
}
