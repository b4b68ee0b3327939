//! Where a thread finds its slots: a table of the variables that it used last.
//!
//! A variable has an index, the smallest that no other variable has, and a number, which is given once. Variables whose
//! indices are equal modulo [`ENTRY_COUNT`] share an entry of each table: the entry belongs to the variable that was entered
//! last. Only a program with more variables than entries ever has two that share one.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ptr;

use crate::prim::{Mutex, thread_local};

/// Entries in the table of each thread: as many as a byte can tell apart.
pub(super) const ENTRY_COUNT: usize = 1 << u8::BITS;

/// The word of an entry whose slot is in use, and of one that has no slot. No variable has it.
const MARKED: u64 = 0;

/// A variable's index, its own until it is dropped, and its word, its own for ever.
pub(super) struct Place {
    index: usize,
    /// The variable's number, and behind it the lowest byte of the index: one load gets both.
    word: u64,
}

/// The entry in which the calling thread found a slot.
pub(super) struct Entry<'table> {
    word: &'table Cell<u64>,
    found: u64,
}

/// An entry is marked as in use until this is dropped, be it by a panic.
pub(super) struct Marked<'table>(Entry<'table>);

impl<'table> Entry<'table> {
    #[inline]
    pub(super) fn mark(self) -> Marked<'table> {
        self.word.set(MARKED);
        Marked(self)
    }
}

impl Drop for Marked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.word.set(self.0.found);
    }
}

impl Place {
    pub(super) fn new() -> Self {
        GIVEN.lock().expect("nothing panics under this lock").give()
    }
}

/// The index of a variable's entry.
#[inline]
fn entry_index(place: &Place) -> usize {
    place.word as usize % ENTRY_COUNT
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut given = GIVEN.lock().expect("nothing panics under this lock");
        given.free.insert(self.index);
    }
}

/// One thread's entries. Words and slots lie apart, since an index of eight bytes each costs no multiplication.
pub(super) struct Table {
    /// That of the variable whose slot it is; [`MARKED`] while that is in use.
    words: [Cell<u64>; ENTRY_COUNT],
    /// Null where there never was one.
    slots: [Cell<*const ()>; ENTRY_COUNT],
}

impl Table {
    const fn new() -> Self {
        Self {
            words: [const { Cell::new(MARKED) }; ENTRY_COUNT],
            slots: [const { Cell::new(ptr::null()) }; ENTRY_COUNT],
        }
    }

    /// The thread's slot of a variable, if its entry says where it is and it is not in use.
    #[inline]
    pub(super) fn find(&self, place: &Place) -> Option<(*const (), Entry<'_>)> {
        let index = entry_index(place);
        let (word, slot) = (&self.words[index], self.slots[index].get());
        let found = word.get();
        (found == place.word).then_some((slot, Entry { word, found }))
    }

    /// True when the thread is in a use of `slot`, which found it by its entry.
    pub(super) fn is_in_use(&self, place: &Place, slot: *const ()) -> bool {
        let index = entry_index(place);
        self.words[index].get() == MARKED && self.slots[index].get() == slot
    }

    /// Makes an entry for a variable, unless the entry is needed for one that is in use.
    pub(super) fn enter(&self, place: &Place, slot: *const ()) {
        let index = entry_index(place);
        let is_needed = self.words[index].get() == MARKED && !self.slots[index].get().is_null();
        if !is_needed {
            self.slots[index].set(slot);
            self.words[index].set(place.word);
        }
    }
}

/// Calls `call` with the calling thread's table.
#[inline]
pub(super) fn with_table<R>(call: impl FnOnce(&Table) -> R) -> R {
    TABLE.with(call)
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
        let word = self.numbers << u8::BITS | (index % ENTRY_COUNT) as u64;
        Place { index, word }
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
