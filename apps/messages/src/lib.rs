//! Programs that only exchange messages. They measure what messages cost on a given machine with
//! given settings.
//!
//! | program | participants | measures |
//! |---|---|---|
//! | [`kneighbor`] | array elements, each with its neighbours | many messages in flight |
//! | [`pingpong`] | two array elements, chares or workers | one message at a time, to and fro |
//! | [`nodes`] | processes, over shared memory or sockets | ping-pong, and a request-reply kernel |
//! | [`shared_core`] | threads on one core, without messages | how much they slow each other down |
//! | [`waits`] | two threads without a runtime | each way to wait, for early and late events |
//!
//! The receiver of a buffer sends the same buffer on with its next message. Within a process, no
//! data is copied, and nothing is allocated once all buffers exist.
#![forbid(unsafe_code)]

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
pub mod kneighbor;
pub mod nodes;
pub mod pingpong;
pub mod shared_core;
mod threads;
pub mod waits;

pub use threads::ThreadRefused;
