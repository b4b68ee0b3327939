//! Two lights: a hemisphere of sky and ground, and a key light that casts shadows.

use glam::Vec3;

use crate::camera::{Camera, Setting};
use crate::kdtree::KdTree;
use crate::ray::Ray;
use crate::render::mix;

/// The light from above, on a surface that faces up.
const SKY: Vec3 = Vec3::new(0.34, 0.37, 0.42);
/// The light from below, on a surface that faces down.
const GROUND: Vec3 = Vec3::new(0.09, 0.085, 0.08);
/// The share of sky and ground light in a room.
const ROOM_SHARE: f32 = 0.8;
/// The share of sky and ground light over a sheet, where only shade shows the shape.
const FLAT_SHARE: f32 = 0.8;
/// The maximum height of a sheet, relative to its diagonal.
const FLATNESS: f32 = 0.2;
/// The minimum height range of the middle half of a sheet with hills, relative to its total height.
const RELIEF: f32 = 0.1;
/// The light of the sun, on a surface that faces it.
const SUN: Vec3 = Vec3::new(0.86, 0.81, 0.73);
/// The light of a lamp, on a close surface that faces it.
const LAMP: Vec3 = Vec3::new(1.25, 1.14, 0.97);

/// The light that casts shadows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Key {
    /// A distant light, with the unit vector towards it.
    Sun(Vec3),
    /// A lamp at a point, with the distance at which half of its light is left.
    Lamp { at: Vec3, reach: f32 },
}

/// All lights of a scene.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lights {
    key: Key,
    /// The unit vector towards the brightest part of the sky.
    zenith: Vec3,
    ambient_share: f32,
}

/// The key light as seen from a point of a surface, if it is not blocked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Incoming {
    /// The unit vector towards the light.
    pub(super) towards: Vec3,
    /// The distance of the light; infinite for the sun.
    pub(super) distance: f32,
    /// The light that arrives on a surface that faces the light source.
    pub(super) light: Vec3,
}

impl Lights {
    /// Chooses lights for the view of a camera.
    pub(super) fn choose(tree: &KdTree, camera: &Camera, setting: Setting, upright: Vec3) -> Self {
        let [forward, right, up] = camera.axes();
        match setting {
            Setting::Object if is_relief(tree, upright) => Self {
                key: Key::Sun(raking(upright, right)),
                zenith: up,
                ambient_share: FLAT_SHARE,
            },
            // The light comes from over the right shoulder: the eye is to the left of the front,
            // which is to be lit.
            Setting::Object => Self {
                key: Key::Sun((0.95 * up + 0.7 * right - 0.85 * forward).normalize()),
                // The brightest part of the sky is inclined towards the side that the sun leaves
                // dark, and towards the viewer, so that shadows have shape.
                zenith: (up - 0.45 * right - 0.45 * forward).normalize(),
                ambient_share: 1.0,
            },
            Setting::Room => Self {
                key: lamp_ahead(tree, camera),
                zenith: up,
                ambient_share: ROOM_SHARE,
            },
        }
    }

    /// Returns the light of the hemisphere on a surface.
    #[inline]
    pub(super) fn ambient(&self, normal: Vec3) -> Vec3 {
        mix(GROUND, SKY, 0.5 + 0.5 * normal.dot(self.zenith)) * self.ambient_share
    }

    /// Returns the key light at a point.
    #[inline]
    pub(super) fn key(&self, point: Vec3) -> Incoming {
        match self.key {
            Key::Sun(towards) => Incoming {
                towards,
                distance: f32::INFINITY,
                light: SUN,
            },
            Key::Lamp { at, reach } => {
                let offset = at - point;
                let distance = offset.length();
                let share = distance / reach;
                Incoming {
                    towards: offset / distance.max(f32::MIN_POSITIVE),
                    distance,
                    light: LAMP / (1.0 + share * share),
                }
            }
        }
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

#[cfg(test)]
mod tests;
