//! A variable with one value per thread, accessed without a lock, an atomic or a hash.
//!
//! A value is stored in a *slot*. The slots belong to the variable: they stay when their threads
//! end, they are read when no thread can be using them, and they are dropped with the variable.
//! Each thread has a small table (`place`) with pointers to its slots. A use that finds its slot
//! there costs a few instructions more than a plain thread-local variable. Any other use looks the
//! slot up under the variable's lock.
//!
//! The table has no destructor, and uses do not rely on one. A variable can therefore be used as
//! long as the thread runs, even in the destructors of thread-local variables.
//!
//! No memory ordering has to be chosen. One thread can have the variable mutably only after the
//! other threads' borrows have ended, and whatever ends them also orders their accesses before
//! those of that thread.
//!
//! # Invariants
//! 1. A table entry that is not null points to the slot of this thread for the variable with the
//!    index of the entry. The slot lives as long as the variable, and contains an initialised value
//!    that is not in use.
//! 2. A slot is accessed by its thread, in `try_with`, which borrows the variable, or by the thread
//!    that has the variable mutably. These borrows exclude each other.
//! 3. Within its thread a value is borrowed once at a time. During a use that found its entry, the
//!    entry is null although `is_entered` is set. During any other use, `in_use` is set, and no
//!    entry points to the slot.

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

/// A variable with a value for each thread that asks for one.
pub struct PerThread<T> {
    /// Declared before the slots, so that it clears the entries before the slots are dropped.
    place: Place,
    slots: Mutex<Slots<T>>,
}

/// The error of a use that was refused because the thread is inside another use of its value.
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
    /// All slots, in the order of the first uses of their threads.
    all: Vec<Arc<CachePadded<Slot<T>>>>,
    /// The index of each thread's slot, by the thread's number.
    of_threads: BTreeMap<u64, usize>,
}

/// The value of one thread, on separate cache lines.
struct Slot<T> {
    in_use: Cell<bool>,
    /// Set if the thread's table has an entry for the slot, unless the thread has closed the table.
    is_entered: Cell<bool>,
    is_made: Cell<bool>,
    /// The value; initialised if `is_made`.
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: a value is created and used on one thread, and moves to another only with the variable
// (invariant 2).
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
    /// Creates a variable without values.
    pub fn new() -> Self {
        Self {
            place: Place::new(),
            slots: Mutex::new(Slots {
                all: Vec::new(),
                of_threads: BTreeMap::new(),
            }),
        }
    }

    /// Calls `change` with the calling thread's value. If there is none yet, `make` creates it
    /// first.
    ///
    /// Takes about a nanosecond if the variable is one of the first 255 live ones. For further
    /// variables, each use takes a lock and searches. So does every use in a thread that is about
    /// to end. The first use in a thread allocates.
    ///
    /// # Errors
    /// [`ValueInUse`] if the thread is inside such a call for the same variable. Neither closure is
    /// called then.
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
            // SAFETY: the slot of this thread, which lives as long as the variable (invariant 1);
            // the variable is borrowed here.
            let slot: &Slot<T> = unsafe { &*slot.cast() };
            Ok(slot.value.with_mut(|value| {
                // SAFETY: this thread's slot (invariant 2), borrowed nowhere else on it (invariant
                // 3).
                let value = unsafe { &mut *value };
                // SAFETY: the value was created before the entry (invariant 1).
                use_marked(unsafe { value.assume_init_mut() }, entry, change)
            }))
        })
    }

    /// Uses the value when the thread has no entry for it: the variable is new to the thread, has
    /// no index, or is in use, or the thread has closed its table.
    #[cold]
    fn try_with_slow<R>(
        &self,
        make: impl FnOnce() -> T,
        change: impl FnOnce(&mut T) -> R,
    ) -> Result<R, ValueInUse> {
        let slot = self.own_slot();
        // An entry exists but was not found, so it is marked as in use.
        let is_marked = slot.is_entered.get() && !is_table_closed();
        if slot.in_use.get() || is_marked {
            return Err(ValueInUse);
        }
        // The value is created, and changed for the first time, while no entry points to the slot.
        let result = {
            slot.in_use.set(true);
            let _end = EndUse(&slot.in_use);
            slot.value.with_mut(|value| {
                // SAFETY: this thread's slot (invariant 2), borrowed nowhere else on it (invariant
                // 3).
                let value = unsafe { &mut *value };
                if !slot.is_made.get() {
                    value.write(make());
                    slot.is_made.set(true);
                }
                // SAFETY: created above or earlier.
                change(unsafe { value.assume_init_mut() })
            })
        };
        // Later uses find the slot at once, if the table has an entry for it.
        let pointer = ptr::from_ref::<Slot<T>>(&slot).cast();
        let is_entered = with_table(|table| table.enter(&self.place, pointer));
        slot.is_entered.set(is_entered);
        Ok(result)
    }

    /// Returns the calling thread's slot. Creates it if there is none.
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

    /// Returns all values so far, in the order of the first uses of their threads.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let slots = self.slots.lock().expect("nothing panics under this lock");
        let slots = slots.all.clone();
        slots
            .into_iter()
            .filter(|slot| slot.is_made.get())
            .map(|slot| {
                slot.value.with_mut(|value| {
                    // SAFETY: the variable is borrowed mutably (invariant 2), each slot occurs
                    // once, and the variable keeps the slots.
                    let value = unsafe { &mut *value };
                    // SAFETY: the filter has checked that the value is initialised.
                    unsafe { value.assume_init_mut() }
                })
            })
    }

    /// Consumes the variable and returns the values themselves, in the order of
    /// [`values_mut`](Self::values_mut).
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

    /// Takes the value, if there is one. Only the caller accesses the slot, because the variable is
    /// dropped or borrowed mutably.
    fn take(&self) -> Option<T> {
        self.is_made.replace(false).then(|| {
            self.value.with_mut(|value| {
                // SAFETY: no other code accesses the slot.
                let value = unsafe { &*value };
                // SAFETY: the value was initialised, and is taken once.
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
/// `value` is an argument so that the compiler knows that it does not overlap the entry. If the
/// compiler then sees that `change` does nothing else, it omits the marking. The two stores would
/// cost as much as everything else.
#[inline]
fn use_marked<T, R>(value: &mut T, entry: Entry<'_>, change: impl FnOnce(&mut T) -> R) -> R {
    let _marked = entry.mark();
    change(value)
}

/// A guard: a slot is in use until this is dropped, even by a panic.
struct EndUse<'slot>(&'slot Cell<bool>);

impl Drop for EndUse<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
