//! Chooses lights for a mesh.

use glam::Vec3;

use crate::camera::{Camera, Setting};
use crate::kdtree::KdTree;
use crate::light::{Key, Lights};
use crate::ray::Ray;

#[cfg(test)]
mod tests;

/// The share of sky and ground light in a room.
const ROOM_SHARE: f32 = 0.8;
/// The share of sky and ground light over a sheet, where only shade shows the shape.
const FLAT_SHARE: f32 = 0.8;
/// The maximum height of a sheet, relative to its diagonal.
const FLATNESS: f32 = 0.2;
/// The minimum height range of the middle half of a sheet with hills, relative to its total height.
const RELIEF: f32 = 0.1;

/// Chooses lights for the view of a camera.
pub(super) fn choose(tree: &KdTree, camera: &Camera, setting: Setting, upright: Vec3) -> Lights {
    let [_, right, up] = camera.axes();
    match setting {
        Setting::Object if is_relief(tree, upright) => Lights {
            key: Key::Sun(raking(upright, right)),
            zenith: up,
            ambient_share: FLAT_SHARE,
        },
        Setting::Object => Lights::of_object(camera),
        Setting::Room => Lights {
            key: lamp_ahead(tree, camera),
            zenith: up,
            ambient_share: ROOM_SHARE,
        },
    }
}

/// Returns true if a mesh is a horizontal sheet with hills. Light from above would show little of
/// them.
///
/// The test follows a few hundred rays from above. An object on a wide floor is not such a sheet,
/// since most of the surface seen from above has the same height.
fn is_relief(tree: &KdTree, upright: Vec3) -> bool {
    const PLACES: u8 = 16;
    let (bounds, upright) = (tree.bounds(), upright.normalize_or_zero());
    let extent = bounds.extent();
    let height = extent.dot(upright.abs());
    if height * height >= FLATNESS * FLATNESS * extent.length_squared() || upright == Vec3::ZERO {
        return false;
    }
    let (across, along) = upright.any_orthonormal_pair();
    let place = |axis: Vec3, number: u8| {
        let share = (f32::from(number) + 0.5) / f32::from(PLACES) - 0.5;
        share * extent.dot(axis.abs()) * axis
    };
    let mut depths: Vec<f32> = (0..PLACES)
        .flat_map(|row| (0..PLACES).map(move |column| (row, column)))
        .filter_map(|(row, column)| {
            let above = bounds.center() + place(across, row) + place(along, column);
            let hit = tree.nearest(&Ray::new(above + height * upright, -upright))?;
            Some(hit.t)
        })
        .collect();
    depths.sort_unstable_by(f32::total_cmp);
    // The range from the lowest quarter to the highest quarter.
    let quarter = depths.len() / 4;
    quarter > 0 && depths[depths.len() - quarter] - depths[quarter] > RELIEF * height
}

/// Returns the direction towards a sun that is low to the right, so that every slope away from it
/// is in the shade.
fn raking(upright: Vec3, right: Vec3) -> Vec3 {
    let upright = upright.normalize_or_zero();
    let behind = right.cross(upright);
    (0.8 * upright + right - 0.15 * behind).normalize()
}

/// Returns a lamp in the open space in front of the camera, to its left and above, so that things
/// cast visible shadows.
fn lamp_ahead(tree: &KdTree, camera: &Camera) -> Key {
    let [forward, right, up] = camera.axes();
    let size = tree.bounds().extent().length();
    let free = |from: Vec3, direction: Vec3| {
        let hit = tree.nearest(&Ray::new(from, direction));
        hit.map_or(size, |hit| hit.t).min(size)
    };
    let depth = free(camera.eye(), forward);
    let ahead = camera.eye() + 0.22 * depth * forward;
    let aside = ahead - 0.35 * free(ahead, -right) * right;
    let at = aside + (0.5 * free(aside, up)).min(0.05 * size) * up;
    Key::Lamp {
        at,
        reach: (0.5 * depth).max(0.05 * size),
    }
}
