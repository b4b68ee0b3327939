//! How long an item takes, and what follows for the size of chunks and for splitting.

use quanta::Instant;

use crate::worker::Worker;

/// A chunk shall take about this long: an asker waits no longer, and reading the clock costs under a percent.
const CHUNK_NS: f32 = 4_000.0;
/// Handing half of a loop to a worker that is awake costs about half a microsecond on both sides together.
const SPLIT_AWAKE_NS: f32 = 700.0;
/// Waking a worker costs the waker microseconds, and it comes tens of microseconds later.
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

    /// True when somebody asked `worker` for work, and half of `len` items is worth handing over.
    #[inline]
    pub(super) fn shall_split(self, len: usize, worker: &Worker) -> bool {
        len > 1 && worker.forks().is_asked() && self.is_worth_splitting(len, worker)
    }

    fn is_worth_splitting(self, len: usize, worker: &Worker) -> bool {
        let Some(item_ns) = self.item_ns else {
            return len < FEW_ITEMS;
        };
        let limit_ns = if worker.shared().idle.anyone_searches() {
            SPLIT_AWAKE_NS
        } else {
            SPLIT_ASLEEP_NS
        };
        item_ns * len as f32 > limit_ns
    }
}
