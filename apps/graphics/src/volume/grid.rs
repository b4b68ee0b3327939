//! The grid of a volume: the number of its voxels, and their place in the world.

use glam::{DMat3, DVec3};
use thiserror::Error;

use crate::bounds::Bounds;
use crate::offset;

/// The error of the length of an axis below which it counts as a unit vector.
const LENGTH_ERROR: f64 = 1e-4;
/// The shortest and the longest edge of a volume in the world. Rays are computed as `f32`, in which
/// the squares of larger numbers are infinite, and those of smaller ones are zero.
const EDGE_MIN: f64 = 1e-17;
const EDGE_MAX: f64 = 4e18;
/// The maximum number of voxels along an axis.
pub const AXIS_MAX: usize = 1 << 24;

/// A regular grid in the world.
///
/// The world coordinates of voxel (x, y, z) are `origin + direction * (spacing * (x, y, z))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    size: [usize; 3],
    spacing: DVec3,
    origin: DVec3,
    direction: DMat3,
}

/// The reasons why numbers are not a volume.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum VolumeError {
    /// The volume is too thin or too large.
    #[error("{} × {} × {} voxels; expected 2 to {AXIS_MAX} along each axis", .0[0], .0[1], .0[2])]
    Size([u64; 3]),
    /// The number of voxels is not the product of the sizes.
    #[error("{found} voxels; expected {expected}, the product of the sizes")]
    Count {
        /// The number of voxels.
        found: usize,
        /// The product of the sizes.
        expected: u128,
    },
    /// A voxel is not a number.
    #[error(
        "voxel ({}, {}, {}) is {found}; expected finite numbers",
        position[0], position[1], position[2]
    )]
    NotFinite {
        /// The position of the voxel.
        position: [usize; 3],
        /// The value.
        found: f64,
    },
    /// The volume is so far from the origin that its voxels have the same coordinates.
    #[error("a first voxel at {0}; expected coordinates that differ between voxels")]
    Origin(DVec3),
    /// An edge of the volume is too short or too long.
    #[error(
        "an edge of length {0}; expected {EDGE_MIN:e} to {EDGE_MAX:e}, perhaps in another unit"
    )]
    Edge(f64),
    /// The map to the world is not finite, or maps the volume to a plane.
    #[error("spacing {spacing} with axes {direction}; expected three axes that are independent")]
    Geometry {
        /// The distances between voxels.
        spacing: DVec3,
        /// The axes, one after the other.
        direction: DMat3,
    },
}

impl Grid {
    /// Creates a grid with a spacing of 1 and its first voxel at the origin.
    ///
    /// # Errors
    /// [`VolumeError::Size`] if an axis has fewer than 2 or more than [`AXIS_MAX`] voxels.
    pub fn new(size: [usize; 3]) -> Result<Self, VolumeError> {
        Self::checked_count(size.map(|len| len as u64))?;
        Ok(Self {
            size,
            spacing: DVec3::ONE,
            origin: DVec3::ZERO,
            direction: DMat3::IDENTITY,
        })
    }

    /// Returns the number of voxels of a volume of some size.
    ///
    /// # Errors
    /// [`VolumeError::Size`] if an axis is too short or too long.
    pub(crate) fn checked_count(size: [u64; 3]) -> Result<u128, VolumeError> {
        if size
            .iter()
            .any(|&len| !(2..=AXIS_MAX as u64).contains(&len))
        {
            return Err(VolumeError::Size(size));
        }
        Ok(size.iter().map(|&len| u128::from(len)).product())
    }

    /// Sets the place of the grid in the world: the distances between voxels, the place of the
    /// first voxel, and the directions of the three axes as the columns of a matrix. The distances
    /// are multiplied by the lengths of these columns, which then are 1.
    ///
    /// # Errors
    /// [`VolumeError::Geometry`] if a number is not finite, or if the axes are not independent;
    /// [`VolumeError::Edge`] for an edge that is too short or too long, and
    /// [`VolumeError::Origin`] for a first voxel that is too far away.
    pub fn with_geometry(
        mut self,
        spacing: DVec3,
        origin: DVec3,
        direction: DMat3,
    ) -> Result<Self, VolumeError> {
        let map = direction * DMat3::from_diagonal(spacing);
        let is_sound = |value: f64| value != 0.0 && value.is_finite();
        if !is_sound(map.determinant()) || !is_sound(map.inverse().determinant()) {
            return Err(VolumeError::Geometry { spacing, direction });
        }
        let steps = [0, 1, 2].map(|axis| map.col(axis).length());
        for (step, len) in steps.into_iter().zip(self.size) {
            let edge = step * (len - 1) as f64;
            if !(EDGE_MIN..=EDGE_MAX).contains(&edge) {
                return Err(VolumeError::Edge(edge));
            }
        }
        let step = steps.into_iter().fold(f64::INFINITY, f64::min);
        // Also false if a coordinate is not a number.
        if !(origin.abs().max_element() < step / f64::EPSILON && origin.is_finite()) {
            return Err(VolumeError::Origin(origin));
        }
        let [x, y, z] = [0, 1, 2].map(|axis| direction.col(axis).length());
        let lengths = DVec3::new(x, y, z);
        // Most directions have these lengths, up to the last digits that a file has.
        let is_unit = (lengths - 1.0).abs().max_element() < LENGTH_ERROR;
        (self.spacing, self.direction) = match is_unit {
            true => (spacing, direction),
            false => (
                spacing * lengths,
                direction * DMat3::from_diagonal(lengths.recip()),
            ),
        };
        self.origin = origin;
        Ok(self)
    }

    /// Returns the number of voxels along x, y and z.
    #[must_use]
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Returns the distances between voxels along x, y and z.
    #[must_use]
    pub fn spacing(&self) -> DVec3 {
        self.spacing
    }

    /// Returns the place of the first voxel in the world.
    #[must_use]
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Returns the directions of the three axes in the world, as the columns of a matrix.
    #[must_use]
    pub fn direction(&self) -> DMat3 {
        self.direction
    }

    /// Returns the matrix from differences of voxel coordinates to differences in the world.
    #[must_use]
    pub fn world_of_voxel(&self) -> DMat3 {
        self.direction * DMat3::from_diagonal(self.spacing)
    }

    /// Returns the smallest box in the world around all voxels.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let [min, max] = self.corners().map(|corner| corner.as_vec3());
        Bounds { min, max }
    }

    /// Returns the lower and the upper corner of the smallest box in the world around all voxels.
    pub(crate) fn corners(&self) -> [DVec3; 2] {
        let map = self.world_of_voxel();
        let last = self.size.map(|len| (len - 1) as f64);
        let ends = [0, 1, 2].map(|axis| map.col(axis) * last[axis]);
        let sum = |pick: fn(DVec3, DVec3) -> DVec3| {
            let ends = ends.iter().map(|end| pick(DVec3::ZERO, *end));
            ends.fold(self.origin, |sum, end| sum + end)
        };
        [sum(DVec3::min), sum(DVec3::max)]
    }

    /// Moves the grid by a vector.
    #[must_use]
    pub fn moved_by(mut self, way: DVec3) -> Self {
        self.origin += way;
        self
    }

    /// Moves the grid near the origin if it is far away for its size. Returns the offset, too: a
    /// coordinate of this grid is that of the moved one plus the offset.
    pub(crate) fn near_origin(self) -> (Self, DVec3) {
        let offset = offset::of_box(self.corners(), f64::INFINITY);
        (self.moved_by(-offset), offset)
    }

    /// Returns the position of the voxel with an index.
    pub(crate) fn position(&self, index: usize) -> [usize; 3] {
        let [width, height, _] = self.size;
        [
            index % width,
            index / width % height,
            index / (width * height),
        ]
    }
}
