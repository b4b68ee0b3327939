//! Data that can be accessed only through granted requests: a value behind a FIFO, or a slice in
//! pieces with one FIFO each.
//!
//! The type of a [`Handle`] contains its right to read or to write. A handle puts requests into the
//! FIFO of its data. When a request is granted, [`Handle::enter`] returns a [`Guard`], the only
//! access to the data. When the guard is dropped, the request is given back or renewed. The
//! compiler ensures that no reference to the data outlives the guard.
//!
//! A slice [in pieces](split) is stored once. Each piece has its FIFO, and a handle of the whole
//! puts a request into all of them. Different owners can therefore use pieces at the same time, and
//! take turns with users of the whole, without a copy to split or to merge.
//!
//! A panic inside a writer's guard may leave the data in an inconsistent state. The FIFOs of the
//! data are then stopped, and no further request is granted.
//! # Invariants
//! 1. A guard exists only while the requests of its handle are granted in all FIFOs of its data. By
//!    invariant 2 of the FIFO, a writer's guard is alone, and a reader's guard exists only together
//!    with other readers' guards.
//! 2. The data of different pieces do not overlap. A handle of the whole is granted only if it is
//!    granted in the FIFOs of all pieces.
//! 3. The targets of the pointers live as long as `owner`.
//! 4. Two requests for the whole have the same order in all FIFOs, because a lock of the pieces is
//!    held while the requests of a handle are put in. Otherwise each of the two could wait for the
//!    other, in different FIFOs.
//! # Source
//! Handles and sections of ordered read-write locks: Clauss, Gustedt, JPDC 70(5), 2010; the split
//! is the `orwl_split` of Gustedt, Jeannot, Mansouri, Inria RR-8993, 2016, section 5.3, which
//! copies.

mod guard;
mod handle;
mod unwinding;

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};

use crossbeam_utils::CachePadded;

use crate::fifo::Fifo;
use crate::prim::{Mutex, UnsafeCell};

pub use self::guard::{Guard, Loan};
pub use self::handle::{Handle, Read, Right, Then, Write};
pub use self::unwinding::{catch, drop_in_panic, unwind};

/// Data and its FIFOs. A clone refers to the same data.
///
/// # Examples
/// ```
/// use raddle_sync::ordered::{Handle, Ordered, Read, Then, Write};
/// let number = Ordered::new(6);
/// let mut writer = Handle::<_, Write>::new(&number);
/// let mut reader = Handle::<_, Read>::new(&number);
/// writer.put_in();
/// reader.put_in();
/// assert!(reader.enter(Then::GiveBack).is_none(), "the writer comes first");
/// *writer.enter(Then::GiveBack).expect("no request is in front") *= 7;
/// assert_eq!(*reader.enter(Then::GiveBack).expect("the writer is done"), 42);
/// ```
pub struct Ordered<D: ?Sized> {
    first: NonNull<Fifo>,
    /// The FIFOs of the other pieces, if this is a whole.
    rest: NonNull<[CachePadded<Fifo>]>,
    data: NonNull<D>,
    owner: Arc<dyn Owner>,
}

/// The owner of data and FIFOs.
trait Owner: Send + Sync {
    /// Returns the lock of invariant 4, if there are pieces.
    fn asking(&self) -> Option<&Mutex<()>> {
        None
    }
}

/// A value and its FIFO. A small value shares the cache line of its FIFO, so that both change hands
/// together.
#[repr(C, align(128))]
struct Single<T> {
    fifo: Fifo,
    value: UnsafeCell<T>,
}

impl<T: Send + Sync> Owner for Single<T> {}

// SAFETY: the value is accessed only through guards (invariant 1).
unsafe impl<T: Send + Sync> Sync for Single<T> {}

/// A slice, and a FIFO for each of its pieces.
struct Pieces<T> {
    fifos: Box<[CachePadded<Fifo>]>,
    items: NonNull<[T]>,
    asking: Mutex<()>,
}

impl<T: Send + Sync> Owner for Pieces<T> {
    fn asking(&self) -> Option<&Mutex<()>> {
        Some(&self.asking)
    }
}

// SAFETY: the items are accessed only through guards (invariants 1 and 2).
unsafe impl<T: Send + Sync> Send for Pieces<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Pieces<T> {}

impl<T> Drop for Pieces<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box, and no other thread can access the pieces any more
        // (invariant 3).
        drop(unsafe { Box::from_raw(self.items.as_ptr()) });
    }
}

impl<T: Send + Sync + 'static> Ordered<T> {
    /// Creates a value with its own FIFO. Costs an allocation of at least 128 bytes.
    #[must_use]
    pub fn new(value: T) -> Self {
        let single = Arc::new(Single {
            fifo: Fifo::new(),
            value: UnsafeCell::new(value),
        });
        Self {
            first: NonNull::from(&single.fifo),
            rest: NonNull::from(&[]),
            data: single
                .value
                .with_mut(|value| NonNull::new(value).expect("values have an address")),
            owner: single,
        }
    }
}

/// Splits `items` into pieces of the given lengths. Returns the whole, and the pieces in order.
/// Costs two allocations, and copies nothing.
///
/// # Panics
/// If the lengths do not add up to that of `items`, or there are no lengths.
#[must_use]
pub fn split<T: Send + Sync + 'static>(
    items: Box<[T]>,
    lens: &[usize],
) -> (Ordered<[T]>, Vec<Ordered<[T]>>) {
    let len = items.len();
    // Checked, because a sum that wraps around would let a piece reach beyond the items.
    let sum = lens
        .iter()
        .try_fold(0, |sum: usize, &len| sum.checked_add(len));
    assert!(
        sum == Some(len),
        "the lengths of the pieces do not add up to {len} items"
    );
    let items = NonNull::new(Box::into_raw(items)).expect("boxes have an address");
    let owner = Arc::new(Pieces {
        fifos: lens.iter().map(|_| CachePadded::default()).collect(),
        items,
        asking: Mutex::new(()),
    });
    let (first, rest) = owner
        .fifos
        .split_first()
        .expect("there is at least one piece");
    let place = |first: &Fifo, rest: &[CachePadded<Fifo>], data| Ordered {
        first: NonNull::from(first),
        rest: NonNull::from(rest),
        data,
        owner: Arc::clone(&owner) as Arc<dyn Owner>,
    };
    let mut start = 0;
    let pieces = lens.iter().zip(&owner.fifos).map(|(&len, fifo)| {
        // SAFETY: the piece is within the items, because the lengths add up to theirs.
        let begin = unsafe { items.cast::<T>().add(start) };
        start += len;
        place(fifo, &[], NonNull::slice_from_raw_parts(begin, len))
    });
    let pieces = pieces.collect();
    (place(first, rest, items), pieces)
}

impl<D: ?Sized> Ordered<D> {
    /// Returns the FIFO of the data, or of the first piece.
    #[inline]
    fn first(&self) -> &Fifo {
        // SAFETY: `owner` keeps the FIFO (invariant 3).
        unsafe { self.first.as_ref() }
    }

    /// Returns the FIFOs of the other pieces.
    #[inline]
    fn rest(&self) -> &[CachePadded<Fifo>] {
        // SAFETY: `owner` keeps the FIFOs (invariant 3), or the slice is empty.
        unsafe { self.rest.as_ref() }
    }

    /// Returns a guard to hold while requests are put into the FIFOs of several pieces (invariant
    /// 4). Nothing else is called meanwhile.
    fn ask(&self) -> impl Sized + '_ {
        let asking = self.owner.asking();
        // If a full FIFO panicked under the lock, it has left no inconsistent state
        // (`Handle::put_in`).
        asking.map(|asking| asking.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stops granting requests permanently, and wakes all waiting threads.
    pub fn stop(&self) {
        self.first().stop();
        for fifo in self.rest() {
            fifo.stop();
        }
    }

    /// Returns true if [`stop`](Self::stop) was called, or a writer's guard was dropped in a panic.
    pub fn is_stopped(&self) -> bool {
        self.first().is_stopped() || self.rest().iter().any(|fifo| fifo.is_stopped())
    }

    /// Returns the number of pieces of a whole, or 1 for other data.
    #[must_use]
    pub fn piece_count(&self) -> usize {
        1 + self.rest().len()
    }
}

impl<D: ?Sized> Clone for Ordered<D> {
    fn clone(&self) -> Self {
        Self {
            first: self.first,
            rest: self.rest,
            data: self.data,
            owner: Arc::clone(&self.owner),
        }
    }
}

// SAFETY: the data moves from thread to thread under a guard, and only readers' guards share it
// (invariant 1).
unsafe impl<D: ?Sized + Send + Sync> Send for Ordered<D> {}
// SAFETY: as above.
unsafe impl<D: ?Sized + Send + Sync> Sync for Ordered<D> {}

impl<D: ?Sized> fmt::Debug for Ordered<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Ordered")
            .field("first", self.first())
            .field("piece_count", &self.piece_count())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
