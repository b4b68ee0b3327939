//! The errors of the distributed ray tracer.

use raddle::net::bricks::StartError;
use raddle::net::{NetError, NodeId, SendError};
use thiserror::Error;

use crate::render::FrameError;
use crate::volume::BrickEdgeError;
use crate::volume::isosurface::IsosurfaceError;

/// The reason why a run ends early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DirtError {
    /// An option of the picture is out of range.
    #[error(transparent)]
    Isosurface(#[from] IsosurfaceError),
    /// The frame cannot be rendered.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The bricks have no suitable edge.
    #[error(transparent)]
    Edge(#[from] BrickEdgeError),
    /// The bricks cannot be shared.
    #[error(transparent)]
    Bricks(#[from] StartError),
    /// Nodes cannot be started, or the system refused something.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A message could not be sent.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The system does not start a thread.
    #[error("the system refused a thread: {0}; expected fewer renderers or nodes")]
    Thread(std::io::Error),
    /// The number of workers or renderers is out of range.
    #[error("{workers} workers with {renderers} renderers each; expected at least one of each")]
    NoWorkers {
        /// The number of workers.
        workers: u16,
        /// The number of renderers of each.
        renderers: u16,
    },
    /// All workers have ended.
    #[error("no worker is left; the last one that ended is {0}")]
    NoWorkerLeft(NodeId),
    /// A worker could not begin, or could not render a tile.
    #[error("{node}: {why}")]
    Worker {
        /// The worker.
        node: NodeId,
        /// The reason.
        why: String,
    },
    /// A brick of a worker could not be read when the run began.
    #[error("brick {key}: {why}")]
    Source {
        /// The brick.
        key: u64,
        /// The reason.
        why: String,
    },
    /// The supervisor has ended.
    #[error("the supervisor has ended: {0}")]
    Supervisor(NetError),
    /// Bytes of another node are no message of this program.
    #[error("a message of {0} that this program does not know")]
    Malformed(NodeId),
}
