//! The errors of a program over nodes.

use std::ffi::OsString;

use raddle_runtime::BuildError;

use super::super::net::{NetError, PORTS_MAX};
use crate::failure::Failure;

/// The reason why a program over nodes could not begin, or has failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The nodes could not be started, or a node has ended too early.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A node's runtime could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A chare has failed, on any node.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// An environment variable has an invalid value.
    #[error("{name}: found {found:?}; expected {expected}")]
    Environment {
        /// The name of the variable.
        name: &'static str,
        /// The value of the variable.
        found: OsString,
        /// The accepted values.
        expected: String,
    },
    /// There are more workers than port numbers.
    #[error(
        "{nodes} nodes of {workers} workers each, with two more ports per node, \
         need more than {} ports",
        PORTS_MAX
    )]
    TooMany {
        /// The number of nodes.
        nodes: u16,
        /// The number of workers of each node.
        workers: usize,
    },
}
