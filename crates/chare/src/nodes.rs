//! Chares over nodes: what a system has of the systems of other nodes, and the letters between them.
//!
//! Each node runs a system of its own, with its workers and its part of the elements. An array that is made over nodes has a collection at each, and
//! all know it by one number. Where an element lives elsewhere its route says so, and what is sent to it crosses as a letter: to it alone the
//! arguments are written, with serde, as bytes. All other ways are as within a node, and cost what they cost there.
//!
//! What holds within a node holds over nodes: the order of messages from one worker to one element, replies, reductions and quiescence over all, failures
//! that are told to all, scans, and the moves of elements, from node to node too ([`Cx::migrate_to`](crate::Cx::migrate_to)). What an array over nodes
//! has not: elements that are put in later, and sections; each is refused where it is asked for.
//!
//! # Examples
//! At [`Job`].
//!
//! | module | what it is |
//! |---|---|
//! | `handler` | how a letter finds its entry |
//! | `arrive` | what a letter does where it comes |
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
pub(crate) use job::{MORE_PORTS, run_on};

pub use crate::codec::{Across, BySerde, Crossing, CrossingError, plain};
pub use crate::engine::object::handler::Handler;
#[cfg(shuttle)]
use crate::model::net;
