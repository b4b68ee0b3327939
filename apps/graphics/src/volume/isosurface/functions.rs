//! The functions of rays to a surface that profiles measure.

use raddle_trace::profile::{Activity, Function};

/// Follows a packet of rays. The exclusive time is that of finding macrocells and cells.
pub(super) static FOLLOW: Function = Function::new("follow rays", Activity::Compute);
/// Enters a macrocell. The exclusive time is that for macrocells that the thread has kept.
pub(super) static ENTER: Function = Function::new("enter macrocell", Activity::Compute);
/// Reads the voxels of a macrocell from bricks.
pub(super) static READ_MACROCELL: Function = Function::new("read macrocell", Activity::Compute);
/// Tests whether a ray crosses the surface in a cell, and where.
pub(super) static HIT_CELL: Function = Function::new("hit cell", Activity::Compute);
/// Computes the light from up to four points of the surface.
pub(super) static SHADE: Function = Function::new("shade", Activity::Compute);
