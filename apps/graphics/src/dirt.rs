//! The distributed ray tracer: pictures of a volume that no single node has.
//!
//! One node is the *supervisor*. It divides each frame into tiles, assigns them to the other nodes,
//! the *workers*, and collects their pixels. A worker knows no frames: it renders what it is
//! assigned. The voxels are in bricks, which the workers share
//! ([`raddle::net::bricks`]).
//!
//! | module | contents |
//! |---|---|
//! | `tiles` | the division of a frame into tiles, which shrink towards its end |
//! | `schedule` | the assignments of a frame: which worker renders which tile |
//!
//! # Source
//! The program DIRT, as described in Parker, Efficient user-level event notification, chapter 5,
//! after DeMarle, Parker, Hartner, Gribble, Hansen: Distributed Interactive Ray Tracing for Large
//! Volume Visualization. IEEE Symposium on Parallel and Large-Data Visualization and Graphics 2003.

mod schedule;
mod tiles;

pub use self::schedule::{Assignment, Completion, Schedule};
pub use self::tiles::{TileRule, Tiles};
