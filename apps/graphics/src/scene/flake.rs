//! The sphere flake: a sphere with nine spheres of a third of its size on it, each of which has
//! nine again, and so on.
//!
//! All spheres of a level together have the same surface area as the first sphere. So every level
//! gets the same share of the triangles, and triangles have the same size everywhere. The number of
//! levels is chosen so that the smallest spheres are still round. The seed turns every wreath of
//! spheres on its parent.
//!
//! # Source
//! E. Haines, A Proposal for Standard Graphics Environments, IEEE Computer Graphics and
//! Applications 7(11), 1987 (the scene "balls"). This flake differs in the positions of the upper
//! three spheres.

use std::f32::consts::{PI, TAU};

use glam::{Quat, Vec3};

use super::{append_sheet, fraction, scramble};
use crate::mesh::Mesh;

/// Two pyramids with three sides each, base to base.
pub(super) const TRIANGLE_COUNT_MIN: usize = 6;

/// The minimum number of triangles of a sphere that has a parent.
const SPHERE_TRIANGLE_COUNT_MIN: usize = 48;
const CHILD_COUNT: usize = 9;
/// The size of a child relative to its parent.
const CHILD_SCALE: f32 = 1.0 / 3.0;

/// A sphere of the flake.
#[derive(Clone, Copy)]
struct Sphere {
    center: Vec3,
    radius: f32,
    /// The axis of the six spheres around this one, which points away from the parent.
    axis: Vec3,
    /// The key of the random angle by which these spheres are turned.
    key: u64,
}

pub(super) fn generate(triangle_count: usize, seed: u64) -> Mesh {
    let mut mesh = Mesh::default();
    mesh.triangles.reserve_exact(triangle_count);
    mesh.positions.reserve(triangle_count / 2);
    mesh.normals.reserve(triangle_count / 2);
    let mut levels = vec![vec![Sphere {
        center: Vec3::ZERO,
        radius: 1.0,
        axis: Vec3::Y,
        key: scramble(seed),
    }]];
    for level in 1..level_count(triangle_count) {
        levels.push(levels[level - 1].iter().flat_map(children).collect());
    }
    // Begin with the smallest spheres. The triangles that they leave over go to larger ones, and
    // the first sphere can use all of them.
    while let Some(spheres) = levels.pop() {
        let share = (triangle_count - mesh.triangles.len()) / (levels.len() + 1);
        for sphere in &spheres {
            append_sphere(&mut mesh, sphere, share / spheres.len());
        }
    }
    mesh
}

/// Returns the number of levels that leaves enough triangles for the smallest spheres.
fn level_count(triangle_count: usize) -> usize {
    let mut levels = 1;
    let mut sphere_count = CHILD_COUNT;
    while triangle_count / (levels + 1) / sphere_count >= SPHERE_TRIANGLE_COUNT_MIN {
        levels += 1;
        sphere_count *= CHILD_COUNT;
    }
    levels
}

/// Returns the spheres on a sphere: six around it and three on top.
fn children(parent: &Sphere) -> [Sphere; CHILD_COUNT] {
    let turn = fraction(parent.key) * TAU;
    let upright = Quat::from_rotation_arc(Vec3::Y, parent.axis);
    std::array::from_fn(|number| {
        let (height, angle) = match number {
            0..6 => (0.0, number as f32 * PI / 3.0),
            _ => ((2.0_f32 / 3.0).sqrt(), (number as f32 + 0.25) * TAU / 3.0),
        };
        let (sine, cosine) = (angle + turn).sin_cos();
        let width = (1.0 - height * height).sqrt();
        let axis = (upright * Vec3::new(width * cosine, height, width * sine)).normalize();
        let radius = parent.radius * CHILD_SCALE;
        Sphere {
            center: parent.center + axis * (parent.radius + radius),
            radius,
            axis,
            key: scramble(parent.key ^ (number as u64 + 1)),
        }
    })
}

/// Appends a sphere of at most `triangle_count` triangles, but at least six: two caps with rings
/// between them.
fn append_sphere(mesh: &mut Mesh, sphere: &Sphere, triangle_count: usize) {
    // With r rings of vertices and s = 2r + 2 slices the cells are square, and there are 2sr
    // triangles.
    let rings = ((triangle_count as f32 / 4.0 + 0.25).sqrt() - 0.5).round() as usize;
    let rings = rings.clamp(1, (triangle_count / 6).max(1));
    let slices = (triangle_count / (2 * rings)).max(3);
    let upright = Quat::from_rotation_arc(Vec3::Y, sphere.axis);
    let point = |normal: Vec3| (sphere.center + normal * sphere.radius, normal);
    let first = mesh.positions.len() as u32;
    append_sheet(mesh, [rings, slices], [false, true], |ring, slice| {
        let height = PI * (ring + 1) as f32 / (rings + 1) as f32;
        let (sine, cosine) = (TAU * slice as f32 / slices as f32).sin_cos();
        // From the lower pole up, and anticlockwise as seen from above.
        let normal = Vec3::new(cosine * height.sin(), -height.cos(), -sine * height.sin());
        point(upright * normal)
    });
    for (ring, pole, is_lower) in [(0, -sphere.axis, true), (rings - 1, sphere.axis, false)] {
        let (position, normal) = point(pole);
        let tip = mesh.positions.len() as u32;
        mesh.positions.push(position);
        mesh.normals.push(normal);
        let ring_first = first + (ring * slices) as u32;
        for slice in 0..slices as u32 {
            let (a, b) = (ring_first + slice, ring_first + (slice + 1) % slices as u32);
            let cap = if is_lower { [b, a, tip] } else { [a, b, tip] };
            mesh.triangles.push(cap);
        }
    }
}
