//! Programs that do nothing but exchange messages, to measure what messages cost on a machine and with given settings.
//!
//! | program | who exchanges | what it measures |
//! |---|---|---|
//! | [`kneighbor`] | elements of an array, each with its neighbours in a ring | many messages under way at once |
//! | [`pingpong`] | two elements, two chares, or two workers | one message at a time, there and back |
//! | [`nodes`] | processes, by memory that they share or by sockets | ping-pong, kNeighbor and a kernel in which all ask and answer |
//! | [`shared_core`] | threads of one core, which exchange nothing | what they take from each other |
//! | [`waits`] | two threads without a runtime | each way to wait: for news that comes at once, and that comes late |
//!
//! Messages carry buffers that go from hand to hand: whoever receives one sends it on with the next message. So nothing is copied, and
//! once all buffers are there nothing is allocated.
#![forbid(unsafe_code)]

pub mod kneighbor;
pub mod nodes;
pub mod pingpong;
pub mod shared_core;
mod threads;
pub mod waits;

pub use threads::ThreadRefused;
