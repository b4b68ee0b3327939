//! Ordered read-write locations: tasks that share data in an order that is decided before they run.
//!
//! A [`Program`] has *locations*, each a resource with a FIFO of requests, and *tasks*, which reach locations through *handles*. A handle reads or
//! writes; what it does with the data it does in a *section*, once in every *turn*. Its request for the next turn goes in when it gives
//! back the last one, so that each FIFO keeps its order for ever. Nobody locks, signals or sends: who may go on follows
//! from the handles.
//!
//! | for | there is |
//! |---|---|
//! | shared data | [`Program::location`] |
//! | the same, with old values kept, so that writers need not wait for readers | [`Program::fifo`] |
//! | items used as a whole and in pieces | [`Program::split`] |
//! | a task on a thread of its own | [`Program::task`] |
//! | a task that is a future; any number | [`Program::async_task`] |
//! | a task of several threads or futures | [`Program::operations`] |
//! | a program without its data, on machines that are not there | [`Sketch`] |
//! | what tasks exchange, and where they go for it | [`Program::dependencies`], [`Program::compute_placement`], [`Program::apply_placement`] |
//!
//! # What tasks see
//! As if they ran one after the other, turn by turn, in the order in which they were declared. A task that is declared behind the writer of
//! a location reads what he wrote in the same turn, one that is declared before him what he wrote in the turn before. So
//! the order of declaration is the algorithm, and the result does not depend on the machine.
//!
//! A program that ends because a task says so is the exception: whoever was ahead of that task may have had a turn more, or have been in one; with old values
//! kept, as many more as values. What he wrote stays; who waits inside a section when all is over leaves it there.
//!
//! # Why nothing hangs
//! Each request has a time: its turn, and in it the place of its task in the order of declaration (its *rank*). The first requests
//! go into each FIFO in the order of their times, and that order stays: who gives back turn *t* puts in turn *t* + 1 (with old values kept,
//! *t* + depth), which is behind all that are in, but for readers that share. A task waits therefore only for requests of
//! earlier times, readers of its own group aside, and of all tasks that have not ended a turn the one with the earliest time waits for nobody: whoever
//! stands before it has ended that turn, and a turn ends with all its sections given back. By induction each turn of each
//! task comes (*liveness*). It cannot be put off either: whatever overtakes a task would have to stand in front of it a second time, so
//! that of two tasks that share a location which one of them writes, neither is ahead of the other by more than one turn, or
//! as many as old values are kept (*fairness*).
//!
//! It needs that each handle is used once in each turn, no more and no less, and that sections end in their turn; that is seen to.
//!
//! # Source
//! Clauss, Gustedt: Iterative computations with ordered read-write locks. JPDC 70(5), 2010: the model, liveness and fairness. Gustedt,
//! Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. Inria RR-8993, 2016: operations, fifo, split, placement.

#![forbid(unsafe_code)]

mod crew;
mod current;
mod dependencies;
mod error;
mod extent;
mod ground;
mod handle;
mod holders;
mod location;
mod misuse;
mod moving;
mod operation;
mod placement;
mod program;
mod run;
mod seat;
mod section;
mod simulate;
mod sketch;
mod task;

pub use error::{Broken, Panic, RunError};
pub use extent::Extent;
pub use handle::{Enter, Handle, Once, ReadHandle, WriteHandle};
pub use location::{Location, Outside, Split};
pub use placement::{OperationPlace, ProgramPlacement};
pub use program::{Operations, Outcome, Program, Turns};
pub use raddle_sync::fifo::Access;
pub use raddle_sync::ordered::{Read, Write};
pub use section::Section;
pub use simulate::{MachineSpeed, Mapping, Simulated};
pub use sketch::{LocationIndex, Sketch};
pub use task::{Task, TurnEnd, Turns as TaskTurns};
