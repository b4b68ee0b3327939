//! Surfaces of equal value in a volume, intersected exactly.
//!
//! A ray visits the macrocells that contain an isovalue, and in them the cells; in a cell it finds
//! the surface as the root of a cubic polynomial. Several surfaces may be seen through each other.
//!
//! # Cost
//! Before the first ray, one pass over the ranges of the occupied macrocells (some tenths of a
//! millisecond for 256³ voxels). So a new isovalue costs no more than a new picture.
//!
//! # Source
//! S. Parker, P. Shirley, Y. Livnat, C. Hansen, P.-P. Sloan: Interactive Ray Tracing for Isosurface
//! Rendering. IEEE Visualization 1998.

use std::time::Instant;

use self::active::ActiveCells;
use self::cells::ArrayCells;
use super::array::Volume;
use super::macrocells::Macrocells;
use super::rendering::Rendering;
use super::voxels::with_voxels;
use crate::render::{self, Proceed, TileDone};

mod active;
mod brick_cells;
mod cells;
mod crossings;
mod extract;
mod functions;
mod options;
mod prepared;
mod screen;
#[cfg(test)]
mod tests;
mod tracer;

pub use self::brick_cells::{BrickAccess, BrickFetch};
pub use self::extract::extract;
pub use self::options::{
    IsosurfaceCounts, IsosurfaceError, IsosurfaceOptions, SURFACES_MAX, Surface,
};
pub use self::prepared::{BrickCounts, Prepared};

/// A picture, and a report on rendering it.
pub type IsosurfaceRendering = Rendering<IsosurfaceCounts>;

/// Renders surfaces of a volume with all workers of the runtime.
///
/// `macrocells` must be those of `volume`. `on_tile` is called for every finished tile, in any
/// order and on any worker, and may stop the work. The picture depends only on volume and options.
///
/// # Errors
/// Returns an [`IsosurfaceError`] if an option is out of range, or if there is not enough memory
/// for the picture.
///
/// # Examples
/// ```
/// use raddle_graphics::render::FrameOptions;
/// use raddle_graphics::volume::isosurface::{IsosurfaceOptions, render};
/// use raddle_graphics::volume::{Macrocells, Volume};
///
/// // The distance from the middle of a cube.
/// let distance = |index: usize| {
///     let offset = [index % 9, index / 9 % 9, index / 81].map(|at| at as f32 - 4.0);
///     offset.iter().map(|it| it * it).sum::<f32>().sqrt()
/// };
/// let volume = Volume::new([9; 3], (0..729).map(distance).collect::<Vec<_>>())?;
/// let macrocells = Macrocells::of(&volume);
/// let options = IsosurfaceOptions {
///     frame: FrameOptions { size: (64, 64), ..FrameOptions::default() },
///     ..IsosurfaceOptions::new(3.0)
/// };
/// let rendering = render(&volume, &macrocells, &options, |_| ())?;
/// assert!(rendering.counts.hits > 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn render<P: Proceed>(
    volume: &Volume,
    macrocells: &Macrocells,
    options: &IsosurfaceOptions,
    on_tile: impl Fn(TileDone) -> P + Sync,
) -> Result<IsosurfaceRendering, IsosurfaceError> {
    let begun = Instant::now();
    let prepared = Prepared::new(volume.grid(), macrocells, options.clone())?;
    let time_prepare;
    let frame = with_voxels!(volume.voxels(), voxels => {
        let (occupancy, isovalues) = (&prepared.occupancy, options.isovalues());
        let cells = ActiveCells::of(volume.size(), voxels, occupancy, &isovalues);
        time_prepare = begun.elapsed();
        let source = ArrayCells::new(volume.size(), voxels, &cells);
        render::render(&prepared.tracer(source), &prepared.camera, &options.frame, on_tile)?
    });
    Ok(Rendering {
        picture: frame.picture,
        camera: prepared.camera,
        counts: frame.counts,
        rays: frame.rays,
        leaf_count: prepared.occupancy.leaf_count(),
        tile_count: frame.tile_count,
        time_prepare,
        time_trace: frame.time,
    })
}
