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

use super::arena::{Arena, Name};
use super::assemble::{Fragment, Piece};
use super::build::Input;
use super::cell::{Cell, Extent, OwnedCell};
use super::deal::Routes;
use super::event::Event;
use super::level::Level;
use super::lists::{Lists, Slices};
use super::mark::{self, Shorter};
use super::node::Node;
use super::progress::{self, Share};
use super::route::{Added, Counts, Route, Straddler};
use super::split::{Dealt, Split};
use super::store::Buffer;
use super::sweep::{self, Passed, Plane};

/// Where on a stack the lists of a cell are.
#[derive(Debug, Clone)]
struct Place {
    names: Range<usize>,
    events: [Range<usize>; 3],
}

/// Lists of cells, one on top of the other. The vectors stay as long as they have ever been; `Place`s say
/// what of them is in use.
#[derive(Debug, Clone, Default)]
pub(super) struct Stack {
    pub(super) names: Vec<Name>,
    pub(super) events: [Vec<Event>; 3],
}

impl Stack {
    fn cell(&self, place: &Place, extent: Extent) -> Cell<'_> {
        Cell {
            extent,
            names: &self.names[place.names.clone()],
            events: std::array::from_fn(|axis| &self.events[axis][place.events[axis].clone()]),
        }
    }

    /// Makes the stack at least so high that `count` more triangles fit onto `top`.
    fn grow(&mut self, top: &Top, count: usize) {
        let len = top.names + count;
        if self.names.len() < len {
            self.names.resize(len, Name::default());
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
    names: usize,
    events: [usize; 3],
}

/// What a sequential build needs besides its result. Reused from one subtree to the next.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    stacks: [Stack; 2],
    tops: [Top; 2],
    marks: Vec<u8>,
    routes: Vec<Route>,
    straddlers: Vec<Straddler>,
    added: Added,
    sweep: sweep::Scratch,
}

impl Workspace {
    /// A workspace that has some memory.
    pub(super) fn within(memory: Stack) -> Self {
        Self {
            stacks: [Stack::default(), memory],
            ..Self::default()
        }
    }
}

impl Buffer for Workspace {
    /// That of the lists, which is nearly all.
    fn byte_count(&self) -> usize {
        let of_stack = |stack: &Stack| {
            let events = stack.events.iter().map(Buffer::byte_count);
            stack.names.byte_count() + events.sum::<usize>()
        };
        let lists = self.stacks.iter().map(of_stack).sum::<usize>();
        lists + self.marks.byte_count() + self.routes.byte_count()
    }
}

/// Builds the subtree of a cell at some depth. Its lists become part of the workspace meanwhile; the cell is given back for its memory.
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
    let mut fragment = Fragment::with_room_for(place.names.len());
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
    /// Keeps the pieces of triangles as long as there are cells below those that they were cut in.
    arena: Arena,
}

impl Builder<'_> {
    /// Builds the subtree of the cell on top of stack `side` and takes it off.
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
        // A small cell keeps its share until all below it is done.
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
            let (split, room) = self.mark(&extent, &place, side, &plane);
            let may_split = |count| self.input.may_split(count, level);
            if may_split(room.below) || may_split(room.above) {
                self.halves(&split, &place, side, room, (level, share))
            } else {
                self.leaves(&split, &place, side, room, level.depth)
            }
        };
        self.fragment.nodes[pair] = below;
        self.fragment.nodes[pair + 1] = above;
        self.input.progress.add(own);
        Node::inner(plane.axis, plane.position, pair)
    }

    /// The plane that is worth it, and the half that nothing reaches into, if there is one.
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

    /// The nodes of two halves of which one is empty: the other has the very same lists.
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

    /// Marks the triangles of a cell; tells how many each half has at most.
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

    /// The nodes of two halves that are leaves.
    fn leaves(
        &mut self,
        split: &Split<'_>,
        place: &Place,
        side: usize,
        room: Counts,
        depth: u32,
    ) -> [Node; 2] {
        let names = &self.workspace.stacks[side].names[place.names.clone()];
        let marks = &self.workspace.marks;
        let entries = &mut self.fragment.entries;
        let first = entries.len();
        let counts = split.deal_to_leaves(names, marks, room, &self.arena, entries);
        self.fragment.depth = self.fragment.depth.max(depth);
        self.pop(place, side);
        [
            Node::leaf(first, counts.below),
            Node::leaf(first + counts.below, counts.above),
        ]
    }

    /// The nodes of two halves that have lists of their own.
    fn halves(
        &mut self,
        split: &Split<'_>,
        place: &Place,
        side: usize,
        room: Counts,
        (level, share): (Level, Share),
    ) -> [Node; 2] {
        let pieces = self.arena.len();
        let [below, above] = self.deal(split, place, side, room);
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

    /// Deals a cell out onto the other stack: the half above the plane first, so that the one below is on top.
    fn deal(&mut self, split: &Split<'_>, place: &Place, side: usize, room: Counts) -> [Place; 2] {
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
        to.grow(top, room.below + room.above);
        if routes.len() < cell.names.len() {
            routes.resize(cell.names.len(), Route::default());
        }
        straddlers.clear();
        added.clear();
        let routes = &mut routes[..cell.names.len()];
        let marks = &marks[..cell.names.len()];
        let mut dealt = Dealt {
            routes,
            straddlers,
            added,
            arena: &mut self.arena,
        };
        let names = Slices::new(&mut to.names[top.names..], room.above);
        let mark = |index: usize| marks[index];
        let counts = split.deal(cell.names, 0, mark, names, &mut dealt).lens();
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
        let mut below = places(top.names + room.above, counts.below);
        for axis in 0..3 {
            let start = top.events[axis];
            let lists = Slices::new(&mut to.events[axis][start..], 2 * room.above);
            let counts = routes.deal(cell.events[axis], axis, lists).lens();
            above.events[axis].end += counts.above;
            let start = start + 2 * room.above;
            below.events[axis] = start..start + counts.below;
        }
        *top = Top {
            names: below.names.end,
            events: [0, 1, 2].map(|axis: usize| below.events[axis].end),
        };
        [below, above]
    }
}
