//! The collections of a system, by their ids.
//!
//! ```text
//!   31          22 21                    0
//!  ┌──────────────┬───────────────────────┐
//!  │  generation  │         place         │
//!  └──────────────┴───────────────────────┘
//! ```
//! `place` is the index at which the system and each worker keep their state of a collection.
//! `generation` counts how often the place was used before, so that messages to a destroyed array
//! reach no other array. A place that has reached the last generation is not used again. A thousand
//! destroyed arrays thus leave only one entry in the system and one at each worker.
//!
//! # Invariants
//! 1. A place is reused only after all workers have dropped their state of the old collection. So
//!    an entry with another generation is older than the id being looked up, or the id refers to a
//!    collection that was destroyed.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

use raddle_sync::prim::Mutex;

const PLACE_BITS: u32 = 22;

/// Returns the index at which the collection with this id is kept.
#[inline]
pub(crate) fn place_of(id: u32) -> usize {
    (id & ((1 << PLACE_BITS) - 1)) as usize
}

type Shared = Arc<dyn Any + Send + Sync>;

/// The collections of a system.
#[derive(Default)]
pub(crate) struct Collections(Mutex<Table>);

#[derive(Default)]
struct Table {
    entries: Vec<Entry>,
    /// Ids for reuse, the oldest first.
    vacant: VecDeque<u32>,
}

struct Entry {
    id: u32,
    /// `None` before the collection is made and after it is destroyed.
    shared: Option<Shared>,
}

impl Collections {
    fn table(&self) -> impl std::ops::DerefMut<Target = Table> {
        self.0.lock().expect("nothing panics under this lock")
    }

    /// Returns an id that no other collection has.
    pub(crate) fn allocate(&self) -> u32 {
        let mut table = self.table();
        if let Some(id) = table.vacant.pop_front() {
            return id;
        }
        let count = table.entries.len();
        if count >> PLACE_BITS > 0 {
            drop(table);
            panic!("a runtime can have {count} arrays, groups and types of chares at a time");
        }
        let id = count as u32;
        table.entries.push(Entry { id, shared: None });
        id
    }

    /// Keeps a collection that was made for its id.
    pub(crate) fn put(&self, id: u32, shared: Shared) {
        self.table().entries[place_of(id)].shared = Some(shared);
    }

    /// Returns the collection with this id, unless it no longer exists.
    pub(crate) fn get(&self, id: u32) -> Option<Shared> {
        let table = self.table();
        let entry = &table.entries[place_of(id)];
        entry.shared.clone().filter(|_| entry.id == id)
    }

    /// Takes a collection out; `None` if that has been done.
    pub(crate) fn take(&self, id: u32) -> Option<Shared> {
        let mut table = self.table();
        let entry = &mut table.entries[place_of(id)];
        if entry.id == id {
            entry.shared.take()
        } else {
            None
        }
    }

    /// Frees the place of a collection that was taken out and that no worker uses any longer.
    pub(crate) fn release(&self, id: u32) {
        if let Some(next) = id.checked_add(1 << PLACE_BITS) {
            let mut table = self.table();
            table.entries[place_of(id)].id = next;
            table.vacant.push_back(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_given_once() {
        let collections = Collections::default();
        let mut ids: Vec<_> = (0..3_000)
            .map(|number| {
                let id = collections.allocate();
                assert!(collections.get(id).is_none());
                collections.put(id, Arc::new(number));
                assert!(collections.get(id).is_some());
                assert!(collections.take(id).is_some());
                assert!(collections.take(id).is_none());
                collections.release(id);
                id
            })
            .collect();
        assert!(ids.iter().all(|&id| collections.get(id).is_none()));
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 3_000);
        assert_eq!(collections.table().entries.len(), 3);
    }
}
