//! The task: a unit of work that a pool keeps, and the memory cell that holds it.
//!
//! A task cell has a fixed size. It comes from the free list of the worker that needs it and
//! returns there ([`memory`]). A cell holds one of four things ([`Kind`]): a closure that was
//! spawned or sent, a fork that its worker published, a call that a handle waits for, or the frame
//! of a scope, which is never run. While its closure or fork runs, the cell is the frame under
//! which new work is put. Every cell knows its parent, so that a waiting worker can tell work of
//! its own subtree from other work.
//!
//! # Lineage
//! The chain of parents of a cell is alive while the cell waits in a pool, because every frame
//! waits for the work that was put under it. The chain of a fork that its owner took back may be
//! gone. Cells are never given back to the system while the process runs ([`memory`]), so walking
//! such a chain reads stale numbers, but never foreign memory. The result is ignored, because
//! taking such a fork fails. `depth` falls with every step, so every walk ends.
//!
//! # Invariants
//! 1. The thread that makes a task writes its payload; the one thread that runs the task reads it.
//!    The pool orders the two.
//! 2. A cell is freed once: by the thread that ran it (closures and calls), by its scope (frames),
//!    or (forks) by its owner after the join, or by the thread that finds it in a pool after the
//!    owner took it back ([`raddle_sync::offer`]).

mod arrivals;
mod cell;
mod closure;
mod envelope;
mod job;
mod list;
pub(crate) mod memory;
mod message;
mod pointer;
mod root_call;

pub(crate) use arrivals::Arrivals;
pub(crate) use cell::{ForWhom, Kind, TaskCell};
pub(crate) use envelope::{Envelope, EnvelopeSlot};
pub(crate) use job::{JobHead, JobRef, OPEN_JOB};
pub(crate) use list::TaskList;
pub use message::Message;
pub use pointer::Task;
pub(crate) use root_call::RootCall;
