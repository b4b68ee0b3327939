//! The decision to move workers: when a runtime considers it, and what it decides.
//!
//! A *review* compares the placement with the observed traffic and decides on moves
//! ([`relocate`](raddle_topology::relocate())). Some worker does it: one that has run out of work,
//! or that has run many tasks since it last read the clock. The first review comes after 10 ms.
//! Each review after which no worker moves doubles the time to the next, up to a minute; after a
//! move the time starts again at 10 ms. A review considers what was exchanged since the one before.
//! Reviews take at most a hundredth of the time; after a long one, the next one comes later.
//!
//! There are no reviews where all placements cost the same (as on two CPUs), where no worker is
//! bound, and where another affinity rule was asked for. What is left then is one comparison each
//! time that a worker runs out of work.
//!
//! A CPU to which a worker would move is claimed first. If another process was quicker, no worker
//! moves.

use std::time::Duration;

use raddle_sync::prim::{AtomicU64, Mutex, Relaxed};
use raddle_topology::{CpuId, Decision, Matrix, PlaceOptions, Topology, alike};
use raddle_trace::Moves;

use super::{Placed, Placing};
use crate::traffic::{Flow, matrix_of, since};

/// The time from the start of the runtime to the first review, in ns.
const FIRST_NS: u64 = 10_000_000;
/// The longest time between two reviews, in ns.
const LONGEST_NS: u64 = 60_000_000_000;
/// The time between two reviews is at least this multiple of the time that a review takes.
const PART_OF_TIME: u64 = 100;
/// The number of rounds between two readings of the clock by workers that always have work. A round
/// is a task, or a row of messages.
pub(crate) const ROUNDS_PER_CLOCK: u32 = 1 << 12;

/// The function that decides; as [`raddle_topology::relocate()`].
pub(crate) type Decide =
    fn(&Matrix, Duration, &[Option<CpuId>], &Topology, &PlaceOptions) -> Decision;

/// The time of the next review, and the outcome of the former ones.
#[derive(Debug)]
pub(super) struct PlacementReview {
    decide: Decide,
    /// The age of the runtime at which the next review is due; `u64::MAX` if there are no reviews.
    next_ns: AtomicU64,
    log: Mutex<Log>,
}

/// The record of the former reviews.
#[derive(Debug)]
struct Log {
    /// The traffic up to the last review.
    seen: Vec<Flow>,
    /// The age of the runtime at the last review.
    seen_ns: u64,
    /// The time from the last review to the next.
    wait_ns: u64,
    moves: Moves,
}

impl PlacementReview {
    pub(super) fn new(placed: &Placed) -> Self {
        Self {
            decide: placed.decide,
            next_ns: AtomicU64::new(if placed.can_gain() {
                FIRST_NS
            } else {
                u64::MAX
            }),
            log: Mutex::new(Log {
                seen: Vec::new(),
                seen_ns: 0,
                wait_ns: FIRST_NS,
                moves: Moves::of("workers"),
            }),
        }
    }

    /// Returns the moves so far, if there was a review.
    pub(super) fn moves(&self) -> Option<Moves> {
        let log = self.log.lock().expect("nothing panics under this lock");
        (log.moves.looks > 0).then(|| log.moves.clone())
    }
}

impl Placed {
    /// Returns true if the runtime may gain by moving its workers.
    fn can_gain(&self) -> bool {
        let is_auto = self.affinity == raddle_topology::Affinity::Auto;
        let bound_count = self.plan.cpus().count();
        match self.machine.if_read() {
            Some(topology) if is_auto && bound_count > 1 => {
                self.is_never_alike || !alike(topology, &topology.allowed_set())
            }
            _ => false,
        }
    }
}

impl Placing {
    /// Returns true if there are reviews in this runtime.
    pub(crate) fn is_reviewed(&self) -> bool {
        // Relaxed: never changes from or to this value.
        self.review.next_ns.load(Relaxed) != u64::MAX
    }

    /// Returns true if it is time for a review.
    #[inline]
    pub(crate) fn is_due(&self, age_ns: u64) -> bool {
        // Relaxed: a worker that sees it late begins late. An exchange lets only one worker review.
        self.review.next_ns.load(Relaxed) <= age_ns
    }

    /// Decides whether workers should move, and has them moved. Does nothing if it is not time for
    /// a review or another worker is doing it.
    ///
    /// `flows` reads the traffic so far. `move_workers` sends each worker to its CPU and returns
    /// how many move. `age_now_ns` reads the clock of which `age_ns` is the current time.
    pub(crate) fn review_workers(
        &self,
        age_ns: u64,
        flows: impl FnOnce() -> Vec<Flow>,
        move_workers: impl FnOnce(&[Option<CpuId>]) -> usize,
        age_now_ns: impl FnOnce() -> u64,
    ) {
        let review = &self.review;
        // Relaxed: it only selects the one worker that reviews; the results are under the lock.
        let due_ns = review.next_ns.load(Relaxed);
        let not_yet = age_ns.saturating_add(LONGEST_NS);
        // Relaxed: as above.
        let is_ours = review
            .next_ns
            .compare_exchange(due_ns, not_yet, Relaxed, Relaxed);
        if due_ns > age_ns || is_ours.is_err() {
            return;
        }
        let Some(topology) = self.topology() else {
            return;
        };
        let mut log = review.log.lock().expect("nothing panics under this lock");
        // Decide by the traffic since the last review.
        let flows = flows();
        let present = self.present_cpus();
        let matrix = matrix_of(present.len(), &since(&flows, &log.seen));
        let observed = Duration::from_nanos(age_ns.saturating_sub(log.seen_ns));
        let options = PlaceOptions::new().cpus(self.within_reach(topology));
        let decision = (review.decide)(&matrix, observed, &present, topology, &options);
        // Move the workers.
        let moved = target_of(&decision, &present)
            .map(|cpus| move_workers(&cpus))
            .filter(|&count| count > 0);
        let count = moved.map(|count| (count as u64, decision.gain, decision.price));
        log.moves.add(count, decision.reason);
        // Set the time of the next review.
        let end_ns = age_now_ns();
        log.wait_ns = if moved.is_some() {
            FIRST_NS
        } else {
            (2 * log.wait_ns).min(LONGEST_NS)
        };
        log.wait_ns = log
            .wait_ns
            .max(PART_OF_TIME * end_ns.saturating_sub(age_ns));
        (log.seen, log.seen_ns) = (flows, end_ns);
        // Relaxed: as above.
        review
            .next_ns
            .store(end_ns.saturating_add(log.wait_ns), Relaxed);
    }
}

/// Returns the CPU of each worker after the moves of `decision`, or `None` if it has no moves.
fn target_of(decision: &Decision, present: &[Option<CpuId>]) -> Option<Vec<Option<CpuId>>> {
    if decision.moves.is_empty() {
        return None;
    }
    let mut cpus = present.to_vec();
    for step in &decision.moves {
        cpus[step.party] = Some(step.to);
    }
    Some(cpus)
}
