//! Chooses a camera that shows a whole object with as little margin as possible.

use glam::Vec3;

use super::{Camera, CameraError};
use crate::kdtree::KdTree;
use crate::mesh::Mesh;

/// The share of the frame that an object fills, side to side or top to bottom.
const FILL: f32 = 0.88;
/// The corresponding share if a few parts may extend beyond the frame.
const FILL_MOST: f32 = 0.74;
/// The share of the corners that may extend beyond each edge of the frame.
const STRAY_SHARE: f32 = 0.02;

/// Returns the direction from an object to the eye: a three-quarter view from slightly above.
pub(super) fn three_quarters(up: Vec3) -> Vec3 {
    let front = front(up);
    let side = up.cross(front);
    (front - 0.6 * side + 0.38 * up).normalize()
}

/// Returns the direction of the front of a mesh: towards z, or towards x if z is up.
pub(super) fn front(up: Vec3) -> Vec3 {
    let across = if up.z.abs() > 0.9 { Vec3::X } else { Vec3::Z };
    (across - across.dot(up) * up).normalize()
}

/// Returns a distance from which the box of a tree fits into the frame.
pub(super) fn distance(tree: &KdTree, fov_degrees: f32) -> f32 {
    let radius = 0.5 * tree.bounds().extent().length();
    radius / (fov_degrees.to_radians() * 0.5).sin()
}

/// Returns the nearest camera in three-quarter view that sees every triangle. For an object on a
/// wide floor or with a few distant parts, these need not be visible.
pub(super) fn frame(
    mesh: &Mesh,
    tree: &KdTree,
    up: Vec3,
    fov_degrees: f32,
    aspect: f32,
) -> Result<Camera, CameraError> {
    let middle = tree.bounds().center();
    let sight = -three_quarters(up);
    let trial = Camera::along(middle - sight, sight, up, fov_degrees)?;
    if tree.bounds().extent() == Vec3::ZERO {
        return Ok(trial);
    }
    let tangent = (fov_degrees.to_radians() * 0.5).tan();
    let place = |fill: f32, stray: f32| {
        let tangents = [tangent * aspect * fill, tangent * fill];
        Place::of(mesh, middle, trial.axes(), tangents, stray)
    };
    let all = place(FILL, 0.0);
    let most = place(FILL_MOST, STRAY_SHARE);
    let place = if most.back < 0.7 * all.back {
        most
    } else {
        all
    };
    // Keep a minimum distance, however flat the object is.
    let radius = 0.5 * tree.bounds().extent().length();
    let back = place.back.max(0.05 * radius);
    let [forward, right, above] = trial.axes();
    let eye = middle + place.right * right + place.above * above - back * forward;
    Camera::along(eye, forward, up, fov_degrees)
}

/// The position of an eye relative to the centre of the mesh, along the axes of the camera.
struct Place {
    back: f32,
    right: f32,
    above: f32,
}

impl Place {
    /// Returns the nearest position from which all corners except a share of them are in the frame.
    ///
    /// A corner must not extend beyond any of four edges, each of which gives a bound on the
    /// position of the eye. The nearest eye within all bounds touches one pair of opposite edges
    /// and is centred with respect to the other pair.
    fn of(mesh: &Mesh, middle: Vec3, axes: [Vec3; 3], tangents: [f32; 2], stray: f32) -> Self {
        let [forward, right, above] = axes;
        let directions = [
            right - tangents[0] * forward,
            -right - tangents[0] * forward,
            above - tangents[1] * forward,
            -above - tangents[1] * forward,
        ];
        let reaches = if stray == 0.0 {
            farthest(mesh, middle, directions)
        } else {
            directions.map(|direction| farthest_but(mesh, middle, direction, stray))
        };
        let back =
            |pair: usize| (reaches[2 * pair] + reaches[2 * pair + 1]) / (2.0 * tangents[pair]);
        let centre = |pair: usize| (reaches[2 * pair] - reaches[2 * pair + 1]) * 0.5;
        Self {
            back: back(0).max(back(1)),
            right: centre(0),
            above: centre(1),
        }
    }
}

/// Returns the extents of the corners of all triangles in four directions.
fn farthest(mesh: &Mesh, middle: Vec3, directions: [Vec3; 4]) -> [f32; 4] {
    const STRETCH_LEN: usize = 1 << 15;
    let stretches: Vec<_> = mesh.triangles.chunks(STRETCH_LEN).collect();
    let reaches = raddle::map(0..stretches.len(), |index| {
        let mut reaches = [f32::NEG_INFINITY; 4];
        for &vertex in stretches[index].iter().flatten() {
            let offset = mesh.positions[vertex as usize] - middle;
            for (reach, direction) in reaches.iter_mut().zip(directions) {
                *reach = reach.max(offset.dot(direction));
            }
        }
        reaches
    });
    let larger = |a: [f32; 4], b: [f32; 4]| std::array::from_fn(|index| a[index].max(b[index]));
    reaches.into_iter().fold([f32::NEG_INFINITY; 4], larger)
}

/// Returns the extent of the corners in a direction if the most distant share of them is left out.
/// If there are many triangles, a sample of them is used.
fn farthest_but(mesh: &Mesh, middle: Vec3, direction: Vec3, share: f32) -> f32 {
    const SAMPLE_LEN: usize = 1 << 13;
    let step = mesh.triangles.len().div_ceil(SAMPLE_LEN).max(1);
    let mut reaches: Vec<f32> = mesh
        .triangles
        .iter()
        .step_by(step)
        .flatten()
        .map(|&vertex| (mesh.positions[vertex as usize] - middle).dot(direction))
        .collect();
    let index = reaches.len() - 1 - (reaches.len() as f32 * share) as usize;
    *reaches.select_nth_unstable_by(index, f32::total_cmp).1
}
