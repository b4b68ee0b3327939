//! Light on surfaces: a hemisphere of sky and ground, and a key light that casts shadows.
//!
//! The formulas are the same for one sample, with `f32`, and for four of them, with [`Vec4`].

use std::ops::{Add, Mul};

use glam::{Vec3, Vec4};

use crate::camera::Camera;

/// The light from above, on a surface that faces up.
const SKY: Vec3 = Vec3::new(0.34, 0.37, 0.42);
/// The light from below, on a surface that faces down.
const GROUND: Vec3 = Vec3::new(0.09, 0.085, 0.08);
/// The light of the sun, on a surface that faces it.
const SUN: Vec3 = Vec3::new(0.86, 0.81, 0.73);
/// The light of a lamp, on a close surface that faces it.
const LAMP: Vec3 = Vec3::new(1.25, 1.14, 0.97);

/// The brightness of the highlight.
const GLOSS: f32 = 0.05;

/// The light that casts shadows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Key {
    /// A distant light, with the unit vector towards it.
    Sun(Vec3),
    /// A lamp at a point, with the distance at which half of its light is left.
    Lamp { at: Vec3, reach: f32 },
}

/// All lights of a scene.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lights {
    pub(crate) key: Key,
    /// The unit vector towards the brightest part of the sky.
    pub(crate) zenith: Vec3,
    /// The share of sky and ground light that arrives.
    pub(crate) ambient_share: f32,
}

/// The key light as seen from a point of a surface, if it is not blocked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Incoming {
    /// The unit vector towards the light.
    pub(crate) towards: Vec3,
    /// The distance of the light; infinite for the sun.
    pub(crate) distance: f32,
    /// The light that arrives on a surface that faces the light source.
    pub(crate) light: Vec3,
}

impl Lights {
    /// Returns the lights for an object: a sun over the right shoulder, since the eye is to the
    /// left of the front, which is to be lit.
    pub(crate) fn of_object(camera: &Camera) -> Self {
        let [forward, right, up] = camera.axes();
        Self {
            key: Key::Sun((0.95 * up + 0.7 * right - 0.85 * forward).normalize()),
            // The brightest part of the sky is inclined towards the side that the sun leaves dark,
            // and towards the viewer, so that shadows have shape.
            zenith: (up - 0.45 * right - 0.45 * forward).normalize(),
            ambient_share: 1.0,
        }
    }

    /// Returns the light of the hemisphere on a surface: red, green and blue.
    #[inline(always)]
    pub(crate) fn ambient<L: Lanes>(&self, normal: [L; 3]) -> [L; 3] {
        let share = L::splat(0.5) + L::splat(0.5) * dot(normal, self.zenith);
        let difference = SKY - GROUND;
        [0, 1, 2].map(|channel: usize| {
            let light = L::splat(GROUND[channel]) + share * L::splat(difference[channel]);
            light * L::splat(self.ambient_share)
        })
    }

    /// Returns the key light at a point.
    #[inline]
    pub(crate) fn key(&self, point: Vec3) -> Incoming {
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

    /// Returns the light that a surface reflects.
    ///
    /// `normal` points towards the viewer, `sight` is the unit vector along the ray, and `key` is
    /// the key light if it reaches the surface.
    #[inline]
    pub(crate) fn shade(
        &self,
        albedo: Vec3,
        normal: Vec3,
        sight: Vec3,
        key: Option<Incoming>,
    ) -> Vec3 {
        let normal = normal.to_array();
        let ambient = albedo * Vec3::from_array(self.ambient(normal));
        let Some(incoming) = key else {
            return ambient;
        };
        let cosine = dot(normal, incoming.half(sight));
        ambient + Vec3::from_array(incoming.reflected(albedo.to_array(), normal, cosine))
    }
}

impl Incoming {
    /// Returns the unit vector between the directions to the light and to the viewer. `sight` is
    /// the unit vector along the ray.
    #[inline]
    pub(crate) fn half(&self, sight: Vec3) -> Vec3 {
        (self.towards - sight).normalize_or_zero()
    }

    /// Returns the part of this light that a surface reflects, with its highlight: red, green and
    /// blue. The surface must face the light. `cosine` is that of the angle between the normal and
    /// [`half`](Self::half).
    #[inline(always)]
    pub(crate) fn reflected<L: Lanes>(&self, albedo: [L; 3], normal: [L; 3], cosine: L) -> [L; 3] {
        let cosine = cosine.positive();
        // The 24th power makes the highlight small.
        let power = cosine * cosine * cosine;
        let power = power * power;
        let power = power * power;
        let highlight = L::splat(GLOSS) * (power * power);
        let facing = dot(normal, self.towards);
        [0, 1, 2].map(|channel: usize| {
            let light = L::splat(self.light[channel]);
            albedo[channel] * (light * facing) + light * highlight
        })
    }
}

/// A number for each of several samples.
pub(crate) trait Lanes: Copy + Add<Output = Self> + Mul<Output = Self> {
    /// Returns the same number for all samples.
    fn splat(number: f32) -> Self;

    /// Replaces negative numbers by zero.
    fn positive(self) -> Self;
}

impl Lanes for f32 {
    #[inline(always)]
    fn splat(number: f32) -> Self {
        number
    }

    #[inline(always)]
    fn positive(self) -> Self {
        self.max(0.0)
    }
}

impl Lanes for Vec4 {
    #[inline(always)]
    fn splat(number: f32) -> Self {
        Self::splat(number)
    }

    #[inline(always)]
    fn positive(self) -> Self {
        self.max(Self::ZERO)
    }
}

/// Returns the scalar product of vectors and one vector.
#[inline(always)]
pub(crate) fn dot<L: Lanes>([x, y, z]: [L; 3], other: Vec3) -> L {
    x * L::splat(other.x) + y * L::splat(other.y) + z * L::splat(other.z)
}
