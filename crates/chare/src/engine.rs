//! The message path: everything between sending a message and running its entry.
//!
//! | module | contents |
//! |---|---|
//! | [`system`] | what all workers of a runtime share |
//! | [`object`] | the traits that `#[chare]` implements, the data of contexts, proxies, inboxes |
//! | [`local`] | one worker's side of the system |
//! | [`elements`] | collections of elements, a worker's part of each, messages under way |
//! | [`context`] | the operations of an entry's context |
//! | [`handler`] | handlers of messages from other nodes |
//!
//! # Layers
//! A module knows those above it in the table. The engine knows no feature (sections, reductions,
//! seeds, migration, balancing, other nodes): those lie above, keep their state in
//! [`crate::state`], and call the engine.
//!
//! # Invariants
//! 1. Each message is guarded by itself, even if several are run or dropped in a row: a destructor
//!    or a clone of the program that panics affects no other message.
//! 2. No hash, comparison, clone or constructor of the program is called under a lock, or while the
//!    tables of a worker are borrowed.
//! 3. Elements and arrays that come and go leave nothing behind. Every number returns to its home,
//!    whichever worker ended the element. A worker's knowledge about others is bounded by what
//!    exists.
//! 4. `Local`, `System`, `Part` and `Collection` have private fields. The methods of each are in
//!    one file or folder.

pub(crate) mod context;
pub(crate) mod elements;
pub(crate) mod handler;
pub(crate) mod local;
pub(crate) mod object;
pub(crate) mod system;
