//! Two lights: the hemisphere of sky and ground, and one that casts shadows.

use glam::Vec3;

use crate::camera::{Camera, Setting};
use crate::kdtree::KdTree;
use crate::ray::Ray;

/// The light from above, on a surface that faces up.
const SKY: Vec3 = Vec3::new(0.34, 0.37, 0.42);
/// The light from below, on a surface that faces down.
const GROUND: Vec3 = Vec3::new(0.09, 0.085, 0.08);
/// How much of both there is in a room.
const ROOM_SHARE: f32 = 0.8;
/// The light of the sun, on a surface that faces it.
const SUN: Vec3 = Vec3::new(0.86, 0.81, 0.73);
/// The light of a lamp, on a surface that faces it from close by.
const LAMP: Vec3 = Vec3::new(1.25, 1.14, 0.97);

/// The light that casts shadows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Key {
    /// Far away; the unit vector towards it.
    Sun(Vec3),
    /// A lamp at a point, and the distance at which half of its light is left.
    Lamp { at: Vec3, reach: f32 },
}

/// All light there is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lights {
    key: Key,
    /// Unit vector to where the sky is brightest.
    zenith: Vec3,
    ambient_share: f32,
}

/// The key light as a point of a surface sees it, if nothing is in the way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Incoming {
    /// Unit vector towards the light.
    pub(super) towards: Vec3,
    /// How far it is; infinite for the sun.
    pub(super) distance: f32,
    /// Its light on a surface that faces it.
    pub(super) light: Vec3,
}

impl Lights {
    /// Chooses lights that show what the camera sees.
    pub(super) fn choose(tree: &KdTree, camera: &Camera, setting: Setting) -> Self {
        let [forward, right, up] = camera.axes();
        match setting {
            // From over the right shoulder: the eye stands to the left of the front, which is to be lit.
            Setting::Object => Self {
                key: Key::Sun((0.95 * up + 0.7 * right - 0.85 * forward).normalize()),
                // Inclined to the side that the sun leaves dark, and to the viewer, so that shadows have shape.
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

    /// What the hemisphere sheds on a surface.
    #[inline]
    pub(super) fn ambient(&self, normal: Vec3) -> Vec3 {
        super::mix(GROUND, SKY, 0.5 + 0.5 * normal.dot(self.zenith)) * self.ambient_share
    }

    /// What the key light sheds on a point.
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

/// A lamp in the open space before the camera, to its left and above, so that things throw shadows to be seen.
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
