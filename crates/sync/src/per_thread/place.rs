//! Where a thread finds its slots: a table of the variables that it used last.
//!
//! A variable has an index, the smallest that no other variable has, and a number, which is given once. Variables whose
//! indices are equal modulo [`ENTRY_COUNT`] share an entry of each table: the entry belongs to the variable that was entered
//! last. Only a program with more variables than entries ever has two that share one.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ptr;

use crate::prim::{LIGHT, Mutex, thread_local};

/// Entries in the table of each thread.
pub(super) const ENTRY_COUNT: usize = if LIGHT { 2 } else { 64 };

/// The number in an entry whose slot is in use, and in one that has no slot. No variable has it.
const MARKED: u64 = 0;

/// A variable's index, its own until it is dropped, and its number, its own for ever.
pub(super) struct Place {
    index: usize,
    number: u64,
}

/// A slot that was found. Its entry is marked as in use until this is dropped, be it by a panic.
pub(super) struct Found {
    /// Not null. As a pointer it also keeps this on the thread whose table it is.
    pub(super) slot: *const (),
    index: usize,
    number: u64,
}

impl Drop for Found {
    #[inline]
    fn drop(&mut self) {
        TABLE.with(|table| table.entry(self.index).number.set(self.number));
    }
}

impl Place {
    pub(super) fn new() -> Self {
        GIVEN.lock().expect("nothing panics under this lock").give()
    }

    /// The calling thread's slot of this variable, if its entry says where it is and it is not in use.
    #[inline]
    pub(super) fn find(&self) -> Option<Found> {
        let (index, number) = (self.index, self.number);
        TABLE.with(|table| {
            let entry = table.entry(index);
            if entry.number.get() != number {
                return None;
            }
            entry.number.set(MARKED);
            Some(Found {
                slot: entry.slot.get(),
                index,
                number,
            })
        })
    }

    /// True when the calling thread is in a use of `slot`, which found it by its entry.
    pub(super) fn is_in_use(&self, slot: *const ()) -> bool {
        TABLE.with(|table| {
            let entry = table.entry(self.index);
            entry.number.get() == MARKED && entry.slot.get() == slot
        })
    }

    /// Makes the calling thread's entry for this variable, unless the entry is needed for one that is in use.
    pub(super) fn enter(&self, slot: *const ()) {
        TABLE.with(|table| {
            let entry = table.entry(self.index);
            let is_needed = entry.number.get() == MARKED && !entry.slot.get().is_null();
            if !is_needed {
                entry.slot.set(slot);
                entry.number.set(self.number);
            }
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut given = GIVEN.lock().expect("nothing panics under this lock");
        given.free.insert(self.index);
    }
}

/// Where a thread's slot of one variable is.
struct Entry {
    /// That of the variable; [`MARKED`] while the slot is in use.
    number: Cell<u64>,
    /// Null in an entry that was never used.
    slot: Cell<*const ()>,
}

/// One thread's entries.
struct Table([Entry; ENTRY_COUNT]);

impl Table {
    const fn new() -> Self {
        Self(
            [const {
                Entry {
                    number: Cell::new(MARKED),
                    slot: Cell::new(ptr::null()),
                }
            }; ENTRY_COUNT],
        )
    }

    #[inline]
    fn entry(&self, index: usize) -> &Entry {
        &self.0[index % ENTRY_COUNT]
    }
}

/// The number of the calling thread, from 1. No two threads ever have the same.
pub(super) fn thread_number() -> u64 {
    THREAD.with(|thread| {
        if thread.get() == 0 {
            let mut given = GIVEN.lock().expect("nothing panics under this lock");
            given.threads += 1;
            thread.set(given.threads);
        }
        thread.get()
    })
}

/// The places that variables have, and those that they had.
struct Given {
    /// So many threads have a number, from 1.
    threads: u64,
    /// So many numbers were given, from 1.
    numbers: u64,
    /// So many indices were given, from 0,
    indices: usize,
    /// and these of them are free now.
    free: BTreeSet<usize>,
}

impl Given {
    const fn new() -> Self {
        Self {
            threads: 0,
            numbers: 0,
            indices: 0,
            free: BTreeSet::new(),
        }
    }

    fn give(&mut self) -> Place {
        self.numbers += 1;
        let index = self.free.pop_first().unwrap_or_else(|| {
            self.indices += 1;
            self.indices - 1
        });
        Place {
            index,
            number: self.numbers,
        }
    }
}

// Neither has a destructor: both are there in the destructors of other thread-local variables.
#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static TABLE: Table = const { Table::new() };
    /// The thread's number; 0 until it has one.
    static THREAD: Cell<u64> = const { Cell::new(0) };
}
#[cfg(any(loom, shuttle))]
thread_local! {
    static TABLE: Table = Table::new();
    static THREAD: Cell<u64> = Cell::new(0);
}

#[cfg(not(any(loom, shuttle)))]
static GIVEN: Mutex<Given> = Mutex::new(Given::new());
// In a model every execution begins with none.
#[cfg(loom)]
loom::lazy_static! {
    static ref GIVEN: Mutex<Given> = Mutex::new(Given::new());
}
#[cfg(shuttle)]
shuttle::lazy_static! {
    static ref GIVEN: Mutex<Given> = Mutex::new(Given::new());
}
