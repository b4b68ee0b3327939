//! The table in which a thread finds its slots. It has an entry for each variable, which is only a
//! pointer.
//!
//! A variable has an index of its own as long as it lives. If too many variables live, it has none,
//! and its slots are always looked up under its lock. An entry is null if the thread has no slot of
//! the variable, or while the slot is in use.
//!
//! An entry does not record its variable, so no entry may be left when the next variable gets the
//! index. Therefore a variable that is dropped clears the entries of all threads that have one.
//!
//! # Invariants
//! 1. An entry of a table is written by its thread, by the thread that drops the variable with that
//!    index, and at the end of its thread. The last two hold the lock of [`Registry`].
//! 2. A table in `Registry` belongs to a thread that runs in this process. The tables of threads
//!    that have ended, or that do not exist in a child of fork(2), are no longer in `Registry`, and
//!    their entries are null or never read again.
//!
//! No two accesses of an entry race. Its thread reads and writes the entry during a use of the
//! variable, which borrows the variable. This happens before the drop, because the thread that
//! drops the variable has it exclusively. It happens after the drop of the previous variable with
//! this index, because the index comes from `Registry`.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ptr;

use crate::prim::{Mutex, count_forks, fork_count, thread_local};

/// The number of entries in the table of each thread: as many as a byte can distinguish.
pub(super) const ENTRY_COUNT: usize = 1 << u8::BITS;
/// The index of variables without an index. Its entries are always null.
const NO_INDEX: u8 = u8::MAX;
/// False in models: there are no entries, so a use always takes the lock, which a model can see.
const HAS_ENTRIES: bool = !cfg!(any(loom, shuttle));

/// The index of a variable, and the numbers of the threads that have an entry there.
pub(super) struct Place {
    index: u8,
    threads: Mutex<Vec<u64>>,
}

/// The entry in which the calling thread found a slot.
pub(super) struct Entry<'table> {
    place: &'table Cell<*const ()>,
    slot: *const (),
}

/// A guard: an entry is marked as in use until this is dropped, even by a panic.
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
        let index = with_registry(|registry| {
            registry.free.pop_first().unwrap_or_else(|| {
                let index = registry.next;
                registry.next = index.saturating_add(1);
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
        with_registry(|registry| {
            for thread in threads.iter() {
                if let Some(table) = registry.tables.get(thread) {
                    // SAFETY: the table of a running thread (invariant 2).
                    let table = unsafe { &*table.0 };
                    table.entry(self.index).set(ptr::null());
                }
            }
            registry.free.insert(self.index);
        });
    }
}

/// The entries of one thread.
pub(super) struct Table([Cell<*const ()>; ENTRY_COUNT]);

impl Table {
    const fn new() -> Self {
        Self([const { Cell::new(ptr::null()) }; ENTRY_COUNT])
    }

    /// Returns the entry at an index. A byte needs no range check.
    #[inline]
    fn entry(&self, index: u8) -> &Cell<*const ()> {
        &self.0[usize::from(index)]
    }

    /// Returns the thread's slot of a variable, if there is an entry for it that is not in use.
    #[inline]
    pub(super) fn find(&self, place: &Place) -> Option<(*const (), Entry<'_>)> {
        let place = self.entry(place.index);
        let slot = place.get();
        (!slot.is_null()).then_some((slot, Entry { place, slot }))
    }

    /// Sets the calling thread's entry for a variable. Returns false if it cannot have an entry.
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

/// Returns true if the calling thread has cleared its table, because it is about to end.
pub(super) fn is_table_closed() -> bool {
    STATE.with(Cell::get) == TableState::Closed
}

/// Returns the number of the calling thread, from 1. No two threads ever have the same number.
pub(super) fn thread_number() -> u64 {
    if NUMBER.with(Cell::get) == 0 {
        let number = with_registry(|registry| {
            registry.threads += 1;
            registry.threads
        });
        NUMBER.with(|it| it.set(number));
    }
    NUMBER.with(Cell::get)
}

/// Returns true if the calling thread's table is in [`Registry`]. Inserts the table if possible.
fn is_listed() -> bool {
    if STATE.with(Cell::get) == TableState::Unlisted {
        // The guard removes the table again. A thread that is too late to create a guard ends
        // without a table.
        let is_guarded = GUARD.try_with(|_| ()).is_ok();
        let state = if is_guarded {
            TableState::Listed
        } else {
            TableState::Closed
        };
        STATE.with(|it| it.set(state));
        if is_guarded {
            count_forks();
            let number = thread_number();
            let table = with_table(|table| TablePointer(table));
            with_registry(|registry| registry.tables.insert(number, table));
        }
    }
    STATE.with(Cell::get) == TableState::Listed
}

/// The state of a thread's table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TableState {
    Unlisted,
    Listed,
    Closed,
}

/// Removes its thread's table from [`Registry`] when the thread ends.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        let number = thread_number();
        STATE.with(|it| it.set(TableState::Closed));
        with_registry(|registry| {
            registry.tables.remove(&number);
            with_table(|table| table.0.iter().for_each(|entry| entry.set(ptr::null())));
        });
    }
}

/// A table in thread-local storage.
struct TablePointer(*const Table);

// SAFETY: entries are accessed only as invariant 1 allows.
unsafe impl Send for TablePointer {}

/// The registry of threads and of the indices of variables.
struct Registry {
    /// The number of threads that have a number, from 1.
    threads: u64,
    /// The smallest index that was never used.
    next: u8,
    /// Smaller indices that no live variable has.
    free: BTreeSet<u8>,
    /// The tables, by the numbers of their threads.
    tables: BTreeMap<u64, TablePointer>,
    /// The [`fork_count`] of the process that the tables belong to.
    forks: u64,
}

impl Registry {
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

/// Calls `call` with the registry, under its lock.
fn with_registry<R>(call: impl FnOnce(&mut Registry) -> R) -> R {
    let mut registry = REGISTRY.lock().expect("nothing panics under this lock");
    if registry.forks != fork_count() {
        // This is a child process. Of the threads, only the one that called fork(2) exists here, so
        // only its table may stay (invariant 2).
        let own = NUMBER.with(Cell::get);
        registry.tables.retain(|&number, _| number == own);
        registry.forks = fork_count();
    }
    call(&mut registry)
}

// These have no destructor, so they exist even in the destructors of other thread-local variables.
#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static TABLE: Table = const { Table::new() };
    static STATE: Cell<TableState> = const { Cell::new(TableState::Unlisted) };
    /// The thread's number; 0 until the thread has one.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}
#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static GUARD: Guard = const { Guard };
}
#[cfg(any(loom, shuttle))]
thread_local! {
    static TABLE: Table = Table::new();
    static STATE: Cell<TableState> = Cell::new(TableState::Unlisted);
    static NUMBER: Cell<u64> = Cell::new(0);
    static GUARD: Guard = Guard;
}

#[cfg(not(any(loom, shuttle)))]
static REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());
// In a model, every execution begins with an empty registry.
#[cfg(loom)]
loom::lazy_static! {
    static ref REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());
}
#[cfg(shuttle)]
shuttle::lazy_static! {
    static ref REGISTRY: Mutex<Registry> = Mutex::new(Registry::new());
}
