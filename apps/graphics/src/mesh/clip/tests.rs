//! Tests of cut meshes.

use std::collections::HashMap;

use super::*;
use crate::scene::{self, Scene};

fn area(mesh: &Mesh) -> f32 {
    let areas = (0..mesh.triangles.len()).map(|index| {
        let [a, b, c] = mesh.triangle(index);
        0.5 * (b - a).cross(c - a).length()
    });
    areas.sum()
}

#[test]
fn a_square_is_cut_to_a_box() {
    let square = Mesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y],
        normals: vec![Vec3::Z; 4],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    for (min, max, expected) in [
        ([-1.0, -1.0, -1.0], [2.0, 2.0, 2.0], 1.0),
        ([0.25, -1.0, -1.0], [2.0, 2.0, 2.0], 0.75),
        ([0.25, 0.5, -1.0], [0.5, 0.75, 2.0], 0.0625),
        ([0.0, 0.0, 0.0], [1.0, 1.0, 0.0], 1.0),
        ([0.0, 0.0, 0.5], [1.0, 1.0, 1.0], 0.0),
        ([1.0, 0.0, 0.0], [2.0, 1.0, 1.0], 0.0),
        ([1.5, 0.0, 0.0], [2.0, 1.0, 1.0], 0.0),
    ] {
        let bounds = Bounds {
            min: Vec3::from_array(min),
            max: Vec3::from_array(max),
        };
        let cut = square.clone().clipped(bounds);
        assert!((area(&cut) - expected).abs() < 1e-6, "{min:?} {max:?}");
        assert_eq!(cut.normals.len(), cut.positions.len());
        let used = cut.triangles.iter().flatten();
        let highest = used.map(|vertex| vertex + 1).max().unwrap_or(0);
        assert_eq!(highest as usize, cut.positions.len());
        let is_inside = |it: &Vec3| it.cmpge(bounds.min).all() && it.cmple(bounds.max).all();
        assert!(cut.positions.iter().all(is_inside), "{min:?} {max:?}");
        // Vertices in a plane are not doubled.
        let is_flat = |index| {
            let [a, b, c] = cut.triangle(index);
            (b - a).cross(c - a) == Vec3::ZERO
        };
        assert!(!(0..cut.triangles.len()).any(is_flat), "{min:?} {max:?}");
    }
}

#[test]
fn a_cut_has_no_cracks() {
    let knot = scene::generate(Scene::Knot, 2_000);
    let bounds = Bounds {
        min: Vec3::splat(-0.7),
        max: Vec3::splat(0.4),
    };
    let cut = knot.clipped(bounds);
    let mut edges: HashMap<[u32; 2], usize> = HashMap::new();
    for corners in &cut.triangles {
        for index in 0..3 {
            let (a, b) = (corners[index], corners[(index + 1) % 3]);
            *edges.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
    }
    // An edge with one triangle lies in a plane of the cut.
    let near = |a: f32, b: f32| (a - b).abs() < 1e-5;
    for (edge, count) in edges {
        let [a, b] = edge.map(|vertex| cut.positions[vertex as usize]);
        let is_in_plane = (0..3).any(|axis| {
            [bounds.min[axis], bounds.max[axis]]
                .iter()
                .any(|plane| near(a[axis], *plane) && near(b[axis], *plane))
        });
        assert!(count == 2 || (count == 1 && is_in_plane), "{a} {b} {count}");
    }
    assert!(!cut.triangles.is_empty());
}
