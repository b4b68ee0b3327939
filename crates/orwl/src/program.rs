//! Programs: locations, the tasks that share them, and their run.

mod locations;
mod placing;
mod tasks;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use raddle_runtime::{RunQueue, Runtime, default_runtime};
use raddle_sync::clock::Instant;
use raddle_sync::fifo::{Access, REQUEST_COUNT_MAX};
use raddle_sync::prim::{AtomicU64, Relaxed};
use raddle_topology::{CpuId, Topology};
use raddle_trace::Moves;

use crate::error::RunError;
use crate::location::{Identity, Run};
use crate::moving::Mover;
use crate::operation::Operation;
use crate::placement::{OperationPlace, ProgramPlacement};
use crate::program_state::ProgramState;
use crate::run::Starter;
use crate::task::{Body, Declared, FirstRequests};

pub use self::tasks::Operations;

/// The greatest number of handles on a location.
///
/// It is one less than the number of requests, since a handle that puts in its next request has two
/// for a moment.
const HANDLE_COUNT_MAX: usize = REQUEST_COUNT_MAX - 1;

/// The number of the next program.
static PROGRAMS: AtomicU64 = AtomicU64::new(1);

/// Tasks and the locations that they share, before they run.
///
/// The order of declaration decides what tasks see: in each turn, they see the data as if they ran
/// one after the other in that order.
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
    state: Arc<ProgramState>,
    locations: Vec<Declared>,
    rings: Vec<Arc<Identity>>,
    requests: Vec<FirstRequests>,
    operations: Vec<Planned>,
    placement: Option<ProgramPlacement>,
}

/// An operation that has been declared.
#[derive(Debug)]
struct Planned {
    operation: Arc<Operation>,
    body: Body,
    load: Option<f64>,
}

/// The number of turns of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns(pub u64);

impl Turns {
    /// No limit: the program runs until a task ends it.
    pub const UNTIL_BREAK: Self = Self(u64::MAX);
}

/// The result of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of turns that all tasks have completed.
    pub turns: u64,
    /// The number of sections that were entered, or waited for when the program ended.
    pub sections: u64,
    /// The time from the start of the first task to the end of the last.
    pub elapsed: Duration,
    /// The place of each operation at the end.
    pub placement: ProgramPlacement,
    /// The operations that were moved during the run, and the reasons.
    pub moves: Moves,
}

impl Program {
    /// Creates a program without tasks. The name appears in messages and reports.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            // Relaxed: the numbers only have to differ.
            number: PROGRAMS.fetch_add(1, Relaxed),
            state: ProgramState::new(),
            locations: Vec::new(),
            rings: Vec::new(),
            requests: Vec::new(),
            operations: Vec::new(),
            placement: None,
        }
    }

    /// Returns the name of the program.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the placement of the tasks, instead of the one that the program would compute.
    ///
    /// It is checked when the program [runs](Self::run_on). Operations are not moved from there
    /// during the run.
    pub fn apply_placement(&mut self, placement: ProgramPlacement) {
        self.placement = Some(placement);
    }

    /// Runs the program on the default runtime, to its end.
    ///
    /// # Errors
    /// [`RunError`] if the program has no tasks, if a thread cannot be started, if a task panics
    /// (which stops all tasks), or if the applied placement does not fit. The same holds if the
    /// program has futures and this thread is a worker that would run them, if this thread holds a
    /// location of the program from outside, or if a location is broken or has too many handles.
    ///
    /// # Panics
    /// As for [`default_runtime`].
    pub fn run(self, turns: Turns) -> Result<Outcome, RunError> {
        self.run_on(default_runtime(), turns)
    }

    /// Runs the program on a runtime, to its end.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
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
        self.check_handle_counts(HANDLE_COUNT_MAX)?;
        // Compute the placement, unless one was applied. Operations stay where they were put.
        let applied = self.placement.take();
        let may_move = applied.is_none();
        let placement = applied.unwrap_or_else(|| self.compute_placement(runtime));
        self.check(&placement, runtime.worker_count())?;
        let may_spin = self.may_spin(&placement, runtime);
        let operations = self
            .operations
            .iter()
            .map(|planned| Arc::clone(&planned.operation));
        self.state
            .begin_run(operations.collect(), turns.0, may_spin);
        if may_move && let Some(mover) = Mover::new(runtime, &placement) {
            self.state.set_mover(mover);
        }
        // From here on, the program runs: first the locations know it, then requests go in, then
        // operations start.
        self.set_run(Some(&Run {
            futures: has_futures.then(|| runtime.post()),
        }));
        self.put_in();
        let start = Instant::now();
        let ready = RunQueue::new(&runtime.post());
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
            running.push(starter.start(runtime, &ready));
        }
        let outcome = self.state.wait();
        let elapsed = start.elapsed();
        for thread in running.into_iter().flatten() {
            thread.wait();
        }
        // All operations have ended. Give back the requests of handles that were dropped, and
        // record the handles that still exist.
        self.state.set_over();
        self.set_run(None);
        let operations = self.state.operations();
        for operation in operations.iter() {
            operation.give_back_left_requests();
            operation.note_kept();
        }
        let (turns, sections) = (turns_had(&operations), sections(&operations));
        let written = self.turns_written(&operations, turns);
        self.state.drop_operations();
        // Record the newest value of each location for reads from outside.
        for location in &self.rings {
            let (written, depth) = (written[location.index], location.depth as u64);
            // Relaxed: all tasks have ended.
            location
                .newest
                .store(((written + depth - 1) % depth) as usize, Relaxed);
        }
        outcome?;
        let mut placement = placement;
        let moves = self.state.moved(&mut placement);
        Ok(Outcome {
            turns,
            sections,
            elapsed,
            placement,
            moves,
        })
    }

    /// Checks that a placement has a worker for each operation, and names only CPUs that exist.
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

    /// Returns true if each operation has a thread, and each thread its own CPU.
    ///
    /// Then a thread that spins does not keep another one from working.
    fn may_spin(&self, placement: &ProgramPlacement, runtime: &Runtime) -> bool {
        let blocks = |planned: &Planned| planned.body.blocks();
        let cpus = || placement.places.iter().filter_map(|place| place.cpu);
        self.operations.iter().all(blocks)
            && self.operations.len() <= runtime.worker_count()
            && cpus().collect::<HashSet<_>>().len() == cpus().count()
    }

    /// Returns for each location the number of turns in which it was written, at most `turns`.
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

    /// Checks that no location has more handles than its FIFO has capacity for.
    ///
    /// A handle on a whole counts for each of its pieces.
    fn check_handle_counts(&self, most: usize) -> Result<(), RunError> {
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
            Some(location) => Err(RunError::TooManyHandles {
                program: self.name.clone(),
                location: location.name.clone(),
                found: asked(location),
                most,
            }),
        }
    }

    /// Records in all locations that the program runs, or that it does not run any more.
    fn set_run(&self, run: Option<&Run>) {
        for location in &self.rings {
            *location.run() = run.cloned();
        }
    }

    /// Puts in the first requests of all handles.
    ///
    /// The requests for the first turn go in first, in the order of declaration. Those for the
    /// second turn follow, and so on.
    fn put_in(&self) {
        let turns = self
            .requests
            .iter()
            .map(|first| first.turns)
            .max()
            .unwrap_or(0);
        for turn in 0..turns {
            for first in self.requests.iter().filter(|first| turn < first.turns) {
                first.requests.put_in(turn);
            }
        }
    }
}

/// Returns the CPU of a place if the machine does not have it.
fn unknown_cpu(place: &OperationPlace) -> Option<CpuId> {
    let machine = Topology::this_machine().ok()?;
    place.cpu.filter(|&cpu| machine.cpu(cpu).is_none())
}

/// Returns the number of turns that all operations have completed.
///
/// Operations with only one turn count only if there are no others.
fn turns_had(operations: &[Arc<Operation>]) -> u64 {
    let turns = |operation: &Arc<Operation>| operation.turn();
    let lasting = operations.iter().filter(|operation| !operation.is_brief());
    let all = || operations.iter().map(turns).min();
    lasting.map(turns).min().or_else(all).unwrap_or(0)
}

/// Returns the number of sections of all operations.
fn sections(operations: &[Arc<Operation>]) -> u64 {
    let links = operations.iter().flat_map(|operation| operation.links());
    // Relaxed: all tasks have ended.
    links.map(|link| link.sections.load(Relaxed)).sum()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
