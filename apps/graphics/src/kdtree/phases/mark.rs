//! The phase `MarkTriangles`: determines on which side of a plane each triangle of a cell lies,
//! from the events of the plane's axis.
//!
//! The plane cuts the list of events along its axis in two. Initially every triangle is taken to be
//! on the longer side. Each event of the shorter side then adds 1 to the mark of its triangle; a
//! planar event adds 2. So a triangle with mark 2 is on the shorter side, a triangle with mark 1
//! straddles the plane, and a triangle with mark 0 is on the longer side.
//!
//! # Source
//! Choi et al. 2010 (see [`super`]), section 4. Processing only the shorter side is our own
//! addition.

use raddle_sync::prim::{AtomicBool, Relaxed};

use super::route::Counts;
use crate::kdtree::cells::event::{Event, Kind};
use crate::kdtree::cost::plane::Plane;
use crate::kdtree::cost::sweep::Passed;

/// The side of the plane that has fewer events: 0 for below, 1 for above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kdtree) struct Shorter(u32);

impl Shorter {
    /// Returns the side with fewer events, given the total number of events and the number `split`
    /// of events below.
    pub(in crate::kdtree) fn of(len: usize, split: usize) -> Self {
        Self(u32::from(split > len - split))
    }

    pub(in crate::kdtree) fn is_above(self) -> bool {
        self.0 == 1
    }

    /// Returns the shorter side of a whole list, and its events.
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

    /// Translates a mark to a side: 0 for below, 1 for above, `None` if the triangle straddles the
    /// plane.
    #[inline(always)]
    pub(in crate::kdtree) fn side_of(self, mark: u8) -> Option<u32> {
        (mark != 1).then_some(u32::from(mark >> 1) ^ self.0 ^ 1)
    }

    /// Returns an upper limit for the number of triangles in each half. `passed` counts the
    /// triangles that the sweep over the shorter side enters and leaves, and `count` is the number
    /// of triangles of the cell.
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

/// Marks the triangles of all events of the shorter side. Takes O(events) time.
pub(in crate::kdtree) fn mark(side: &[Event], marks: &mut [u8]) {
    for event in side {
        marks[event.reference() as usize] += 1 + (event.kind() & 1) as u8;
    }
}

/// Marks that several tasks set concurrently. For each triangle they store whether its end and its
/// start are on the shorter side.
///
/// Each event sets marks of its own, so no two tasks write to the same mark. All marks are clear
/// again after each has been [taken](Self::take).
#[derive(Debug, Default)]
pub(in crate::kdtree) struct SharedMarks(Vec<[AtomicBool; 2]>);

impl SharedMarks {
    /// Makes space for `count` triangles.
    pub(in crate::kdtree) fn grow(&mut self, count: usize) {
        if self.0.len() < count {
            self.0.resize_with(count, Default::default);
        }
    }

    /// Returns the memory that the marks occupy, in bytes.
    pub(in crate::kdtree) fn byte_count(&self) -> usize {
        self.0.capacity() * size_of::<[AtomicBool; 2]>()
    }

    /// Marks the triangles of some events of the shorter side.
    pub(in crate::kdtree) fn mark(&self, events: &[Event]) {
        for event in events {
            let marks = &self.0[event.reference() as usize];
            // Relaxed: the marks are read only after all marking tasks have finished.
            if event.kind() <= Kind::Planar as u32 {
                marks[0].store(true, Relaxed);
            }
            if event.kind() >= Kind::Planar as u32 {
                marks[1].store(true, Relaxed);
            }
        }
    }

    /// Clears the mark of a triangle and returns the value that [`mark`] would have given it.
    #[inline(always)]
    pub(in crate::kdtree) fn take(&self, index: usize) -> u8 {
        // Relaxed: all marking tasks have finished, and the next ones start after all marks have
        // been taken.
        let [end, start] = &self.0[index];
        let mark = u8::from(end.load(Relaxed)) + u8::from(start.load(Relaxed));
        if mark > 0 {
            end.store(false, Relaxed);
            start.store(false, Relaxed);
        }
        mark
    }
}
