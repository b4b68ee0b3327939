//! The counters of one worker.

use raddle_sync::prim::{AtomicU64, Relaxed};

/// A number that one thread adds to and all threads may read. Adding costs a load and a store, and
/// never a locked instruction.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `amount`. Only for the owning thread, because concurrent additions would get lost.
    #[inline]
    pub fn add(&self, amount: u64) {
        // Relaxed: a statistic, written by one thread.
        self.0
            .store(self.0.load(Relaxed).wrapping_add(amount), Relaxed);
    }

    /// Returns the sum so far.
    pub fn get(&self) -> u64 {
        // Relaxed: a statistic.
        self.0.load(Relaxed)
    }
}

/// The counters of one worker.
#[derive(Debug, Default)]
pub struct Counters {
    /// The number of tasks and stolen forks that this worker ran to completion.
    pub tasks: Counter,
    /// The number of messages that this worker ran; each counts as a task too.
    pub messages: Counter,
    /// The number of forks put into the pool because another worker asked for work or raided.
    pub forks_published: Counter,
    /// The number of published forks that this worker took from the private stack of a stalled one.
    pub forks_raided: Counter,
    /// The number of published forks that their owner took back at the join.
    pub forks_reclaimed: Counter,
    /// The number of attempts to take a task from another worker's part of the pool.
    pub steals_tried: Counter,
    /// The number of tasks taken from another worker.
    pub steals_done: Counter,
    /// The number of times that this worker went to sleep in the kernel.
    pub parks: Counter,
    /// The number of times that this worker woke another one.
    pub wakes: Counter,
    /// The time without work: searching, waiting for stolen work, or asleep.
    pub idle: Gaps,
    /// The time before the thread began, and the time in which a compensating thread was not
    /// needed.
    pub absent: Gaps,
    /// The innermost wait inside a task.
    pub wait: CurrentWait,
}

/// The number of the reason for which a worker waits inside of a task.
#[derive(Debug, Default)]
pub struct CurrentWait(AtomicU64);

impl CurrentWait {
    /// Begins a wait, and returns the one around it. Only for the owning thread, like `end`.
    #[inline]
    pub fn begin(&self, reason: u8) -> OuterWait {
        // Relaxed: a statistic, written by one thread.
        let outer = self.0.load(Relaxed);
        // Relaxed: as above.
        self.0.store(u64::from(reason) + 1, Relaxed);
        OuterWait(outer)
    }

    /// Ends a wait.
    #[inline]
    pub fn end(&self, outer: OuterWait) {
        // Relaxed: a statistic, written by one thread.
        self.0.store(outer.0, Relaxed);
    }

    /// Returns the reason of the innermost wait.
    pub fn reason(&self) -> Option<u8> {
        // Relaxed: a statistic.
        self.0
            .load(Relaxed)
            .checked_sub(1)
            .map(|reason| reason as u8)
    }
}

/// The wait around another one, which goes on when that ends.
#[derive(Clone, Copy, Debug)]
#[must_use = "the wait around another one goes on when that ends"]
pub struct OuterWait(u64);

/// The time that one thread has spent in gaps, including the current gap.
///
/// Times are in nanoseconds since a moment that all readers agree on.
#[derive(Debug, Default)]
pub struct Gaps {
    ended_ns: AtomicU64,
    /// The begin of the current gap, plus one; zero outside gaps.
    began_ns: AtomicU64,
}

impl Gaps {
    /// Begins a gap. Only for the owning thread, like `end`.
    pub fn begin(&self, now_ns: u64) {
        // Relaxed: a statistic, written by one thread.
        self.began_ns.store(now_ns + 1, Relaxed);
    }

    /// Ends the gap and returns its length.
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

    /// Ends the gap, which counts for `count` gaps: the others were not recorded.
    pub fn end_like(&self, count: u64, now_ns: u64) {
        let gap_ns = self.end(now_ns);
        // Relaxed: as in `end`.
        self.ended_ns.store(
            self.ended_ns
                .load(Relaxed)
                .wrapping_add(gap_ns * (count - 1)),
            Relaxed,
        );
    }

    /// Returns the length of the current gap; zero outside gaps.
    pub fn open(&self, now_ns: u64) -> u64 {
        // Relaxed: a statistic.
        match self.began_ns.load(Relaxed) {
            0 => 0,
            began_ns => (now_ns + 1).saturating_sub(began_ns),
        }
    }

    /// Returns the time in gaps up to now. The sum may be wrong by the length of a gap that is just
    /// ending.
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
    fn a_wait_inside_of_another_one_hides_it() {
        let wait = CurrentWait::default();
        let outer = wait.begin(0);
        let inner = wait.begin(7);
        assert_eq!(wait.reason(), Some(7));
        wait.end(inner);
        assert_eq!(wait.reason(), Some(0));
        wait.end(outer);
        assert_eq!(wait.reason(), None);
    }

    #[test]
    fn an_open_gap_counts_up_to_now() {
        let gaps = Gaps::default();
        assert_eq!(gaps.sum(50), 0);
        gaps.begin(100);
        assert_eq!(gaps.sum(130), 30);
        assert_eq!((gaps.open(130), gaps.end(140), gaps.open(150)), (30, 40, 0));
        gaps.begin(200);
        assert_eq!(gaps.sum(205), 45);
        gaps.end_like(16, 210);
        assert_eq!(gaps.sum(300), 200);
    }
}
