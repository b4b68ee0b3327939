//! The frames on one worker's call stack: the tasks that it is in the middle of.
//!
//! The owner pushes and pops. A thief that raids a fork asks for the frame under which the fork was
//! made, because a waiting worker tells its own subtree from foreign work by it.
//!
//! # What a thief may read
//! A thief holds the lock of the raid, so the join of its fork has not ended, and all frames that
//! were entered before the fork are still there. The first slot of such a frame is at or below the
//! slot of the fork. Frames above come and go meanwhile, but their first slots are always above the
//! slot of the fork: each was entered when the fork was on the stack already.
//!
//! # Memory ordering
//! | label | release side           | acquire side             | what it publishes  |
//! |-------|------------------------|--------------------------|--------------------|
//! | P1    | `push` stores `len`    | `of_slot` loads it       | the frame's entry  |

use std::cell::RefCell;
use std::ptr;

use raddle_sync::prim::{Acquire, AtomicPtr, AtomicUsize, LIGHT, Relaxed, Release};

use crate::task::TaskCell;

/// The number of frames that thieves can see. A fork below deeper frames counts as one of the
/// deepest that can be seen: an ancestor.
const SEEN_MAX: usize = if LIGHT { 8 } else { 64 };

/// The frames of one worker, innermost last.
#[derive(Debug)]
pub(crate) struct Frames {
    len: AtomicUsize,
    seen: [Entry; SEEN_MAX],
    deeper: RefCell<Vec<Frame>>,
}

#[derive(Debug)]
struct Entry {
    frame: AtomicPtr<TaskCell>,
    first_slot: AtomicUsize,
}

/// A frame, and the address of the fork slot that was the next one when it was entered.
#[derive(Clone, Copy, Debug)]
struct Frame {
    frame: &'static TaskCell,
    first_slot: usize,
}

impl Frames {
    raddle_sync::const_fn! {
        /// Creates a stack without frames.
        pub(super) const fn new() -> Self {
            Self {
                len: AtomicUsize::new(0),
                seen: Entry::empty(),
                deeper: RefCell::new(Vec::new()),
            }
        }
    }

    /// Enters a frame. For the owner, as `pop` and `innermost`.
    #[inline]
    pub(super) fn push(&self, frame: &'static TaskCell, first_slot: usize) {
        // Relaxed: the owner's own.
        let len = self.len.load(Relaxed);
        match self.seen.get(len) {
            Some(entry) => entry.set(frame, first_slot),
            None => self.deeper.borrow_mut().push(Frame { frame, first_slot }),
        }
        // ORDERING(P1): Release, the entry.
        self.len.store(len + 1, Release);
    }

    /// Leaves the innermost frame.
    #[inline]
    pub(super) fn pop(&self) {
        // Relaxed, here and below: the owner's own.
        let len = self.len.load(Relaxed) - 1;
        if len >= SEEN_MAX {
            self.deeper.borrow_mut().pop();
        }
        self.len.store(len, Relaxed);
    }

    /// Returns the innermost frame.
    #[inline]
    pub(super) fn innermost(&self) -> Option<&'static TaskCell> {
        // Relaxed: the owner's own.
        let last = self.len.load(Relaxed).checked_sub(1)?;
        match self.seen.get(last) {
            Some(entry) => entry.frame(),
            None => self.deeper.borrow().last().map(|frame| frame.frame),
        }
    }

    /// Returns the innermost frame that was entered before the fork in the slot at this address was
    /// made, as the owner knows it.
    pub(super) fn of_own_slot(&self, slot: usize) -> Option<&'static TaskCell> {
        let deeper = self.deeper.borrow();
        let found = deeper.iter().rfind(|frame| frame.first_slot <= slot);
        found
            .map(|frame| frame.frame)
            .or_else(|| self.of_slot(slot))
    }

    /// Returns the same as [`of_own_slot`](Self::of_own_slot), for any thread that keeps the fork
    /// from being popped.
    pub(super) fn of_slot(&self, slot: usize) -> Option<&'static TaskCell> {
        // ORDERING(P1): Acquire, the entries.
        let len = self.len.load(Acquire).min(SEEN_MAX);
        let entry = self.seen[..len]
            .iter()
            // Relaxed: see the header.
            .rfind(|entry| entry.first_slot.load(Relaxed) <= slot)?;
        entry.frame()
    }
}

impl Entry {
    /// Returns entries without frames.
    #[cfg(not(loom))]
    const fn empty() -> [Self; SEEN_MAX] {
        [const {
            Self {
                frame: AtomicPtr::new(ptr::null_mut()),
                first_slot: AtomicUsize::new(0),
            }
        }; SEEN_MAX]
    }

    /// Returns entries without frames, made of loom's atomics, which no constant can contain.
    #[cfg(loom)]
    fn empty() -> [Self; SEEN_MAX] {
        std::array::from_fn(|_| Self {
            frame: AtomicPtr::new(ptr::null_mut()),
            first_slot: AtomicUsize::new(0),
        })
    }

    #[inline]
    fn set(&self, frame: &'static TaskCell, first_slot: usize) {
        // Relaxed, here and below: published by the length.
        self.frame.store(ptr::from_ref(frame).cast_mut(), Relaxed);
        self.first_slot.store(first_slot, Relaxed);
    }

    #[inline]
    fn frame(&self) -> Option<&'static TaskCell> {
        // SAFETY: null, or a cell, which lives as long as the process.
        unsafe { self.frame.load(Relaxed).as_ref() }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    #[test]
    fn forks_in_frames_that_thieves_cannot_see_count_for_the_deepest_that_they_can() {
        static CELLS: LazyLock<Vec<TaskCell>> =
            LazyLock::new(|| (0..SEEN_MAX + 10).map(|_| TaskCell::new()).collect());
        let cells: Vec<&'static TaskCell> = CELLS.iter().collect();
        let frames = Frames::new();
        assert!(frames.innermost().is_none() && frames.of_slot(7).is_none());
        // Frame number n is entered when n slots are taken.
        for (slot, &cell) in cells.iter().enumerate() {
            frames.push(cell, slot);
            assert!(ptr::eq(frames.innermost().expect("one is there"), cell));
        }
        for (slot, &cell) in cells.iter().enumerate() {
            let own = frames.of_own_slot(slot).expect("one was entered before");
            assert!(ptr::eq(own, cell));
            let seen = frames.of_slot(slot).expect("one was entered before");
            assert!(ptr::eq(seen, cells[slot.min(SEEN_MAX - 1)]));
        }
        for &cell in cells.iter().rev() {
            assert!(ptr::eq(frames.innermost().expect("one is there"), cell));
            frames.pop();
        }
        assert!(frames.innermost().is_none());
    }
}
