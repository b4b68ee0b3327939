//! A vector that many tasks fill at once, each task a part of its own.
//!
//! Tasks that have agreed on the range that each of them writes [claim](SharedVec::claim) their
//! ranges. They write without a lock, and the memory needs no initialisation before. When all tasks
//! are done the vector becomes an ordinary one. Messages can carry claims, but not borrowed slices.
//!
//! # Memory ordering
//! The reference count of the memory ([`Arc`]) provides all ordering: dropping a claim releases,
//! and the thread that turns out to hold the last reference acquires. The count of elements is
//! relaxed, because only that thread reads it.
//! # Invariants
//! 1. No two claims overlap, whether they have been dropped or not. Only the claim writes to its
//!    range, and nothing reads the range before only one reference is left.
//! 2. `written` counts the elements that were written from the front of their claims without a gap.
//!    It equals the length when every element is written.
//!
//! Elements are `Copy`: nothing is lost when a vector that is not full is dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::two_lists::Space;
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};

/// A vector of a fixed length that several tasks fill. A clone refers to the same vector.
///
/// # Examples
/// ```
/// use raddle_collections::shared_vec::SharedVec;
///
/// let squares = SharedVec::new(10);
/// std::thread::scope(|scope| {
///     for range in [0..4, 4..10] {
///         let mut claim = squares.claim(range.clone());
///         scope.spawn(move || {
///             let squares: Vec<usize> = range.map(|n| n * n).collect();
///             claim.extend_from_slice(&squares);
///         });
///     }
/// });
/// assert_eq!(squares.into_vec()?[9], 81);
/// # Ok::<(), raddle_collections::shared_vec::NotFull>(())
/// ```
pub struct SharedVec<T: Copy> {
    shared: Arc<Shared<T>>,
}

/// The right to write one range of a [`SharedVec`], from its front to its back.
pub struct Claim<T: Copy> {
    shared: Arc<Shared<T>>,
    /// The range that is still to be written.
    left: Range<usize>,
    written: usize,
}

/// The reason that a [`SharedVec`] cannot be turned into a vector yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotFull {
    /// Another reference to the vector, or a claim on it, still exists.
    Shared,
    /// All claims have been dropped, but some elements were not written.
    Missing {
        /// The number of elements that were not written.
        count: usize,
    },
}

impl fmt::Display for NotFull {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shared => formatter.write_str("a shared vector is still being filled"),
            Self::Missing { count } => write!(
                formatter,
                "{count} elements of a shared vector were not written"
            ),
        }
    }
}

impl std::error::Error for NotFull {}

struct Shared<T: Copy> {
    memory: NonNull<T>,
    capacity: usize,
    len: usize,
    /// The end of each claimed range, by its start.
    claims: Mutex<BTreeMap<usize, usize>>,
    written: AtomicUsize,
}

// SAFETY: only the claim on an element writes it (invariant 1), perhaps on another thread, and an
// element is read only when no other reference to the memory is left.
unsafe impl<T: Copy + Send> Send for Shared<T> {}
// SAFETY: as above; no reference to an element is ever shared.
unsafe impl<T: Copy + Send> Sync for Shared<T> {}

impl<T: Copy> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: the memory came from a vector of that capacity; `Copy` elements need no drop.
        drop(unsafe { Vec::from_raw_parts(self.memory.as_ptr(), 0, self.capacity) });
    }
}

impl<T: Copy> SharedVec<T> {
    /// Creates a vector of `len` elements that are still to be written. Costs an allocation.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self::within(Vec::new(), len)
    }

    /// Creates a shared vector of `len` elements in the memory of another vector.
    ///
    /// The elements of `memory` are forgotten. It grows if its capacity is too small.
    #[must_use]
    pub fn within(mut memory: Vec<T>, len: usize) -> Self {
        memory.clear();
        memory.reserve_exact(len);
        let mut memory = ManuallyDrop::new(memory);
        let shared = Shared {
            memory: NonNull::new(memory.as_mut_ptr()).expect("the pointer of a vector is not null"),
            capacity: memory.capacity(),
            len,
            claims: Mutex::default(),
            written: AtomicUsize::new(0),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Returns the number of elements, written or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.len
    }

    /// Returns `true` if the vector has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Claims the right to write a range. Costs a lock and a search among the claims.
    ///
    /// # Panics
    /// When the range does not lie in the vector, or a part of it has been claimed before.
    #[must_use]
    #[track_caller]
    pub fn claim(&self, range: Range<usize>) -> Claim<T> {
        let Range { start, end } = range;
        assert!(
            start <= end && end <= self.len(),
            "the range {start}..{end} does not lie in a shared vector of {} elements",
            self.len()
        );
        if start < end {
            let mut claims = self.shared.claims.lock().unwrap_or_else(|_| {
                panic!("a shared vector of which a part was claimed twice is not to be used")
            });
            let before = claims.range(..end).next_back();
            if let Some((other, other_end)) = before {
                assert!(
                    *other_end <= start,
                    "the range {start}..{end} of a shared vector overlaps {other}..{other_end}, \
                     which is claimed"
                );
            }
            claims.insert(start, end);
        }
        Claim {
            shared: Arc::clone(&self.shared),
            left: range,
            written: 0,
        }
    }

    /// Returns the elements, if all are written and no other reference to the vector is left.
    ///
    /// # Errors
    /// [`NotFull`] otherwise. The memory is then freed when the last reference is dropped.
    pub fn into_vec(self) -> Result<Vec<T>, NotFull> {
        let shared = Arc::try_unwrap(self.shared).map_err(|_| NotFull::Shared)?;
        // Relaxed: see the header.
        let written = shared.written.load(Relaxed);
        if written < shared.len {
            return Err(NotFull::Missing {
                count: shared.len - written,
            });
        }
        let (memory, len, capacity) = (shared.memory, shared.len, shared.capacity);
        let mut shared = ManuallyDrop::new(shared);
        // The memory moves to the result; of the other fields only `claims` needs a drop.
        let claims = &raw mut shared.claims;
        // SAFETY: `claims` is not used again.
        unsafe { claims.drop_in_place() };
        // SAFETY: the memory came from a vector of that capacity, its first `len` elements are
        // written (invariant 2), and this was the last reference to it.
        Ok(unsafe { Vec::from_raw_parts(memory.as_ptr(), len, capacity) })
    }
}

impl<T: Copy> Clone for SharedVec<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T: Copy> fmt::Debug for SharedVec<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SharedVec")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<T: Copy> Claim<T> {
    /// Returns the number of elements that are still to be written.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// Writes the next elements. Costs one copy of them.
    ///
    /// # Panics
    /// When there are more items than elements left in the claim.
    #[inline]
    #[track_caller]
    pub fn extend_from_slice(&mut self, items: &[T]) {
        assert!(
            items.len() <= self.left.len(),
            "{} elements do not fit where {} are left of a claim",
            items.len(),
            self.left.len()
        );
        // SAFETY: the first element left lies in the memory, or directly after its end.
        let to = unsafe { self.shared.memory.add(self.left.start) };
        // SAFETY: at least `items.len()` elements are left, and only this claim accesses them
        // (invariant 1); `items` is initialised memory that does not overlap them.
        unsafe { to.copy_from_nonoverlapping(NonNull::from(items).cast(), items.len()) };
        self.left.start += items.len();
        self.written += items.len();
    }
}

// SAFETY: the rest of a claim lies in the memory of the vector, which does not move, and only the
// claim accesses it (invariant 1).
unsafe impl<T: Copy> Space<T> for Claim<T> {
    fn start(&mut self) -> Range<*mut T> {
        let place = |index| self.shared.memory.as_ptr().wrapping_add(index);
        place(self.left.start)..place(self.left.end)
    }

    unsafe fn fill(&mut self, count: usize) {
        self.left.start += count;
        self.written += count;
    }
}

impl<T: Copy> Drop for Claim<T> {
    fn drop(&mut self) {
        // Relaxed: see the header.
        self.shared.written.fetch_add(self.written, Relaxed);
    }
}

impl<T: Copy> fmt::Debug for Claim<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Claim")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
