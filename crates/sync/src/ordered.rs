//! Data that is reached only through granted requests: a value behind a FIFO, or a slice in pieces that have one each.
//!
//! A [`Handle`] has the right to read or to write written into its type. It puts requests into the FIFO of its data; when one is granted,
//! [`Handle::enter`] gives out a [`Guard`], the only way to the data, and when the guard goes the request is given back or
//! renewed. The compiler sees to it that nothing of the data is kept beyond the guard.
//!
//! A slice [in pieces](split) lies in memory once. Each piece has its FIFO; a handle of the whole asks in all of them. So
//! pieces are used at the same time by different owners, and whole and pieces take turns, without a copy to split or to merge.
//!
//! A panic inside a writer's guard leaves the data in nobody knows what state: its FIFOs are stopped, and nobody is granted it any more.
//! # Invariants
//! 1. A guard exists only while the requests of its handle are granted in all FIFOs of its data; with the FIFO's invariant 2: a writer's
//!    guard is alone, and readers' guards are with readers only.
//! 2. Data of different pieces does not overlap, and whoever has the whole is granted in the FIFOs of all pieces.
//! 3. What the pointers point to lives as long as `owner`.
//! 4. Of two requests for the whole, one is in front of the other in all FIFOs: a lock of the pieces is held while the requests
//!    of one go in. Else each of two could wait for the other, in different FIFOs.
//! # Source
//! Handles and sections of ordered read-write locks: Clauss, Gustedt, JPDC 70(5), 2010; the split is the `orwl_split` of Gustedt,
//! Jeannot, Mansouri, Inria RR-8993, 2016, section 5.3, which copies.

mod guard;
mod handle;
mod leaving;

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};

use crossbeam_utils::CachePadded;

use crate::fifo::Fifo;
use crate::prim::{Mutex, UnsafeCell};

pub use self::guard::{Guard, Loan};
pub use self::handle::{Handle, Read, Right, Then, Write};
pub use self::leaving::{catch, drop_in_panic, leave};

/// Data and its FIFOs. A clone is the same data.
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
/// *writer.enter(Then::GiveBack).expect("nobody is in front") *= 7;
/// assert_eq!(*reader.enter(Then::GiveBack).expect("the writer has gone"), 42);
/// ```
pub struct Ordered<D: ?Sized> {
    first: NonNull<Fifo>,
    /// The FIFOs of the other pieces, where this is a whole.
    rest: NonNull<[CachePadded<Fifo>]>,
    data: NonNull<D>,
    owner: Arc<dyn Owner>,
}

/// What keeps data and FIFOs.
trait Owner: Send + Sync {
    /// The lock of invariant 4, where there are pieces.
    fn asking(&self) -> Option<&Mutex<()>> {
        None
    }
}

/// A value; a small one lies in the cache line of its FIFO, so that both change hands at once.
#[repr(C, align(128))]
struct Single<T> {
    fifo: Fifo,
    value: UnsafeCell<T>,
}

impl<T: Send + Sync> Owner for Single<T> {}

// SAFETY: the value is reached through guards alone (invariant 1).
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

// SAFETY: the items are reached through guards alone (invariants 1 and 2).
unsafe impl<T: Send + Sync> Send for Pieces<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Pieces<T> {}

impl<T> Drop for Pieces<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box, and nobody else has the pieces any more (invariant 3).
        drop(unsafe { Box::from_raw(self.items.as_ptr()) });
    }
}

impl<T: Send + Sync + 'static> Ordered<T> {
    /// A value with a FIFO of its own. Cost: an allocation of at least 128 bytes.
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
                .with_mut(|value| NonNull::new(value).expect("values have a place")),
            owner: single,
        }
    }
}

/// Cuts `items` into pieces of the given lengths; returns the whole, and the pieces in their order. Cost: two allocations; nothing is copied.
///
/// # Panics
/// When the lengths are not those of the items together, or there are none.
#[must_use]
pub fn split<T: Send + Sync + 'static>(
    items: Box<[T]>,
    lens: &[usize],
) -> (Ordered<[T]>, Vec<Ordered<[T]>>) {
    let len = items.len();
    // Checked, since a sum that wraps would let a piece reach beyond the items.
    let sum = lens
        .iter()
        .try_fold(0, |sum: usize, &len| sum.checked_add(len));
    assert!(
        sum == Some(len),
        "pieces of {len} items have that many together"
    );
    let items = NonNull::new(Box::into_raw(items)).expect("boxes have a place");
    let owner = Arc::new(Pieces {
        fifos: lens.iter().map(|_| CachePadded::default()).collect(),
        items,
        asking: Mutex::new(()),
    });
    let (first, rest) = owner
        .fifos
        .split_first()
        .expect("there is a piece at least");
    let place = |first: &Fifo, rest: &[CachePadded<Fifo>], data| Ordered {
        first: NonNull::from(first),
        rest: NonNull::from(rest),
        data,
        owner: Arc::clone(&owner) as Arc<dyn Owner>,
    };
    let mut start = 0;
    let pieces = lens.iter().zip(&owner.fifos).map(|(&len, fifo)| {
        // SAFETY: the piece lies within the items, since the lengths add up to theirs.
        let begin = unsafe { items.cast::<T>().add(start) };
        start += len;
        place(fifo, &[], NonNull::slice_from_raw_parts(begin, len))
    });
    let pieces = pieces.collect();
    (place(first, rest, items), pieces)
}

impl<D: ?Sized> Ordered<D> {
    /// The FIFO of the data, or of the first piece.
    #[inline]
    fn first(&self) -> &Fifo {
        // SAFETY: `owner` keeps it (invariant 3).
        unsafe { self.first.as_ref() }
    }

    /// The FIFOs of the other pieces.
    #[inline]
    fn rest(&self) -> &[CachePadded<Fifo>] {
        // SAFETY: `owner` keeps them (invariant 3), or the slice is empty.
        unsafe { self.rest.as_ref() }
    }

    /// Held while requests go into the FIFOs of several pieces (invariant 4). Nothing else is called meanwhile.
    fn ask(&self) -> impl Sized + '_ {
        let asking = self.owner.asking();
        // A FIFO that was full has left nothing half done (`Handle::put_in`).
        asking.map(|asking| asking.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stops granting for ever, and wakes all that wait.
    pub fn stop(&self) {
        self.first().stop();
        for fifo in self.rest() {
            fifo.stop();
        }
    }

    /// True when [`stop`](Self::stop) was called, or a writer's guard went in a panic.
    pub fn is_stopped(&self) -> bool {
        self.first().is_stopped() || self.rest().iter().any(|fifo| fifo.is_stopped())
    }

    /// Pieces of a whole; 1 for others.
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

// SAFETY: the data goes from thread to thread under a guard, and is shared by readers' guards (invariant 1).
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
