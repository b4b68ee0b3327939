//! A variable of which each thread has a value of its own, reached without a lock, an atomic or a hash.
//!
//! Every thread has a table with an entry for each variable that it uses; a variable knows its index there. The values belong to the
//! variable: they stay when their threads end, they are read when nobody can be using them, and they are dropped with it. What entries
//! of a dropped variable point to is never looked at, since an entry also says whose it is, by a number that is given once.
//!
//! There is no memory ordering to choose: what ends the threads' borrows of the variable, so that somebody may have it to himself,
//! also orders what they did before what he does.
//!
//! # Invariants
//! 1. An entry with the number of a variable was made for it by the thread whose table it is in, and points to a slot that lives as
//!    long as the variable. No two entries point to the same slot.
//! 2. A slot is touched by the thread whose entry points to it, in `with`, which borrows the variable; or by who has the variable
//!    mutably. The borrows exclude each other.
//! 3. Within its thread a value is borrowed once at a time: `in_use` says so.

mod place;

use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use self::place::Place;
use crate::prim::{Mutex, UnsafeCell};

/// A value for each thread that asks for one.
pub struct PerThread<T> {
    place: Place,
    /// In the order in which the threads came.
    slots: Mutex<Vec<Arc<CachePadded<Slot<T>>>>>,
}

/// One thread's value, on cache lines of its own.
#[derive(Default)]
struct Slot<T> {
    in_use: Cell<bool>,
    value: UnsafeCell<T>,
}

// SAFETY: a value is made and used on one thread, and goes to another only with the variable (invariant 2).
unsafe impl<T: Send> Sync for PerThread<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for PerThread<T> {}

impl<T> fmt::Debug for PerThread<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PerThread").finish_non_exhaustive()
    }
}

impl<T> Default for PerThread<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> PerThread<T> {
    /// A variable of which no thread has a value yet.
    pub fn new() -> Self {
        Self {
            place: Place::new(),
            slots: Mutex::new(Vec::new()),
        }
    }

    /// All values so far, in the order in which their threads came.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let slots = self.slots.lock().expect("nothing panics under this lock");
        let slots = slots.clone();
        slots.into_iter().map(|slot| {
            // SAFETY: nobody else has the variable (invariant 2), each slot comes once, and the variable keeps them.
            slot.value.with_mut(|value| unsafe { &mut *value })
        })
    }

    /// As [`values_mut`](Self::values_mut), with the values themselves.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        let slots = self.slots.into_inner();
        let slots = slots.expect("nothing panics under this lock");
        slots.into_iter().map(|slot| {
            let slot = Arc::into_inner(slot).expect("only the variable keeps its slots");
            slot.into_inner().value.into_inner()
        })
    }
}

impl<T: Default> PerThread<T> {
    /// Calls `change` with the calling thread's value. Cost: about a nanosecond; the first time, an allocation and a lock.
    ///
    /// # Panics
    /// When the thread is inside such a call for the same variable, or is about to end and has lost its table.
    #[inline]
    #[track_caller]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let slot = match self.place.find() {
            Some(slot) => slot.cast(),
            None => self.make_slot(),
        };
        // SAFETY: our thread's slot, which lives as long as the variable (invariant 1), which we borrow.
        let slot: &CachePadded<Slot<T>> = unsafe { slot.as_ref() };
        let _in_use = slot.enter();
        // SAFETY: ours (invariant 2), and borrowed by nobody on this thread (invariant 3).
        slot.value.with_mut(|value| change(unsafe { &mut *value }))
    }

    #[cold]
    fn make_slot(&self) -> NonNull<CachePadded<Slot<T>>> {
        let made = Arc::<CachePadded<Slot<T>>>::default();
        let slot = NonNull::from(&*made);
        let mut slots = self.slots.lock().expect("nothing panics under this lock");
        slots.push(made);
        self.place.enter(slot.cast());
        slot
    }
}

impl<T> Slot<T> {
    #[inline]
    #[track_caller]
    fn enter(&self) -> InUse<'_> {
        if self.in_use.replace(true) {
            refuse_nested();
        }
        InUse(&self.in_use)
    }
}

#[cold]
#[track_caller]
fn refuse_nested() -> ! {
    panic!("this thread's value is in use already: its uses must not be nested");
}

/// A value is in use until this is dropped, be it by a panic.
struct InUse<'slot>(&'slot Cell<bool>);

impl Drop for InUse<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.set(false);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
