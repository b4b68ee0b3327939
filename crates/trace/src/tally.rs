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
    /// Messages that this worker ran; each counts as a task too.
    pub messages: Counter,
    /// Forks that went into the pool because another worker asked for work, or raided a stalled one.
    pub forks_published: Counter,
    /// Published forks that this worker took from the private stack of a stalled one.
    pub forks_raided: Counter,
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
    pub idle: Gaps,
}

/// The time that one thread spends in gaps, the one that it is in included.
///
/// Times are nanoseconds since a moment that all readers know.
#[derive(Debug, Default)]
pub struct Gaps {
    ended_ns: AtomicU64,
    /// When the gap began, plus one; zero outside gaps.
    began_ns: AtomicU64,
}

impl Gaps {
    /// A gap begins. For the owning thread alone, as is `end`.
    pub fn begin(&self, now_ns: u64) {
        // Relaxed: a statistic, written by one thread.
        self.began_ns.store(now_ns + 1, Relaxed);
    }

    /// The gap ends; returns its length.
    pub fn end(&self, now_ns: u64) -> u64 {
        // Relaxed: a statistic, written by one thread.
        let began_ns = self.began_ns.load(Relaxed);
        let gap_ns = (now_ns + 1).saturating_sub(began_ns);
        // Relaxed: as above.
        self.began_ns.store(0, Relaxed);
        // Relaxed: as above.
        self.ended_ns
            .store(self.ended_ns.load(Relaxed).wrapping_add(gap_ns), Relaxed);
        gap_ns
    }

    /// The length of the gap that the thread is in; zero outside gaps.
    pub fn open(&self, now_ns: u64) -> u64 {
        // Relaxed: a statistic.
        match self.began_ns.load(Relaxed) {
            0 => 0,
            began_ns => (now_ns + 1).saturating_sub(began_ns),
        }
    }

    /// The time in gaps up to now; while a gap just ends, it may be left out or counted in.
    pub fn sum(&self, now_ns: u64) -> u64 {
        // Relaxed: a statistic.
        let ended_ns = self.ended_ns.load(Relaxed);
        ended_ns.wrapping_add(self.open(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_gap_counts_as_far_as_it_goes() {
        let gaps = Gaps::default();
        assert_eq!(gaps.sum(50), 0);
        gaps.begin(100);
        assert_eq!(gaps.sum(130), 30);
        assert_eq!((gaps.open(130), gaps.end(140), gaps.open(150)), (30, 40, 0));
        gaps.begin(200);
        assert_eq!(gaps.sum(205), 45);
    }
}
