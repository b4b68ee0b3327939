//! Workers by `auto` move when what they were seen to exchange says that it pays.
//!
//! Some worker looks ([`relocate`](raddle_topology::relocate())): one that has run out of work, or that has run many tasks since it looked at the
//! clock last. The first look comes after 10 ms. Each one that moves nobody doubles the time to the next, up to a minute; a move begins
//! anew. A look is about what was exchanged since the one before, and it takes no more than a hundredth of the time, or the
//! next one waits. Where all placements cost the same (as on two CPUs), where nobody is bound, and where another rule was asked for,
//! nobody ever looks: what is left then is one comparison for each time that a worker runs out of work.
//!
//! A CPU to which a worker would go is claimed first; where somebody else was quicker, nobody moves.

use std::time::Duration;

use raddle_sync::prim::{AtomicU64, Mutex, Relaxed};
use raddle_topology::{CpuId, Decision, Matrix, PlaceOptions, Topology, alike};
use raddle_trace::Moves;

use super::Placing;
use crate::config::Placed;
use crate::post::Post;
use crate::traffic::{Flow, matrix_of, since};
use crate::worker::Worker;

const FIRST_NS: u64 = 10_000_000;
const LONGEST_NS: u64 = 60_000_000_000;
/// A look takes at most so small a part of the time.
const PART_OF_TIME: u64 = 100;
/// Tasks, or rows of messages, between two looks at the clock by workers that always have work.
pub(crate) const ROUNDS_PER_CLOCK: u32 = 1 << 12;

/// What decides; as [`raddle_topology::relocate()`].
pub(crate) type Decide =
    fn(&Matrix, Duration, &[Option<CpuId>], &Topology, &PlaceOptions) -> Decision;

/// When somebody looks, and what came of it.
#[derive(Debug)]
pub(super) struct Watch {
    decide: Decide,
    /// The age of the runtime at which the next look is due; never, where looking is of no use.
    next_ns: AtomicU64,
    log: Mutex<Log>,
}

#[derive(Debug)]
struct Log {
    seen: Vec<Flow>,
    seen_ns: u64,
    wait_ns: u64,
    moves: Moves,
}

impl Watch {
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

    /// What was moved, if anybody has looked.
    pub(super) fn moves(&self) -> Option<Moves> {
        let log = self.log.lock().expect("nothing panics under this lock");
        (log.moves.looks > 0).then(|| log.moves.clone())
    }
}

impl Placed {
    /// True where workers may come to be moved by themselves.
    fn can_gain(&self) -> bool {
        let is_auto = self.affinity == raddle_topology::Affinity::Auto;
        let bound_count = self.plan.cpus().count();
        match self.topology {
            Some(topology) if is_auto && bound_count > 1 => {
                self.is_never_alike || !alike(topology, &topology.allowed_set())
            }
            _ => false,
        }
    }
}

impl Placing {
    /// True when somebody will ever look whether workers should move.
    pub(crate) fn is_watched(&self) -> bool {
        // Relaxed: never changes from or to this value.
        self.watch.next_ns.load(Relaxed) != u64::MAX
    }

    /// True when it is time to look.
    #[inline]
    pub(crate) fn is_due(&self, age_ns: u64) -> bool {
        // Relaxed: who sees it late looks late; that only one looks is seen to by an exchange.
        self.watch.next_ns.load(Relaxed) <= age_ns
    }
}

impl Worker {
    /// Looks whether workers should move, and has them moved.
    #[cold]
    pub(crate) fn look_at_places(&self, age_ns: u64) {
        let shared = self.shared();
        let (placing, watch) = (&shared.placing, &shared.placing.watch);
        // Relaxed: only one shall look; what it finds is under the lock.
        let due_ns = watch.next_ns.load(Relaxed);
        let not_yet = age_ns.saturating_add(LONGEST_NS);
        // Relaxed: as above.
        let is_ours = watch
            .next_ns
            .compare_exchange(due_ns, not_yet, Relaxed, Relaxed);
        if due_ns > age_ns || is_ours.is_err() {
            return;
        }
        let Some(topology) = placing.topology else {
            return;
        };
        let mut log = watch.log.lock().expect("nothing panics under this lock");
        let flows = shared.traffic.flows();
        let matrix = matrix_of(shared.worker_count(), &since(&flows, &log.seen));
        let observed = Duration::from_nanos(age_ns.saturating_sub(log.seen_ns));
        let present = placing.presents();
        let options = PlaceOptions::new().cpus(placing.within_reach(topology));
        let decision = (watch.decide)(&matrix, observed, &present, topology, &options);
        let moved = self.apply(&decision, &present);
        let count = moved.map(|count| (count as u64, decision.gain, decision.price));
        log.moves.add(count, decision.reason);
        let end_ns = shared.age_ns();
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
        watch
            .next_ns
            .store(end_ns.saturating_add(log.wait_ns), Relaxed);
    }

    /// Moves as was decided; how many, or none where nobody moves.
    fn apply(&self, decision: &Decision, present: &[Option<CpuId>]) -> Option<usize> {
        if decision.moves.is_empty() {
            return None;
        }
        let mut cpus = present.to_vec();
        for step in &decision.moves {
            cpus[step.party] = Some(step.to);
        }
        Post::new(self.shared()).move_by_traffic(&cpus)
    }
}
