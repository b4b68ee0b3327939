//! Where a thread finds its slots: a table with an entry for each variable, which is a pointer and nothing else.
//!
//! A variable has an index, its own as long as it lives, unless too many variables live: then it has none, and is
//! always looked for under its lock. An entry is null when the thread has no slot of the variable, or when the slot is in
//! use. What is found without a look at whose it is has to be gone when the next variable gets the index. So a
//! variable that is dropped clears the entries of all threads that have one.
//!
//! # Invariants
//! 1. An entry of a table is written by its thread; by the one that drops the variable with that index; and at the end of its
//!    thread. The last two hold the lock of [`Given`].
//! 2. A table in `Given` is that of a thread that runs in this process. The tables of threads that have ended, or that fork(2) has not
//!    brought along, have left `Given`, and their entries are null or never read again.
//!
//! No two accesses of an entry race. Its thread reads and writes it in a use of the variable, which borrows the variable. That is ordered
//! before the drop, since a thread that drops it has it alone; and after the drop of the one before it at this index, since the
//! index comes from `Given`.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ptr;

use crate::prim::{Mutex, count_forks, fork_count, thread_local};

/// Entries in the table of each thread: as many as a byte can tell apart.
pub(super) const ENTRY_COUNT: usize = 1 << u8::BITS;
/// The index of variables that have none. Its entries are always null.
const NO_INDEX: u8 = u8::MAX;
/// Models have no entries: a use always takes the lock, which a model can see.
const HAS_ENTRIES: bool = !cfg!(any(loom, shuttle));

/// A variable's index, and the numbers of the threads that have an entry there.
pub(super) struct Place {
    index: u8,
    threads: Mutex<Vec<u64>>,
}

/// The entry in which the calling thread found a slot.
pub(super) struct Entry<'table> {
    place: &'table Cell<*const ()>,
    slot: *const (),
}

/// An entry is marked as in use until this is dropped, be it by a panic.
pub(super) struct Marked<'table>(Entry<'table>);

impl<'table> Entry<'table> {
    #[inline]
    pub(super) fn mark(self) -> Marked<'table> {
        self.place.set(ptr::null());
        Marked(self)
    }
}

impl Drop for Marked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.place.set(self.0.slot);
    }
}

impl Place {
    pub(super) fn new() -> Self {
        let index = with_given(|given| {
            given.free.pop_first().unwrap_or_else(|| {
                let index = given.next;
                given.next = index.saturating_add(1);
                index
            })
        });
        Self {
            index,
            threads: Mutex::new(Vec::new()),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.index == NO_INDEX {
            return;
        }
        let threads = self.threads.get_mut();
        let threads = threads.expect("nothing panics under this lock");
        with_given(|given| {
            for thread in threads.iter() {
                if let Some(table) = given.tables.get(thread) {
                    // SAFETY: the table of a thread that runs (invariant 2).
                    let table = unsafe { &*table.0 };
                    table.entry(self.index).set(ptr::null());
                }
            }
            given.free.insert(self.index);
        });
    }
}

/// One thread's entries.
pub(super) struct Table([Cell<*const ()>; ENTRY_COUNT]);

impl Table {
    const fn new() -> Self {
        Self([const { Cell::new(ptr::null()) }; ENTRY_COUNT])
    }

    /// The entry at an index. A byte needs no check of its range.
    #[inline]
    fn entry(&self, index: u8) -> &Cell<*const ()> {
        &self.0[usize::from(index)]
    }

    /// The thread's slot of a variable, if there is an entry for it and it is not in use.
    #[inline]
    pub(super) fn find(&self, place: &Place) -> Option<(*const (), Entry<'_>)> {
        let place = self.entry(place.index);
        let slot = place.get();
        (!slot.is_null()).then_some((slot, Entry { place, slot }))
    }

    /// Makes the calling thread's entry for a variable, where it can have one; true if it has.
    pub(super) fn enter(&self, place: &Place, slot: *const ()) -> bool {
        if place.index == NO_INDEX || !HAS_ENTRIES || !is_listed() {
            return false;
        }
        let mut threads = place
            .threads
            .lock()
            .expect("nothing panics under this lock");
        threads.push(thread_number());
        self.entry(place.index).set(slot);
        true
    }
}

/// Calls `call` with the calling thread's table.
#[inline]
pub(super) fn with_table<R>(call: impl FnOnce(&Table) -> R) -> R {
    TABLE.with(call)
}

/// True when the calling thread has cleared its table, because it is about to end.
pub(super) fn is_table_closed() -> bool {
    STATE.with(Cell::get) == State::Closed
}

/// The number of the calling thread, from 1. No two threads ever have the same.
pub(super) fn thread_number() -> u64 {
    if NUMBER.with(Cell::get) == 0 {
        let number = with_given(|given| {
            given.threads += 1;
            given.threads
        });
        NUMBER.with(|it| it.set(number));
    }
    NUMBER.with(Cell::get)
}

/// True when the calling thread's table is in [`Given`], where this call may put it.
fn is_listed() -> bool {
    if STATE.with(Cell::get) == State::Unlisted {
        // The guard takes the table out again. A thread that has no guards any more ends without having a table.
        let is_guarded = GUARD.try_with(|_| ()).is_ok();
        let state = if is_guarded {
            State::Listed
        } else {
            State::Closed
        };
        STATE.with(|it| it.set(state));
        if is_guarded {
            count_forks();
            let number = thread_number();
            let table = with_table(|table| TablePointer(table));
            with_given(|given| given.tables.insert(number, table));
        }
    }
    STATE.with(Cell::get) == State::Listed
}

/// What became of a thread's table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unlisted,
    Listed,
    Closed,
}

/// Takes its thread's table out of [`Given`] when the thread ends.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        let number = thread_number();
        STATE.with(|it| it.set(State::Closed));
        with_given(|given| {
            given.tables.remove(&number);
            with_table(|table| table.0.iter().for_each(|entry| entry.set(ptr::null())));
        });
    }
}

/// A table in thread-local storage.
struct TablePointer(*const Table);

// SAFETY: entries are touched as invariant 1 says.
unsafe impl Send for TablePointer {}

/// What threads and variables have been given.
struct Given {
    /// So many threads have a number, from 1.
    threads: u64,
    /// The smallest index that was never given.
    next: u8,
    /// Smaller ones that no variable has.
    free: BTreeSet<u8>,
    /// By the numbers of their threads.
    tables: BTreeMap<u64, TablePointer>,
    /// The [`fork_count`] of the process that the tables are of.
    forks: u64,
}

impl Given {
    const fn new() -> Self {
        Self {
            threads: 0,
            next: 0,
            free: BTreeSet::new(),
            tables: BTreeMap::new(),
            forks: 0,
        }
    }
}

/// Calls `call` under the lock.
fn with_given<R>(call: impl FnOnce(&mut Given) -> R) -> R {
    let mut given = GIVEN.lock().expect("nothing panics under this lock");
    if given.forks != fork_count() {
        // Of the threads only this one has come along, if it is one of those that came (invariant 2).
        let own = NUMBER.with(Cell::get);
        given.tables.retain(|&number, _| number == own);
        given.forks = fork_count();
    }
    call(&mut given)
}

// Neither of these has a destructor: they are there in the destructors of other thread-local variables.
#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static TABLE: Table = const { Table::new() };
    static STATE: Cell<State> = const { Cell::new(State::Unlisted) };
    /// The thread's number; 0 until it has one.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}
#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static GUARD: Guard = const { Guard };
}
#[cfg(any(loom, shuttle))]
thread_local! {
    static TABLE: Table = Table::new();
    static STATE: Cell<State> = Cell::new(State::Unlisted);
    static NUMBER: Cell<u64> = Cell::new(0);
    static GUARD: Guard = Guard;
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
