//! Chares over several nodes: jobs, and the handling of incoming wire messages.
//!
//! Each node runs a system of its own, with its workers and its part of the elements. An array over
//! nodes has a collection on each node, and one number that all nodes know. If an element is on
//! another node, its route says so, and a message to it is sent as a wire message. Only then are
//! the arguments serialised, with serde. Everything else works as within one node, at the same
//! cost.
//!
//! The guarantees within a node also hold over nodes: the order of messages from one worker to one
//! element, replies, reductions and quiescence over all nodes, failures reported to all nodes,
//! scans, and migration, also between nodes ([`Cx::migrate_to`](crate::Cx::migrate_to)). An array
//! over nodes does not support later insertion or sections: calls that need them panic or fail.
//!
//! # Examples
//! At [`Job`].
//!
//! | module | contents |
//! |---|---|
//! | `handler` | the handlers of entries, by which messages are decoded |
//! | `arrive` | the processing of incoming wire messages |
//! | `addresses` | the serialisation of proxies |
//! | `job` | a program's nodes, from their start to their end |
//! | `net` | the network: the real one, or that of the seeded schedules |

mod addresses;
mod arrive;
mod handler;
#[cfg(not(loom))]
mod job;
#[cfg(not(loom))]
mod net;

#[cfg(not(any(loom, shuttle)))]
pub use job::{Job, JobEnvironment, NODES_MAX};
#[cfg(not(loom))]
pub use job::{JobError, Progress, Setup};
#[cfg(shuttle)]
pub(crate) use job::{run_on, transport::MORE_PORTS};

pub use crate::codec::{Across, BySerde, Crossing, CrossingError, plain};
pub use crate::engine::handler::Handler;
