//! Operations that run are moved when what was seen of them says that it pays.
//!
//! Before the run, work and traffic are guesses, both from the bytes of locations. While it runs, each operation knows how
//! long it has worked, and each location how many bytes it has. Now and then the first operation to end its turn makes the placement anew
//! with that, and weighs it as [`raddle_topology::relocate()`] does for workers: what would have been saved since the last look against what moving
//! costs. Two things are saved: the way that bytes go, and waiting for the worker that has most to do.
//!
//! The first look comes after 10 ms, or 2 ms for each operation where these are more than five, since a look takes some 20 µs for each. One that moves
//! nobody doubles the time to the next, and the next waits a hundred times as long as a look has taken. So looks take a hundredth of the
//! time. Nobody looks where placement is not left to the runtime, where it was applied, or there is one place only.
//! # Source
//! As [`raddle_topology::relocate()`]; the study (Gustedt, Jeannot, Mansouri, Inria RR-8993, 2016) places before the run alone.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use raddle_runtime::{Instant, Post, Runtime};
use raddle_sync::prim::{AtomicU64, Mutex, Relaxed};
use raddle_topology::{CpuId, HOP_BYTE_NS, Strategy, cost, relocation_price};
use raddle_trace::Moves;

use crate::crew::Operations;
use crate::dependencies::dependencies_of;
use crate::ground::Ground;
use crate::operation::{Operation, labels_of};
use crate::placement::ProgramPlacement;

const FIRST: Duration = Duration::from_millis(10);
/// What a look takes for each operation, about; 14 µs were measured for 100,000 on 1,024 CPUs.
const PER_OPERATION: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_secs(60);
/// A look takes at most so small a part of the time.
const PART_OF_TIME: u32 = 100;
/// Turns between two looks at the clock.
const TURNS_PER_CLOCK: u64 = 16;

/// Looks whether operations should be elsewhere, and sends them there.
#[derive(Debug)]
pub(crate) struct Mover {
    ground: Ground,
    post: Post,
    what: String,
    start: Instant,
    /// Nanoseconds from the start to the next look.
    next_ns: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    cpus: Vec<CpuId>,
    /// What each operation had worked at the last look, and when that was.
    busy: Vec<Duration>,
    seen: Instant,
    turn: u64,
    wait: Duration,
    moves: Moves,
}

impl Mover {
    /// One for a program that was placed so; `None` where nobody is to be moved.
    pub(crate) fn new(runtime: &Runtime, placement: &ProgramPlacement) -> Option<Self> {
        if !runtime.places_by_itself() || placement.places.len() < 2 {
            return None;
        }
        let ground = Ground::of(runtime).filter(|ground| !ground.is_one_place())?;
        let cpus = ground.cpus_of(placement.seats()).ok()?;
        let start = Instant::now();
        let look = PER_OPERATION.mul_f64(cpus.len() as f64);
        let first = FIRST.max(PART_OF_TIME * look);
        Some(Self {
            ground,
            post: runtime.post(),
            what: format!("operations of {}", placement.program),
            start,
            next_ns: AtomicU64::new(first.as_nanos() as u64),
            state: Mutex::new(State {
                busy: vec![Duration::ZERO; cpus.len()],
                cpus,
                seen: start,
                turn: 0,
                wait: FIRST,
                moves: Moves::default(),
            }),
        })
    }

    /// What was moved, and where each operation is now.
    pub(crate) fn told(&self) -> (Moves, Vec<(usize, Option<CpuId>)>) {
        let state = self.state.lock().expect("nothing panics under this lock");
        let places = state.cpus.iter().map(|&cpu| self.ground.at(cpu));
        (state.moves.clone(), places.collect())
    }

    /// Called by an operation that has ended a turn.
    #[inline]
    pub(crate) fn turn_ended(&self, turn: u64, operations: impl FnOnce() -> Operations) {
        if turn.is_multiple_of(TURNS_PER_CLOCK) {
            self.look_if_due(turn, operations);
        }
    }

    #[cold]
    fn look_if_due(&self, turn: u64, operations: impl FnOnce() -> Operations) {
        let now_ns = self.start.elapsed().as_nanos() as u64;
        // Relaxed: whoever takes the moment looks, and nobody else until there is another one; the lock orders what is seen.
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
        let begun = Instant::now();
        let has_moved = self.look(&mut state, turn, &operations());
        state.wait = if has_moved {
            FIRST
        } else {
            (2 * state.wait).min(LONGEST)
        };
        let pause = state.wait.max(PART_OF_TIME * begun.elapsed());
        let next = self.start.elapsed() + pause;
        // Relaxed: as above.
        self.next_ns.store(next.as_nanos() as u64, Relaxed);
    }

    /// Looks, and moves operations if that pays; true when it did.
    fn look(&self, state: &mut State, turn: u64, operations: &[Arc<Operation>]) -> bool {
        let observed = state.seen.elapsed();
        let turns = turn.saturating_sub(state.turn) as f64;
        let busy: Vec<_> = operations
            .iter()
            .map(|operation| operation.busy())
            .collect();
        let worked = busy.iter().zip(&state.busy);
        let loads: Vec<_> = worked
            .map(|(now, then)| now.saturating_sub(*then).as_secs_f64() * 1e9)
            .collect();
        let matrix = dependencies_of(operations.iter().map(|operation| &**operation));
        (state.busy, state.seen, state.turn) = (busy, Instant::now(), turn);
        let together = labels_of(operations.iter().map(|operation| &**operation));
        let placed = self
            .ground
            .place(&matrix, Strategy::default(), loads.clone(), together);
        let Ok(placed) = placed else {
            return false;
        };
        let Ok(before) = cost(&matrix, &self.ground.topology, &state.cpus) else {
            return false;
        };
        let changes: Vec<_> = (0..operations.len())
            .filter(|&at| placed.cpus[at] != state.cpus[at])
            .collect();
        let ways: Vec<_> = changes
            .iter()
            .map(|&at| (state.cpus[at], placed.cpus[at]))
            .collect();
        let gain = Gain {
            traffic_ns: (before - placed.cost) * turns * HOP_BYTE_NS,
            waiting_ns: fullest(&state.cpus, &loads) - fullest(&placed.cpus, &loads),
        };
        let price = relocation_price(&self.ground.topology, &ways);
        let pays = gain.total() > price;
        let said = gain.say(changes.len(), operations.len(), observed, price, pays);
        let counted = pays.then(|| (changes.len() as u64, gain.total(), price));
        state.moves.add(counted, said.clone());
        self.post
            .note_moves(&self.what, |moves| moves.add(counted, said));
        if pays {
            for &at in &changes {
                let (worker_index, cpu) = self.ground.at(placed.cpus[at]);
                operations[at].move_to(worker_index, cpu);
            }
            state.cpus = placed.cpus;
        }
        pays
    }
}

/// What a placement would have saved, in nanoseconds; less than nothing where it would have cost.
struct Gain {
    traffic_ns: f64,
    /// By the worker that has most to do.
    waiting_ns: f64,
}

impl Gain {
    fn total(&self) -> Duration {
        duration(self.traffic_ns + self.waiting_ns)
    }

    fn say(
        &self,
        count: usize,
        of: usize,
        observed: Duration,
        price: Duration,
        pays: bool,
    ) -> String {
        let who = if pays {
            format!("{count} of {of} move")
        } else {
            "nobody moves".to_owned()
        };
        if count == 0 {
            return format!("{who}: they are where they should be");
        }
        let (traffic, waiting) = (self.traffic_ns * 1e-6, self.waiting_ns * 1e-6);
        format!(
            "{who}: in {observed:.1?} another placement of {count} saves {traffic:.2} ms of traffic and {waiting:.2} ms of waiting for \
             the fullest worker, and costs {price:.1?}"
        )
    }
}

fn duration(ns: f64) -> Duration {
    Duration::try_from_secs_f64(ns * 1e-9).unwrap_or_default()
}

/// The work of the CPU that has most.
fn fullest(cpus: &[CpuId], loads: &[f64]) -> f64 {
    let mut sums: HashMap<CpuId, f64> = HashMap::new();
    for (&cpu, load) in cpus.iter().zip(loads) {
        *sums.entry(cpu).or_default() += load;
    }
    sums.into_values().fold(0.0, f64::max)
}
