//! Chares over several nodes: jobs, and the handling of wire messages that arrive.
//!
//! Each node runs a system of its own, with its workers and its part of the elements. An array over
//! nodes has a collection on each node, and one number that all nodes know. If an element is on
//! another node, its route says so, and a message to it is sent as a wire message. Only then are
//! the arguments serialised, with serde. All other paths are the same as within one node, at the
//! same cost.
//!
//! The guarantees within a node also hold over nodes: the order of messages from one worker to one
//! element, replies, reductions and quiescence over all nodes, failures reported to all nodes,
//! scans, and migration, also between nodes ([`Cx::migrate_to`](crate::Cx::migrate_to)). An array
//! over nodes does not support later insertion or sections; both panic or fail when requested.
//!
//! # Examples
//! At [`Job`].
//!
//! | module | what it is |
//! |---|---|
//! | `handler` | how a wire message finds its entry |
//! | `arrive` | the effect of a wire message that arrives |
//! | `addresses` | proxies as bytes |
//! | `job` | a program's nodes, from their start to their end |

mod addresses;
mod arrive;
mod handler;
#[cfg(not(loom))]
mod job;

#[cfg(not(any(loom, shuttle)))]
use raddle_net as net;

#[cfg(not(any(loom, shuttle)))]
pub use job::{Job, JobEnvironment, NODES_MAX};
#[cfg(not(loom))]
pub use job::{JobError, Progress, Setup};
#[cfg(shuttle)]
pub(crate) use job::{run_on, transport::MORE_PORTS};

pub use crate::codec::{Across, BySerde, Crossing, CrossingError, plain};
pub use crate::engine::handler::Handler;
#[cfg(shuttle)]
use crate::model::net;
