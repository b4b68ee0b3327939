//! A runtime for irregular parallel programs: when nobody knows beforehand how much work there is, where it is, or
//! when a message comes.
//!
//! This crate is the door to all of it and has no logic of its own. No set-up is needed: the default runtime comes up,
//! placed, on first use.
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
//! | for | there is |
//! |---|---|
//! | two things at once | [`join`] |
//! | any number of tasks that may borrow | [`scope`] |
//! | loops over indices and slices | [`for_each`], [`for_each_mut`], [`for_each_chunk_mut`], [`map`], [`map_reduce`] |
//! | a variable of which each worker has its own value | [`Private`] |
//! | message-driven objects | [`macro@chare`], [`Chares`], the module [`mod@chare`] |
//! | tasks that share data in a given order | [`Program`], the module [`orwl`] |
//! | a runtime of one's own, tasks with handles | [`Runtime`] |
//! | the machine: CPUs, caches, NUMA nodes, plans | [`topology`] |
#![forbid(unsafe_code)]

#[doc(inline)]
pub use raddle_chare as chare;
pub use raddle_chare::{
    Array, Chares, Cx, Failure, Group, NodeGroup, Reply, Section, SeedPolicy, UnknownSeedPolicy,
};
pub use raddle_collections as collections;
pub use raddle_collections::{ChunkedArray, Grain, GrainTuner, reduce};
/// Makes the values of a type message-driven objects; see the module [`mod@chare`].
pub use raddle_macros::chare_of_raddle as chare;
#[doc(inline)]
pub use raddle_net as net;
pub use raddle_orwl as orwl;
pub use raddle_orwl::{Extent, Location, Program, Turns};
#[doc(hidden)]
pub use raddle_runtime::choice;
pub use raddle_runtime::{
    BlockShape, BuildError, Builder, Handle, IdlePolicy, MailboxKind, Piece, PoolKind, Post,
    Private, PrivateArray, Runtime, Scope, Setting, Shutdown, TaskMemory, UnknownIdlePolicy,
    UnknownMailbox, UnknownTaskMemory, UnknownVariable, ValueInUse, WORKER_COUNT_MAX,
    default_runtime, for_each, for_each_chunk_mut, for_each_mut, for_each_piece, join, map,
    map_reduce, pool, scope, unknown_variables, worker_count, worker_index,
};
pub use raddle_topology as topology;
pub use raddle_topology::Affinity;
pub use raddle_trace as trace;

/// What most programs need.
pub mod prelude {
    pub use crate::{
        Chares, Cx, Program, Runtime, Scope, Turns, chare, for_each, for_each_chunk_mut,
        for_each_mut, join, map, map_reduce, reduce, scope,
    };
}
