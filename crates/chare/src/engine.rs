//! The message path: everything between sending a message and running its entry.
//!
//! | module | contents |
//! |---|---|
//! | [`object`] | the traits that `#[chare]` implements, contexts, proxies, messages under way |
//! | [`elements`] | a collection of elements: what all workers share of it, and a worker's part |
//! | [`local`] | one worker's side of the system |
//! | [`system`] | what all workers of a runtime share |
//!
//! # Layers
//! The four modules are one layer: each knows the others. The engine knows no feature (sections,
//! reductions, seeds, migration, balancing, other nodes): those lie above, keep their state in
//! [`crate::state`], and call the engine.

pub(crate) mod elements;
pub(crate) mod local;
pub(crate) mod object;
pub(crate) mod system;
