//! Lets a thread that is about to sleep ask the listening thread to pump: to fetch the packets that
//! have arrived from the system, and to write them into the lanes of the node.

use std::sync::Arc;

use raddle_sync::prim::{AtomicU32, Relaxed};

use crate::shared::Shared;

/// The largest number of unfinished calls of `begin` through one handle: more than a system has
/// threads, and far from the bit `LEAVING` of the count of all handles.
const BEGUN_MAX: u32 = 1 << 22;

/// A handle that makes the listening thread of a node pump packets while the threads that usually
/// pump are asleep. It has no effect if all nodes share memory.
///
/// Dropping it ends what was begun through it.
#[derive(Debug)]
pub struct Pump {
    node: Arc<Shared>,
    /// The number of calls of `begin` without a call of `end`.
    begun: AtomicU32,
}

impl Pump {
    pub(super) const fn new(node: Arc<Shared>) -> Self {
        Self {
            node,
            begun: AtomicU32::new(0),
        }
    }

    /// Announces that the calling thread is about to sleep. Call it before the last look for
    /// messages.
    ///
    /// # Panics
    /// If it has been called more often than a system has threads, without calls of
    /// [`end`](Self::end).
    pub fn begin(&self) {
        // Relaxed: this is only a count. What it counts has orderings of its own.
        let begun = self.begun.fetch_update(Relaxed, Relaxed, |begun| {
            Some(begun + 1).filter(|&count| count <= BEGUN_MAX)
        });
        assert!(begun.is_ok(), "begun {BEGUN_MAX} times without an end");
        self.node.begin_pumping();
    }

    /// Announces that the calling thread is awake again.
    ///
    /// # Panics
    /// If it has been called as often as [`begin`](Self::begin) before.
    pub fn end(&self) {
        // Relaxed: as in `begin`.
        let begun = self
            .begun
            .fetch_update(Relaxed, Relaxed, |begun| begun.checked_sub(1));
        assert!(begun.is_ok(), "ended, but not begun before");
        self.node.end_pumping();
    }
}

impl Clone for Pump {
    /// Returns another handle to the same node, through which nothing has been begun.
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.node))
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        // Relaxed: no other thread has access any more.
        for _ in 0..self.begun.load(Relaxed) {
            self.node.end_pumping();
        }
    }
}
