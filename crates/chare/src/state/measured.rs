//! What a worker has measured of an array since the last balancing, as it reports it to the root.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::address::number::Number;

/// Messages, and bytes.
pub(crate) type Sent = (u64, u64);

/// What one worker says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Of an array over nodes, of those of all nodes.
    pub(crate) worker: usize,
    pub(crate) loads: Vec<Loaded>,
    pub(crate) traffic: Vec<((Number, Number), Sent)>,
}

/// What a worker says of an element.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) number: Number,
    pub(crate) load: Duration,
    pub(crate) is_busy: bool,
}
