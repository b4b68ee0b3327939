//! What one worker counts while it runs.

use raddle_sync::prim::{AtomicU64, Relaxed};

/// A number that one thread adds to and all may read. Adding costs a load and a store, never a locked instruction.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `amount`. For the owning thread alone: concurrent adds would lose some.
    #[inline]
    pub fn add(&self, amount: u64) {
        // Relaxed: a statistic, written by one thread.
        self.0
            .store(self.0.load(Relaxed).wrapping_add(amount), Relaxed);
    }

    /// The sum so far.
    pub fn get(&self) -> u64 {
        // Relaxed: a statistic.
        self.0.load(Relaxed)
    }
}

/// The counters of one worker.
#[derive(Debug, Default)]
pub struct Tally {
    /// Tasks and stolen forks that this worker ran to completion.
    pub tasks: Counter,
    /// Forks that went into the pool because somebody asked for work.
    pub forks_published: Counter,
    /// Published forks that their owner took back at the join.
    pub forks_reclaimed: Counter,
    /// Looks into another worker's part of the pool.
    pub steals_tried: Counter,
    /// Tasks taken from another worker.
    pub steals_done: Counter,
    /// Times this worker went to sleep in the kernel.
    pub parks: Counter,
    /// Times this worker woke another.
    pub wakes: Counter,
    /// Nanoseconds without work: searching, waiting for stolen work, asleep.
    pub idle_ns: Counter,
}
