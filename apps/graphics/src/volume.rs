//! Volumes: scalar values on a regular grid, their files, and pictures of them.
//!
//! A [`Volume`] has its voxels in one array, x fastest, and a linear map from voxels to the world.
//! [`Macrocells`] has the smallest and the largest value of each block of it, so that rays skip the
//! blocks in which nothing is visible. [`isosurface`] shows surfaces of equal value, [`direct`]
//! shows all values by a [`TransferFunction`], and [`volrend`] is the renderer of SPLASH-2.
//!
//! Every volume that a reader or a generator returns has these properties:
//!
//! 1. it has at least two voxels along each axis, and as many voxels as the product of its sizes;
//! 2. every voxel is a finite number;
//! 3. the map to the world is finite and can be inverted.

mod array;
mod brick_file;
mod brick_sources;
mod bricks;
mod cell;
mod data;
mod format;
mod generate;
mod grid;
mod histogram;
mod load;
mod macrocells;
mod occupancy;
mod packet;
mod parsed;
mod project;
mod ranges;
mod readers;
mod rendering;
mod shading;
mod transfer;
mod traversal;
mod voxels;

pub mod direct;
pub mod isosurface;
pub mod volrend;

use std::path::Path;

use crate::file::{self, Fault, Match, Source};

pub use self::array::Volume;
pub use self::brick_file::{
    BrickFile, BrickFileOptions, BrickFileReport, VoxelSource, write_bricks,
};
pub use self::brick_sources::{FormulaBricks, LateBricks, VolumeBricks};
pub use self::bricks::{BrickEdgeError, BrickLayout, EDGE_MAX as BRICK_EDGE_MAX};
pub use self::format::{FORMATS, VolumeFormat};
pub use self::generate::{Formula, GenerateError, UnknownFormula};
pub use self::grid::{AXIS_MAX, Grid, VolumeError};
pub use self::histogram::Histogram;
pub use self::load::{LoadOptions, Loaded, VolumeReport};
pub use self::macrocells::Macrocells;
pub use self::ranges::ValueRanges;
pub use self::rendering::Rendering;
pub use self::transfer::{ControlPoint, PRESETS, Preset, TransferFunction};
pub use self::voxels::{Voxel, VoxelKind, Voxels};

/// Returns the reason for which a file would be read as a volume; `None` if it would not be.
pub(crate) fn match_of(source: &mut Source<'_>, name: &Path) -> Result<Option<Match>, Fault> {
    file::match_of(&readers::READERS, source, name)
}
