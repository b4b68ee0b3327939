//! Distinguishes a room from an object, and finds a position inside a room.
//!
//! From its centre, a room shows front faces in all directions, and from outside its interior is
//! hidden. An object shows back faces from its centre, or lets rays escape between its parts. Rays
//! can tell no more than this, and it requires only that most triangles are wound in the usual way.

use glam::Vec3;

use super::framing;
use crate::kdtree::KdTree;
use crate::mesh::Mesh;
use crate::ray::Ray;

/// The number of rays of a bundle in all directions.
const BUNDLE_LEN: usize = 256;
/// The number of directions in which a view is tried.
const HEADINGS: usize = 16;
/// The number of rays per tried view.
const GLANCES: usize = 64;

/// The counts of what a bundle of rays has hit.
#[derive(Debug, Default, Clone, Copy)]
struct HitCounts {
    fronts: usize,
    backs: usize,
    /// The number of hits closer than the point that the ray was aimed at.
    blocked: usize,
    /// The number of hits that lie on the bounding box of the mesh.
    on_box: usize,
}

/// Returns the distance of the hit of a ray, and true if it is the front of the triangle.
fn hit_distance(mesh: &Mesh, tree: &KdTree, ray: &Ray) -> Option<(f32, bool)> {
    let hit = tree.nearest(ray)?;
    let [a, b, c] = mesh.triangle(hit.triangle as usize);
    let normal = (b - a).cross(c - a);
    Some((hit.t, normal.dot(ray.direction) < 0.0))
}

/// Returns one of `count` directions that cover the sphere evenly: a spiral of Fibonacci points.
fn direction(index: usize, count: usize) -> Vec3 {
    const GOLDEN_ANGLE: f32 = 2.399_963_2;
    let y = 1.0 - (2.0 * index as f32 + 1.0) / count as f32;
    let radius = (1.0 - y * y).max(0.0).sqrt();
    let angle = GOLDEN_ANGLE * index as f32;
    Vec3::new(radius * angle.cos(), y, radius * angle.sin())
}

/// Returns true if a mesh is a room.
pub(super) fn is_room(mesh: &Mesh, tree: &KdTree) -> bool {
    let within = hits_from_centre(mesh, tree);
    // From the centre many rays must hit something, and nearly always a front.
    if within.fronts * 5 < BUNDLE_LEN * 3 || within.backs * 4 > within.fronts {
        return false;
    }
    // From outside, the interior must be hidden: behind walls with fronts of their own, or behind
    // the backs of walls that are on the box, as those of a room are. (Backs elsewhere belong to an
    // object that is wound inside out.)
    let outside = hits_from_outside(mesh, tree);
    let is_hidden = outside.blocked * 8 > BUNDLE_LEN * 7;
    is_hidden && (outside.fronts > outside.backs || outside.on_box * 5 > BUNDLE_LEN * 3)
}

fn hits_from_centre(mesh: &Mesh, tree: &KdTree) -> HitCounts {
    let middle = tree.bounds().center();
    let mut counts = HitCounts::default();
    for index in 0..BUNDLE_LEN {
        let ray = Ray::new(middle, direction(index, BUNDLE_LEN));
        if let Some((_, is_front)) = hit_distance(mesh, tree, &ray) {
            counts.fronts += usize::from(is_front);
            counts.backs += usize::from(!is_front);
        }
    }
    counts
}

/// Counts the hits of rays from outside the box, which are aimed at points around the centre.
fn hits_from_outside(mesh: &Mesh, tree: &KdTree) -> HitCounts {
    let bounds = tree.bounds();
    let (middle, extent) = (bounds.center(), bounds.extent());
    let near = 0.01 * extent.max_element();
    let mut counts = HitCounts::default();
    for index in 0..BUNDLE_LEN {
        let towards = direction(index, BUNDLE_LEN);
        let target = middle + 0.3 * extent * direction(index * 7 % BUNDLE_LEN, BUNDLE_LEN);
        let distance = 2.0 * extent.length();
        let ray = Ray::new(target - towards * distance, towards);
        if let Some((t, is_front)) = hit_distance(mesh, tree, &ray) {
            let point = ray.at(t);
            let from_box = (point - bounds.min).min(bounds.max - point).min_element();
            counts.fronts += usize::from(is_front);
            counts.backs += usize::from(!is_front);
            counts.blocked += usize::from(t < distance);
            counts.on_box += usize::from(from_box < near);
        }
    }
    counts
}

/// Returns a position in a room and a unit vector to look along, such that most of the room is
/// visible, near and far.
///
/// `up` is a unit vector. The tried positions form a grid inside the box of the tree.
pub(super) fn best_view(mesh: &Mesh, tree: &KdTree, up: Vec3) -> (Vec3, Vec3) {
    let bounds = tree.bounds();
    let extent = bounds.extent();
    let ahead = framing::front(up);
    let side = up.cross(ahead);
    let mut best = (f32::NEG_INFINITY, bounds.center(), ahead);
    for place in 0..5 * 5 * 3 {
        // Slightly off the centre to avoid a symmetric view, and in the lower half of the room.
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

/// Rates a view by the mean logarithm of the distance, so that depth is good and a wall in front of
/// the eye is bad. A ray that hits nothing is bad. The back of a wall is very bad, since the eye is
/// then outside of the room.
fn score(mesh: &Mesh, tree: &KdTree, eye: Vec3, sight: Vec3, up: Vec3) -> f32 {
    let size = tree.bounds().extent().length();
    let right = sight.cross(up).normalize_or_zero();
    let above = right.cross(sight);
    let glance = |index: usize| {
        // Points of an R2 sequence over the frame of a picture.
        let x = (0.5 + 0.754_877_7 * index as f32).fract() * 2.0 - 1.0;
        let y = (0.5 + 0.569_840_3 * index as f32).fract() * 2.0 - 1.0;
        let ray = Ray::new(eye, sight + 0.9 * x * right + 0.6 * y * above);
        match hit_distance(mesh, tree, &ray) {
            None => -1.5,
            Some((_, false)) => -8.0,
            Some((t, true)) => (t / size).max(1e-4).ln(),
        }
    };
    (0..GLANCES).map(glance).sum::<f32>() / GLANCES as f32
}
