//! The functions of rays to a surface that profiles measure.

use raddle_trace::profile::{Activity, Function};

/// Follows a packet of rays. The exclusive time is that of finding macrocells, and of the exact
/// places of opaque surfaces.
pub(super) static FOLLOW: Function = Function::new("follow rays", Activity::Compute);
/// Enters a macrocell. The exclusive time is that for macrocells that the thread has kept.
pub(super) static ENTER: Function = Function::new("enter macrocell", Activity::Compute);
/// Reads the voxels of a macrocell from bricks.
pub(super) static READ_MACROCELL: Function = Function::new("read macrocell", Activity::Compute);
/// Tests in which cells of a macrocell rays cross the surface.
pub(super) static TEST_CELLS: Function = Function::new("test cells", Activity::Compute);
/// Computes the light from up to four points of the surface.
pub(super) static SHADE: Function = Function::new("shade", Activity::Compute);
