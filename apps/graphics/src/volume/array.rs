//! A volume in memory: a grid, and all of its voxels in one array.

use glam::{DMat3, DVec3};

use super::grid::{Grid, VolumeError};
use super::voxels::{Voxel, Voxels, with_voxels};
use crate::bounds::Bounds;
use crate::camera::{Camera, CameraError, View};

/// Scalar values on a regular grid.
///
/// The world coordinates of voxel (x, y, z) are `origin + direction * (spacing * (x, y, z))`.
///
/// # Examples
/// ```
/// use raddle_graphics::volume::Volume;
///
/// let volume = Volume::new([4, 3, 2], (0..24_u8).collect::<Vec<_>>())?;
/// assert_eq!(volume.value([1, 2, 1]), 21.0);
/// # Ok::<(), raddle_graphics::volume::VolumeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    grid: Grid,
    voxels: Voxels,
}

impl Volume {
    /// Creates a volume with a spacing of 1 and its first voxel at the origin.
    ///
    /// `voxels` has x fastest, then y, then z. Takes one pass over voxels that are floats.
    ///
    /// # Errors
    /// Returns a [`VolumeError`] if an axis has fewer than 2 or more than
    /// [`AXIS_MAX`](super::AXIS_MAX) voxels, if their number is not the product of the sizes, or if
    /// a voxel is not finite.
    pub fn new(size: [usize; 3], voxels: impl Into<Voxels>) -> Result<Self, VolumeError> {
        let voxels = voxels.into();
        let grid = Grid::new(size)?;
        let expected = Grid::checked_count(size.map(|len| len as u64))?;
        if voxels.len() as u128 != expected {
            let found = voxels.len();
            return Err(VolumeError::Count { found, expected });
        }
        if let Voxels::F32(list) = &voxels
            && let Some(index) = list.iter().position(|voxel| !voxel.is_finite())
        {
            let found = f64::from(list[index]);
            let position = grid.position(index);
            return Err(VolumeError::NotFinite { position, found });
        }
        Ok(Self { grid, voxels })
    }

    /// Sets the place of the volume in the world, as [`Grid::with_geometry`] does.
    ///
    /// # Errors
    /// Those of [`Grid::with_geometry`].
    pub fn with_geometry(
        mut self,
        spacing: DVec3,
        origin: DVec3,
        direction: DMat3,
    ) -> Result<Self, VolumeError> {
        self.grid = self.grid.with_geometry(spacing, origin, direction)?;
        Ok(self)
    }

    /// Returns the grid of the voxels.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the number of voxels along x, y and z.
    #[must_use]
    pub fn size(&self) -> [usize; 3] {
        self.grid.size()
    }

    /// Returns the voxels.
    #[must_use]
    pub fn voxels(&self) -> &Voxels {
        &self.voxels
    }

    /// Returns the distances between voxels along x, y and z.
    #[must_use]
    pub fn spacing(&self) -> DVec3 {
        self.grid.spacing()
    }

    /// Returns the place of the first voxel in the world.
    #[must_use]
    pub fn origin(&self) -> DVec3 {
        self.grid.origin()
    }

    /// Returns the directions of the three axes in the world, as the columns of a matrix.
    #[must_use]
    pub fn direction(&self) -> DMat3 {
        self.grid.direction()
    }

    /// Returns the value of a voxel.
    ///
    /// # Panics
    /// Panics if the position is not in the volume.
    #[must_use]
    pub fn value(&self, [x, y, z]: [usize; 3]) -> f64 {
        let [width, height, depth] = self.size();
        assert!(
            x < width && y < height && z < depth,
            "({x}, {y}, {z}) of {:?}",
            self.size()
        );
        with_voxels!(&self.voxels, list => list[x + width * (y + height * z)].value())
    }

    /// Returns the matrix from differences of voxel coordinates to differences in the world.
    #[must_use]
    pub fn world_of_voxel(&self) -> DMat3 {
        self.grid.world_of_voxel()
    }

    /// Returns the smallest box in the world around all voxels.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.grid.bounds()
    }

    /// Creates a camera for the volume, as [`Grid::camera`] does.
    ///
    /// # Errors
    /// Those of [`Grid::camera`].
    pub fn camera(&self, view: &View) -> Result<Camera, CameraError> {
        self.grid.camera(view)
    }

    /// Moves the volume by a vector.
    pub(crate) fn moved_by(mut self, way: DVec3) -> Self {
        self.grid = self.grid.moved_by(way);
        self
    }
}
