//! Moving operations while they run, when measurements show that it pays.
//!
//! Before the run, work and traffic are estimated from the bytes of locations. During the run, each
//! operation measures how long it has worked, and each location how many bytes it has. From time to
//! time, the first operation that ends its turn *looks*: it computes a new placement from these
//! measurements. As [`raddle_topology::relocate()`] does for workers, it compares the time that the
//! new placement would have saved since the last look with the cost of moving. A placement saves
//! time in two ways: bytes travel less far, and operations wait less for the worker with the most
//! work.
//!
//! The first look is after 10 ms, or after 2 ms for each operation if there are more than five,
//! since a look takes about 20 µs for each operation. A look that moves no operation doubles the
//! time to the next look. The pause is also at least a hundred times the CPU time of the look, so
//! that looks take at most a hundredth of the time. The time that has passed is no measure: a look
//! that another program interrupts for 10 ms would put off the next one by a second. There are no
//! looks if placement is not left to the runtime, if a placement was applied, or if there is only
//! one place.
//!
//! # Source
//! The source of [`raddle_topology::relocate()`]. The study (Gustedt, Jeannot, Mansouri, Inria
//! RR-8993, 2016) computes the placement only before the run.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use raddle_runtime::{Instant, Post, Runtime};
use raddle_sync::prim::{AtomicU64, Mutex, Relaxed, thread_cpu_time};
use raddle_topology::{CpuId, HOP_BYTE_NS, Strategy, cost, relocation_price};
use raddle_trace::Moves;

use crate::dependencies::dependencies_of;
use crate::operation::{Operation, labels_of};
use crate::placement::ProgramPlacement;
use crate::program_state::Operations;
use crate::worker_places::WorkerPlaces;

/// The shortest pause between two looks.
const PAUSE_MIN: Duration = Duration::from_millis(10);
/// The approximate time of a look for each operation. For 100,000 operations on 1,024 CPUs, 14 µs
/// were measured.
const LOOK_PER_OPERATION: Duration = Duration::from_micros(20);
/// The longest pause that results from doubling.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// The ratio of a pause to the CPU time of a look, at least.
const PAUSE_PER_LOOK: u32 = 100;
/// The number of turns between two reads of the clock.
const TURNS_PER_CLOCK: u64 = 16;

/// Decides whether operations should run elsewhere, and moves them.
#[derive(Debug)]
pub(crate) struct Mover {
    worker_places: WorkerPlaces,
    post: Post,
    /// The title of the moves in the report of the runtime.
    title: String,
    start: Instant,
    /// The time from the start to the next look, in nanoseconds; `u64::MAX` during a look.
    next_ns: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The present CPU of each operation.
    cpus: Vec<CpuId>,
    /// The time that each operation had worked at the last look.
    busy: Vec<Duration>,
    /// The number of turns that each operation had ended at the last look.
    turns: Vec<u64>,
    /// The time of the last look.
    seen: Instant,
    /// The pause until the next look, apart from the time that the look takes.
    pause: Duration,
    moves: Moves,
}

impl Mover {
    /// Creates the mover of a program with this placement.
    ///
    /// Returns `None` if operations are not to be moved.
    pub(crate) fn new(runtime: &Runtime, placement: &ProgramPlacement) -> Option<Self> {
        if !runtime.places_by_itself() || placement.places.len() < 2 {
            return None;
        }
        let worker_places =
            WorkerPlaces::of(runtime).filter(|worker_places| !worker_places.is_one_place())?;
        let cpus = worker_places.cpus_of(placement.worker_cpus()).ok()?;
        let start = Instant::now();
        let look = LOOK_PER_OPERATION.mul_f64(cpus.len() as f64);
        let first = PAUSE_MIN.max(PAUSE_PER_LOOK * look);
        Some(Self {
            worker_places,
            post: runtime.post(),
            title: format!("operations of {}", placement.program),
            start,
            next_ns: AtomicU64::new(first.as_nanos() as u64),
            state: Mutex::new(State {
                busy: vec![Duration::ZERO; cpus.len()],
                turns: vec![0; cpus.len()],
                cpus,
                seen: start,
                pause: PAUSE_MIN,
                moves: Moves::default(),
            }),
        })
    }

    /// Returns the moves, and the present worker and CPU of each operation.
    pub(crate) fn report(&self) -> (Moves, Vec<(usize, Option<CpuId>)>) {
        let state = self.state.lock().expect("nothing panics under this lock");
        let places = state.cpus.iter().map(|&cpu| self.worker_places.at(cpu));
        (state.moves.clone(), places.collect())
    }

    /// Looks for a better placement if a look is due. An operation calls this when it has ended a
    /// turn.
    #[inline]
    pub(crate) fn turn_ended(&self, turn: u64, operations: impl FnOnce() -> Operations) {
        if turn.is_multiple_of(TURNS_PER_CLOCK) {
            self.look_if_due(operations);
        }
    }

    #[cold]
    fn look_if_due(&self, operations: impl FnOnce() -> Operations) {
        let now_ns = self.start.elapsed().as_nanos() as u64;
        // Relaxed: the thread that wins the exchange looks, and no other thread does until it has
        // set the time of the next look. The lock orders the state.
        let due_ns = self.next_ns.load(Relaxed);
        let is_taken = |due_ns| {
            let taken = self
                .next_ns
                .compare_exchange(due_ns, u64::MAX, Relaxed, Relaxed);
            taken.is_ok()
        };
        if now_ns < due_ns || !is_taken(due_ns) {
            return;
        }
        let mut state = self.state.lock().expect("nothing panics under this lock");
        let begun = thread_cpu_time();
        let has_moved = self.look(&mut state, &operations());
        state.pause = if has_moved {
            PAUSE_MIN
        } else {
            (2 * state.pause).min(PAUSE_MAX)
        };
        let took = thread_cpu_time().saturating_sub(begun);
        let pause = state.pause.max(PAUSE_PER_LOOK * took);
        let next = self.start.elapsed() + pause;
        // Relaxed: as above.
        self.next_ns.store(next.as_nanos() as u64, Relaxed);
    }

    /// Computes a new placement, and moves operations if that pays. Returns true if it did.
    fn look(&self, state: &mut State, operations: &[Arc<Operation>]) -> bool {
        // Take the measurements since the last look.
        let observed = state.seen.elapsed();
        let ended: Vec<_> = operations
            .iter()
            .map(|operation| operation.turn())
            .collect();
        let turns = |at: usize| ended[at].saturating_sub(state.turns[at]).max(1) as f64;
        let busy: Vec<_> = operations
            .iter()
            .map(|operation| operation.busy())
            .collect();
        let worked = busy.iter().zip(&state.busy);
        let loads: Vec<_> = worked
            .map(|(now, then)| now.saturating_sub(*then).as_secs_f64() * 1e9)
            .collect();
        let matrix = dependencies_of(operations.iter().map(|operation| &**operation), turns);
        (state.busy, state.seen, state.turns) = (busy, Instant::now(), ended);
        // Compute a new placement from them.
        let together = labels_of(operations.iter().map(|operation| &**operation));
        let placed =
            self.worker_places
                .place(&matrix, Strategy::default(), loads.clone(), together);
        let Ok(placed) = placed else {
            return false;
        };
        let Ok(before) = cost(&matrix, &self.worker_places.topology, &state.cpus) else {
            return false;
        };
        // Compare the gain with the cost of moving.
        let changes: Vec<_> = (0..operations.len())
            .filter(|&at| placed.cpus[at] != state.cpus[at])
            .collect();
        let ways: Vec<_> = changes
            .iter()
            .map(|&at| (state.cpus[at], placed.cpus[at]))
            .collect();
        let gain = Gain {
            traffic_ns: (before - placed.cost) * HOP_BYTE_NS,
            waiting_ns: busiest(&state.cpus, &loads) - busiest(&placed.cpus, &loads),
        };
        let price = relocation_price(&self.worker_places.topology, &ways);
        let pays = gain.total() > price;
        let reason = gain.describe(changes.len(), operations.len(), observed, price, pays);
        let counted = pays.then(|| (changes.len() as u64, gain.total(), price));
        state.moves.add(counted, reason.clone());
        self.post
            .note_moves(&self.title, |moves| moves.add(counted, reason));
        if pays {
            for &at in &changes {
                let (worker_index, cpu) = self.worker_places.at(placed.cpus[at]);
                operations[at].move_to(worker_index, cpu);
            }
            state.cpus = placed.cpus;
        }
        pays
    }
}

/// The time that a placement would have saved, in nanoseconds; negative if it would be slower.
struct Gain {
    traffic_ns: f64,
    /// The time saved in waiting for the worker with the most work.
    waiting_ns: f64,
}

impl Gain {
    fn total(&self) -> Duration {
        duration(self.traffic_ns + self.waiting_ns)
    }

    /// Returns the reason why operations are moved or not.
    fn describe(
        &self,
        count: usize,
        of: usize,
        observed: Duration,
        price: Duration,
        pays: bool,
    ) -> String {
        let decision = if pays {
            format!("{count} of {of} operations move")
        } else {
            "no operation moves".to_owned()
        };
        if count == 0 {
            return format!("{decision}: the present placement is the best one found");
        }
        let (traffic, waiting) = (self.traffic_ns * 1e-6, self.waiting_ns * 1e-6);
        format!(
            "{decision}: in {observed:.1?}, another placement of {count} saves {traffic:.2} ms of \
             traffic and {waiting:.2} ms of waiting for the busiest worker, and costs {price:.1?}"
        )
    }
}

fn duration(ns: f64) -> Duration {
    Duration::try_from_secs_f64(ns * 1e-9).unwrap_or_default()
}

/// Returns the work of the CPU that has the most.
fn busiest(cpus: &[CpuId], loads: &[f64]) -> f64 {
    let mut sums: HashMap<CpuId, f64> = HashMap::new();
    for (&cpu, load) in cpus.iter().zip(loads) {
        *sums.entry(cpu).or_default() += load;
    }
    sums.into_values().fold(0.0, f64::max)
}
