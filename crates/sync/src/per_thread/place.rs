//! Where a variable stands in the table of each thread.

use std::ptr::NonNull;

use crate::prim::{Mutex, UnsafeCell, thread_local};

/// A variable's index in the tables, its own until it is dropped, and its number, its own for ever.
pub(super) struct Place {
    index: usize,
    number: u64,
}

impl Place {
    pub(super) fn new() -> Self {
        GIVEN.lock().expect("nothing panics under this lock").give()
    }

    /// What the calling thread's entry for this variable points to, if it has one.
    #[inline]
    #[track_caller]
    pub(super) fn find(&self) -> Option<NonNull<()>> {
        let entry = TABLE.with(|table| {
            table.0.with(|entries| {
                // SAFETY: the thread's own, and nothing else is called while it is borrowed.
                let entries = unsafe { &*entries };
                entries.get(self.index).copied()
            })
        });
        let entry = entry.filter(|entry| entry.number == self.number);
        entry.map(|entry| entry.slot)
    }

    /// Makes the calling thread's entry for this variable.
    pub(super) fn enter(&self, slot: NonNull<()>) {
        TABLE.with(|table| {
            table.0.with_mut(|entries| {
                // SAFETY: as in `find`.
                let entries = unsafe { &mut *entries };
                if entries.len() <= self.index {
                    entries.resize(self.index + 1, Entry::NOBODYS);
                }
                entries[self.index] = Entry {
                    number: self.number,
                    slot,
                };
            });
        });
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut given = GIVEN.lock().expect("nothing panics under this lock");
        given.free.push(self.index);
    }
}

/// What a thread knows of one variable.
#[derive(Clone, Copy)]
struct Entry {
    number: u64,
    slot: NonNull<()>,
}

impl Entry {
    const NOBODYS: Self = Self {
        number: 0,
        slot: NonNull::dangling(),
    };
}

/// One thread's entries, by the variables' indices.
struct Table(UnsafeCell<Vec<Entry>>);

/// The places that variables have, and those that they had.
struct Given {
    /// So many numbers were given, from 1.
    numbers: u64,
    /// So many indices were given, from 0,
    indices: usize,
    /// and of these are nobody's now.
    free: Vec<usize>,
}

impl Given {
    const fn new() -> Self {
        Self {
            numbers: 0,
            indices: 0,
            free: Vec::new(),
        }
    }

    fn give(&mut self) -> Place {
        self.numbers += 1;
        let index = self.free.pop().unwrap_or_else(|| {
            self.indices += 1;
            self.indices - 1
        });
        Place {
            index,
            number: self.numbers,
        }
    }
}

#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static TABLE: Table = const { Table(UnsafeCell::new(Vec::new())) };
}
#[cfg(any(loom, shuttle))]
thread_local! {
    static TABLE: Table = Table(UnsafeCell::new(Vec::new()));
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
