//! The threads that hold a location from outside a program, so that no thread waits for itself.
//!
//! A whole and its pieces share one list. A look-up takes constant time for a piece and for the
//! whole, however many of them are held.

use std::collections::HashMap;

use raddle_sync::fifo::Access;
use raddle_sync::prim::Mutex;
use raddle_sync::prim::thread::{self, ThreadId};

/// The key for a whole and all its pieces together. No location has this index.
const ALL: usize = usize::MAX;

/// The number of times that each thread holds each location of a whole.
#[derive(Debug, Default)]
pub(crate) struct Holders(Mutex<HashMap<(ThreadId, usize), Count>>);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    reads: usize,
    writes: usize,
}

impl Count {
    fn of(&mut self, access: Access) -> &mut usize {
        match access {
            Access::Read => &mut self.reads,
            Access::Write => &mut self.writes,
        }
    }

    fn is_in_the_way_of(self, access: Access) -> bool {
        self.writes > 0 || access == Access::Write && self.reads > 0
    }
}

impl Holders {
    /// Records that this thread holds the location with this index.
    pub(crate) fn add(&self, index: usize, access: Access) {
        let thread = thread::current().id();
        let mut counts = self.counts();
        for index in [index, ALL] {
            *counts.entry((thread, index)).or_default().of(access) += 1;
        }
    }

    /// Records that this thread has given the location back.
    pub(crate) fn remove(&self, index: usize, access: Access) {
        let thread = thread::current().id();
        let mut counts = self.counts();
        for key in [(thread, index), (thread, ALL)] {
            let Some(count) = counts.get_mut(&key) else {
                continue;
            };
            *count.of(access) -= 1;
            if count.reads + count.writes == 0 {
                counts.remove(&key);
            }
        }
    }

    /// Returns true if this thread holds the location with this index.
    pub(crate) fn is_held_here(&self, index: usize) -> bool {
        self.counts().contains_key(&(thread::current().id(), index))
    }

    /// Returns true if this thread would wait for itself.
    ///
    /// That is so if it holds something that conflicts with a request for the location with this
    /// index, which may be a whole.
    pub(crate) fn is_in_its_own_way(&self, index: usize, whole: usize, access: Access) -> bool {
        let thread = thread::current().id();
        let counts = self.counts();
        let asked = if index == whole {
            [ALL, ALL]
        } else {
            [index, whole]
        };
        let mut found = asked.iter().filter_map(|of| counts.get(&(thread, *of)));
        found.any(|count| count.is_in_the_way_of(access))
    }

    fn counts(&self) -> impl std::ops::DerefMut<Target = HashMap<(ThreadId, usize), Count>> + '_ {
        self.0.lock().expect("nothing panics under this lock")
    }
}
