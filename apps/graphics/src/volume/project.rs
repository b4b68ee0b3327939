//! The maps between a volume, the world and a picture.

use glam::{DMat3, DVec3};

use super::grid::Grid;
use super::macrocells::EDGE;
use super::occupancy::Occupancy;
use super::traversal::GridRay;
use crate::camera::{Camera, CameraError, View};
use crate::ray::Ray;
use crate::render::Beams;

/// The maximum number of macrocells of the lowest level that are projected.
const BEAM_BOXES_MAX: u64 = 1 << 17;

/// The map from the world to the coordinates of voxels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VoxelMap {
    origin: DVec3,
    pub(crate) voxel_of_world: DMat3,
}

impl VoxelMap {
    /// Returns a ray in the coordinates of voxels. Distances along it stay the same.
    #[inline(always)]
    pub(crate) fn ray(&self, ray: &Ray) -> GridRay {
        let origin = self.voxel_of_world * (ray.origin.as_dvec3() - self.origin);
        GridRay::new(origin, self.voxel_of_world * ray.direction.as_dvec3())
    }
}

impl Grid {
    /// Returns the map from the world to the coordinates of voxels.
    pub(crate) fn voxel_map(&self) -> VoxelMap {
        let voxel_of_world = self.world_of_voxel().inverse();
        VoxelMap {
            origin: self.origin(),
            voxel_of_world,
        }
    }

    /// Creates a camera for a volume on this grid, see [`View::camera_for_box`]. The longest side
    /// is that of all voxels, each of which has the size of the spacing.
    ///
    /// # Errors
    /// As for [`Camera::look`].
    pub fn camera(&self, view: &View) -> Result<Camera, CameraError> {
        let size = DVec3::from_array(self.size().map(|len| len as f64));
        let side = (size * self.spacing().abs()).max_element();
        view.camera_for_box(self.bounds(), side as f32)
    }
}

/// Projects the occupied macrocells, of a level with not too many of them.
pub(crate) fn beams(
    grid: &Grid,
    occupancy: &Occupancy,
    camera: &Camera,
    size: (u32, u32),
) -> Option<Beams> {
    let level = usize::from(occupancy.leaf_count() > BEAM_BOXES_MAX);
    let edge = EDGE.pow(level as u32 + 1) as f64;
    let map = grid.world_of_voxel();
    let axes = [map.x_axis, map.y_axis, map.z_axis].map(|axis| (0.5 * edge * axis).as_vec3());
    Beams::of(camera, size, grid.bounds(), axes, |visit| {
        let words = occupancy.level(level);
        for index in 0..words.words().len() {
            words.for_each_in(index, |cell, _| {
                let middle = cell.map(|index| (index as f64 + 0.5) * edge);
                visit((grid.origin() + map * DVec3::from_array(middle)).as_vec3());
            });
        }
    })
}
