//! The engine below all of Raddle's programming models: workers, task pools, join, scopes, loops
//! and idling.
//!
//! | purpose | function |
//! |---|---|
//! | two calls in parallel | [`join`] |
//! | any number of tasks that may borrow | [`scope`](fn@scope) |
//! | loops over indices and slices | [`for_each`], [`for_each_mut`], [`map`], [`map_reduce`] |
//! | loops over your own collections | [`for_each_piece`] |
//! | a task with a result for later | [`Runtime::spawn`], [`Runtime::spawn_blocking`] |
//! | a future on the workers | [`spawn_future`], [`block_on`] |
//! | work for a given worker | [`Post`] |
//! | a future on a given worker | [`RunQueue::run`] |
//! | a variable with one value per worker | [`Private`] |
//! | a separate runtime | [`Runtime::builder`] |
//!
//! No function needs any set-up: a default runtime with one worker per CPU starts on first use.

// The layers, from the lowest to the highest. A module uses only modules of lower layers and of its
// own:
//
// 1. clock, config, network, panics
// 2. origin, task, threads
// 3. fork_stack, pool, traffic
// 4. mailbox, placing
// 5. blocking
// 6. worker
// 7. enter, handle, post
// 8. futures
// 9. fork, loops, private, runtime, scope
// 10. open
// 11. model, which only loom models and seeded schedules have
//
// Modules, and those that belong to them:
//
// config     settings, errors, the environment; `runtime` has the builder, the default and the end
// worker     the loop, searching, raids and the stall watch, waiting, compensating threads
// fork_stack the private fork stack of a worker; `fork` has `join`, and the offers of loops
// task       the task cell and its memory (`TaskMemory::Malloc`: blocks from the system)
// pool       the trait, its implementations, and the list that makes them from parts.
//            `pool/probe.rs` and `task/memory/probe.rs`: pools and cells without a runtime
// mailbox    messages for one worker; `post` sends them
// futures    those of a given worker, and those of all workers; `runtime/futures.rs` starts these
// handle     tasks with handles; `scope` and `enter` are the other ways to wait for work
// loops      all loops, by `loops/steps.rs`; `loops/pace.rs` decides where to cut them
// placing    where workers are and how they move, by what `traffic` has counted
// private    variables with one value per worker
// blocking   threads for calls that block; `origin` is about child processes

mod blocking;
mod clock;
mod config;
mod enter;
mod fork;
mod fork_stack;
mod futures;
mod handle;
mod loops;
mod mailbox;
#[cfg(any(loom, shuttle))]
#[doc(hidden)]
pub mod model;
mod network;
pub mod open;
mod origin;
mod panics;
mod placing;
pub mod pool;
mod post;
mod private;
mod runtime;
mod scope;
mod task;
mod threads;
mod traffic;
mod worker;

#[doc(hidden)]
pub use clock::Instant;
pub use config::{
    BuildError, IdlePolicy, MoveError, Seed, Setting, TaskMemory, UnknownIdlePolicy,
    UnknownTaskMemory, UnknownVariable, unknown_variables,
};
pub use fork::join;
pub use futures::{AssignedWorker, RunQueue, Urgency};
pub use handle::Handle;
pub use loops::{
    Piece, for_each, for_each_chunk_mut, for_each_mut, for_each_piece, map, map_reduce,
};
pub use mailbox::{MailboxKind, UnknownMailbox};
pub use network::Network;
pub use pool::{BlockShape, PoolKind, UnknownPool};
pub use post::Post;
pub use private::{Private, PrivateArray, ValueInUse};
pub use runtime::{
    Builder, Runtime, Shutdown, WORKER_COUNT_MAX, WorkerThread, block_on, current_report,
    default_runtime, spawn_future, worker_count, worker_index,
};
pub use scope::{Scope, scope};
pub use task::Message;
#[doc(hidden)]
pub use worker::Attention;
pub use worker::{Waiter, as_outside_thread};
