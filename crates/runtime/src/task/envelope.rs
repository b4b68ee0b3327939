//! Messages on their way from worker to worker.
//!
//! A small closure travels without a cell. So it comes to the receiver with the cache line that the
//! receiver looks at anyway, and cells stay in the cache of their worker.

use std::mem::{MaybeUninit, size_of};

use raddle_sync::mpsc::{Claimed, LineSlot};

use super::closure::{EndClosure, end, fits};
use super::memory::CellSource;
use super::{Message, Task};

/// The size of a small closure in words. With its function and the mark of the slot, both are one
/// cache line.
const WORDS: usize = 6;

/// A message on its way to another worker. It must be unpacked: dropping it leaks the message.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Envelope {
    /// The function that ends the closure in `words`. `None` for a message in a cell: then the
    /// first word is a pointer to the cell.
    end: Option<EndClosure>,
    words: [MaybeUninit<u64>; WORDS],
}

// SAFETY: it contains a task, or a closure that is Send (`fill`).
unsafe impl Send for Envelope {}

/// The slot of a mailbox for an envelope.
pub(crate) type EnvelopeSlot = LineSlot<Envelope>;

impl Envelope {
    /// Returns true if a closure is small.
    pub(crate) const fn holds<M>() -> bool {
        fits::<M>(WORDS)
    }

    /// Fills a slot with a small closure.
    ///
    /// Its fields are stored one by one, without a copy of all of it: a processor cannot soon load
    /// sixteen bytes together that it has just stored in parts.
    ///
    /// # Panics
    /// If the closure is not small; callers check it before they claim a slot.
    #[inline(always)]
    pub(crate) fn fill<M: Message + Send + 'static>(slot: Claimed<'_, EnvelopeSlot>, message: M) {
        assert!(Self::holds::<M>(), "the closure is small");
        let write = |place: *mut Self| {
            // SAFETY: the address of a slot, which is valid.
            let words = unsafe { &raw mut (*place).words };
            // SAFETY: as above; the closure fits.
            unsafe { words.cast::<M>().write(message) };
            // SAFETY: as above. A function needs no drop.
            unsafe { (*place).end = Some(end::<M>) };
        };
        // SAFETY: `end` is initialised; `words` may be uninitialised in part.
        unsafe { slot.fill_in_place(write) };
    }

    /// Encloses a message in its cell.
    pub(crate) fn with_cell(message: Task) -> Self {
        const { assert!(size_of::<Task>() <= size_of::<u64>()) };
        let mut words = [MaybeUninit::uninit(); WORDS];
        // SAFETY: it fits.
        unsafe { words.as_mut_ptr().cast::<Task>().write(message) };
        Self { end: None, words }
    }

    /// Returns the message in a cell, which is one of `cells` if it had none.
    #[inline]
    pub(crate) fn unpack(self, cells: CellSource<'_>) -> Task {
        let Some(end) = self.end else {
            // SAFETY: `with_cell` wrote it, and it is read once.
            return unsafe { self.words.as_ptr().cast::<Task>().read() };
        };
        let cell = cells.take();
        // SAFETY: `fill` wrote them, for each other.
        unsafe { cell.make_message(end, self.words) };
        Task::new(cell)
    }
}
