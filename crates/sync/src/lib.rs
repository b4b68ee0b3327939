//! What the Raddle runtime synchronises with: the door to atomics, wait cells, queues and small protocols.
//!
//! Every crate above takes its atomics from [`prim`], so that the same code runs under `std` in production, under
//! `loom` in the models (`tests/loom_*.rs`) and under `shuttle` in the seeded schedules of the runtime.
//!
//! | module | what it is |
//! |---|---|
//! | [`prim`] | atomics, cells, mutex, futex, threads, clock: `std`, `loom` or `shuttle` |
//! | [`wait`] | the one place where a thread waits: spin, then futex |
//! | [`deque`] | a work-stealing deque: one owner, many thieves |
//! | [`gates`] | how hungry workers make a busy one look up |
//! | [`offer`] | who may run an offered fork: its owner or one thief |
//! | [`idle`] | who searches and who sleeps; no wake-up is lost |
//! | [`bits`] | a fixed set of small numbers, shared |
//! | [`returns`] | where memory freed elsewhere comes home |

pub mod prim;

pub mod bits;
pub mod deque;
pub mod gates;
pub mod idle;
pub mod offer;
pub mod returns;
pub mod wait;

pub use crossbeam_utils::CachePadded;
