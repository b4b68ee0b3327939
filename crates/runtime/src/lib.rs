//! Workers, task pools, join, scopes, loops and idling: the engine under all of Raddle's models.
//!
//! | for | there is |
//! |---|---|
//! | two things at once | [`join`] |
//! | any number of tasks that may borrow | [`scope`] |
//! | loops over indices and slices | [`for_each`], [`for_each_mut`], [`map`], [`map_reduce`] |
//! | loops over collections of one's own | [`for_each_piece`] |
//! | a task with a result for later | [`Runtime::spawn`], [`Runtime::spawn_blocking`] |
//! | work for a given worker | [`Post`] |
//! | a future on a given worker | [`Post::run`] |
//! | a variable of which each worker has its own value | [`Private`] |
//! | a runtime of one's own | [`Runtime::builder`] |
//!
//! None of them needs any set-up: a default runtime with a worker per CPU comes up on first use.

mod blocking;
mod clock;
mod config;
mod errand;
mod fork;
mod global;
mod loops;
mod mailbox;
#[cfg(any(loom, shuttle))]
#[doc(hidden)]
pub mod model;
mod network;
mod placing;
pub mod pool;
mod post;
mod private;
mod runtime;
mod task;
mod traffic;
mod worker;

#[doc(hidden)]
pub use clock::Instant;
pub use config::{
    BuildError, Builder, IdlePolicy, MoveError, SeedPolicy, TaskMemory, UnknownIdlePolicy,
    UnknownSeedPolicy, UnknownTaskMemory, UnknownVariable, WORKER_COUNT_MAX, unknown_variables,
};
pub use errand::{Agenda, Home, Urgency};
pub use fork::join;
pub use global::{default_runtime, worker_count, worker_index};
pub use loops::{
    Piece, for_each, for_each_chunk_mut, for_each_mut, for_each_piece, map, map_reduce,
};
pub use mailbox::{MailboxKind, UnknownMailbox};
pub use network::{Network, apart};
pub use pool::{BlockShape, PoolKind, UnknownPool, VictimOrder};
pub use post::Post;
pub use private::{Private, PrivateArray, ValueInUse};
pub use runtime::Runtime;
pub use task::{Handle, Scope, Waiter, scope};
