//! Volumes from formulas, of any size, whole or block by block.
//!
//! Every value depends on its position only. So a program can generate the part that it needs of a
//! volume that does not fit into memory.
//!
//! # Source
//! Spheres: Parker 2013, chapter 6 (20 spheres with random centres and values of the type `short`
//! that decrease linearly with the distance). The other one: S. Marschner, R. Lobb: An Evaluation
//! of Reconstruction Filters for Volume Rendering. IEEE Visualization 1994.

use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

use glam::DVec3;
use thiserror::Error;

use super::array::Volume;
use super::bricks::BrickEdgeError;
use super::grid::{Grid, VolumeError};
use super::voxels::{VoxelKind, Voxels};
use crate::memory;
use crate::scene::scramble;

mod bounds;
#[cfg(test)]
mod tests;

pub(crate) use self::bounds::{Bounded, Voxels as VoxelBox};

/// The number of spheres.
const SPHERE_COUNT: usize = 20;
/// The distance over which the value of a sphere falls from the largest to the smallest one, in
/// edges of the volume.
const SPHERE_REACH: f64 = 0.75;
/// The constants of the test signal: the frequency and the amplitude of its waves.
const WAVES: f64 = 6.0;
const AMPLITUDE: f64 = 0.25;

/// A formula for the values of a volume, on a cube with edges of length 1.
///
/// # Examples
/// ```
/// use raddle_graphics::volume::{Formula, Voxels};
///
/// let volume = Formula::Spheres.volume([32, 32, 32])?;
/// let Voxels::I16(block) = Formula::Spheres.block([32, 32, 32], [8, 0, 4], [2, 1, 1])? else {
///     unreachable!("spheres have this type")
/// };
/// assert_eq!(f64::from(block[1]), volume.value([9, 0, 4]));
/// # Ok::<(), raddle_graphics::volume::GenerateError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Formula {
    /// Spheres at random places. The value at each centre is random, and decreases linearly with
    /// the distance; where spheres overlap, the largest value counts. Type `i16`.
    Spheres,
    /// A signal with circular waves, which shows the errors of interpolation. Values from 0 to 1,
    /// type `f32`.
    MarschnerLobb,
}

/// The reasons why a volume cannot be generated.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// An axis is too short or too long.
    #[error(transparent)]
    Size(#[from] VolumeError),
    /// The bricks have no suitable edge.
    #[error(transparent)]
    Edge(#[from] BrickEdgeError),
    /// The block is not a part of the volume.
    #[error("a block at {first:?} of size {len:?}; expected a part of {size:?} voxels")]
    Block {
        /// The number of voxels of the volume along each axis.
        size: [usize; 3],
        /// The first voxel of the block.
        first: [usize; 3],
        /// The number of voxels of the block along each axis.
        len: [usize; 3],
    },
    /// There is not enough memory.
    #[error("no memory for {bytes} bytes of voxels; expected a smaller volume")]
    OutOfMemory {
        /// The number of bytes that were requested from the system.
        bytes: u64,
    },
}

/// An unknown name of a formula.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no volume of this name; expected spheres or marschner-lobb")]
pub struct UnknownFormula;

impl FromStr for Formula {
    type Err = UnknownFormula;

    fn from_str(text: &str) -> Result<Self, UnknownFormula> {
        match text {
            "spheres" => Ok(Self::Spheres),
            "marschner-lobb" => Ok(Self::MarschnerLobb),
            _ => Err(UnknownFormula),
        }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Spheres => "spheres",
            Self::MarschnerLobb => "marschner-lobb",
        })
    }
}

/// A sphere: the centre and the value there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sphere {
    centre: DVec3,
    value: f64,
}

impl Formula {
    /// Returns the type of the voxels.
    #[must_use]
    pub const fn kind(self) -> VoxelKind {
        match self {
            Self::Spheres => VoxelKind::I16,
            Self::MarschnerLobb => VoxelKind::F32,
        }
    }

    /// Generates a volume with all workers of the runtime.
    ///
    /// # Errors
    /// [`GenerateError`].
    pub fn volume(self, size: [usize; 3]) -> Result<Volume, GenerateError> {
        let voxels = self.block(size, [0; 3], size)?;
        Ok(Volume::new(size, voxels)?)
    }

    /// Generates a block of a volume with all workers of the runtime, x fastest: `len` voxels along
    /// each axis from `first` on.
    ///
    /// # Errors
    /// [`GenerateError`].
    pub fn block(
        self,
        size: [usize; 3],
        first: [usize; 3],
        len: [usize; 3],
    ) -> Result<Voxels, GenerateError> {
        Grid::checked_count(size.map(|len| len as u64))?;
        let is_part = |axis: usize| {
            let end = first[axis].checked_add(len[axis]);
            end.is_some_and(|end| end <= size[axis])
        };
        if !(is_part(0) && is_part(1) && is_part(2)) {
            return Err(GenerateError::Block { size, first, len });
        }
        match self {
            Self::Spheres => {
                let spheres = spheres();
                Ok(filled(size, first, len, |at| sphere_voxel(&spheres, at))?.into())
            }
            Self::MarschnerLobb => Ok(filled(size, first, len, signal_voxel)?.into()),
        }
    }
}

/// Computes the voxels of a block. `value` gets positions from 0 to 1.
fn filled<T: Copy + Default + Send>(
    size: [usize; 3],
    first: [usize; 3],
    len: [usize; 3],
    value: impl Fn(DVec3) -> T + Sync,
) -> Result<Vec<T>, GenerateError> {
    let [width, height, depth] = len;
    let count = (width as u64).saturating_mul(height as u64);
    let count = count.saturating_mul(depth as u64);
    memory::ask_for_each(count as usize, size_of::<T>() as u64)
        .map_err(|none| GenerateError::OutOfMemory { bytes: none.0 })?;
    let mut voxels = vec![T::default(); count as usize];
    if count == 0 {
        return Ok(voxels);
    }
    let mut rows: Vec<&mut [T]> = voxels.chunks_mut(width).collect();
    raddle::for_each_mut(&mut rows, |row, voxels| {
        let place =
            |axis: usize, index: usize| (first[axis] + index) as f64 / (size[axis] - 1) as f64;
        let (y, z) = (place(1, row % height), place(2, row / height));
        for (x, voxel) in voxels.iter_mut().enumerate() {
            *voxel = value(DVec3::new(place(0, x), y, z));
        }
    });
    Ok(voxels)
}

/// Returns the spheres, always the same ones.
pub(super) fn spheres() -> Vec<Sphere> {
    let share = |key: usize| scramble(key as u64) as f64 / u64::MAX as f64;
    let sphere = |index: usize| {
        let share = |part: usize| share(1000 + 4 * index + part);
        Sphere {
            centre: DVec3::new(share(0), share(1), share(2)),
            value: (share(3) * f64::from(u16::MAX)).floor() + f64::from(i16::MIN),
        }
    };
    (0..SPHERE_COUNT).map(sphere).collect()
}

/// Returns the voxel of spheres at a point: the largest of their values.
fn sphere_voxel(spheres: &[Sphere], at: DVec3) -> i16 {
    let values = spheres.iter().map(|sphere| sphere_value(sphere, at));
    // The conversion clamps.
    values.fold(f64::from(i16::MIN), f64::max).round() as i16
}

/// Returns the value of one sphere at a point.
fn sphere_value(sphere: &Sphere, at: DVec3) -> f64 {
    let slope = f64::from(u16::MAX) / SPHERE_REACH;
    sphere.value - slope * (at - sphere.centre).length()
}

/// Returns the voxel of the test signal at a point.
fn signal_voxel(at: DVec3) -> f32 {
    marschner_lobb(at) as f32
}

/// Returns the test signal at a point.
fn marschner_lobb(at: DVec3) -> f64 {
    let at = 2.0 * at - 1.0;
    let radius = at.truncate().length();
    let wave = (2.0 * PI * WAVES * (0.5 * PI * radius).cos()).cos();
    let sum = 1.0 - (0.5 * PI * at.z).sin() + AMPLITUDE * (1.0 + wave);
    sum / (2.0 * (1.0 + AMPLITUDE))
}
