//! Programs that measure what a message between processes costs, on each transport.
//!
//! A [`NodeGroup`] runs these programs. Each of its nodes has a thread that computes and, in some
//! programs, a second thread that receives for it. The first node leads: it sends the same order to
//! every node, all nodes do their part, and the first node collects the results. The processes are
//! therefore started once for many measurements, and the programs do not depend on the transport.
//!
//! | program | entry point |
//! |---|---|
//! | round trips between the first and the last node | [`NodeGroup::trip_times`] |
//! | the symmetric kernel, in which every node sends requests and replies | [`NodeGroup::serve`] |
//! | the cost of each step of a message | [`NodeGroup::overheads`] |
//!
//! Every node has two ports. The first receives orders and results, and the computing thread sends
//! through it. The second receives the messages of the programs; it belongs to the receiving thread
//! if there is one.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.2, 4.3 and 4.5.

mod answer;
mod cpus;
mod error;
mod group;
mod order;
mod overheads;
mod part;
mod payload;
mod receive;
mod round_trips;
mod symmetric;
mod watch;

pub use self::cpus::NodeCpus;
pub use self::error::NodesError;
pub use self::group::NodeGroup;
pub use self::order::Kernel;
pub use self::overheads::Overheads;
pub use self::receive::Receive;
pub use self::symmetric::{Served, work};

#[cfg(test)]
mod tests;
