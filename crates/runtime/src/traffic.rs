//! What workers send each other and take from each other, in bytes.
//!
//! Each worker has a row of counters that it alone writes: what it has sent to each other worker, and what it has taken from each. So
//! counting is a load, an addition and a store in its own cache. A row is made of pages of 64 workers, which appear when they are
//! first used: 4096 workers that talk to a few neighbours each have a page or two each, not a row of 64 KiB.
//!
//! Counted are the cells that go from one cache to the other, two lines each, and closures that are too large for them. What closures
//! refer to is not seen. Messages to oneself go nowhere, and substitutes are not counted: their places are others'.
//!
//! Models count nothing: every counter would be one more thing to interleave.
//!
//! # Readers
//! Two functions read the counters: `Runtime::traffic`, for the program, and the decision where
//! workers should run (`placing/watch.rs`). The latter reads seldom, and never on machines on which
//! all placements cost the same.

use std::sync::OnceLock;

use raddle_sync::CachePadded;
use raddle_sync::prim::LIGHT;
use raddle_topology::Matrix;
use raddle_trace::Counter;

use crate::task::TaskCell;

/// Counters of a page.
const PAGE: usize = 64;
/// What a closure may have that lies in its cell.
const CLOSURE_BYTES_MAX: usize = 80;

/// What a message with this closure moves. Known when the program is compiled.
#[inline]
pub(crate) const fn message_bytes<F>(_closure: &F) -> u64 {
    let boxed = if size_of::<F>() > CLOSURE_BYTES_MAX {
        size_of::<F>()
    } else {
        0
    };
    (size_of::<TaskCell>() + boxed) as u64
}

/// The rows of all workers of a runtime.
#[derive(Debug)]
pub(crate) struct Traffic(Box<[Row]>);

/// What one worker counts.
#[derive(Debug)]
struct Row(Box<[OnceLock<Box<CachePadded<Page>>>]>);

#[derive(Debug)]
struct Page([Pair; PAGE]);

/// What one worker has to do with another one.
#[derive(Debug, Default)]
struct Pair {
    sent: Counter,
    taken: Counter,
}

/// Bytes from one worker to another.
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

    /// Worker `own`, which calls this, sends to worker `to`.
    #[inline]
    pub(crate) fn sends(&self, own: usize, to: usize, bytes: u64) {
        if let Some(pair) = self.pair(own, to) {
            pair.sent.add(bytes);
        }
    }

    /// Worker `own`, which calls this, has taken a task from worker `victim`.
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

    /// All that was counted so far, in the order of who it comes from and goes to, each pair once.
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

/// The same as a matrix of so many workers.
pub(crate) fn matrix_of(worker_count: usize, flows: &[Flow]) -> Matrix {
    let mut matrix = Matrix::new(worker_count);
    for flow in flows {
        matrix.add(flow.from, flow.to, flow.bytes as f64);
    }
    matrix
}

/// What is in `now` beyond `before`, which is an earlier reading.
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
    fn what_is_sent_and_taken_adds_up_by_direction() {
        let traffic = Traffic::new(100);
        traffic.sends(3, 70, 200);
        traffic.sends(3, 70, 100);
        traffic.takes(70, 3);
        traffic.sends(70, 3, 5);
        // Substitutes and those to whom they send.
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
    fn thousands_of_workers_cost_what_they_use() {
        let traffic = Traffic::new(4096);
        for worker in 0..4096 {
            traffic.sends(worker, (worker + 1) % 4096, 1);
        }
        let pages = traffic.0.iter().flat_map(|row| &row.0);
        assert_eq!(pages.filter(|page| page.get().is_some()).count(), 4096);
        assert_eq!(traffic.flows().len(), 4096);
    }
}
