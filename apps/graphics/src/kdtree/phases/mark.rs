//! Marking: which triangles of a cell are on which side of a plane, going by the events of its axis.
//!
//! The plane cuts the list of its axis in two. Every triangle is taken to be on the longer side; each event of the shorter side takes it one step
//! over to there, a planar one both. So those with two steps are on the shorter side, and those with one straddle the plane.
//!
//! # Source
//! Choi et al. 2010 (see [`super::tasks`]), section 4 (`MarkTriangles`). Going over the shorter side alone is ours.

use raddle_sync::prim::{AtomicBool, Relaxed};

use super::route::Counts;
use crate::kdtree::cells::event::{Event, Kind};
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::cost::sweep::Passed;

/// Which side of a plane the marks are from: 0 for below, 1 for above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kdtree) struct Shorter(u32);

impl Shorter {
    /// The side with fewer events, of so many with `split` below.
    pub(in crate::kdtree) fn of(len: usize, split: usize) -> Self {
        Self(u32::from(split > len - split))
    }

    pub(in crate::kdtree) fn is_above(self) -> bool {
        self.0 == 1
    }

    /// The shorter side of a whole list.
    pub(in crate::kdtree) fn side<'a>(events: &'a [Event], plane: &Plane) -> (Self, &'a [Event]) {
        let split = plane.split(events);
        let shorter = Self::of(events.len(), split);
        let side = if shorter.is_above() {
            &events[split..]
        } else {
            &events[..split]
        };
        (shorter, side)
    }

    /// The side that a mark stands for, 0 or 1; none where the triangle straddles the plane.
    #[inline(always)]
    pub(in crate::kdtree) fn side_of(self, mark: u8) -> Option<u32> {
        (mark != 1).then_some(u32::from(mark >> 1) ^ self.0 ^ 1)
    }

    /// How many triangles each half gets at most, of `count` with so many met and left on this side.
    pub(in crate::kdtree) fn counts(self, passed: Passed, count: usize) -> Counts {
        let (met, left) = (passed.met as usize, passed.left as usize);
        if self.is_above() {
            Counts {
                below: count - met,
                above: left,
            }
        } else {
            Counts {
                below: met,
                above: count - left,
            }
        }
    }
}

/// Marks triangles by events of the shorter side. Cost: O(events).
pub(in crate::kdtree) fn mark(side: &[Event], marks: &mut [u8]) {
    for event in side {
        marks[event.reference() as usize] += 1 + (event.kind() & 1) as u8;
    }
}

/// Marks that several set side by side: for each triangle whether an end, and whether a start is on the shorter side.
///
/// Each event sets marks of its own, so that no two tasks set the same one. All are clear again once they have been [taken](Self::take).
#[derive(Debug, Default)]
pub(in crate::kdtree) struct SharedMarks(Vec<[AtomicBool; 2]>);

impl SharedMarks {
    /// Makes room for so many triangles.
    pub(in crate::kdtree) fn grow(&mut self, count: usize) {
        if self.0.len() < count {
            self.0.resize_with(count, Default::default);
        }
    }

    /// The memory that the marks take, in bytes.
    pub(in crate::kdtree) fn byte_count(&self) -> usize {
        self.0.capacity() * size_of::<[AtomicBool; 2]>()
    }

    /// Marks by some events of the shorter side.
    pub(in crate::kdtree) fn mark(&self, events: &[Event]) {
        for event in events {
            let marks = &self.0[event.reference() as usize];
            // Relaxed: they are taken when all who mark are done.
            if event.kind() <= Kind::Planar as u32 {
                marks[0].store(true, Relaxed);
            }
            if event.kind() >= Kind::Planar as u32 {
                marks[1].store(true, Relaxed);
            }
        }
    }

    /// The mark of a triangle, as [`mark`] would have it; clears it.
    #[inline(always)]
    pub(in crate::kdtree) fn take(&self, index: usize) -> u8 {
        // Relaxed: all who mark are done, and those who mark next begin when all marks are taken.
        let [end, start] = &self.0[index];
        let mark = u8::from(end.load(Relaxed)) + u8::from(start.load(Relaxed));
        if mark > 0 {
            end.store(false, Relaxed);
            start.store(false, Relaxed);
        }
        mark
    }
}
