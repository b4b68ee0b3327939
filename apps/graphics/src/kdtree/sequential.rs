//! The sequential builder: the reference that the parallel one is held to, and what that one runs on small
//! cells.
//!
//! # Memory
//! The lists of the cells live on two stacks. A cell at an even depth is on one of them, its children go on
//! the other; as soon as they are dealt out, the cell's own lists are taken off. So at any time only the
//! cells that still wait are in memory, a cell needs no allocation once the stacks have grown, and what is
//! read next was written last.
//!
//! # Source
//! Wald, Havran 2006 (see [`super`]), algorithm 5.

use std::ops::Range;

use super::assemble::{Fragment, Piece};
use super::build::Input;
use super::cell::{Cell, Extent, OwnedCell, Reference};
use super::deal;
use super::event::Event;
use super::node::Node;
use super::progress::{self, Share};
use super::split::{self, Added, Counts, Dealt, Route, Straddler};
use super::sweep::{self, Passed, Plane};

/// Where on a stack the lists of a cell are.
#[derive(Debug, Clone)]
struct Place {
    references: Range<usize>,
    events: [Range<usize>; 3],
}

/// Lists of cells, one on top of the other. The vectors stay as long as they have ever been; `Place`s say
/// what of them is in use.
#[derive(Debug, Default)]
struct Stack {
    references: Vec<Reference>,
    events: [Vec<Event>; 3],
}

impl Stack {
    fn cell(&self, place: &Place, extent: Extent) -> Cell<'_> {
        Cell {
            extent,
            references: &self.references[place.references.clone()],
            events: std::array::from_fn(|axis| &self.events[axis][place.events[axis].clone()]),
        }
    }

    /// Makes the stack at least so high that `count` more references fit onto `top`.
    fn grow(&mut self, top: &Top, count: usize) {
        let len = top.references + count;
        if self.references.len() < len {
            self.references.resize(len, Reference::EMPTY);
        }
        for (events, top) in self.events.iter_mut().zip(top.events) {
            let len = top + 2 * count;
            if events.len() < len {
                events.resize(len, Event::default());
            }
        }
    }
}

/// How high a stack is filled.
#[derive(Debug, Clone, Copy, Default)]
struct Top {
    references: usize,
    events: [usize; 3],
}

/// What a sequential build needs besides its result. Reused from one subtree to the next.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    stacks: [Stack; 2],
    tops: [Top; 2],
    routes: Vec<Route>,
    straddlers: Vec<Straddler>,
    added: Added,
    sums: Vec<Passed>,
}

/// Builds the subtree of a cell at some depth. Its lists become part of the workspace meanwhile; the cell is given back for its memory.
pub(super) fn build(
    input: &Input<'_>,
    cell: OwnedCell,
    depth: u32,
    share: Share,
    workspace: &mut Workspace,
) -> (Piece, OwnedCell) {
    let OwnedCell {
        extent,
        references,
        events,
    } = cell;
    let place = Place {
        references: 0..references.len(),
        events: events.each_ref().map(|events| 0..events.len()),
    };
    let lists = Stack { references, events };
    let own = std::mem::replace(&mut workspace.stacks[0], lists);
    let piece = subtree(input, extent, &place, (depth, share), workspace);
    let Stack { references, events } = std::mem::replace(&mut workspace.stacks[0], own);
    let cell = OwnedCell {
        extent,
        references,
        events,
    };
    (piece, cell)
}

/// Builds the subtree of the cell at the bottom of the first stack, of some depth and share.
fn subtree(
    input: &Input<'_>,
    extent: Extent,
    place: &Place,
    (depth, share): (u32, Share),
    workspace: &mut Workspace,
) -> Piece {
    workspace.tops = [Top::default(); 2];
    let mut fragment = Fragment::default();
    let mut builder = Builder {
        input,
        workspace,
        fragment: &mut fragment,
    };
    let root = builder.subtree(extent, place, 0, depth, share);
    Piece::Whole { root, fragment }
}

struct Builder<'a> {
    input: &'a Input<'a>,
    workspace: &'a mut Workspace,
    fragment: &'a mut Fragment,
}

impl Builder<'_> {
    /// Builds the subtree of the cell on top of stack `side` and takes it off.
    fn subtree(
        &mut self,
        extent: Extent,
        place: &Place,
        side: usize,
        depth: u32,
        share: Share,
    ) -> Node {
        let cell = self.workspace.stacks[side].cell(place, extent);
        let plane = if self.input.may_split(cell.references.len(), depth) {
            let sums = &mut self.workspace.sums;
            let plane = sweep::cheapest_plane(&cell, &self.input.parameters, sums);
            self.input.worth_it(plane, cell.references.len())
        } else {
            None
        };
        let Some(plane) = plane else {
            let leaf = self.fragment.leaf(cell.references, depth);
            self.pop(place, side);
            self.input.progress.add(share);
            return leaf;
        };
        let count = cell.references.len();
        let (below, above) = self.split(extent, place, side, depth, &plane);
        // A small cell keeps its share until all below it is done.
        let (own, shares) = if count < progress::CELL_LEN_MIN {
            (share, (0, 0))
        } else {
            let (below, above) = (below.references.len(), above.references.len());
            (0, progress::halves(share, below, above))
        };
        self.pop(place, side);
        let (below_extent, above_extent) = extent.halves(plane.axis, plane.position);
        let pair = self.fragment.open_pair();
        let below = self.subtree(below_extent, &below, 1 - side, depth + 1, shares.0);
        self.fragment.nodes[pair] = below;
        let above = self.subtree(above_extent, &above, 1 - side, depth + 1, shares.1);
        self.fragment.nodes[pair + 1] = above;
        self.input.progress.add(own);
        Node::inner(plane.axis, plane.position, pair)
    }

    fn pop(&mut self, place: &Place, side: usize) {
        self.workspace.tops[side] = Top {
            references: place.references.start,
            events: std::array::from_fn(|axis| place.events[axis].start),
        };
    }

    /// Deals a cell out onto the other stack: the half above the plane first, so that the one below is on top.
    fn split(
        &mut self,
        extent: Extent,
        place: &Place,
        side: usize,
        depth: u32,
        plane: &Plane,
    ) -> (Place, Place) {
        let Workspace {
            stacks: [first, second],
            tops,
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
        let cell = from.cell(place, extent);

        straddlers.clear();
        let counts = split::classify(
            &extent,
            cell.references,
            0,
            plane,
            &self.input.triangles,
            straddlers,
        );
        to.grow(top, counts.below + counts.above);
        if routes.len() < cell.references.len() {
            routes.resize(cell.references.len(), Route::default());
        }
        added.clear();
        let (above, below) = to.references[top.references..][..counts.above + counts.below]
            .split_at_mut(counts.above);
        split::deal_references(
            cell.references,
            0,
            plane,
            straddlers,
            routes,
            Dealt {
                below,
                above,
                first: Counts::default(),
                added,
            },
        );

        let middle = top.references + counts.above;
        let end = middle + counts.below;
        let no_events = top.events.map(|top| top..top);
        let mut below = Place {
            references: middle..end,
            events: no_events.clone(),
        };
        let mut above = Place {
            references: top.references..middle,
            events: no_events,
        };
        top.references = end;
        // What becomes a leaf needs no events.
        let lens = [counts.above, counts.below].map(|count| {
            let is_leaf = !self.input.may_split(count, depth + 1);
            if is_leaf { 0 } else { 2 * count }
        });
        if lens == [0, 0] {
            return (below, above);
        }
        added.sort();
        for axis in 0..3 {
            let start = top.events[axis];
            let middle = start + lens[0];
            let (above_events, below_events) =
                to.events[axis][start..middle + lens[1]].split_at_mut(lens[0]);
            let dealt = deal::deal_to_slices(
                cell.events[axis],
                axis,
                routes,
                added,
                below_events,
                above_events,
            );
            above.events[axis] = start..start + dealt.above;
            below.events[axis] = middle..middle + dealt.below;
            top.events[axis] = middle + dealt.below;
        }
        (below, above)
    }
}
