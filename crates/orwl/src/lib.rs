//! Ordered read-write locations: tasks that share data in an order that is fixed before they run.
//!
//! A [`Program`] has *locations*, each of which is a resource with a FIFO of requests, and *tasks*,
//! which reach locations through *handles*. A handle either reads or writes. It accesses the data
//! in a *section*, once in every *turn*. When a handle gives back its section, it puts in its
//! request for the next turn, so the order in each FIFO never changes. Programs contain no locks,
//! signals or messages: the handles alone determine which task may continue.
//!
//! | purpose                                          | item                             |
//! |--------------------------------------------------|----------------------------------|
//! | shared data                                      | [`Program::location`]            |
//! | shared data that keeps old values, so that       | [`Program::fifo`]                |
//! | writers need not wait for readers                |                                  |
//! | items that are used as a whole and in pieces     | [`Program::split`]               |
//! | a task on a thread of its own                    | [`Program::task`]                |
//! | a task that is a future; any number of them      | [`Program::async_task`]          |
//! | a task of several threads or futures             | [`Program::operations`]          |
//! | a program without data, for simulated machines   | [`Sketch`]                       |
//! | the bytes that tasks exchange                    | [`Program::dependencies`]        |
//! | where tasks run                                  | [`Program::compute_placement`],  |
//! |                                                  | [`Program::apply_placement`]     |
//!
//! # What tasks see
//! Tasks see the data as if they ran one after the other, turn by turn, in the order in which they
//! were declared. A task that is declared after the writer of a location reads the value of the
//! same turn. A task that is declared before the writer reads the value of the turn before. So the
//! order of declaration is the algorithm, and the result does not depend on the machine.
//!
//! A program that ends because a task asks for it is the exception. A task that was ahead of the
//! one that asked may have completed one turn more, or may be in one; where old values are kept, it
//! may be ahead by as many turns as there are values. The values that it wrote stay. A task that
//! waits for a section when the program ends unwinds from there.
//!
//! # Why nothing hangs
//! Each request has a time: its turn and, within the turn, the position of its task in the order of
//! declaration (its *rank*). The first requests enter each FIFO in the order of their times, and
//! that order stays: a handle that gives back turn *t* puts in turn *t* + 1 (*t* + depth, where old
//! values are kept), which is behind all requests in the FIFO except those of readers that share. A
//! task therefore waits only for requests with earlier times, except for readers of its own group.
//! Of all tasks that have not ended a turn, the one with the earliest time waits for no other task:
//! each task with a request ahead of it has ended that turn, and a turn ends only after all its
//! sections were given back. By induction, each task reaches each of its turns (*liveness*). A task
//! cannot be delayed forever either: a task that overtakes it would have to be in front of it a
//! second time. So of two tasks that share a location which one of them writes, neither is ahead of
//! the other by more than one turn, or by as many turns as old values are kept (*fairness*).
//!
//! The proof requires that each handle is used exactly once in each turn, and that a section ends
//! in its turn. The runtime checks both.
//!
//! # Source
//! - Clauss, Gustedt: Iterative computations with ordered read-write locks. JPDC 70(5), 2010: the
//!   model, liveness and fairness.
//! - Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models.
//!   Inria RR-8993, 2016: operations, fifo, split, placement.

#![forbid(unsafe_code)]

// A `program` is declared (`program/locations`, `program/tasks`), placed (`program/placing`:
// `dependencies` makes the matrix, `worker_places` lists the places, `placement` assigns them) and
// run (`run`). A `handle` is the access of a task to a `location`, `handle_requests` are its
// requests before and after the run, and `section` is the access during a turn. `operation` is the
// state that the handles of one operation share, `current` is the operation that runs on this
// thread, and `program_state` is the state of all operations. `holders` lists the threads that hold
// a location from outside. `moving` reconsiders the placement during the run. `prediction`
// describes and simulates programs without data.

mod current;
mod dependencies;
mod error;
mod extent;
mod handle;
mod handle_requests;
mod holders;
mod location;
mod misuse;
mod moving;
mod operation;
mod placement;
mod prediction;
mod program;
mod program_state;
mod run;
mod section;
mod task;
mod worker_places;

pub use error::{Broken, Panic, RunError};
pub use extent::Extent;
pub use handle::{Enter, Handle, Once, ReadHandle, WriteHandle};
pub use location::{Location, Outside, Split};
pub use placement::{OperationPlace, ProgramPlacement};
pub use prediction::{LocationIndex, MachineSpeed, Mapping, Simulated, Sketch};
pub use program::{Operations, Outcome, Program, Turns};
pub use raddle_sync::fifo::Access;
pub use raddle_sync::ordered::{Read, Write};
pub use section::Section;
pub use task::{Task, TurnEnd, Turns as TaskTurns};
