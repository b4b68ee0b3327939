//! The sequential builder. It is the reference for the parallel builders, which also use it for
//! small cells.
//!
//! # Memory
//! The lists of the cells are on two stacks. A cell at an even depth is on one of them, and its
//! children are on the other. As soon as a cell has been distributed to its halves, its own lists
//! are popped. So at any time only pending cells are in memory, no cell needs an allocation once
//! the stacks have grown, and the lists that are read next are those written last.
//!
//! # Source
//! Wald, Havran 2006 (see [`crate::kdtree`]), algorithm 5.

use super::input::Input;
use super::progress::{self, Share};
use super::workspace::Workspace;
use crate::kdtree::cells::arena::Arena;
use crate::kdtree::cells::cell::OwnedCell;
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::cells::stack::{Place, Stack, Top};
use crate::kdtree::cost::level::Level;
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::cost::sweep::{self, Passed};
use crate::kdtree::layout::node::Node;
use crate::kdtree::layout::piece::{Fragment, Piece};
use crate::kdtree::phases::copy_events::Routes;
use crate::kdtree::phases::copy_triangles::{Split, SplitOutput};
use crate::kdtree::phases::lists::{Lists, Slices};
use crate::kdtree::phases::mark::{self, Shorter};
use crate::kdtree::phases::route::{Counts, Route};

/// Builds the subtree of a cell at the given level. The lists of the cell become part of the
/// workspace in the meantime. Returns the cell too, so that its memory can be reused.
pub(super) fn build(
    input: &Input<'_>,
    cell: OwnedCell,
    level: Level,
    share: Share,
    workspace: &mut Workspace,
) -> (Piece, OwnedCell) {
    let OwnedCell {
        extent,
        names,
        events,
        arena,
    } = cell;
    let place = Place {
        names: 0..names.len(),
        events: events.each_ref().map(|events| 0..events.len()),
    };
    let lists = Stack { names, events };
    let own = std::mem::replace(&mut workspace.stacks[0], lists);
    workspace.tops = [Top::default(); 2];
    let mut fragment = Fragment::with_capacity_for(place.names.len());
    let mut builder = Builder {
        input,
        workspace,
        fragment: &mut fragment,
        arena: Arena::below(&arena),
    };
    let root = builder.subtree(extent, place, 0, level, share);
    let Stack { names, events } = std::mem::replace(&mut workspace.stacks[0], own);
    let cell = OwnedCell {
        extent,
        names,
        events,
        arena,
    };
    (Piece::Whole { root, fragment }, cell)
}

struct Builder<'a> {
    input: &'a Input<'a>,
    workspace: &'a mut Workspace,
    fragment: &'a mut Fragment,
    /// The pieces of triangles, which are kept as long as there are pending cells below the cell in
    /// which they were cut.
    arena: Arena,
}

impl Builder<'_> {
    /// Builds the subtree of the cell on top of stack `side` and pops the cell.
    fn subtree(
        &mut self,
        extent: Extent,
        place: Place,
        side: usize,
        level: Level,
        share: Share,
    ) -> Node {
        let Some((plane, empty)) = self.plane(&extent, &place, side, level) else {
            return self.leaf(&place, side, level.depth, share);
        };
        let pair = self.fragment.open_pair();
        let count = place.names.len();
        // A small cell keeps its share until everything below it is finished.
        let (own, share) = if count < progress::CELL_LEN_MIN {
            (share, 0)
        } else {
            (0, share)
        };
        let level = level.below(&plane, count);
        let [below, above] = if let Some(empty) = empty {
            let halves = extent.halves(plane.axis, plane.position);
            self.narrowed(empty, halves, place, side, (level, share))
        } else {
            // If no half can be split further, both become leaves and need no events.
            let (split, counts_max) = self.mark(&extent, &place, side, &plane);
            let may_split = |count| self.input.may_split(count, level);
            if may_split(counts_max.below) || may_split(counts_max.above) {
                self.halves(&split, &place, side, counts_max, (level, share))
            } else {
                self.leaves(&split, &place, side, counts_max, level.depth)
            }
        };
        self.fragment.nodes[pair] = below;
        self.fragment.nodes[pair + 1] = above;
        self.input.progress.add(own);
        Node::inner(plane.axis, plane.position, pair)
    }

    /// Returns the plane if it is worth a split, and the half that no triangle reaches into, if
    /// there is one.
    fn plane(
        &mut self,
        extent: &Extent,
        place: &Place,
        side: usize,
        level: Level,
    ) -> Option<(Plane, Option<usize>)> {
        let count = place.names.len();
        if !self.input.may_split(count, level) {
            return None;
        }
        let Workspace { stacks, sweep, .. } = &mut *self.workspace;
        let cell = stacks[side].cell(place, *extent);
        let plane = sweep::cheapest_plane(&cell, &self.input.parameters, sweep);
        let plane = self.input.worth_it(plane, count, level)?;
        let events = cell.events[plane.axis];
        let ends = (*events.first()?, *events.last()?);
        Some((plane, plane.empty_half(ends)))
    }

    fn leaf(&mut self, place: &Place, side: usize, depth: u32, share: Share) -> Node {
        let names = &self.workspace.stacks[side].names[place.names.clone()];
        let leaf = self.fragment.leaf(names, &self.arena, depth);
        self.pop(place, side);
        self.input.progress.add(share);
        leaf
    }

    fn pop(&mut self, place: &Place, side: usize) {
        self.workspace.tops[side] = Top {
            names: place.names.start,
            events: std::array::from_fn(|axis| place.events[axis].start),
        };
    }

    /// Builds the nodes of two halves of which one is empty. The other half has the lists of the
    /// cell.
    fn narrowed(
        &mut self,
        empty: usize,
        (below, above): (Extent, Extent),
        place: Place,
        side: usize,
        (level, share): (Level, Share),
    ) -> [Node; 2] {
        if empty == 0 {
            let leaf = self.fragment.leaf(&[], &self.arena, level.depth);
            [leaf, self.subtree(above, place, side, level, share)]
        } else {
            let full = self.subtree(below, place, side, level, share);
            [full, self.fragment.leaf(&[], &self.arena, level.depth)]
        }
    }

    /// Marks the triangles of a cell. Also returns an upper limit for the number of triangles in
    /// each half.
    fn mark<'b>(
        &mut self,
        extent: &'b Extent,
        place: &Place,
        side: usize,
        plane: &'b Plane,
    ) -> (Split<'b>, Counts)
    where
        Self: 'b,
    {
        let Workspace { stacks, marks, .. } = &mut *self.workspace;
        let count = place.names.len();
        let events = &stacks[side].events[plane.axis][place.events[plane.axis].clone()];
        let (shorter, events) = Shorter::side(events, plane);
        marks.clear();
        marks.resize(count, 0);
        mark::mark(events, marks);
        let split = Split {
            extent,
            plane,
            shorter,
            triangles: &self.input.triangles,
        };
        (split, shorter.counts(Passed::over(events), count))
    }

    /// Builds the nodes of two halves that are leaves.
    fn leaves(
        &mut self,
        split: &Split<'_>,
        place: &Place,
        side: usize,
        counts_max: Counts,
        depth: u32,
    ) -> [Node; 2] {
        let names = &self.workspace.stacks[side].names[place.names.clone()];
        let marks = &self.workspace.marks;
        let entries = &mut self.fragment.entries;
        let first = entries.len();
        let counts = split.distribute_to_leaves(names, marks, counts_max, &self.arena, entries);
        self.fragment.depth = self.fragment.depth.max(depth);
        self.pop(place, side);
        [
            Node::leaf(first, counts.below),
            Node::leaf(first + counts.below, counts.above),
        ]
    }

    /// Builds the nodes of two halves that have lists of their own.
    fn halves(
        &mut self,
        split: &Split<'_>,
        place: &Place,
        side: usize,
        counts_max: Counts,
        (level, share): (Level, Share),
    ) -> [Node; 2] {
        let pieces = self.arena.len();
        let [below, above] = self.distribute(split, place, side, counts_max);
        let shares = progress::halves(share, below.names.len(), above.names.len());
        self.pop(place, side);
        let extents = split.extent.halves(split.plane.axis, split.plane.position);
        let nodes = [
            self.subtree(extents.0, below, 1 - side, level, shares.0),
            self.subtree(extents.1, above, 1 - side, level, shares.1),
        ];
        self.arena.truncate(pieces);
        nodes
    }

    /// Distributes a cell onto the other stack: first the half above the plane, so that the half
    /// below is on top.
    fn distribute(
        &mut self,
        split: &Split<'_>,
        place: &Place,
        side: usize,
        counts_max: Counts,
    ) -> [Place; 2] {
        let Workspace {
            stacks: [first, second],
            tops,
            marks,
            routes,
            straddlers,
            added,
            ..
        } = &mut *self.workspace;
        let (from, to) = if side == 0 {
            (&*first, second)
        } else {
            (&*second, first)
        };
        let top = &mut tops[1 - side];
        let cell = from.cell(place, *split.extent);
        // Reserve space on the other stack. The half below begins behind the largest possible half
        // above.
        to.grow(top, counts_max.below + counts_max.above);
        if routes.len() < cell.names.len() {
            routes.resize(cell.names.len(), Route::default());
        }
        straddlers.clear();
        added.clear();
        let routes = &mut routes[..cell.names.len()];
        let marks = &marks[..cell.names.len()];
        let mut output = SplitOutput {
            routes,
            straddlers,
            added,
            arena: &mut self.arena,
        };
        // Distribute the names, which yields the routes of the events.
        let names = Slices::new(&mut to.names[top.names..], counts_max.above);
        let mark = |index: usize| marks[index];
        let counts = split
            .distribute(cell.names, 0, mark, names, &mut output)
            .lens();
        added.sort();
        let routes = Routes {
            plane: split.plane,
            routes,
            straddlers,
            added,
        };
        let places = |names: usize, count: usize| Place {
            names: names..names + count,
            events: top.events.map(|top| top..top),
        };
        let mut above = places(top.names, counts.above);
        let mut below = places(top.names + counts_max.above, counts.below);
        // Distribute the events along these routes.
        for axis in 0..3 {
            let start = top.events[axis];
            let lists = Slices::new(&mut to.events[axis][start..], 2 * counts_max.above);
            let counts = routes.distribute(cell.events[axis], axis, lists).lens();
            above.events[axis].end += counts.above;
            let start = start + 2 * counts_max.above;
            below.events[axis] = start..start + counts.below;
        }
        *top = Top {
            names: below.names.end,
            events: [0, 1, 2].map(|axis: usize| below.events[axis].end),
        };
        [below, above]
    }
}
