//! Programs: locations, the tasks that share them, and how they run.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use raddle_runtime::{Runtime, default_runtime};
use raddle_sync::ordered::{self, Ordered};
use raddle_sync::prim::{AtomicU64, AtomicUsize, Instant, Relaxed};

use raddle_trace::Moves;

use crate::crew::Crew;
use crate::error::RunError;
use crate::extent::Extent;
use crate::location::{Identity, Location, Split};
use crate::moving::Mover;
use crate::operation::{Name, Operation};
use crate::placement::ProgramPlacement;
use crate::run::Starter;
use crate::task::{Body, Declared, SeatOf, Task, TurnEnd};

/// Programs so far, so that each has a number of its own, and operations so far.
static PROGRAMS: AtomicU64 = AtomicU64::new(1);
static OPERATIONS: AtomicU64 = AtomicU64::new(1);

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
    pub(crate) operations: Vec<Planned>,
    placement: Option<ProgramPlacement>,
}

/// An operation, declared.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) operation: Arc<Operation>,
    body: Body,
    pub(crate) load: Option<f64>,
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
    /// Sections that were entered.
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

    /// A location with a value. Cost: an allocation.
    pub fn location<D>(&mut self, name: impl Into<String>, value: D) -> Location<D>
    where
        D: Extent + Send + Sync + 'static,
    {
        self.fifo_of(name.into(), vec![value], D::bytes)
    }

    /// As [`location`](Self::location), for values of any type: `bytes` says how many bytes tasks pass to each other with one.
    pub fn location_of<D>(
        &mut self,
        name: impl Into<String>,
        value: D,
        bytes: fn(&D) -> usize,
    ) -> Location<D>
    where
        D: Send + Sync + 'static,
    {
        self.fifo_of(name.into(), vec![value], bytes)
    }

    /// A location that keeps old values: `depth` of them, of which `make` makes the first.
    ///
    /// Who writes turn `t` need not wait until turn `t - 1` has been read, only until turn `t - depth` has. What he finds is what was written in that
    /// turn, to be written over. Nothing is copied.
    ///
    /// # Panics
    /// When the depth is 0.
    pub fn fifo<D>(
        &mut self,
        name: impl Into<String>,
        depth: usize,
        make: impl FnMut(usize) -> D,
    ) -> Location<D>
    where
        D: Extent + Send + Sync + 'static,
    {
        assert!(depth > 0, "a location keeps one value at least");
        self.fifo_of(name.into(), (0..depth).map(make).collect(), D::bytes)
    }

    /// Items that can be used as a whole or in pieces, by turns: `piece_count` pieces whose lengths differ by one at most.
    ///
    /// Tasks that have different pieces run at the same time. A task that writes the whole before them hands out work; one that
    /// reads it behind them collects what they made. Nothing is copied.
    ///
    /// # Panics
    /// When there are to be no pieces.
    pub fn split<T>(
        &mut self,
        name: impl Into<String>,
        items: Vec<T>,
        piece_count: usize,
    ) -> Split<T>
    where
        T: Send + Sync + 'static,
    {
        assert!(piece_count > 0, "items are split into one piece at least");
        let (name, len) = (name.into(), items.len());
        let lens: Vec<_> = (0..piece_count)
            .map(|piece| len * (piece + 1) / piece_count - len * piece / piece_count)
            .collect();
        let (whole, pieces) = ordered::split(items.into_boxed_slice(), &lens);
        let index = self.locations.len();
        let whole = self.declare(
            name.clone(),
            vec![whole],
            index,
            len * size_of::<T>(),
            <[T]>::bytes,
        );
        let pieces = pieces.into_iter().zip(&lens).enumerate();
        let pieces = pieces.map(|(piece, (place, len))| {
            let bytes = len * size_of::<T>();
            self.declare(
                format!("{name}[{piece}]"),
                vec![place],
                index,
                bytes,
                <[T]>::bytes,
            )
        });
        Split {
            pieces: pieces.collect(),
            whole,
        }
    }

    /// A task with one operation, on a thread of its own that it may block: `build` makes its handles and returns what it does in a turn.
    ///
    /// # Panics
    /// As the methods of [`Task`].
    #[track_caller]
    pub fn task<F, E>(&mut self, name: impl Into<String>, build: impl FnOnce(&mut Task<'_>) -> F)
    where
        F: FnMut() -> E + Send + 'static,
        E: TurnEnd,
    {
        self.operations(name).only(build);
    }

    /// A task with one operation that is a future, on a worker: `build` makes its handles and its [turns](Task::turns). Ten thousands of
    /// them need no more threads than one.
    ///
    /// # Panics
    /// As the methods of [`Task`].
    ///
    /// # Examples
    /// ```
    /// use raddle_orwl::{Program, Turns};
    /// let mut program = Program::new("ring");
    /// let cells: Vec<_> = (0..100).map(|cell| program.location(format!("cell {cell}"), 0_u64)).collect();
    /// for at in 0..cells.len() {
    ///     program.async_task(format!("task {at}"), |task| {
    ///         let mut left = task.reads_each_turn(&cells[(at + 99) % 100]);
    ///         let mut own = task.writes_each_turn(&cells[at]);
    ///         let mut turns = task.turns();
    ///         async move {
    ///             while turns.next() {
    ///                 let left = *left.enter().await;
    ///                 *own.enter().await = left + 1;
    ///             }
    ///         }
    ///     });
    /// }
    /// program.run(Turns(10))?;
    /// assert_eq!(*cells[99].read()?, 1_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn async_task<F>(&mut self, name: impl Into<String>, build: impl FnOnce(&mut Task<'_>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.operations(name).only_async(build);
    }

    /// A task of several operations, which are declared one by one and run at the same time.
    pub fn operations(&mut self, name: impl Into<String>) -> Operations<'_> {
        Operations {
            program: self,
            name: name.into(),
        }
    }

    /// Where its tasks are to run, instead of where it would place them itself.
    pub fn apply_placement(&mut self, placement: ProgramPlacement) {
        self.placement = Some(placement);
    }

    /// Runs it on the default runtime, to the end.
    ///
    /// # Errors
    /// [`RunError`]: no tasks, no threads, or a task that panicked, which stops all.
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
        let placement = match self.placement.take() {
            Some(placement) => placement,
            None => self.compute_placement(runtime),
        };
        let threads = self
            .operations
            .iter()
            .filter(|planned| planned.body.blocks())
            .count();
        let may_spin = threads <= runtime.worker_count();
        let operations = self
            .operations
            .iter()
            .map(|planned| Arc::clone(&planned.operation));
        self.crew.muster(operations.collect(), turns.0, may_spin);
        if let Some(mover) = Mover::new(runtime, &placement) {
            self.crew.hire(mover);
        }
        self.put_in();
        let start = Instant::now();
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
            running.push(starter.start(runtime));
        }
        let outcome = self.crew.wait();
        let elapsed = start.elapsed();
        for thread in running.into_iter().flatten() {
            thread.wait();
        }
        for operation in self.crew.operations() {
            operation.clear_left_seats();
        }
        let turns = self.turns_had();
        for location in &self.rings {
            // Relaxed: all tasks have ended.
            location.newest.store(
                ((turns + location.depth as u64 - 1) % location.depth as u64) as usize,
                Relaxed,
            );
        }
        outcome?;
        let mut placement = placement;
        let moves = self.crew.moved(&mut placement);
        Ok(Outcome {
            turns,
            sections: self.sections(),
            elapsed,
            placement,
            moves,
        })
    }

    /// The turns that all operations have had.
    fn turns_had(&self) -> u64 {
        let turns = self
            .crew
            .operations()
            .iter()
            .map(|operation| operation.turn());
        turns.min().unwrap_or(0)
    }

    fn sections(&self) -> u64 {
        let operations = self.crew.operations().iter();
        let links = operations.flat_map(|operation| operation.links());
        // Relaxed: all tasks have ended.
        links.map(|link| link.sections.load(Relaxed)).sum()
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

    fn fifo_of<D: Send + Sync + 'static>(
        &mut self,
        name: String,
        values: Vec<D>,
        bytes_of: fn(&D) -> usize,
    ) -> Location<D> {
        let bytes = values.iter().map(bytes_of).max().unwrap_or(0);
        let ring = values.into_iter().map(Ordered::new).collect();
        self.declare(name, ring, self.locations.len(), bytes, bytes_of)
    }

    fn declare<D: ?Sized>(
        &mut self,
        name: String,
        ring: Vec<Ordered<D>>,
        whole: usize,
        bytes: usize,
        bytes_of: fn(&D) -> usize,
    ) -> Location<D> {
        let of = Arc::new(Identity {
            program: self.number,
            index: self.locations.len(),
            name,
            whole,
            depth: ring.len(),
            newest: AtomicUsize::new(ring.len() - 1),
        });
        self.rings.push(Arc::clone(&of));
        self.locations.push(Declared {
            has_writer: false,
            bytes,
        });
        Location {
            of,
            ring: ring.into(),
            bytes_of,
        }
    }

    #[track_caller]
    fn plan(&mut self, name: Name, build: impl FnOnce(&mut Task<'_>) -> Body) {
        // Relaxed: numbers that differ are all that is wanted.
        let operation = Operation::new(OPERATIONS.fetch_add(1, Relaxed), name, &self.crew);
        let mut task = Task::new(
            &operation,
            self.number,
            &mut self.locations,
            &mut self.seats,
        );
        let body = build(&mut task);
        let load = task.settle();
        self.operations.push(Planned {
            operation,
            body,
            load,
        });
    }
}

/// A task of several operations while it is declared; see [`Program::operations`].
#[derive(Debug)]
pub struct Operations<'a> {
    program: &'a mut Program,
    name: String,
}

impl Operations<'_> {
    /// An operation on a thread of its own; as [`Program::task`].
    ///
    /// # Panics
    /// As the methods of [`Task`].
    #[track_caller]
    pub fn operation<F, E>(
        &mut self,
        name: impl Into<String>,
        build: impl FnOnce(&mut Task<'_>) -> F,
    ) -> &mut Self
    where
        F: FnMut() -> E + Send + 'static,
        E: TurnEnd,
    {
        let name = self.named(Some(name.into()));
        self.program.plan(name, |task| blocking(build(task)));
        self
    }

    /// An operation that is a future; as [`Program::async_task`].
    ///
    /// # Panics
    /// As the methods of [`Task`].
    #[track_caller]
    pub fn async_operation<F>(
        &mut self,
        name: impl Into<String>,
        build: impl FnOnce(&mut Task<'_>) -> F,
    ) -> &mut Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let name = self.named(Some(name.into()));
        self.program
            .plan(name, |task| asynchronous(build(task), task));
        self
    }

    #[track_caller]
    fn only<F, E>(self, build: impl FnOnce(&mut Task<'_>) -> F)
    where
        F: FnMut() -> E + Send + 'static,
        E: TurnEnd,
    {
        let name = self.named(None);
        self.program.plan(name, |task| blocking(build(task)));
    }

    #[track_caller]
    fn only_async<F>(self, build: impl FnOnce(&mut Task<'_>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let name = self.named(None);
        self.program
            .plan(name, |task| asynchronous(build(task), task));
    }

    fn named(&self, operation: Option<String>) -> Name {
        Name {
            task: self.name.clone(),
            operation,
        }
    }
}

fn blocking<F, E>(mut turn: F) -> Body
where
    F: FnMut() -> E + Send + 'static,
    E: TurnEnd,
{
    Body::Blocking(Box::new(move || -> ControlFlow<()> { turn().flow() }))
}

fn asynchronous(future: impl Future<Output = ()> + Send + 'static, task: &Task<'_>) -> Body {
    Body::Future {
        future: Box::pin(future),
        has_turns: task.has_turns,
    }
}
