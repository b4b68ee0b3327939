//! The creation of nodes: large nodes by all threads, the others by a task each, and subtrees below
//! the grain by one thread.

use std::sync::{Mutex, PoisonError};

use raddle_graphics::intersect::Corners;
use raddle_graphics::kdtree::Parameters;

use super::cell::{Arena, Cell};
use super::copy::Routes;
use super::region::{Buffer, Cut, Lens, Region};
use super::sweep::{self, Plane};
use super::tree::{Built, Fragment};
use super::triangles::{self, Deal, Scratch};

/// The smallest number of triangles of a node for which a phase is worth several threads.
const PHASE_LEN_MIN: usize = 16 * 1024;
/// The number of parts per thread in the phases of a large node.
const PARTS_PER_THREAD: usize = 4;

/// A node before it is split.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) cell: Cell,
    pub(super) depth: u32,
    pub(super) lens: Lens,
}

impl Node {
    /// Returns the half that gets all triangles, if the other half gets none.
    fn narrowed(self, plane: &Plane, half: usize) -> Self {
        Self {
            cell: self.cell.halves(plane.axis, plane.position)[half],
            depth: self.depth + 1,
            ..self
        }
    }

    fn halves(self, plane: &Plane, lens: [Lens; 2]) -> [Self; 2] {
        let cells = self.cell.halves(plane.axis, plane.position);
        [0, 1].map(|half: usize| Self {
            cell: cells[half],
            depth: self.depth + 1,
            lens: lens[half],
        })
    }
}

/// The lists of a node, at the start of its region.
#[derive(Debug, Clone, Copy)]
struct Lists<'a> {
    events: [&'a [u64]; 3],
    names: &'a [u32],
}

impl<'a> Lists<'a> {
    fn of(here: &'a Region<'_>, lens: &Lens) -> Self {
        Self {
            events: [0, 1, 2].map(|axis: usize| &here.events[axis][..lens.events[axis]]),
            names: &here.triangles[..lens.triangles],
        }
    }
}

/// The data that all nodes of a tree share.
#[derive(Debug)]
pub(super) struct Build<'a> {
    corners: &'a [Corners],
    parameters: &'a Parameters,
    /// A subtree with fewer triangles is built by one thread.
    grain: usize,
    levels: u32,
    thread_count: usize,
    /// Nodes with at least this many triangles are split by all threads.
    large: usize,
    /// Scratch memory that is not in use.
    scratches: Mutex<Vec<Scratch>>,
}

impl<'a> Build<'a> {
    pub(super) fn new(corners: &'a [Corners], parameters: &'a Parameters, grain: usize) -> Self {
        let thread_count = rayon::current_num_threads();
        // All threads split a node together while there are hardly more nodes than threads. This
        // costs more work in total than one thread alone would need. So for the last such nodes it
        // is better if the other threads wait a little instead of helping.
        let share = 3 * corners.len() / (2 * thread_count);
        Self {
            corners,
            parameters,
            grain,
            levels: parameters.depth_limit.levels(corners.len()),
            thread_count,
            large: if thread_count == 1 {
                usize::MAX
            } else {
                share.max(PHASE_LEN_MIN)
            },
            scratches: Mutex::default(),
        }
    }

    fn may_split(&self, triangle_count: usize, depth: u32) -> bool {
        let parameters = self.parameters;
        depth < self.levels
            && parameters.empty_bonus * parameters.traversal_cost < self.leaf_cost(triangle_count)
    }

    fn leaf_cost(&self, triangle_count: usize) -> f64 {
        self.parameters.intersection_cost * triangle_count as f64
    }

    /// Prepares the distribution of a node's triangles; their pieces go to `arena`.
    fn deal<'b, 'c>(
        &'b self,
        node: &'b Node,
        plane: &'b Plane,
        lists: Lists<'b>,
        arena: &'b mut Arena<'c>,
    ) -> Deal<'b, 'c> {
        Deal {
            names: lists.names,
            events: lists.events[plane.axis],
            cell: &node.cell,
            plane,
            corners: self.corners,
            arena,
        }
    }

    /// Returns the scratch memory when the build is complete.
    pub(super) fn into_scratches(self) -> Vec<Scratch> {
        let scratches = self.scratches.into_inner();
        scratches.unwrap_or_else(PoisonError::into_inner)
    }

    fn with_scratch<T>(&self, body: impl FnOnce(&mut Scratch) -> T) -> T {
        // Scratch memory after a panic is harmless: each use clears it.
        let scratches = || {
            self.scratches
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let mut scratch = scratches().pop().unwrap_or_default();
        let made = body(&mut scratch);
        scratches().push(scratch);
        made
    }

    /// Builds the subtree of a node with all threads that have nothing else to do.
    ///
    /// The lists of the node are in `here`.
    pub(super) fn subtree(
        &self,
        node: Node,
        here: Region<'_>,
        there: Region<'_>,
        arena: &Arena<'_>,
    ) -> Built {
        let count = node.lens.triangles;
        if count < self.grain || self.thread_count == 1 || node.depth + 1 >= self.levels {
            return self.subtree_by_one(node, here, there, arena);
        }
        let Some(plane) = self.plane(&node, Lists::of(&here, &node.lens)) else {
            return self.subtree_by_one(node, here, there, arena);
        };
        let halves = if let Some(empty) = plane.counts.iter().position(|&count| count == 0) {
            let full = self.subtree(node.narrowed(&plane, 1 - empty), here, there, arena);
            let mut leaf = Fragment::default();
            leaf.push_leaf(0);
            let leaf = Built::ByOne(leaf);
            if empty == 0 {
                [leaf, full]
            } else {
                [full, leaf]
            }
        } else {
            self.halves(&node, &plane, here, there, arena)
        };
        Built::Halves {
            axis: plane.axis,
            position: plane.position,
            halves: Box::new(halves),
        }
    }

    /// Returns the best plane of a node, if it is cheaper than a leaf.
    fn plane(&self, node: &Node, lists: Lists<'_>) -> Option<Plane> {
        let count = node.lens.triangles;
        let plane = if count >= self.large {
            sweep::best_plane_parallel(
                lists.events,
                &node.cell,
                count,
                self.parameters,
                self.part_count(),
            )
        } else {
            self.with_scratch(|scratch| {
                let screen = &mut scratch.screen;
                sweep::best_plane(lists.events, &node.cell, count, self.parameters, screen)
            })
        };
        plane.filter(|plane| plane.cost < self.leaf_cost(count))
    }

    fn part_count(&self) -> usize {
        self.thread_count * PARTS_PER_THREAD
    }

    /// Splits a node and builds both halves.
    fn halves(
        &self,
        node: &Node,
        plane: &Plane,
        here: Region<'_>,
        there: Region<'_>,
        arena: &Arena<'_>,
    ) -> [Built; 2] {
        let mut own = arena.below();
        let mut fresh = fresh_unless_fits(&there, plane);
        let (mut to, spare) = match &mut fresh {
            None => (there, None),
            Some([to, spare]) => (to.region(), Some(spare.region())),
        };
        let [below, above] = plane.counts;
        let cut = to.cut_for(below, above);
        let lists = Lists::of(&here, &node.lens);
        let deal = self.deal(node, plane, lists, &mut own);
        let lens = if node.lens.triangles >= self.large {
            split_by_all(deal, lists, &mut to, cut, self.part_count())
        } else {
            self.with_scratch(|scratch| split(deal, lists, &mut to, cut, scratch))
        };
        let mut from = spare.unwrap_or(here);
        let spare_cut = from.cut_for(below, above);
        let [below, above] = node.halves(plane, lens);
        let [to_above, to_below] = to.split(cut);
        let [from_above, from_below] = from.split(spare_cut);
        let own = &own;
        let halves = rayon::join(
            || self.subtree(below, to_below, from_below, own),
            || self.subtree(above, to_above, from_above, own),
        );
        halves.into()
    }

    /// Builds the subtree of a node on this thread.
    fn subtree_by_one(
        &self,
        node: Node,
        here: Region<'_>,
        there: Region<'_>,
        arena: &Arena<'_>,
    ) -> Built {
        self.with_scratch(|scratch| {
            let mut builder = SingleThread {
                build: self,
                arena: arena.below(),
                scratch,
                fragment: Fragment::default(),
            };
            builder.subtree(node, here, there);
            Built::ByOne(builder.fragment)
        })
    }
}

/// Returns new buffers for a node if the region has no space for its halves.
fn fresh_unless_fits(region: &Region<'_>, plane: &Plane) -> Option<[Buffer; 2]> {
    let [below, above] = plane.counts;
    let count = below + above;
    (!region.holds(count)).then(|| [Buffer::new(2 * count), Buffer::new(2 * count)])
}

/// Distributes a node's lists to both halves on this thread.
fn split(
    mut deal: Deal<'_, '_>,
    lists: Lists<'_>,
    to: &mut Region<'_>,
    cut: Cut,
    scratch: &mut Scratch,
) -> [Lens; 2] {
    let counts = deal.run(scratch, to.triangles, cut);
    triangles::sort_added(&mut scratch.added);
    let routes = Routes {
        routes: &scratch.routes,
        straddlers: &scratch.straddlers,
        added: &scratch.added,
        plane: deal.plane,
    };
    let lens = [0, 1, 2]
        .map(|axis: usize| routes.copy(lists.events[axis], axis, to.events[axis], cut.events));
    lens_of(counts, lens)
}

/// Distributes a node's lists to both halves with all threads.
fn split_by_all(
    mut deal: Deal<'_, '_>,
    lists: Lists<'_>,
    to: &mut Region<'_>,
    cut: Cut,
    part_count: usize,
) -> [Lens; 2] {
    let dealt = deal.run_parallel(part_count, to.triangles, cut);
    let routes = Routes {
        routes: &dealt.routes,
        straddlers: &dealt.straddlers,
        added: &dealt.added,
        plane: deal.plane,
    };
    let events = to.events.each_mut().map(|events| &mut **events);
    let lens = routes.copy_parallel(lists.events, part_count, events, cut.events);
    lens_of(dealt.counts, lens)
}

fn lens_of(triangles: [usize; 2], events: [[usize; 2]; 3]) -> [Lens; 2] {
    [0, 1].map(|half: usize| Lens {
        events: events.map(|lens| lens[half]),
        triangles: triangles[half],
    })
}

/// The builder of subtrees below the grain, on one thread.
struct SingleThread<'a, 'b> {
    build: &'a Build<'a>,
    arena: Arena<'b>,
    scratch: &'a mut Scratch,
    fragment: Fragment,
}

impl SingleThread<'_, '_> {
    fn subtree(&mut self, node: Node, here: Region<'_>, there: Region<'_>) {
        let Some(plane) = self.plane(&node, &here) else {
            return self.leaf(&here.triangles[..node.lens.triangles]);
        };
        let index = self.fragment.open();
        let close = |fragment: &mut Fragment| fragment.close(index, plane.axis, plane.position);
        let may_split = |&count: &usize| self.build.may_split(count, node.depth + 1);
        match plane.counts {
            // One half is empty, so the other has the same lists as the node.
            [0, _] => {
                self.fragment.push_leaf(0);
                close(&mut self.fragment);
                self.subtree(node.narrowed(&plane, 1), here, there);
            }
            [_, 0] => {
                self.subtree(node.narrowed(&plane, 0), here, there);
                close(&mut self.fragment);
                self.fragment.push_leaf(0);
            }
            counts if counts.iter().any(may_split) => {
                self.halves(&node, &plane, here, there, close);
            }
            _ => {
                let lists = Lists::of(&here, &node.lens);
                let entries = &mut self.fragment.entries;
                let mut deal = self.build.deal(&node, &plane, lists, &mut self.arena);
                let [below, above] = deal.run_to_leaves(&mut self.scratch.marks, entries);
                self.fragment.push_leaf_before(below, above);
                close(&mut self.fragment);
                self.fragment.push_leaf(above);
            }
        }
    }

    fn plane(&mut self, node: &Node, here: &Region<'_>) -> Option<Plane> {
        let count = node.lens.triangles;
        if !self.build.may_split(count, node.depth) {
            return None;
        }
        let lists = Lists::of(here, &node.lens);
        let (parameters, screen) = (self.build.parameters, &mut self.scratch.screen);
        let plane = sweep::best_plane(lists.events, &node.cell, count, parameters, screen);
        plane.filter(|plane| plane.cost < self.build.leaf_cost(count))
    }

    fn leaf(&mut self, names: &[u32]) {
        let arena = &self.arena;
        let entries = &mut self.fragment.entries;
        entries.extend(names.iter().map(|&name| arena.triangle(name)));
        self.fragment.push_leaf(names.len());
    }

    /// Splits a node, builds the half below the plane, and then the half above it. The lists of the
    /// half below lie behind the [`Cut`].
    fn halves(
        &mut self,
        node: &Node,
        plane: &Plane,
        here: Region<'_>,
        there: Region<'_>,
        close: impl FnOnce(&mut Fragment),
    ) {
        let mut fresh = fresh_unless_fits(&there, plane);
        let (mut to, spare) = match &mut fresh {
            None => (there, None),
            Some([to, spare]) => (to.region(), Some(spare.region())),
        };
        let cut = Cut {
            events: 2 * plane.counts[1],
            triangles: plane.counts[1],
        };
        let pieces = self.arena.len();
        let lists = Lists::of(&here, &node.lens);
        let deal = self.build.deal(node, plane, lists, &mut self.arena);
        let lens = split(deal, lists, &mut to, cut, self.scratch);
        let mut from = spare.unwrap_or(here);
        let [below, above] = node.halves(plane, lens);
        self.subtree(below, to.behind(cut), from.reborrow());
        close(&mut self.fragment);
        self.subtree(above, to, from);
        self.arena.truncate(pieces);
    }
}
