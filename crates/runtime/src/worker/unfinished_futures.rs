//! The spawned futures of a runtime that are not finished, so that its end can drop them.

use std::collections::HashMap;
use std::mem;
use std::ops::DerefMut;
use std::task::Waker;

use raddle_sync::CachePadded;
use raddle_sync::prim::Mutex;

use crate::panics::discard_call;

/// The spawned futures of a runtime that are not finished, in one part per worker.
pub(crate) struct UnfinishedFutures {
    parts: Box<[CachePadded<Mutex<Part>>]>,
}

/// The unfinished futures that one worker has spawned.
#[derive(Default)]
struct Part {
    /// A waker for each future, by number.
    wakers: HashMap<u64, Waker>,
    next_number: u64,
    is_closed: bool,
}

/// An unfinished future: its part and its number there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FutureId {
    part: usize,
    number: u64,
}

impl UnfinishedFutures {
    pub(super) fn new(worker_count: usize) -> Self {
        let parts = (0..worker_count).map(|_| CachePadded::default());
        Self {
            parts: parts.collect(),
        }
    }

    /// Returns the id for a future that is about to be spawned, by worker `spawner` if it is one.
    pub(crate) fn next_id(&self, spawner: Option<usize>) -> FutureId {
        let part = spawner.map_or(0, |worker_index| worker_index % self.parts.len());
        let mut state = self.part(part);
        state.next_number += 1;
        let number = state.next_number;
        FutureId { part, number }
    }

    /// Counts a future as unfinished. Returns false if the runtime has ended.
    pub(crate) fn insert(&self, id: FutureId, waker: Waker) -> bool {
        let mut part = self.part(id.part);
        if part.is_closed {
            return false;
        }
        part.wakers.insert(id.number, waker);
        true
    }

    /// Counts a future as finished.
    pub(crate) fn remove(&self, id: FutureId) {
        let waker = self.part(id.part).wakers.remove(&id.number);
        // Outside of the lock, because it may free the memory of the future.
        drop(waker);
    }

    /// Wakes all unfinished futures, so that they are dropped, because no worker is left to poll
    /// them. Later ones are refused.
    pub(super) fn close(&self) {
        for index in 0..self.parts.len() {
            let mut part = self.part(index);
            part.is_closed = true;
            let wakers = mem::take(&mut part.wakers);
            drop(part);
            for waker in wakers.into_values() {
                discard_call(|| waker.wake());
            }
        }
    }

    fn part(&self, index: usize) -> impl DerefMut<Target = Part> + '_ {
        self.parts[index]
            .lock()
            .expect("nothing panics under this lock")
    }
}
