//! A fractal terrain: mountains and valleys over a square, by ridged noise of many octaves.
//!
//! Each octave is gradient noise of twice the frequency of the previous one. Folding it at zero
//! makes ridges, and weighting each octave by the previous one keeps valleys smooth and peaks
//! rough. Octaves finer than the grid are left out, so that a coarse terrain shows the same
//! mountains as a fine one, without their details.
//!
//! # Source
//! F. K. Musgrave, C. E. Kolb, R. S. Mace: The Synthesis and Rendering of Eroded Fractal Terrains,
//! SIGGRAPH 1989; the ridged multifractal: D. S. Ebert et al., Texturing and Modeling, 3rd edition,
//! chapter 16. Noise: K. Perlin, Improving Noise, SIGGRAPH 2002.

use glam::{Vec2, Vec3};

use super::{append_sheet, scramble};
use crate::camera::View;
use crate::mesh::Mesh;

/// A square of two triangles.
pub(super) const TRIANGLE_COUNT_MIN: usize = 2;

/// The side of the square.
const SIDE: f32 = 4.0;
/// The number of hills of the first octave along a side.
const FREQUENCY: f32 = 2.5;
const OCTAVE_COUNT_MAX: u32 = 12;
/// The height of an octave relative to the previous one. It is below a half so that slopes do not
/// grow.
const GAIN: f32 = 0.42;
/// The approximate height of the highest peaks.
const HEIGHT: f32 = 0.9;

/// Returns a view from above the foothills towards the middle, so that mountains fill the picture
/// up to the horizon. As a whole, a terrain would be a thin band.
pub(super) fn view() -> View {
    View {
        eye: Some(Vec3::new(1.6, 1.5, 2.6)),
        look_at: Some(Vec3::new(-0.1, 0.15, -0.2)),
        fov_degrees: Some(38.0),
        ..View::default()
    }
}

pub(super) fn generate(triangle_count: usize, seed: u64) -> Mesh {
    let cells = triangle_count / 2;
    let rows = cells.isqrt();
    let columns = cells / rows;
    let octave_count =
        ((columns as f32 / (4.0 * FREQUENCY)).max(1.0).log2() as u32 + 1).min(OCTAVE_COUNT_MAX);
    let mut mesh = Mesh::default();
    let vertex_count = (rows + 1) * (columns + 1);
    mesh.positions.reserve_exact(vertex_count);
    mesh.normals.reserve_exact(vertex_count);
    mesh.triangles.reserve_exact(2 * rows * columns);
    append_sheet(
        &mut mesh,
        [rows + 1, columns + 1],
        [false, false],
        |row, column| {
            let place = Vec2::new(column as f32 / columns as f32, row as f32 / rows as f32);
            let height = HEIGHT * elevation(place * FREQUENCY, octave_count, seed);
            let flat = (place - 0.5) * SIDE;
            // Seen from above, rows go up (towards -z) and columns go to the right.
            (Vec3::new(flat.x, height, -flat.y), Vec3::Y)
        },
    );
    mesh.compute_normals();
    mesh
}

/// Returns the height of the terrain, from about 0 to 1: a ridged multifractal.
fn elevation(place: Vec2, octave_count: u32, seed: u64) -> f32 {
    let mut place = place;
    let (mut sum, mut weight, mut amplitude) = (0.0, 1.0, 0.5);
    for octave in 0..octave_count {
        let ridge = 1.0 - noise(place, scramble(seed ^ u64::from(octave))).abs();
        let ridge = ridge * ridge;
        sum += ridge * weight * amplitude;
        weight = (ridge * 1.6).clamp(0.0, 1.0);
        amplitude *= GAIN;
        // The factor is not exactly 2, and there is a rotation, so that the lattices of the octaves
        // do not line up.
        place = Vec2::new(0.8, 0.6).rotate(place) * 2.03;
    }
    sum
}

/// Returns gradient noise, from about -1 to 1, which is zero at the points of the lattice.
fn noise(place: Vec2, key: u64) -> f32 {
    let corner = place.floor();
    let inside = place - corner;
    let slope = |across: f32, up: f32| {
        let at = corner + Vec2::new(across, up);
        // Coordinates are small integers, which the cast preserves, including negative ones.
        let (x, y) = (at.x as i64 as u64, at.y as i64 as u64);
        let bits = scramble(scramble(key ^ x) ^ y);
        let angle = (bits >> 40) as f32 * (std::f32::consts::TAU / (1 << 24) as f32);
        Vec2::from_angle(angle).dot(inside - Vec2::new(across, up))
    };
    let fade = inside * inside * inside * (inside * (inside * 6.0 - 15.0) + 10.0);
    let mix = |a: f32, b: f32, share: f32| a + (b - a) * share;
    let lower = mix(slope(0.0, 0.0), slope(1.0, 0.0), fade.x);
    let upper = mix(slope(0.0, 1.0), slope(1.0, 1.0), fade.x);
    mix(lower, upper, fade.y) * std::f32::consts::SQRT_2
}
