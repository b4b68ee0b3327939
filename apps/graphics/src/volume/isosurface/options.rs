//! Surfaces, the options of their pictures, and the counts of the work.

use std::ops::AddAssign;

use glam::Vec3;
use thiserror::Error;

use crate::camera::{CameraError, View};
use crate::memory::NoMemory;
use crate::render::{FrameError, FrameOptions};

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
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Surface {
    /// The value on the surface.
    pub isovalue: f64,
    /// The shares of red, green and blue that the surface reflects, linear.
    pub colour: Vec3,
    /// The share of light that the surface stops, from 0 to 1.
    pub opacity: f32,
}

/// The options of a picture of surfaces.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
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

    /// Returns the values on the surfaces.
    pub(crate) fn isovalues(&self) -> Vec<f64> {
        let surfaces = self.surfaces.iter();
        surfaces.map(|surface| surface.isovalue).collect()
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
