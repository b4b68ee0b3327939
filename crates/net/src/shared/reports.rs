//! The reports of other nodes about connections, and the threads that wait for them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Weak};

use raddle_sync::wait::WaitCell;

use crate::address::NodeId;
use crate::error::NetError;
use crate::grant::Grant;
use crate::segment::Remote;

/// The reports that the listening thread has received from other nodes.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// Connections that others have opened for this node, and that it has not accepted yet.
    pub(crate) offers: VecDeque<(NodeId, Result<Remote, NetError>)>,
    /// The grants by which this node may put, by the other node and the key of its connection.
    pub(crate) grants: HashMap<(NodeId, u64), Weak<Grant>>,
    /// The keys of connections that this node has closed, and for which the other node has not yet
    /// reported that it puts nothing more.
    pub(crate) closing: HashSet<u64>,
    /// The cells of the threads that wait for a report.
    pub(super) waiting: Vec<Arc<WaitCell>>,
}
