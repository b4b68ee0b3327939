//! A runtime for irregular parallel programs, in which it is not known beforehand how much work
//! there is, where it is, or when messages arrive.
//!
//! This crate re-exports the whole API and has no logic of its own. No set-up is needed: the first
//! use starts the default runtime and places its workers.
//!
//! ```
//! use raddle::prelude::*;
//!
//! enum Tree {
//!     Leaf(u64),
//!     Node(Box<Tree>, Box<Tree>),
//! }
//!
//! fn weight(tree: &Tree) -> u64 {
//!     match tree {
//!         Tree::Leaf(weight) => *weight,
//!         Tree::Node(left, right) => {
//!             let (a, b) = raddle::join(|| weight(left), || weight(right));
//!             a + b
//!         }
//!     }
//! }
//!
//! let tree = Tree::Node(Box::new(Tree::Leaf(3)), Box::new(Tree::Leaf(4)));
//! assert_eq!(weight(&tree), 7);
//! ```
//!
//! | to run | use |
//! |---|---|
//! | two things at once | [`join`] |
//! | any number of tasks that may borrow | [`fn@scope`] |
//! | loops over indices | [`for_each`], [`map`], [`map_reduce`] |
//! | loops over slices | [`for_each_mut`], [`for_each_chunk_mut`] |
//! | code with one value of a variable per worker | [`Private`] |
//! | message-driven objects | [`macro@chare`], [`Chares`], the module [`mod@chare`] |
//! | tasks that share data in a given order | [`Program`], the module [`orwl`] |
//! | futures | [`spawn_future`], [`block_on`] |
//! | a separate runtime, or tasks with handles | [`Runtime`] |
//! | names for phases of the program in recordings | [`macro@scope`], [`Runtime::trace`] |
//! | queries of the machine: CPUs, caches, NUMA nodes, plans | [`topology`] |
#![forbid(unsafe_code)]

#[doc(inline)]
pub use raddle_chare as chare;
pub use raddle_chare::{
    Array, Chares, Cx, Failure, Group, NodeGroup, Reply, Section, SeedPolicy, UnknownSeedPolicy,
};
pub use raddle_collections as collections;
pub use raddle_collections::{ChunkedArray, Grain, GrainTuner, reduce};
/// Turns the values of a type into message-driven objects. See the module [`mod@chare`].
pub use raddle_macros::chare_of_raddle as chare;
#[doc(inline)]
pub use raddle_net as net;
pub use raddle_orwl as orwl;
pub use raddle_orwl::{Extent, Location, Program, Turns};
#[doc(hidden)]
pub use raddle_runtime::choice;
pub use raddle_runtime::{
    BlockShape, BuildError, Builder, Handle, IdlePolicy, MailboxKind, Piece, PoolKind, Post,
    Private, PrivateArray, Runtime, Scope, Seed, Setting, Shutdown, TaskMemory, UnknownIdlePolicy,
    UnknownMailbox, UnknownTaskMemory, UnknownVariable, ValueInUse, WORKER_COUNT_MAX, block_on,
    current_report, default_runtime, for_each, for_each_chunk_mut, for_each_mut, for_each_piece,
    join, map, map_reduce, pool, scope, spawn_future, unknown_variables, worker_count,
    worker_index,
};
pub use raddle_topology as topology;
pub use raddle_topology::Affinity;
pub use raddle_trace as trace;
pub use raddle_trace::scope;

/// The items that most programs need.
pub mod prelude {
    pub use crate::{
        Chares, Cx, Program, Runtime, Scope, Turns, chare, for_each, for_each_chunk_mut,
        for_each_mut, join, map, map_reduce, reduce, scope,
    };
}
