//! Programs: locations, the tasks that share them, and how they run.

mod locations;
mod placing;
mod tasks;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use raddle_runtime::{RunQueue, Runtime, default_runtime};
use raddle_sync::fifo::{Access, REQUEST_COUNT_MAX};
use raddle_sync::prim::{AtomicU64, Instant, Relaxed};
use raddle_topology::{CpuId, Topology};
use raddle_trace::Moves;

use crate::crew::Crew;
use crate::error::RunError;
use crate::location::{Identity, Run};
use crate::moving::Mover;
use crate::operation::Operation;
use crate::placement::{OperationPlace, ProgramPlacement};
use crate::run::Starter;
use crate::task::{Body, Declared, SeatOf};

pub use self::tasks::Operations;

/// Handles that a location may have: who puts his next request in has two for a moment.
const HANDLE_COUNT_MAX: usize = REQUEST_COUNT_MAX - 1;

/// Programs so far, so that each has a number of its own.
static PROGRAMS: AtomicU64 = AtomicU64::new(1);

/// Tasks and the locations that they share, before they run.
///
/// The order of declaration decides what tasks see: in each turn it is as if they ran one after the other in that order.
///
/// # Examples
/// ```
/// use raddle_orwl::{Program, Turns};
/// let mut program = Program::new("squares");
/// let number = program.location("number", 0_u64);
/// let sum = program.location("sum", 0_u64);
/// program.task("count", |task| {
///     let mut number = task.writes_each_turn(&number);
///     move || number.section(|number| *number += 1)
/// });
/// program.task("add", |task| {
///     let mut number = task.reads_each_turn(&number);
///     let mut sum = task.writes_each_turn(&sum);
///     move || number.section(|number| sum.section(|sum| *sum += number * number))
/// });
/// program.run(Turns(10))?;
/// assert_eq!(*sum.read()?, 385);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Program {
    name: String,
    number: u64,
    crew: Arc<Crew>,
    locations: Vec<Declared>,
    rings: Vec<Arc<Identity>>,
    seats: Vec<SeatOf>,
    operations: Vec<Planned>,
    placement: Option<ProgramPlacement>,
}

/// An operation, declared.
#[derive(Debug)]
struct Planned {
    operation: Arc<Operation>,
    body: Body,
    load: Option<f64>,
}

/// How many turns a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns(pub u64);

impl Turns {
    /// Until a task says that there are no more.
    pub const UNTIL_BREAK: Self = Self(u64::MAX);
}

/// How a program ran.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The turns that all tasks have had.
    pub turns: u64,
    /// Sections that were entered, and those that somebody waited for when the program ended.
    pub sections: u64,
    /// From the start of the first task to the end of the last.
    pub elapsed: Duration,
    /// Where the tasks ran at the end.
    pub placement: ProgramPlacement,
    /// Which of them were moved while they ran, and why.
    pub moves: Moves,
}

impl Program {
    /// A program without tasks. The name is for people.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            // Relaxed: numbers that differ are all that is wanted.
            number: PROGRAMS.fetch_add(1, Relaxed),
            crew: Crew::new(),
            locations: Vec::new(),
            rings: Vec::new(),
            seats: Vec::new(),
            operations: Vec::new(),
            placement: None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Where its tasks are to run, instead of where it would place them itself; looked at when it [runs](Self::run_on). Nobody is moved from there.
    pub fn apply_placement(&mut self, placement: ProgramPlacement) {
        self.placement = Some(placement);
    }

    /// Runs it on the default runtime, to the end.
    ///
    /// # Errors
    /// [`RunError`]: no tasks, no threads, or a task that panicked, which stops all. Futures are not waited for on a worker that is to run them,
    /// nor is anything by a thread that holds a location from outside.
    ///
    /// # Panics
    /// As [`default_runtime`].
    pub fn run(self, turns: Turns) -> Result<Outcome, RunError> {
        self.run_on(default_runtime(), turns)
    }

    /// Runs it on a runtime, to the end.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_on(mut self, runtime: &Runtime, turns: Turns) -> Result<Outcome, RunError> {
        if self.operations.is_empty() {
            return Err(RunError::Empty { program: self.name });
        }
        let has_futures = self.operations.iter().any(|planned| !planned.body.blocks());
        if has_futures && runtime.post().own_index().is_some() {
            return Err(RunError::OnOwnWorker { program: self.name });
        }
        if let Some(location) = self.rings.iter().find(|location| location.is_held_here()) {
            return Err(RunError::Held {
                location: location.name.clone(),
                program: self.name,
            });
        }
        self.check_room(HANDLE_COUNT_MAX)?;
        let applied = self.placement.take();
        // Who says where tasks run wants them there.
        let may_move = applied.is_none();
        let placement = applied.unwrap_or_else(|| self.compute_placement(runtime));
        self.check(&placement, runtime.worker_count())?;
        let may_spin = self.may_spin(&placement, runtime);
        let operations = self
            .operations
            .iter()
            .map(|planned| Arc::clone(&planned.operation));
        self.crew.muster(operations.collect(), turns.0, may_spin);
        if may_move && let Some(mover) = Mover::new(runtime, &placement) {
            self.crew.hire(mover);
        }
        self.say(Some(&Run {
            futures: has_futures.then(|| runtime.post()),
        }));
        self.put_in();
        let start = Instant::now();
        let queue = RunQueue::new(&runtime.post());
        let mut running = Vec::new();
        for (index, planned) in self.operations.drain(..).enumerate() {
            let place = &placement.places[index];
            let starter = Starter {
                index,
                operation: planned.operation,
                body: planned.body,
                worker_index: place.worker_index,
                cpu: place.cpu,
            };
            running.push(starter.start(runtime, &queue));
        }
        let outcome = self.crew.wait();
        let elapsed = start.elapsed();
        for thread in running.into_iter().flatten() {
            thread.wait();
        }
        self.crew.set_over();
        self.say(None);
        let operations = self.crew.operations();
        for operation in operations.iter() {
            operation.clear_left_seats();
            operation.note_kept();
        }
        let (turns, sections) = (turns_had(&operations), sections(&operations));
        let written = self.turns_written(&operations, turns);
        self.crew.disband();
        for location in &self.rings {
            let (written, depth) = (written[location.index], location.depth as u64);
            // Relaxed: all tasks have ended.
            location
                .newest
                .store(((written + depth - 1) % depth) as usize, Relaxed);
        }
        outcome?;
        let mut placement = placement;
        let moves = self.crew.moved(&mut placement);
        Ok(Outcome {
            turns,
            sections,
            elapsed,
            placement,
            moves,
        })
    }

    /// Sees that a placement has a worker for each operation, and names no CPU that is not there.
    fn check(&self, placement: &ProgramPlacement, worker_count: usize) -> Result<(), RunError> {
        let (found, expected) = (placement.places.len(), self.operations.len());
        let mut workers = placement.places.iter().map(|place| place.worker_index);
        let wrong = workers.find(|&worker_index| worker_index >= worker_count);
        let reason = match wrong {
            _ if found != expected => {
                format!("it has {found} places; expected one for each of {expected} operations")
            }
            Some(worker) => {
                format!("it names worker {worker}; expected one below {worker_count}")
            }
            None => match placement.places.iter().find_map(unknown_cpu) {
                Some(cpu) => format!("it names CPU {cpu}; expected one of this machine"),
                None => return Ok(()),
            },
        };
        Err(RunError::Placement {
            program: self.name.clone(),
            reason,
        })
    }

    /// True when each operation has a thread, and each thread a CPU, so that nobody who spins keeps another from working.
    fn may_spin(&self, placement: &ProgramPlacement, runtime: &Runtime) -> bool {
        let blocks = |planned: &Planned| planned.body.blocks();
        let cpus = || placement.places.iter().filter_map(|place| place.cpu);
        self.operations.iter().all(blocks)
            && self.operations.len() <= runtime.worker_count()
            && cpus().collect::<HashSet<_>>().len() == cpus().count()
    }

    /// By location: the turns that it has been written in, the last of them at the latest.
    fn turns_written(&self, operations: &[Arc<Operation>], turns: u64) -> Vec<u64> {
        let mut written = vec![0; self.rings.len()];
        let links = operations.iter().flat_map(|operation| operation.links());
        for link in links.filter(|link| link.access == Access::Write) {
            // Relaxed: all tasks have ended.
            let sections = link.sections.load(Relaxed).min(turns);
            let latest = &mut written[link.location.index];
            *latest = sections.max(*latest);
        }
        written
    }

    /// Sees that no location is asked for by more than its FIFO has room for; a piece is asked for by those who have the whole, too.
    fn check_room(&self, most: usize) -> Result<(), RunError> {
        let mut handles = vec![0_usize; self.rings.len()];
        let operations = self.operations.iter().map(|planned| &planned.operation);
        for link in operations.flat_map(|operation| operation.links()) {
            handles[link.location.index] += 1;
        }
        let asked = |location: &Arc<Identity>| match location.index == location.whole {
            true => handles[location.index],
            false => handles[location.index] + handles[location.whole],
        };
        match self.rings.iter().find(|location| asked(location) > most) {
            None => Ok(()),
            Some(location) => Err(RunError::Crowded {
                program: self.name.clone(),
                location: location.name.clone(),
                found: asked(location),
                most,
            }),
        }
    }

    /// Says to locations that the program runs, or not any more.
    fn say(&self, run: Option<&Run>) {
        for location in &self.rings {
            *location.run() = run.cloned();
        }
    }

    /// Puts in the first requests of all handles: those for the first turn in the order of declaration, then those for the second, and so on.
    fn put_in(&self) {
        let turns = self.seats.iter().map(|seat| seat.turns).max().unwrap_or(0);
        for turn in 0..turns {
            for seat in self.seats.iter().filter(|seat| turn < seat.turns) {
                seat.seat.put_in(turn);
            }
        }
    }
}

/// The CPU that is named, where the machine has no such.
fn unknown_cpu(place: &OperationPlace) -> Option<CpuId> {
    let machine = Topology::this_machine().ok()?;
    place.cpu.filter(|&cpu| machine.cpu(cpu).is_none())
}

/// The turns that all operations have had.
fn turns_had(operations: &[Arc<Operation>]) -> u64 {
    let turns = |operation: &Arc<Operation>| operation.turn();
    let lasting = operations.iter().filter(|operation| !operation.is_brief());
    let all = || operations.iter().map(turns).min();
    lasting.map(turns).min().or_else(all).unwrap_or(0)
}

/// The sections that all operations have had.
fn sections(operations: &[Arc<Operation>]) -> u64 {
    let links = operations.iter().flat_map(|operation| operation.links());
    // Relaxed: all tasks have ended.
    links.map(|link| link.sections.load(Relaxed)).sum()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
