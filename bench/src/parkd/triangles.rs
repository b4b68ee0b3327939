//! MarkTriangles and CopyTriangles: the half that a triangle belongs to, and its index there.
//!
//! The split plane cuts the list of its axis in two. Initially, every triangle counts as being on
//! the side with more events. Each event on the other side moves its triangle one step towards that
//! side. So a triangle with both events there (or one planar event) is on that side, and one with a
//! single event there straddles the plane.
//!
//! Then each half gets its triangles in order, and each triangle of the node gets a
//! [route](ROUTE_STRADDLES) for its events. Triangles that straddle the plane are cut. Where the
//! box of a piece differs from that of the whole triangle, new events are created.
//!
//! # Source
//! Choi et al. 2010 (see [`super`]); the boxes of pieces ("perfect splits"): Wald, Havran 2006.

use std::ops::Range;

use raddle_graphics::intersect::Corners;
use raddle_graphics::kdtree::perfect_split;
use raddle_sync::prim::{AtomicBool, Relaxed};
use rayon::prelude::*;

use super::cell::{Arena, Cell, Piece};
use super::event::{self, END, PLANAR, START};
use super::region::Cut;
use super::slices;
use super::sweep::Plane;

/// Set in the route of a triangle that straddles the plane. The bits below are its number among
/// those triangles.
///
/// Any other route is twice the distance by which the index of the triangle decreases, plus one for
/// the half above.
pub(super) const ROUTE_STRADDLES: u32 = 1 << 31;

/// The result of the split for one half of a straddling triangle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fate {
    /// The index of the piece in the half, or [`GONE`](Self::GONE).
    pub(super) index: u32,
    /// The old events that the piece keeps, two bits per axis: the end or planar event, and the
    /// start.
    pub(super) keep: u8,
}

impl Fate {
    pub(super) const GONE: u32 = u32::MAX;

    /// Returns true if the piece keeps an event.
    #[inline]
    pub(super) fn keeps(self, axis: usize, kind: u64) -> bool {
        self.keep >> (2 * axis + (kind >> 1) as usize) & 1 != 0
    }
}

/// A triangle on both sides: the results below and above.
pub(super) type Straddler = [Fate; 2];

/// New events of both halves and all axes, with the old indices of their triangles.
pub(super) type Added = [[Vec<u64>; 3]; 2];

/// A straddling triangle that has been cut.
#[derive(Debug, Clone, Copy)]
struct Pieces {
    old: Piece,
    extents: [Option<Cell>; 2],
}

impl Pieces {
    fn cut(name: u32, plane: &Plane, cell: &Cell, arena: &Arena<'_>, corners: &[Corners]) -> Self {
        let old = arena.piece(name, corners);
        let triangle = &corners[old.triangle as usize];
        let extents = perfect_split::pieces(
            triangle,
            old.extent.into(),
            (*cell).into(),
            plane.axis,
            plane.position,
        );
        Self {
            old,
            extents: extents.map(|extent| extent.map(Cell::from)),
        }
    }

    /// Creates the new events of one piece of the triangle with this index. Returns the old events
    /// that it keeps.
    fn add_events(&self, extent: &Cell, index: usize, added: &mut [Vec<u64>; 3]) -> u8 {
        let whole = &self.old.extent;
        let mut keep = 0;
        for (axis, added) in added.iter_mut().enumerate() {
            let (low, high) = (extent.low[axis], extent.high[axis]);
            let (keeps_low, keeps_high) = (low == whole.low[axis], high == whole.high[axis]);
            if keeps_low && keeps_high {
                keep |= 0b11 << (2 * axis);
                continue;
            }
            if low == high {
                added.push(event::pack(low, PLANAR, index));
                continue;
            }
            if keeps_low {
                keep |= 0b10 << (2 * axis);
            } else {
                added.push(event::pack(low, START, index));
            }
            if keeps_high {
                keep |= 0b01 << (2 * axis);
            } else {
                added.push(event::pack(high, END, index));
            }
        }
        keep
    }
}

/// Sorts new events. Often they are in order already.
pub(super) fn sort_added(added: &mut Added) {
    for events in added.as_flattened_mut() {
        if !events.is_sorted() {
            events.sort_unstable();
        }
    }
}

/// Returns the shorter side of the list of the split axis, and its half: 0 or 1.
fn shorter_side<'a>(events: &'a [u64], plane: &Plane) -> (&'a [u64], usize) {
    let (below, above) = events.split_at(plane.split);
    if below.len() < above.len() {
        (below, 0)
    } else {
        (above, 1)
    }
}

/// The distribution of a node's triangles to both halves.
#[derive(Debug)]
pub(super) struct Deal<'a, 'b> {
    pub(super) names: &'a [u32],
    /// The events of the split axis.
    pub(super) events: &'a [u64],
    pub(super) cell: &'a Cell,
    pub(super) plane: &'a Plane,
    pub(super) corners: &'a [Corners],
    pub(super) arena: &'a mut Arena<'b>,
}

impl Deal<'_, '_> {
    /// Marks all triangles. Returns the half that a mark of 2 means.
    fn mark(&self, marks: &mut Vec<u8>) -> usize {
        marks.clear();
        marks.resize(self.names.len(), 0);
        let (events, half) = shorter_side(self.events, self.plane);
        for &event in events {
            let is_planar = event::kind(event) & PLANAR;
            marks[event::index(event)] += 1 + is_planar as u8;
        }
        half
    }

    /// Distributes the triangles: those above the plane go to the start of `dealt`, those below to
    /// the cut. Returns the numbers of triangles below and above.
    pub(super) fn run(&mut self, scratch: &mut Scratch, dealt: &mut [u32], cut: Cut) -> [usize; 2] {
        let half = self.mark(&mut scratch.marks);
        let Scratch {
            marks,
            routes,
            straddlers,
            added,
            ..
        } = scratch;
        straddlers.clear();
        added.as_flattened_mut().iter_mut().for_each(Vec::clear);
        if routes.len() < self.names.len() {
            routes.resize(self.names.len(), 0);
        }
        let other = 1 - half as u32;
        let (mut below, mut above) = (0, 0);
        let routes = &mut routes[..self.names.len()];
        for (index, ((&name, &mark), route)) in
            self.names.iter().zip(&*marks).zip(routes).enumerate()
        {
            if mark == 1 {
                *route = ROUTE_STRADDLES | straddlers.len() as u32;
                let fates;
                (fates, [below, above]) = self.put_pieces(index, [below, above], added, dealt, cut);
                straddlers.push(fates);
                continue;
            }
            let side = u32::from(mark >> 1) ^ other;
            let (to, at) = if side == 0 {
                (below, cut.triangles + below)
            } else {
                (above, above)
            };
            dealt[at] = name;
            *route = ((index - to) as u32) << 1 | side;
            above += side as usize;
            below += 1 - side as usize;
        }
        [below, above]
    }

    #[cold]
    #[inline(never)]
    fn put_pieces(
        &mut self,
        index: usize,
        mut counts: [usize; 2],
        added: &mut Added,
        dealt: &mut [u32],
        cut: Cut,
    ) -> (Straddler, [usize; 2]) {
        let pieces = Pieces::cut(
            self.names[index],
            self.plane,
            self.cell,
            self.arena,
            self.corners,
        );
        let starts = [cut.triangles, 0];
        let fates = [0, 1].map(|half: usize| {
            let Some(extent) = pieces.extents[half] else {
                return Fate {
                    index: Fate::GONE,
                    keep: 0,
                };
            };
            dealt[starts[half] + counts[half]] = self.arena.push(Piece {
                extent,
                triangle: pieces.old.triangle,
            });
            counts[half] += 1;
            Fate {
                index: counts[half] as u32 - 1,
                keep: pieces.add_events(&extent, index, &mut added[half]),
            }
        });
        (fates, counts)
    }

    /// Distributes the triangles to two leaves by appending both lists to `entries`. Returns their
    /// lengths.
    pub(super) fn run_to_leaves(
        &mut self,
        marks: &mut Vec<u8>,
        entries: &mut Vec<u32>,
    ) -> [usize; 2] {
        let other = 1 - self.mark(marks) as u32;
        let first = entries.len();
        let [below_max, above_max] = self.plane.counts;
        entries.resize(first + below_max + above_max, 0);
        let lists = &mut entries[first..];
        let (mut below, mut above) = (0, below_max);
        for (&name, &mark) in self.names.iter().zip(&*marks) {
            let triangle = self.arena.triangle(name);
            if mark == 1 {
                let [is_below, is_above] = self.reaches(name);
                if is_below {
                    lists[below] = triangle;
                    below += 1;
                }
                if is_above {
                    lists[above] = triangle;
                    above += 1;
                }
                continue;
            }
            let side = u32::from(mark >> 1) ^ other;
            lists[if side == 0 { below } else { above }] = triangle;
            above += side as usize;
            below += 1 - side as usize;
        }
        // If pieces below have vanished, the list above moves up.
        if below < below_max {
            lists.copy_within(below_max..above, below);
        }
        let counts = [below, above - below_max];
        entries.truncate(first + counts[0] + counts[1]);
        counts
    }

    /// Returns which halves a straddling triangle reaches into.
    #[cold]
    fn reaches(&self, name: u32) -> [bool; 2] {
        // A triangle that does not touch the border of the cell is whole, or no plane of the cell
        // has cut it. Then it has corners on both sides.
        if self
            .cell
            .strictly_contains(&self.arena.piece(name, self.corners).extent)
        {
            return [true, true];
        }
        let pieces = Pieces::cut(name, self.plane, self.cell, self.arena, self.corners);
        pieces.extents.map(|extent| extent.is_some())
    }
}

/// The memory that a thread needs besides the lists of its nodes.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) marks: Vec<u8>,
    pub(super) routes: Vec<u32>,
    pub(super) straddlers: Vec<Straddler>,
    pub(super) added: Added,
    pub(super) screen: super::sweep::Screen,
}

/// The result of distributing the triangles of a large node with all threads.
#[derive(Debug)]
pub(super) struct Dealt {
    pub(super) routes: Vec<u32>,
    pub(super) straddlers: Vec<Straddler>,
    pub(super) added: Added,
    /// The numbers of triangles in the halves.
    pub(super) counts: [usize; 2],
}

/// Marks that several threads set: whether a triangle has a start on the shorter side, and whether
/// it has an end there.
///
/// A planar event counts as both. Each event sets its own marks, so no two threads set the same
/// one.
#[derive(Debug)]
struct SharedMarks {
    marks: Vec<[AtomicBool; 2]>,
    half: usize,
}

impl SharedMarks {
    fn of(node: &Deal<'_, '_>, part_count: usize) -> Self {
        let mut marks = Vec::new();
        marks.resize_with(node.names.len(), Default::default);
        let marks: Vec<[AtomicBool; 2]> = marks;
        let (events, half) = shorter_side(node.events, node.plane);
        let parts: Vec<Range<usize>> = slices::parts(events.len(), part_count).collect();
        parts.into_par_iter().for_each(|range| {
            for &event in &events[range] {
                let marks = &marks[event::index(event)];
                let kind = event::kind(event) as usize;
                // Relaxed: read after all threads have finished marking.
                marks[kind >> 1].store(true, Relaxed);
                marks[(kind + 1) >> 1].store(true, Relaxed);
            }
        });
        Self { marks, half }
    }

    /// Returns 0 for the half below, 1 for the half above, and `None` for a straddling triangle.
    #[inline(always)]
    fn side(&self, index: usize) -> Option<usize> {
        // Relaxed: the threads that set the marks have finished.
        let [end, start] = [0, 1].map(|kind: usize| self.marks[index][kind].load(Relaxed));
        (end == start).then_some(usize::from(end) ^ 1 ^ self.half)
    }
}

/// A part of the triangles of a large node.
struct Part<'a> {
    range: Range<usize>,
    pieces: Vec<Pieces>,
    counts: [usize; 2],
    /// The numbers of triangles of the halves, and of straddling ones, before this part.
    first: [usize; 2],
    first_straddler: usize,
    routes: &'a mut [u32],
    dealt: [&'a mut [u32]; 2],
    straddlers: Vec<Straddler>,
    added: Added,
}

impl Deal<'_, '_> {
    /// Does the work of [`run`](Self::run) with all threads, in `part_count` parts.
    pub(super) fn run_parallel(&mut self, part_count: usize, dealt: &mut [u32], cut: Cut) -> Dealt {
        let marks = SharedMarks::of(self, part_count);
        let mut routes = vec![0; self.names.len()];
        let mut rest = routes.as_mut_slice();
        let mut parts: Vec<Part<'_>> = slices::parts(self.names.len(), part_count)
            .map(|range| Part {
                routes: slices::take(&mut rest, range.len()),
                range,
                pieces: Vec::new(),
                counts: [0; 2],
                first: [0; 2],
                first_straddler: 0,
                dealt: [&mut [], &mut []],
                straddlers: Vec::new(),
                added: Added::default(),
            })
            .collect();
        let this = &*self;
        parts
            .par_iter_mut()
            .for_each(|part| this.count(&marks, part));
        let (mut counts, mut straddler_count) = ([0; 2], 0);
        let (above, below) = dealt.split_at_mut(cut.triangles);
        let mut rests = [below, above];
        for part in &mut parts {
            part.first = counts;
            part.first_straddler = straddler_count;
            straddler_count += part.pieces.len();
            for (half, rest) in rests.iter_mut().enumerate() {
                part.dealt[half] = slices::take(rest, part.counts[half]);
                counts[half] += part.counts[half];
            }
        }
        let first_piece = self.arena.len();
        parts
            .par_iter_mut()
            .for_each(|part| this.fill(&marks, part, first_piece));
        let mut all = Dealt {
            routes: Vec::new(),
            straddlers: Vec::with_capacity(straddler_count),
            added: Added::default(),
            counts,
        };
        for part in parts {
            all.straddlers.extend(part.straddlers);
            self.arena.extend(part.pieces.iter().flat_map(|pieces| {
                // The name of a piece that has vanished is not used anywhere.
                pieces.extents.map(|extent| Piece {
                    extent: extent.unwrap_or(pieces.old.extent),
                    triangle: pieces.old.triangle,
                })
            }));
            let lists = all.added.as_flattened_mut().iter_mut();
            for (list, more) in lists.zip(part.added.as_flattened()) {
                list.extend(more);
            }
        }
        sort_added(&mut all.added);
        all.routes = routes;
        all
    }

    /// Cuts the straddling triangles of a part and counts the triangles that go to each half.
    fn count(&self, marks: &SharedMarks, part: &mut Part<'_>) {
        for index in part.range.clone() {
            if let Some(side) = marks.side(index) {
                part.counts[1] += side;
                part.counts[0] += 1 - side;
                continue;
            }
            let pieces = Pieces::cut(
                self.names[index],
                self.plane,
                self.cell,
                self.arena,
                self.corners,
            );
            for (count, extent) in part.counts.iter_mut().zip(&pieces.extents) {
                *count += usize::from(extent.is_some());
            }
            part.pieces.push(pieces);
        }
    }

    /// Distributes a part to its destinations, which are known.
    fn fill(&self, marks: &SharedMarks, part: &mut Part<'_>, first_piece: usize) {
        let [mut below, mut above] = [0; 2];
        let (range, [first_below, first_above]) = (part.range.clone(), part.first);
        let [dealt_below, dealt_above] = &mut part.dealt;
        for (index, route) in range.zip(&mut *part.routes) {
            let name = self.names[index];
            match marks.side(index) {
                Some(0) => {
                    dealt_below[below] = name;
                    *route = ((index - first_below - below) as u32) << 1;
                    below += 1;
                }
                Some(_) => {
                    dealt_above[above] = name;
                    *route = ((index - first_above - above) as u32) << 1 | 1;
                    above += 1;
                }
                None => {
                    let number = part.first_straddler + part.straddlers.len();
                    *route = ROUTE_STRADDLES | number as u32;
                    let pieces = &part.pieces[part.straddlers.len()];
                    let mut fates = Straddler::default();
                    for (half, fate) in fates.iter_mut().enumerate() {
                        let Some(extent) = &pieces.extents[half] else {
                            fate.index = Fate::GONE;
                            continue;
                        };
                        let name = Arena::name(first_piece + 2 * number + half);
                        if half == 0 {
                            dealt_below[below] = name;
                            fate.index = (first_below + below) as u32;
                            below += 1;
                        } else {
                            dealt_above[above] = name;
                            fate.index = (first_above + above) as u32;
                            above += 1;
                        }
                        fate.keep = pieces.add_events(extent, index, &mut part.added[half]);
                    }
                    part.straddlers.push(fates);
                }
            }
        }
    }
}
