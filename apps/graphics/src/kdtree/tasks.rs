//! The parallel builder: a task for every subtree, and several for the splitting of a large cell.
//!
//! A cell near the root is split by all workers: its references in stretches, its events axis by axis, all with
//! the functions that the sequential builder calls. Its two halves are then built by a
//! join, down to cells so small that the sequential builder takes over. What comes back is a tree
//! of [`Piece`]s.
//!
//! # Why the tree is the same
//! Cutting the references into stretches changes neither their order nor their numbers, since the numbers of
//! a stretch begin where those of the stretch before end. A list of events has one sorted order. The three
//! axes are swept one by one in both builders, and the cheapest plane is chosen by the same rule. So a cell is
//! split the same way whoever does it, and subtrees know nothing of each other.
//!
//! # Source
//! Wald, Havran 2006 (see [`super`]); the scheme of tasks: B. Choi, R. Komuravelli, V. Lu, H. Sung, R. Bocchino,
//! S. Adve, J. Hart: Parallel SAH k-D Tree Construction. High Performance Graphics 2010, section 4 ("nested").

use std::sync::{Mutex, PoisonError};

use super::assemble::Piece;
use super::build::Input;
use super::cell::{OwnedCell, Reference};
use super::crew::{Crew, take};
use super::deal;
use super::event::{self, Event};
use super::progress::{self, Share, WHOLE};
use super::sequential::{self, Workspace};
use super::split::{self, Added, Counts, Dealt, Route, Straddler};
use super::sweep::{self, Plane};

/// Cells with fewer references than this are a single task.
const CELL_LEN_MIN: usize = progress::CELL_LEN_MIN;
/// References per stretch while a large cell is split.
const STRETCH_LEN: usize = 16 * 1024;

/// Builds a tree over all triangles of the input.
pub(super) fn build(input: &Input<'_>, cell: OwnedCell, crew: &impl Crew) -> Piece {
    let tasks = Tasks {
        input,
        crew,
        workspaces: Mutex::default(),
    };
    tasks.subtree(cell, 0, WHOLE)
}

struct Tasks<'a, C> {
    input: &'a Input<'a>,
    crew: &'a C,
    /// Those that no task uses right now.
    workspaces: Mutex<Vec<Workspace>>,
}

impl<C: Crew> Tasks<'_, C> {
    /// Does something for all three axes at once.
    fn along_each_axis<T: Send>(&self, body: impl Fn(usize) -> T + Sync) -> [T; 3] {
        let (x, (y, z)) = self
            .crew
            .join(|| body(0), || self.crew.join(|| body(1), || body(2)));
        [x, y, z]
    }

    fn subtree(&self, cell: OwnedCell, depth: u32, share: Share) -> Piece {
        if cell.references.len() < CELL_LEN_MIN
            || !self.input.may_split(cell.references.len(), depth)
        {
            return self.whole(cell, depth, share);
        }
        let planes = self.along_each_axis(|axis| {
            let parameters = &self.input.parameters;
            sweep::cheapest_plane_along(&cell.as_cell(), axis, parameters, &mut Vec::new())
        });
        let plane = self
            .input
            .worth_it(sweep::cheapest_of(planes), cell.references.len());
        let Some(plane) = plane else {
            return self.whole(cell, depth, share);
        };
        let (below, above) = self.split(&cell, &plane);
        drop(cell);
        let shares = progress::halves(share, below.references.len(), above.references.len());
        let halves = self.crew.join(
            || self.subtree(below, depth + 1, shares.0),
            || self.subtree(above, depth + 1, shares.1),
        );
        Piece::Split {
            axis: plane.axis,
            position: plane.position,
            halves: Box::new(halves),
        }
    }

    /// Builds a subtree as one task.
    fn whole(&self, cell: OwnedCell, depth: u32, share: Share) -> Piece {
        // A workspace is scratch memory: what a panic left in it does not matter.
        let idle = || {
            self.workspaces
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let mut workspace = idle().pop().unwrap_or_default();
        let (piece, _) = sequential::build(self.input, cell, depth, share, &mut workspace);
        idle().push(workspace);
        piece
    }

    /// Deals a large cell out to its halves.
    fn split(&self, cell: &OwnedCell, plane: &Plane) -> (OwnedCell, OwnedCell) {
        let stretches: Vec<&[Reference]> = cell.references.chunks(STRETCH_LEN).collect();
        let mut classes = vec![(Counts::default(), Vec::<Straddler>::new()); stretches.len()];
        self.crew
            .for_each(&mut classes, |index, (counts, straddlers)| {
                *counts = split::classify(
                    &cell.extent,
                    stretches[index],
                    index * STRETCH_LEN,
                    plane,
                    &self.input.triangles,
                    straddlers,
                );
            });
        let total = classes
            .iter()
            .fold(Counts::default(), |sum, (counts, _)| sum + *counts);
        let (mut below_references, mut above_references) = self.crew.join(
            || vec![Reference::EMPTY; total.below],
            || vec![Reference::EMPTY; total.above],
        );
        let mut routes = vec![Route::default(); cell.references.len()];
        let mut jobs = jobs_of(
            &classes,
            &mut below_references,
            &mut above_references,
            &mut routes,
        );
        self.crew.for_each(&mut jobs, |index, job| {
            split::deal_references(
                stretches[index],
                index * STRETCH_LEN,
                plane,
                &classes[index].1,
                job.routes,
                Dealt {
                    below: job.below,
                    above: job.above,
                    first: job.first,
                    added: &mut job.added,
                },
            );
        });
        let added = joined(
            jobs.into_iter().map(|job| (job.added, Counts::default())),
            self.crew,
        );
        let lists = self
            .along_each_axis(|axis| deal_axis(&cell.events[axis], axis, &routes, &added, total));
        let (below_extent, above_extent) = cell.extent.halves(plane.axis, plane.position);
        let [x, y, z] = lists;
        (
            OwnedCell {
                extent: below_extent,
                references: below_references,
                events: [x.0, y.0, z.0],
            },
            OwnedCell {
                extent: above_extent,
                references: above_references,
                events: [x.1, y.1, z.1],
            },
        )
    }
}

/// What the dealing of one stretch writes to.
struct Job<'a> {
    below: &'a mut [Reference],
    above: &'a mut [Reference],
    routes: &'a mut [Route],
    first: Counts,
    added: Added,
}

/// Cuts the lists of both halves so that every stretch has its own part.
fn jobs_of<'a>(
    classes: &[(Counts, Vec<Straddler>)],
    mut below: &'a mut [Reference],
    mut above: &'a mut [Reference],
    routes: &'a mut [Route],
) -> Vec<Job<'a>> {
    let mut first = Counts::default();
    classes
        .iter()
        .zip(routes.chunks_mut(STRETCH_LEN))
        .map(|((counts, _), routes)| {
            let job = Job {
                below: take(&mut below, counts.below),
                above: take(&mut above, counts.above),
                routes,
                first,
                added: Added::default(),
            };
            first = first + *counts;
            job
        })
        .collect()
}

/// Puts the new events of all stretches together and sorts them.
pub(super) fn joined(parts: impl Iterator<Item = (Added, Counts)>, crew: &impl Crew) -> Added {
    let mut all = Added::default();
    for (part, first) in parts {
        all.append(part, first);
    }
    let mut lists: Vec<&mut Vec<Event>> = all.lists().collect();
    crew.for_each(&mut lists, |_, list| event::sort_few(list));
    all
}

/// Deals the events of one axis; the lists that come back are as long as they need to be.
fn deal_axis(
    events: &[Event],
    axis: usize,
    routes: &[Route],
    added: &Added,
    total: Counts,
) -> (Vec<Event>, Vec<Event>) {
    let mut below = vec![Event::default(); 2 * total.below];
    let mut above = vec![Event::default(); 2 * total.above];
    let counts = deal::deal_to_slices(events, axis, routes, added, &mut below, &mut above);
    below.truncate(counts.below);
    above.truncate(counts.above);
    (below, above)
}
