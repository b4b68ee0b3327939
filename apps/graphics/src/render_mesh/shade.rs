//! The colour at the hit of a ray.
//!
//! # Normals
//! The shading normal is interpolated between the corners. This has three problems, each with a
//! remedy:
//! 1. A face is seen from behind: the face normal and the shading normal are reversed.
//! 2. The shading normal points away from the viewer although the face does not: it is bent until
//!    it is at right angles to the line of sight.
//! 3. The shadow of a face falls on its smooth neighbours in steps, since they are round only in
//!    the shading: shadow rays start from the curved surface that the normals represent. This
//!    includes faces beyond the terminator, because it does not matter on which side of the face's
//!    plane the light is.
//!
//! # Source
//! Shadow rays from the curved surface: J. Hanika: Hacking the Shadow Terminator. Ray Tracing Gems
//! II, chapter 4, 2021. Offset against self-intersection in units in the last place: C. Wächter, N.
//! Binder: A Fast and Robust Method for Avoiding Self-Intersection. Ray Tracing Gems, chapter 6,
//! 2019.

use glam::Vec3;

use super::normals::CornerNormals;
use super::{Integrator, RayCounts, Sample};
use crate::bounds::Bounds;
use crate::kdtree::KdTree;
use crate::light::{Incoming, Lights};
use crate::mesh::Mesh;
use crate::ray::{Hit, Ray};

#[cfg(test)]
mod tests;

/// The shares of red, green and blue that the surface reflects.
const ALBEDO: Vec3 = Vec3::new(0.80, 0.76, 0.70);

/// The data that shading needs.
#[derive(Debug)]
pub(super) struct Shader<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) tree: &'a KdTree,
    pub(super) normals: &'a CornerNormals<'a>,
    pub(super) lights: Lights,
    /// The part of the mesh that is shown.
    pub(super) clip: Option<Bounds>,
}

/// A point of a surface with the data for shading.
struct Surface {
    point: Vec3,
    /// The normal of the curved surface, towards the viewer.
    shading: Vec3,
    /// The origin of shadow rays.
    shadow_origin: Vec3,
}

impl Integrator for Shader<'_> {
    type Counts = RayCounts;

    #[inline]
    fn colour(&self, sample: &Sample, counts: &mut RayCounts) -> Vec3 {
        match self.tree.nearest(&sample.ray) {
            None => sample.behind(),
            Some(hit) => {
                counts.hit += 1;
                self.shade(&sample.ray, &hit, counts)
            }
        }
    }
}

impl Shader<'_> {
    fn shade(&self, ray: &Ray, hit: &Hit, counts: &mut RayCounts) -> Vec3 {
        let surface = self.surface(ray, hit);
        let key = self.key(&surface, counts);
        let sight = ray.direction.normalize_or_zero();
        self.lights.shade(ALBEDO, surface.shading, sight, key)
    }

    /// Returns the key light on a surface, or `None` if the surface faces away or the light is
    /// blocked.
    ///
    /// Only the shading normal decides whether the surface faces away. If the light is behind the
    /// face, the curved surface may still be lit. The shadow ray starts on the curved surface, and
    /// if that is not lit, the ray hits the face itself.
    fn key(&self, surface: &Surface, counts: &mut RayCounts) -> Option<Incoming> {
        let incoming = self.lights.key(surface.point);
        if surface.shading.dot(incoming.towards) <= 0.0 {
            return None;
        }
        counts.shadow += 1;
        let shadow = Ray {
            origin: surface.shadow_origin,
            direction: incoming.towards,
            t_min: 0.0,
            t_max: incoming.distance * 0.999,
        };
        let shadow = self.clip.map_or(shadow, |clip| clip.clip(&shadow));
        (!self.tree.is_hit(&shadow)).then_some(incoming)
    }

    fn surface(&self, ray: &Ray, hit: &Hit) -> Surface {
        let index = hit.triangle as usize;
        let corners = self.mesh.triangle(index);
        let [a, b, c] = corners;
        // In f64 even the normal of the smallest triangle has a direction.
        let outward = (b - a)
            .as_dvec3()
            .cross((c - a).as_dvec3())
            .normalize_or_zero()
            .as_vec3();
        let turn = if outward.dot(ray.direction) > 0.0 {
            -1.0
        } else {
            1.0
        };
        let face = outward * turn;
        let weigh = |values: [Vec3; 3]| {
            values[0] * hit.weights[0] + values[1] * hit.weights[1] + values[2] * hit.weights[2]
        };
        let point = weigh(corners);
        let normals = self.normals.triangle(self.mesh, index).map(|normal| {
            // A mesh may be wound against its own normals, so the side of the viewer decides.
            if normal.dot(face) < 0.0 {
                -normal
            } else {
                normal
            }
        });
        let shading = weigh(normals).normalize_or(face);
        let sight = -ray.direction.normalize_or_zero();
        let away = shading.dot(sight);
        let shading = if away < 0.0 {
            (shading - away * sight).normalize_or(face)
        } else {
            shading
        };
        let lift = |corner: Vec3, normal: Vec3| {
            let height = (point - corner).dot(normal);
            -height.min(0.0) * normal
        };
        let lifts = [0, 1, 2].map(|index| lift(corners[index], normals[index]));
        Surface {
            point,
            shading,
            shadow_origin: off_surface(point + weigh(lifts), face, corners),
        }
    }
}

/// Moves a point off its surface, by some units in the last place of the numbers that it was
/// computed from.
#[inline]
fn off_surface(point: Vec3, normal: Vec3, corners: [Vec3; 3]) -> Vec3 {
    let [a, b, c] = corners.map(Vec3::abs);
    let scale = a.max(b).max(c).max_element();
    point + normal * (scale * 32.0 * f32::EPSILON)
}
