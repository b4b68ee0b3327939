//! How long an item takes, and what follows for the size of chunks and for splitting.
//!
//! Whether a split pays depends on who would take the other half. A worker that searches has it within a fraction of a
//! microsecond; one that sleeps must be woken, which costs the waker microseconds, and comes tens of microseconds
//! later. A loop too short to wake somebody for is not split, but remembered ([`Regret`]): when many such loops come
//! in a row, what they could have gained together pays for a wake-up, and then for the sleeper's staying awake. This is
//! ski rental again, as in the wait cell: at most twice the cost of having known.

use std::cell::Cell;

use quanta::Instant;

use crate::worker::Worker;

/// A chunk shall take about this long: an asker waits no longer, and reading the clock costs under a percent.
const CHUNK_NS: f32 = 4_000.0;
/// How much later than its giver a worker that searches begins with the half that it was given, ends included.
const HANDOVER_NS: f32 = 400.0;
/// Splitting pays for loops longer than this when somebody searches.
const SPLIT_AWAKE_NS: f32 = 2.0 * HANDOVER_NS;
/// Splitting pays for loops longer than this when all others sleep.
const SPLIT_ASLEEP_NS: f32 = 60_000.0;
/// Loops with fewer items split before they know how long one takes.
const FEW_ITEMS: usize = 64;

/// What a loop knows about its items.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    item_ns: Option<f32>,
}

impl Pace {
    /// Items to run before the next look at the gate.
    #[inline]
    pub(super) fn chunk_len(self, len: usize) -> usize {
        match self.item_ns {
            None => (len / FEW_ITEMS).clamp(1, 16),
            Some(item_ns) => ((CHUNK_NS / item_ns) as usize).max(1),
        }
    }

    /// Runs `chunk`, which has `len` items, and learns how long they take.
    #[inline]
    pub(super) fn time(&mut self, len: usize, chunk: impl FnOnce()) {
        let start = Instant::now();
        chunk();
        let item_ns = start.elapsed().as_nanos() as f32 / len as f32;
        // The latest chunk counts for half: bodies change along a loop. Never zero, so that chunks stay bounded.
        let item_ns = self
            .item_ns
            .map_or(item_ns, |before| f32::midpoint(before, item_ns));
        self.item_ns = Some(item_ns.max(0.01));
    }

    /// How many of `len` items, at the end, to give to whoever asked `worker` for work; none if it does not pay.
    ///
    /// Somewhat less than half, so that both end at the same time although the other begins later.
    #[inline]
    pub(super) fn gift(self, len: usize, worker: &Worker) -> Option<usize> {
        if len > 1 && worker.forks().gates().are_closed() {
            self.gift_slow(len, worker)
        } else {
            None
        }
    }

    #[cold]
    fn gift_slow(self, len: usize, worker: &Worker) -> Option<usize> {
        let Some(item_ns) = self.item_ns else {
            return (len < FEW_ITEMS).then_some(len / 2);
        };
        let left_ns = item_ns * len as f32;
        if left_ns < SPLIT_AWAKE_NS {
            return None;
        }
        let awake = worker.shared().idle.anyone_searches();
        if !awake && left_ns < SPLIT_ASLEEP_NS && !worker.regret().is_due(left_ns) {
            return None;
        }
        let head_start = if awake {
            (HANDOVER_NS / item_ns) as usize
        } else {
            0
        };
        Some((len - head_start.min(len - 2)) / 2)
    }
}

/// What a worker could have gained of late by splitting loops that were too short to wake somebody for.
#[derive(Debug, Default)]
pub(crate) struct Regret {
    sum_ns: Cell<f32>,
    since: Cell<Option<Instant>>,
}

impl Regret {
    /// Adds a loop of which `left_ns` are left; true when the sum is worth a wake-up, which clears it.
    ///
    /// The sum fades with time, half as fast as it grows in loops that follow each other without a gap.
    fn is_due(&self, left_ns: f32) -> bool {
        let now = Instant::now();
        let passed_ns = self
            .since
            .replace(Some(now))
            .map_or(0.0, |since| (now - since).as_nanos() as f32);
        let sum_ns = (self.sum_ns.get() - passed_ns / 2.0).max(0.0) + left_ns.min(CHUNK_NS);
        let is_due = sum_ns >= SPLIT_ASLEEP_NS;
        self.sum_ns.set(if is_due { 0.0 } else { sum_ns });
        is_due
    }
}
