//! The distributed ray tracer: pictures of a volume that no single node has.
//!
//! One node is the *supervisor*. It divides each frame into tiles, assigns them to the other nodes,
//! the *workers*, and collects their pixels. A worker knows no frames: it renders what it is
//! assigned. The voxels are in bricks, which the workers share
//! ([`raddle::net::bricks`]).
//!
//! | module | contents |
//! |---|---|
//! | `options`, `error`, `report` | what a run is given, and what it returns |
//! | `profile` | the times of all threads, and of each tile |
//! | `wire` | the messages between the supervisor and the workers |
//! | `tiles` | the division of a frame into tiles, which shrink towards its end |
//! | `schedule` | the assignments of a frame: which worker renders which tile |
//! | `queue` | the tiles that a worker has been assigned |
//! | `worker` | the thread that receives a worker's messages |
//! | `renderer` | the threads that render a worker's tiles |
//! | `supervisor` | the node that assigns tiles and collects pixels |
//!
//! # Source
//! The program DIRT, as described in Parker, Efficient user-level event notification, chapter 5,
//! after DeMarle, Parker, Hartner, Gribble, Hansen: Distributed Interactive Ray Tracing for Large
//! Volume Visualization. IEEE Symposium on Parallel and Large-Data Visualization and Graphics 2003.

mod error;
mod options;
mod profile;
mod queue;
mod renderer;
mod report;
mod schedule;
mod supervisor;
mod tiles;
mod wire;
mod worker;

use raddle::net::{NodeId, PortId};

pub use self::error::DirtError;
pub use self::options::{Content, DirtOptions};
pub use self::profile::{ThreadReport, TileTimes};
pub use self::report::{RunReport, WorkerReport};
pub use self::supervisor::{SupervisedFrame, Supervisor, WorkerState};
pub use self::tiles::TileRule;
pub use self::worker::{refuse, work};

/// The port at which the messages of the supervisor arrive.
const SUPERVISOR: PortId = PortId {
    node: NodeId(0),
    index: wire::MESSAGES,
};
