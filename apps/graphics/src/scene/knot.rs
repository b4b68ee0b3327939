//! A tube along a torus knot.
//!
//! The (p, q) torus knot winds p times around the axis of a torus while it goes q times through its
//! hole. The tube is swept along the knot with a frame made of the curve's tangent and the normal
//! of the torus. This frame never degenerates and closes on itself. The seed selects the knot; seed
//! 0 gives the trefoil.
//!
//! # Source
//! C. C. Adams, The Knot Book, 1994, section 5.1 (torus knots).

use std::f32::consts::TAU;

use glam::Vec3;

use super::{append_sheet, scramble};
use crate::mesh::Mesh;

/// Three sides around, and eight segments for each turn of the simplest knot.
pub(super) const TRIANGLE_COUNT_MIN: usize = 2 * SIDES_MIN * 16;

const SIDES_MIN: usize = 3;
const TORUS_RADIUS: f32 = 1.0;
const WINDING_RADIUS: f32 = 0.45;
/// The number of turns around the axis and through the hole, and a radius of the tube that leaves
/// gaps.
const KNOTS: [(u8, u8, f32); 4] = [(2, 3, 0.2), (3, 2, 0.16), (2, 5, 0.16), (3, 4, 0.12)];

pub(super) fn generate(triangle_count: usize, seed: u64) -> Mesh {
    let choice = match seed {
        0 => 0,
        seed => scramble(seed) as usize % KNOTS.len(),
    };
    let (around, through, tube_radius) = KNOTS[choice];
    let curve = Curve {
        around: f32::from(around),
        through: f32::from(through),
    };
    // Cells are square if the ratio of sides to segments is that of the tube's girth to its length.
    let cells = triangle_count / 2;
    let shape = TAU * tube_radius / curve.length();
    let sides = ((cells as f32 * shape).sqrt().round() as usize).clamp(SIDES_MIN, cells / 16);
    let segments = cells / sides;
    let mut mesh = Mesh::default();
    mesh.positions.reserve_exact(sides * segments);
    mesh.normals.reserve_exact(sides * segments);
    mesh.triangles.reserve_exact(2 * sides * segments);
    let mut frame = (usize::MAX, Frame::default());
    append_sheet(
        &mut mesh,
        [segments, sides],
        [true, true],
        |segment, side| {
            if frame.0 != segment {
                frame = (segment, curve.frame(segment as f32 / segments as f32));
            }
            let Frame {
                center,
                out,
                across,
            } = frame.1;
            let (sine, cosine) = (TAU * side as f32 / sides as f32).sin_cos();
            let normal = out * cosine + across * sine;
            (center + normal * tube_radius, normal)
        },
    );
    mesh
}

/// The curve in the middle of the tube.
struct Curve {
    around: f32,
    through: f32,
}

/// A point of the curve, and two directions at right angles to it.
#[derive(Clone, Copy, Default)]
struct Frame {
    center: Vec3,
    out: Vec3,
    across: Vec3,
}

impl Curve {
    /// Returns the frame at a position from 0 to 1 along the curve.
    fn frame(&self, place: f32) -> Frame {
        let (around, through) = (TAU * place * self.around, TAU * place * self.through);
        // The axis of the torus is z, so that the knot faces the viewer when seen from the front.
        let outward = Vec3::new(around.cos(), around.sin(), 0.0);
        let onward = Vec3::new(-around.sin(), around.cos(), 0.0);
        let surface_normal = outward * through.cos() + Vec3::Z * through.sin();
        let center = outward * TORUS_RADIUS + surface_normal * WINDING_RADIUS;
        let radius = TORUS_RADIUS + WINDING_RADIUS * through.cos();
        let along_winding = Vec3::Z * through.cos() - outward * through.sin();
        let tangent = (onward * (radius * self.around)
            + along_winding * (WINDING_RADIUS * self.through))
            .normalize();
        Frame {
            center,
            out: surface_normal,
            across: tangent.cross(surface_normal),
        }
    }

    /// Returns the length of the curve, measured along a polygon.
    fn length(&self) -> f32 {
        const STEPS: u16 = 512;
        let point = |step: u16| self.frame(f32::from(step) / f32::from(STEPS)).center;
        (0..STEPS)
            .map(|step| point(step).distance(point(step + 1)))
            .sum()
    }
}
