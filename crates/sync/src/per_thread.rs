//! A variable of which each thread has a value of its own, reached without a lock, an atomic or a hash.
//!
//! A value lies in a *slot*. The slots belong to the variable: they stay when their threads end, they are read when no thread
//! can be using them, and they are dropped with the variable. Each thread has a small table (`place`) that says where its
//! slots are. A use that finds its slot there costs a few instructions more than a
//! plain thread-local variable. Any other use looks for the slot under the variable's lock.
//!
//! The table has no destructor, and a use does not need it. A variable can therefore be used as long as the thread runs, in the destructors
//! of thread-local variables as well.
//!
//! There is no memory ordering to choose: what ends the threads' borrows of the variable, so that one thread can have the
//! variable mutably, also orders what they did before what that thread does.
//!
//! # Invariants
//! 1. An entry of a table that is not null points to the slot of this thread and of the variable that has the entry's index. The
//!    slot lives as long as the variable, and holds a value that is made and not in use.
//! 2. A slot is touched by its thread, in `try_with`, which borrows the variable; or by the thread that has the variable mutably.
//!    The borrows exclude each other.
//! 3. Within its thread a value is borrowed once at a time. While a use that found its entry lasts, the entry is null though
//!    `is_entered` is set. While another use lasts, `in_use` is set, and no entry points to the slot.

mod place;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use self::place::{Entry, Place, is_table_closed, thread_number, with_table};
use crate::prim::{Mutex, UnsafeCell};

/// A value for each thread that asks for one.
pub struct PerThread<T> {
    /// Before the slots, so that it clears the entries before these are dropped.
    place: Place,
    slots: Mutex<Slots<T>>,
}

/// A use of a value was refused because the thread is inside another use of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueInUse;

impl fmt::Display for ValueInUse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("this thread's value is in use already: its uses must not be nested")
    }
}

impl std::error::Error for ValueInUse {}

/// The slots of one variable.
struct Slots<T> {
    /// In the order in which the threads came.
    all: Vec<Arc<CachePadded<Slot<T>>>>,
    /// The index of each thread's slot, by the thread's number.
    of_threads: BTreeMap<u64, usize>,
}

/// One thread's value, on cache lines of its own.
struct Slot<T> {
    in_use: Cell<bool>,
    /// The thread's table has an entry for it, until the thread closes the table.
    is_entered: Cell<bool>,
    is_made: Cell<bool>,
    /// Initialised if `is_made`.
    value: UnsafeCell<MaybeUninit<T>>,
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
            slots: Mutex::new(Slots {
                all: Vec::new(),
                of_threads: BTreeMap::new(),
            }),
        }
    }

    /// Calls `change` with the calling thread's value, which `make` makes first if there is none.
    ///
    /// Takes about a nanosecond if the variable is one of the first 255 that live. Any more variables take a lock and
    /// search with each use, and so does every use in a thread that is about to end. The first use of a thread allocates.
    ///
    /// # Errors
    /// [`ValueInUse`] when the thread is inside such a call for the same variable. Neither closure is called then.
    #[inline]
    pub fn try_with<R>(
        &self,
        make: impl FnOnce() -> T,
        change: impl FnOnce(&mut T) -> R,
    ) -> Result<R, ValueInUse> {
        with_table(|table| {
            let Some((slot, entry)) = table.find(&self.place) else {
                return self.try_with_slow(make, change);
            };
            // SAFETY: our thread's slot, which lives as long as the variable (invariant 1), which we borrow.
            let slot: &Slot<T> = unsafe { &*slot.cast() };
            Ok(slot.value.with_mut(|value| {
                // SAFETY: ours (invariant 2), and borrowed nowhere else on this thread (invariant 3).
                let value = unsafe { &mut *value };
                // SAFETY: made before the entry was (invariant 1).
                use_marked(unsafe { value.assume_init_mut() }, entry, change)
            }))
        })
    }

    /// A use whose entry has to be made first, or cannot be: the variable is new to the thread, has lost its entry to
    /// another, or is in use.
    #[cold]
    fn try_with_slow<R>(
        &self,
        make: impl FnOnce() -> T,
        change: impl FnOnce(&mut T) -> R,
    ) -> Result<R, ValueInUse> {
        let slot = self.own_slot();
        // An entry that is there and was not found is marked.
        let is_marked = slot.is_entered.get() && !is_table_closed();
        if slot.in_use.get() || is_marked {
            return Err(ValueInUse);
        }
        // The value is made, and changed for the first time, while no entry points to the slot.
        let result = {
            slot.in_use.set(true);
            let _end = EndUse(&slot.in_use);
            slot.value.with_mut(|value| {
                // SAFETY: ours (invariant 2), and borrowed nowhere else on this thread (invariant 3).
                let value = unsafe { &mut *value };
                if !slot.is_made.get() {
                    value.write(make());
                    slot.is_made.set(true);
                }
                // SAFETY: made just now or earlier.
                change(unsafe { value.assume_init_mut() })
            })
        };
        // Later uses find it at once, if there is an entry for it.
        let pointer = ptr::from_ref::<Slot<T>>(&slot).cast();
        let is_entered = with_table(|table| table.enter(&self.place, pointer));
        slot.is_entered.set(is_entered);
        Ok(result)
    }

    /// The calling thread's slot, made by this call if there is none.
    fn own_slot(&self) -> Arc<CachePadded<Slot<T>>> {
        let thread = thread_number();
        let mut slots = self.slots.lock().expect("nothing panics under this lock");
        if let Some(&index) = slots.of_threads.get(&thread) {
            return Arc::clone(&slots.all[index]);
        }
        let slot = Arc::new(CachePadded::new(Slot::new()));
        let index = slots.all.len();
        slots.of_threads.insert(thread, index);
        slots.all.push(Arc::clone(&slot));
        slot
    }

    /// All values so far, in the order in which their threads came.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let slots = self.slots.lock().expect("nothing panics under this lock");
        let slots = slots.all.clone();
        slots
            .into_iter()
            .filter(|slot| slot.is_made.get())
            .map(|slot| {
                slot.value.with_mut(|value| {
                    // SAFETY: nothing else has the variable (invariant 2), each slot comes once, and the variable keeps them.
                    let value = unsafe { &mut *value };
                    // SAFETY: the filter has seen that it is made.
                    unsafe { value.assume_init_mut() }
                })
            })
    }

    /// As [`values_mut`](Self::values_mut), with the values themselves.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        let slots = self.slots.into_inner();
        let slots = slots.expect("nothing panics under this lock").all;
        slots.into_iter().filter_map(|slot| slot.take())
    }
}

impl<T> Slot<T> {
    fn new() -> Self {
        Self {
            in_use: Cell::new(false),
            is_entered: Cell::new(false),
            is_made: Cell::new(false),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// The value, if there is one. The caller alone has the slot: the variable is gone or borrowed mutably.
    fn take(&self) -> Option<T> {
        self.is_made.replace(false).then(|| {
            self.value.with_mut(|value| {
                // SAFETY: nothing else touches the slot.
                let value = unsafe { &*value };
                // SAFETY: it was made, and is taken once.
                unsafe { value.assume_init_read() }
            })
        })
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Calls `change` while `entry` is marked (invariant 3).
///
/// `value` is an argument so that the compiler knows that it does not overlap the entry. If it then sees that
/// `change` does nothing else, it leaves the marking out: the two stores would cost as much as everything else.
#[inline]
fn use_marked<T, R>(value: &mut T, entry: Entry<'_>, change: impl FnOnce(&mut T) -> R) -> R {
    let _marked = entry.mark();
    change(value)
}

/// A slot is in use until this is dropped, be it by a panic.
struct EndUse<'slot>(&'slot Cell<bool>);

impl Drop for EndUse<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
