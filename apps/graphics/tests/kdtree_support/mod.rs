//! Meshes for tests, and hits without a tree.
#![allow(dead_code, reason = "each test program uses a part of this module")]

use glam::Vec3;
use raddle_graphics::intersect::{Shear, TriangleHit, main_axis};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::ray::{Hit, Ray};

/// Creates a mesh of separate triangles.
pub(crate) fn soup(triangles: impl IntoIterator<Item = [Vec3; 3]>) -> Mesh {
    let positions: Vec<Vec3> = triangles.into_iter().flatten().collect();
    let triangles =
        (0..positions.len() as u32 / 3).map(|index| [3 * index, 3 * index + 1, 3 * index + 2]);
    Mesh {
        triangles: triangles.collect(),
        positions,
        normals: Vec::new(),
    }
}

/// Creates unusual meshes of `count` triangles each: all equal, all in one plane, all on one line,
/// in parallel sheets, in a fan around one point, and all degenerated to points.
pub(crate) fn degenerate(count: usize) -> [Mesh; 6] {
    let step = |index: usize, modulus: usize| (index * 7919 % modulus) as f32;
    let alike = soup((0..count).map(|_| [Vec3::ZERO, Vec3::X, Vec3::Y]));
    let flat = soup((0..count).map(|index| {
        let corner = Vec3::new(step(index, 151), step(index, 137), 1.0);
        [corner, corner + Vec3::X, corner + Vec3::Y]
    }));
    let line = soup((0..count).map(|index| {
        let start = Vec3::X * index as f32;
        [start, start + Vec3::X, start + Vec3::X * 2.0]
    }));
    let sheets = soup((0..count).map(|index| {
        let corner = Vec3::new(step(index, 97), step(index, 7), step(index, 89));
        [corner, corner + Vec3::X, corner + Vec3::Z]
    }));
    let fan = soup((0..count).map(|index| {
        let angle = index as f32 * 0.001;
        let rim = |angle: f32| Vec3::new(angle.cos(), angle.sin(), 0.5 * (7.0 * angle).sin());
        [Vec3::ZERO, rim(angle), rim(angle + 0.001)]
    }));
    let points = soup((0..count).map(|index| [Vec3::splat(step(index, 1009)); 3]));
    [alike, flat, line, sheets, fan, points]
}

/// Returns the nearest hit of all triangles; the first one of several at the same distance.
pub(crate) fn nearest_of_all(mesh: &Mesh, ray: &Ray) -> Option<Hit> {
    let mut nearest: Option<Hit> = None;
    for index in 0..mesh.triangles.len() {
        let corners = mesh.triangle(index).map(|corner| corner.to_array());
        let hit = match main_axis(ray) {
            0 => Shear::<0>::new(ray).test(&corners, ray.t_min, ray.t_max),
            1 => Shear::<1>::new(ray).test(&corners, ray.t_min, ray.t_max),
            _ => Shear::<2>::new(ray).test(&corners, ray.t_min, ray.t_max),
        };
        if let Some(TriangleHit { t, weights }) = hit
            && nearest.is_none_or(|nearest| t < nearest.t)
        {
            nearest = Some(Hit {
                t,
                triangle: index as u32,
                weights,
            });
        }
    }
    nearest
}
