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

use std::ops::AddAssign;
use std::time::Instant;

use glam::Vec3;
use thiserror::Error;

use self::active::ActiveCells;
use self::tracer::Tracer;
use super::grid::Volume;
use super::macrocells::Macrocells;
use super::occupancy::Occupancy;
use super::project::beams;
use super::rendering::Rendering;
use super::shading::Shading;
use super::voxels::with_voxels;
use crate::camera::{CameraError, View};
use crate::memory::NoMemory;
use crate::render::{self, FrameError, FrameOptions, Proceed, TileDone};

mod active;
mod crossings;
mod extract;
mod screen;
#[cfg(test)]
mod tests;
mod tracer;

pub use self::extract::extract;

/// The maximum number of surfaces in a picture.
pub const SURFACES_MAX: usize = 16;

/// The colours of surfaces for which none is given.
const COLOURS: [Vec3; 6] = [
    Vec3::new(0.80, 0.76, 0.70),
    Vec3::new(0.80, 0.42, 0.32),
    Vec3::new(0.36, 0.58, 0.78),
    Vec3::new(0.50, 0.72, 0.42),
    Vec3::new(0.82, 0.68, 0.34),
    Vec3::new(0.62, 0.48, 0.74),
];

/// A surface of equal value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Surface {
    /// The value on the surface.
    pub isovalue: f64,
    /// The shares of red, green and blue that the surface reflects, linear.
    pub colour: Vec3,
    /// The share of light that the surface stops, from 0 to 1.
    pub opacity: f32,
}

/// The options of a picture of surfaces.
#[derive(Debug, Clone, PartialEq)]
pub struct IsosurfaceOptions {
    /// The surfaces, at least one and at most [`SURFACES_MAX`].
    pub surfaces: Vec<Surface>,
    /// True if surfaces cast shadows.
    pub has_shadows: bool,
    /// True for normals from the differences between voxels on both sides of a point. They are
    /// continuous, and so hide the grid of the voxels. Otherwise, normals are those of the exact
    /// surface, which has folds between cells.
    pub is_smooth: bool,
    /// The requested properties of the camera. The others suit the volume.
    pub view: View,
    /// Size, samples and tiles of the picture.
    pub frame: FrameOptions,
}

/// The reasons why surfaces cannot be rendered.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum IsosurfaceError {
    /// The camera cannot be set up.
    #[error(transparent)]
    Camera(#[from] CameraError),
    /// The frame cannot be rendered.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The number of surfaces is zero or too large.
    #[error("{0} isovalues; expected 1 to {SURFACES_MAX}")]
    Count(usize),
    /// An isovalue is not a number.
    #[error("isovalue {0}; expected a finite number")]
    Isovalue(f64),
    /// The macrocells belong to a volume of another size.
    #[error("macrocells of another volume; expected those of the volume to be rendered")]
    OtherVolume,
    /// A surface has too many vertices.
    #[error("more than 4294967295 vertices; expected a smaller volume, or another isovalue")]
    Vertices,
    /// There is not enough memory for the triangles of a surface.
    #[error(
        "no memory for about {bytes} bytes of triangles; expected a smaller volume, or another \
         isovalue"
    )]
    OutOfMemory {
        /// The number of bytes that were requested from the system.
        bytes: u64,
    },
    /// An opacity is out of range.
    #[error("opacity {0}; expected more than 0 and at most 1")]
    Opacity(f32),
}

impl From<NoMemory> for IsosurfaceError {
    fn from(NoMemory(bytes): NoMemory) -> Self {
        Self::OutOfMemory { bytes }
    }
}

/// A picture, and a report on rendering it.
pub type IsosurfaceRendering = Rendering<IsosurfaceCounts>;

/// Counts of the work for a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[non_exhaustive]
pub struct IsosurfaceCounts {
    /// Rays that enter the volume.
    pub rays_inside: u64,
    /// Exact tests of whether a ray crosses a surface in a cell. Rays that are followed together
    /// need fewer, since a test in single precision comes before.
    pub cells: u64,
    /// Roots of cubic polynomials: the places where rays crossed a surface.
    pub cubics: u64,
    /// Rays from the camera that hit a surface.
    pub hits: u64,
    /// Rays towards the light.
    pub rays_shadow: u64,
}

impl AddAssign for IsosurfaceCounts {
    fn add_assign(&mut self, other: Self) {
        self.rays_inside += other.rays_inside;
        self.cells += other.cells;
        self.cubics += other.cubics;
        self.hits += other.hits;
        self.rays_shadow += other.rays_shadow;
    }
}

impl Surface {
    /// Returns an opaque surface in the colour for a place in a list of surfaces.
    #[must_use]
    pub fn new(isovalue: f64, place: usize) -> Self {
        Self {
            isovalue,
            colour: COLOURS[place % COLOURS.len()],
            opacity: 1.0,
        }
    }
}

impl IsosurfaceOptions {
    /// Returns the options for an opaque surface without shadows, in the default view.
    #[must_use]
    pub fn new(isovalue: f64) -> Self {
        Self {
            surfaces: vec![Surface::new(isovalue, 0)],
            has_shadows: false,
            is_smooth: false,
            view: View::default(),
            frame: FrameOptions::default(),
        }
    }

    /// Checks that the options are in range.
    ///
    /// # Errors
    /// Returns an [`IsosurfaceError`] for the first one that is not.
    pub fn check(&self) -> Result<(), IsosurfaceError> {
        let count = self.surfaces.len();
        if !(1..=SURFACES_MAX).contains(&count) {
            return Err(IsosurfaceError::Count(count));
        }
        for surface in &self.surfaces {
            if !surface.isovalue.is_finite() {
                return Err(IsosurfaceError::Isovalue(surface.isovalue));
            }
            if !(surface.opacity > 0.0 && surface.opacity <= 1.0) {
                return Err(IsosurfaceError::Opacity(surface.opacity));
            }
        }
        Ok(self.frame.check()?)
    }
}

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
    options.check()?;
    if !macrocells.fit(volume) {
        return Err(IsosurfaceError::OtherVolume);
    }
    let camera = volume.camera(&options.view)?;
    let begun = Instant::now();
    let occupancy = occupancy_of(macrocells, options);
    let beams = beams(volume, &occupancy, &camera, options.frame.size);
    let isovalues: Vec<f64> = options.surfaces.iter().map(|it| it.isovalue).collect();
    let time_prepare;
    let shading = Shading::new(&camera, &volume.voxel_map(), macrocells.range());
    let frame = with_voxels!(volume.voxels(), voxels => {
        let cells = ActiveCells::of(volume.size(), voxels, &occupancy, &isovalues);
        time_prepare = begun.elapsed();
        let beams = beams.as_ref();
        let tracer = Tracer::new(volume, voxels, &occupancy, &cells, beams, options, shading);
        render::render(&tracer, &camera, &options.frame, on_tile)?
    });
    Ok(Rendering {
        picture: frame.picture,
        camera,
        counts: frame.counts,
        rays: frame.rays,
        leaf_count: occupancy.leaf_count(),
        tile_count: frame.tile_count,
        time_prepare,
        time_trace: frame.time,
    })
}

/// Selects the macrocells that contain an isovalue: it is above the lowest level, and not above the
/// highest one.
fn occupancy_of(macrocells: &Macrocells, options: &IsosurfaceOptions) -> Occupancy {
    let level = |surface: &Surface| macrocells.scale().level(surface.isovalue);
    let levels: Vec<f64> = options.surfaces.iter().map(level).collect();
    Occupancy::of(macrocells, |[low, high]| {
        let is_between = |&level: &f64| f64::from(low) < level && level <= f64::from(high);
        levels.iter().any(is_between)
    })
}
