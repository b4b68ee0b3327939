//! The methods of a program that declare tasks: with one operation or several, threads or futures.

use std::ops::ControlFlow;

use raddle_sync::prim::{AtomicU64, Relaxed};

use super::{Planned, Program};
use crate::operation::{Name, Operation};
use crate::task::{Body, Task, TurnEnd};

/// The number of the next operation.
static OPERATIONS: AtomicU64 = AtomicU64::new(1);

impl Program {
    /// Declares a task with one operation on its own thread, which it may block.
    ///
    /// `build` creates the handles, and returns the closure that runs in each turn.
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

    /// Declares a task with one operation that is a future, which runs on a worker.
    ///
    /// `build` creates the handles and the [turns](Task::turns), and returns the future. Tens of
    /// thousands of such tasks need no more threads than one.
    ///
    /// # Panics
    /// As the methods of [`Task`].
    ///
    /// # Examples
    /// ```
    /// use raddle_orwl::{Program, Turns};
    /// let mut program = Program::new("ring");
    /// let cells: Vec<_> = (0..100)
    ///     .map(|cell| program.location(format!("cell {cell}"), 0_u64))
    ///     .collect();
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

    /// Declares a task with several operations.
    ///
    /// The operations are declared one by one on the result, and run at the same time.
    pub fn operations(&mut self, name: impl Into<String>) -> Operations<'_> {
        Operations {
            program: self,
            name: name.into(),
            is_together: false,
        }
    }

    #[track_caller]
    fn plan(&mut self, name: Name, is_together: bool, build: impl FnOnce(&mut Task<'_>) -> Body) {
        // Relaxed: the numbers only have to differ.
        let operation = Operation::new(
            OPERATIONS.fetch_add(1, Relaxed),
            self.number,
            name,
            is_together,
            &self.state,
        );
        let mut task = Task::new(&operation, self.number, &self.locations);
        let body = build(&mut task);
        let settled = task.settle();
        for whole in settled.written {
            self.locations[whole].has_writer = true;
        }
        self.requests.extend(settled.requests);
        self.operations.push(Planned {
            operation,
            body,
            load: settled.load,
        });
    }
}

/// A task with several operations while it is declared; see [`Program::operations`].
#[derive(Debug)]
pub struct Operations<'a> {
    program: &'a mut Program,
    name: String,
    is_together: bool,
}

impl Operations<'_> {
    /// Places the operations declared after this call together, on one worker or CPU.
    ///
    /// They share it with all operations of tasks with this name for which this method was called.
    /// It is useful if operations wait for each other in each turn, and exchange too few bytes for
    /// the placement to show that.
    ///
    /// # Examples
    /// ```
    /// use raddle_orwl::{Program, Turns};
    /// let mut program = Program::new("rows");
    /// let rows: Vec<_> = (0..6).map(|row| program.location(format!("row {row}"), row)).collect();
    /// for row in &rows {
    ///     let mut operations = program.operations(row.name());
    ///     operations.together().operation("double", |task| {
    ///         let mut row = task.writes_each_turn(row);
    ///         move || row.section(|row| *row *= 2)
    ///     });
    ///     operations.operation("reset", |task| {
    ///         let mut row = task.writes_each_turn(row);
    ///         move || row.section(|row| *row = 1)
    ///     });
    /// }
    /// let placed = program.run(Turns(3))?.placement;
    /// assert!(placed.places.chunks(2).all(|task| task[0].worker_index == task[1].worker_index));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const fn together(&mut self) -> &mut Self {
        self.is_together = true;
        self
    }

    /// Declares an operation on its own thread, as [`Program::task`] does.
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
        self.program
            .plan(name, self.is_together, |task| blocking(build(task)));
        self
    }

    /// Declares an operation that is a future, as [`Program::async_task`] does.
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
        self.program.plan(name, self.is_together, |task| {
            asynchronous(build(task), task)
        });
        self
    }

    #[track_caller]
    fn only<F, E>(self, build: impl FnOnce(&mut Task<'_>) -> F)
    where
        F: FnMut() -> E + Send + 'static,
        E: TurnEnd,
    {
        let name = self.named(None);
        self.program
            .plan(name, self.is_together, |task| blocking(build(task)));
    }

    #[track_caller]
    fn only_async<F>(self, build: impl FnOnce(&mut Task<'_>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let name = self.named(None);
        self.program.plan(name, self.is_together, |task| {
            asynchronous(build(task), task)
        });
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
