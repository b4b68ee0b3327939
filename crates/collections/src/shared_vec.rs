//! A vector that many fill at once, each a part of its own.
//!
//! Tasks that have agreed on who writes where each [claim](SharedVec::claim) their range, and write it without a lock and without
//! anybody having written there before them. When all are done the vector is an ordinary one. Messages can carry claims, which slices that
//! borrow cannot be.
//!
//! # Memory ordering
//! The count of references to the memory ([`Arc`]) orders all: a claim is given back with release, and whoever turns out to be the last
//! acquires. The count of elements is relaxed: it is read by him alone.
//! # Invariants
//! 1. No two claims overlap, given back or not: a claim alone writes to its range, and nobody reads it before the last reference is alone.
//! 2. `written` counts elements that stand behind the first of their claim without a gap; it is the length when each is there.
//!
//! Elements are `Copy`: nothing is lost when a vector that is not full is dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::two_lists::Room;
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};

/// A vector of a fixed length that several fill. A clone is the same vector.
///
/// # Examples
/// ```
/// use raddle_collections::shared_vec::SharedVec;
///
/// let squares = SharedVec::new(10);
/// std::thread::scope(|scope| {
///     for range in [0..4, 4..10] {
///         let mut claim = squares.claim(range.clone());
///         scope.spawn(move || claim.extend_from_slice(&range.map(|n| n * n).collect::<Vec<usize>>()));
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
    /// What is still to be written.
    left: Range<usize>,
    written: usize,
}

/// Why a [`SharedVec`] is no vector yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotFull {
    /// Somebody has it still, or a claim on it.
    Shared,
    /// All have done what they would, and elements are missing.
    Missing {
        /// How many.
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
    /// Ends by starts.
    claims: Mutex<BTreeMap<usize, usize>>,
    written: AtomicUsize,
}

// SAFETY: elements are written by the one claim on them (invariant 1), which may be another thread's, and read when nobody else has them.
unsafe impl<T: Copy + Send> Send for Shared<T> {}
// SAFETY: as above; no reference to an element is ever shared.
unsafe impl<T: Copy + Send> Sync for Shared<T> {}

impl<T: Copy> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: the memory came from a vector of that capacity; none of its elements need dropping.
        drop(unsafe { Vec::from_raw_parts(self.memory.as_ptr(), 0, self.capacity) });
    }
}

impl<T: Copy> SharedVec<T> {
    /// A vector of `len` elements that are still to be written. Cost: an allocation.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self::within(Vec::new(), len)
    }

    /// The same in the memory of another vector, whose elements are forgotten; it grows if it has to.
    #[must_use]
    pub fn within(mut memory: Vec<T>, len: usize) -> Self {
        memory.clear();
        memory.reserve_exact(len);
        let mut memory = ManuallyDrop::new(memory);
        let shared = Shared {
            memory: NonNull::new(memory.as_mut_ptr()).expect("vectors have a place"),
            capacity: memory.capacity(),
            len,
            claims: Mutex::default(),
            written: AtomicUsize::new(0),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Elements, written or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.len
    }

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The right to write a range. Cost: a lock, and a search among the claims.
    ///
    /// # Panics
    /// When the range does not lie in the vector, or somebody has claimed a part of it.
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
                    "the range {start}..{end} of a shared vector overlaps {other}..{other_end}, which is claimed"
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

    /// The elements, when all are there and nobody else has any of them.
    ///
    /// # Errors
    /// [`NotFull`]; the memory is then given back when the last has let go of it.
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
        // What else is in there is dropped as usual.
        let claims = &raw mut shared.claims;
        // SAFETY: it is not used again.
        unsafe { claims.drop_in_place() };
        // SAFETY: the memory came from a vector of that capacity, its first `len` elements are written (invariant 2), and nobody else has it.
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
    /// How many elements are still to be written.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// Writes the next elements. Cost: that of copying them.
    ///
    /// # Panics
    /// When there are more of them than are left.
    #[inline]
    #[track_caller]
    pub fn extend_from_slice(&mut self, items: &[T]) {
        assert!(
            items.len() <= self.left.len(),
            "{} elements do not fit where {} are left of a claim",
            items.len(),
            self.left.len()
        );
        // SAFETY: the first element left lies in the memory, or just behind it.
        let to = unsafe { self.shared.memory.add(self.left.start) };
        // SAFETY: so many are left, which nobody else touches (invariant 1); `items` is initialised memory elsewhere.
        unsafe { to.copy_from_nonoverlapping(NonNull::from(items).cast(), items.len()) };
        self.left.start += items.len();
        self.written += items.len();
    }
}

// SAFETY: what is left of a claim lies in the vector's memory, which does not move; nobody else touches it (invariant 1).
unsafe impl<T: Copy> Room<T> for Claim<T> {
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
