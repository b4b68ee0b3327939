//! Counters of the bytes that workers send to each other and take from each other.
//!
//! Each worker has a row of counters that only this worker writes: the bytes that it has sent to
//! each other worker, and the bytes that it has taken from each. So counting takes a load, an
//! addition and a store in the worker's own cache. A row consists of pages of 64 workers, which are
//! created on first use: if 4096 workers communicate with a few neighbours each, each needs one or
//! two pages, not a row of 64 KiB.
//!
//! The bytes that move from one cache to another are counted: a cache line of the mailbox for a
//! message, two lines for a task cell, and closures that are too large for a cell. The data to
//! which closures refer are not counted. Messages of a worker to itself move nothing. Compensating
//! threads are not counted, because they run at the places of other workers.
//!
//! Models count nothing: every counter would be one more thing to interleave.
//!
//! # Readers Two functions read the counters: `Runtime::traffic`, for the program, and the decision
//! where workers should run (`placing/review.rs`). The latter reads seldom, and never on machines
//! on which all placements cost the same.

use std::sync::OnceLock;

use raddle_sync::CachePadded;
use raddle_sync::prim::LIGHT;
use raddle_topology::Matrix;
use raddle_trace::Counter;

use crate::task::{Envelope, EnvelopeSlot, TaskCell};

/// The number of workers in a page.
const PAGE: usize = 64;
/// Returns the number of bytes that a message with this closure moves, with the default mailbox.
/// Evaluated at compile time.
#[inline]
pub(crate) const fn message_bytes<F>(_closure: &F) -> u64 {
    let cell = if Envelope::holds::<F>() {
        0
    } else {
        size_of::<TaskCell>()
    };
    let boxed = if TaskCell::holds::<F>() {
        0
    } else {
        size_of::<F>()
    };
    (size_of::<EnvelopeSlot>() + cell + boxed) as u64
}

/// The rows of all workers of a runtime.
#[derive(Debug)]
pub(crate) struct Traffic(Box<[Row]>);

/// The counters of one worker, in pages.
#[derive(Debug)]
struct Row(Box<[OnceLock<Box<CachePadded<Page>>>]>);

#[derive(Debug)]
struct Page([Pair; PAGE]);

/// The counters of one worker for another one.
#[derive(Debug, Default)]
struct Pair {
    sent: Counter,
    taken: Counter,
}

/// The number of bytes from one worker to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) bytes: u64,
}

impl Traffic {
    pub(crate) fn new(worker_count: usize) -> Self {
        let page_count = worker_count.div_ceil(PAGE);
        let row = || Row((0..page_count).map(|_| OnceLock::new()).collect());
        Self((0..worker_count).map(|_| row()).collect())
    }

    /// Counts `bytes` that worker `own` sends to worker `to`. Called by `own`.
    #[inline]
    pub(crate) fn sends(&self, own: usize, to: usize, bytes: u64) {
        if let Some(pair) = self.pair(own, to) {
            pair.sent.add(bytes);
        }
    }

    /// Counts a task that worker `own` has taken from worker `victim`. Called by `own`.
    #[inline]
    pub(crate) fn takes(&self, own: usize, victim: usize) {
        if let Some(pair) = self.pair(own, victim) {
            pair.taken.add(size_of::<TaskCell>() as u64);
        }
    }

    #[inline]
    fn pair(&self, own: usize, other: usize) -> Option<&Pair> {
        if LIGHT {
            return None;
        }
        let page = self.0.get(own)?.0.get(other / PAGE)?;
        Some(&page.get_or_init(new_page).0[other % PAGE])
    }

    /// Returns all flows counted so far, each pair of workers once, ordered by sender and receiver.
    pub(crate) fn flows(&self) -> Vec<Flow> {
        let worker_count = self.0.len();
        let mut flows = Vec::new();
        for (own, row) in self.0.iter().enumerate() {
            let pages = row.0.iter().enumerate();
            for (page, pairs) in pages.filter_map(|(at, page)| Some((at, page.get()?))) {
                for (at, pair) in pairs.0.iter().enumerate() {
                    let other = page * PAGE + at;
                    let flow = |from, to, bytes| Flow { from, to, bytes };
                    let both = [
                        flow(own, other, pair.sent.get()),
                        flow(other, own, pair.taken.get()),
                    ];
                    let counts = |flow: &Flow| flow.bytes > 0 && other < worker_count;
                    flows.extend(both.into_iter().filter(counts));
                }
            }
        }
        // A pair may occur twice: once as sent by one worker, once as taken by the other. Add both
        // up.
        flows.sort_unstable_by_key(|flow| (flow.from, flow.to));
        flows.dedup_by(|next, first| {
            let same = (next.from, next.to) == (first.from, first.to);
            if same {
                first.bytes = first.bytes.saturating_add(next.bytes);
            }
            same
        });
        flows
    }
}

#[cold]
fn new_page() -> Box<CachePadded<Page>> {
    Box::new(CachePadded::new(Page(std::array::from_fn(|_| {
        Pair::default()
    }))))
}

/// Converts flows into a matrix of `worker_count` workers.
pub(crate) fn matrix_of(worker_count: usize, flows: &[Flow]) -> Matrix {
    let mut matrix = Matrix::new(worker_count);
    for flow in flows {
        matrix.add(flow.from, flow.to, flow.bytes as f64);
    }
    matrix
}

/// Returns the flows in `now` that were added since `before`, an earlier reading.
pub(crate) fn since(now: &[Flow], before: &[Flow]) -> Vec<Flow> {
    let mut before = before.iter().peekable();
    let key = |flow: &Flow| (flow.from, flow.to);
    let grown = now.iter().map(|flow| {
        while before.peek().is_some_and(|old| key(old) < key(flow)) {
            before.next();
        }
        let old = before.peek().filter(|old| key(old) == key(flow));
        Flow {
            bytes: flow.bytes.saturating_sub(old.map_or(0, |old| old.bytes)),
            ..*flow
        }
    });
    grown.filter(|flow| flow.bytes > 0).collect()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn flow(from: usize, to: usize, bytes: u64) -> Flow {
        Flow { from, to, bytes }
    }

    #[test]
    fn sent_and_taken_bytes_add_up_by_direction() {
        let traffic = Traffic::new(100);
        traffic.sends(3, 70, 200);
        traffic.sends(3, 70, 100);
        traffic.takes(70, 3);
        traffic.sends(70, 3, 5);
        // Compensating threads, and workers to which they send.
        traffic.sends(120, 3, 1);
        traffic.takes(3, 127);
        let cell = size_of::<TaskCell>() as u64;
        let first = traffic.flows();
        assert_eq!(first, [flow(3, 70, 300 + cell), flow(70, 3, 5)]);
        traffic.sends(70, 3, 6);
        traffic.sends(0, 1, 7);
        assert_eq!(
            since(&traffic.flows(), &first),
            [flow(0, 1, 7), flow(70, 3, 6)]
        );
        assert_eq!(since(&first, &[]), first);
    }

    #[test]
    fn thousands_of_workers_need_only_the_pages_that_they_use() {
        let traffic = Traffic::new(4096);
        for worker in 0..4096 {
            traffic.sends(worker, (worker + 1) % 4096, 1);
        }
        let pages = traffic.0.iter().flat_map(|row| &row.0);
        assert_eq!(pages.filter(|page| page.get().is_some()).count(), 4096);
        assert_eq!(traffic.flows().len(), 4096);
    }
}
