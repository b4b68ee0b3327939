//! The measurements of an array since its last balancing, as a worker reports them to the root.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::address::number::Number;

/// The numbers of messages and bytes.
pub(crate) type Sent = (u64, u64);

/// The report of one worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// The worker's number; for an array over nodes, its number among the workers of all nodes.
    pub(crate) worker: usize,
    pub(crate) loads: Vec<Loaded>,
    pub(crate) traffic: Vec<((Number, Number), Sent)>,
}

/// The report on one element.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) number: Number,
    pub(crate) load: Duration,
    pub(crate) is_busy: bool,
}
