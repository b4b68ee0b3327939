//! Meshes that only tests have.

use glam::Vec3;
use raddle_graphics::mesh::Mesh;

/// Triangles without a mesh.
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

/// So many triangles in ways that no scanner makes: all alike, all in one plane, all on one line, in parallel sheets, in a fan around one point, and
/// all points.
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
