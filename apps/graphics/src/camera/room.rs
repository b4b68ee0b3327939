//! Telling a room from an object, and finding a place to stand in it.
//!
//! From its middle, a room shows fronts all around, and from outside nothing of what is within. An object
//! shows backs from its middle, or lets the eye out between its parts. That is all there is to see for rays,
//! and it needs no more than that most triangles are wound the usual way.

use glam::Vec3;

use super::framing;
use crate::kdtree::KdTree;
use crate::mesh::Mesh;
use crate::ray::Ray;

/// Rays in a bundle in all directions.
const BUNDLE_LEN: usize = 256;
/// Directions that a view is tried in.
const HEADINGS: usize = 16;
/// Rays per view that is tried.
const GLANCES: usize = 64;

/// What a bundle of rays saw, as counts.
#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    fronts: usize,
    backs: usize,
    /// Hits closer than the point that the ray was aimed at.
    barred: usize,
    /// Hits on the hull of the mesh that lie on its box, too.
    boxed: usize,
}

/// What a ray meets: how far away, and whether it is the front of the triangle.
fn look(mesh: &Mesh, tree: &KdTree, ray: &Ray) -> Option<(f32, bool)> {
    let hit = tree.nearest(ray)?;
    let [a, b, c] = mesh.triangle(hit.triangle as usize);
    let normal = (b - a).cross(c - a);
    Some((hit.t, normal.dot(ray.direction) < 0.0))
}

/// Even directions over the sphere: a spiral of Fibonacci points.
fn direction(index: usize, count: usize) -> Vec3 {
    const GOLDEN_ANGLE: f32 = 2.399_963_2;
    let y = 1.0 - (2.0 * index as f32 + 1.0) / count as f32;
    let radius = (1.0 - y * y).max(0.0).sqrt();
    let angle = GOLDEN_ANGLE * index as f32;
    Vec3::new(radius * angle.cos(), y, radius * angle.sin())
}

/// Whether a mesh is something to stand in.
pub(super) fn is_room(mesh: &Mesh, tree: &KdTree) -> bool {
    let within = seen_within(mesh, tree);
    // From the middle many ways are barred, and nearly always by a front.
    if within.fronts * 5 < BUNDLE_LEN * 3 || within.backs * 4 > within.fronts {
        return false;
    }
    // From outside, the inside is hidden: behind walls with fronts of their own, or behind the backs of walls
    // that stand where a room has them. (The backs of any other shape: an object that is wound inside out.)
    let outside = seen_outside(mesh, tree);
    let is_hidden = outside.barred * 8 > BUNDLE_LEN * 7;
    is_hidden && (outside.fronts > outside.backs || outside.boxed * 5 > BUNDLE_LEN * 3)
}

fn seen_within(mesh: &Mesh, tree: &KdTree) -> Seen {
    let middle = tree.bounds().center();
    let mut seen = Seen::default();
    for index in 0..BUNDLE_LEN {
        let ray = Ray::new(middle, direction(index, BUNDLE_LEN));
        if let Some((_, is_front)) = look(mesh, tree, &ray) {
            seen.fronts += usize::from(is_front);
            seen.backs += usize::from(!is_front);
        }
    }
    seen
}

/// What is seen by rays from outside the box, aimed at points around the middle.
fn seen_outside(mesh: &Mesh, tree: &KdTree) -> Seen {
    let bounds = tree.bounds();
    let (middle, extent) = (bounds.center(), bounds.extent());
    let near = 0.01 * extent.max_element();
    let mut seen = Seen::default();
    for index in 0..BUNDLE_LEN {
        let towards = direction(index, BUNDLE_LEN);
        let target = middle + 0.3 * extent * direction(index * 7 % BUNDLE_LEN, BUNDLE_LEN);
        let distance = 2.0 * extent.length();
        let ray = Ray::new(target - towards * distance, towards);
        if let Some((t, is_front)) = look(mesh, tree, &ray) {
            let point = ray.at(t);
            let from_box = (point - bounds.min).min(bounds.max - point).min_element();
            seen.fronts += usize::from(is_front);
            seen.backs += usize::from(!is_front);
            seen.barred += usize::from(t < distance);
            seen.boxed += usize::from(from_box < near);
        }
    }
    seen
}

/// A place in a room and a unit vector to look along: where most of the room is in sight, near and far.
///
/// `up` is a unit vector. Places are tried on a grid inside the box of the tree.
pub(super) fn best_view(mesh: &Mesh, tree: &KdTree, up: Vec3) -> (Vec3, Vec3) {
    let bounds = tree.bounds();
    let extent = bounds.extent();
    let ahead = framing::front(up);
    let side = up.cross(ahead);
    let mut best = (f32::NEG_INFINITY, bounds.center(), ahead);
    for place in 0..5 * 5 * 3 {
        // A little off the middle, since nothing is duller than symmetry, and in the lower half of the room.
        let share = |index: usize, count: usize| (index as f32 + 0.55) / count as f32;
        let [x, y] = [place % 5, place / 5 % 5].map(|index| share(index, 5) - 0.5);
        let height = [0.18, 0.3, 0.42][place / 25] - 0.5;
        let offset = |axis: Vec3, share: f32| axis * (share * axis.abs().dot(extent));
        let eye = bounds.center() + offset(side, x) + offset(ahead, y) + offset(up, height);
        for heading in 0..HEADINGS {
            let angle = std::f32::consts::TAU * heading as f32 / HEADINGS as f32;
            let level = angle.cos() * ahead + angle.sin() * side;
            let sight = (level + 0.06 * up).normalize();
            let score = score(mesh, tree, eye, sight, up);
            if score > best.0 {
                best = (score, eye, sight);
            }
        }
    }
    (best.1, best.2)
}

/// How good a view is: the mean logarithm of the distance, so that depth counts but a wall before the eye
/// counts against it. Open sky is dull, and the back of a wall means that the eye is where nobody can stand.
fn score(mesh: &Mesh, tree: &KdTree, eye: Vec3, sight: Vec3, up: Vec3) -> f32 {
    let size = tree.bounds().extent().length();
    let right = sight.cross(up).normalize_or_zero();
    let above = right.cross(sight);
    let glance = |index: usize| {
        // Points of an R2 sequence over the frame of a picture.
        let x = (0.5 + 0.754_877_7 * index as f32).fract() * 2.0 - 1.0;
        let y = (0.5 + 0.569_840_3 * index as f32).fract() * 2.0 - 1.0;
        let ray = Ray::new(eye, sight + 0.9 * x * right + 0.6 * y * above);
        match look(mesh, tree, &ray) {
            None => -1.5,
            Some((_, false)) => -8.0,
            Some((t, true)) => (t / size).max(1e-4).ln(),
        }
    };
    (0..GLANCES).map(glance).sum::<f32>() / GLANCES as f32
}
