//! The peer finds the same hits as Raddle's kd-tree.

use super::*;
use raddle_graphics::kdtree::{KdTree, Parameters};

/// Creates a bumpy sheet of `side` × `side` squares near the plane z = 0.
fn sheet(side: u32) -> Mesh {
    let at = |x: u32, y: u32| {
        let height = ((x * 7 + y * 13) % 5) as f32 * 0.1;
        Vec3::new(x as f32, y as f32, height)
    };
    let width = side + 1;
    Mesh {
        positions: (0..width * width)
            .map(|i| at(i % width, i / width))
            .collect(),
        normals: Vec::new(),
        triangles: (0..side * side)
            .flat_map(|i| {
                let corner = i % side + i / side * width;
                [
                    [corner, corner + 1, corner + width],
                    [corner + 1, corner + width + 1, corner + width],
                ]
            })
            .collect(),
    }
}

#[test]
fn both_trees_find_the_same_distances() {
    let mesh = sheet(12);
    let ours = KdTree::build_sequential(&mesh, &Parameters::default()).expect("a tree");
    let theirs = Hierarchy::build(Shapes::of(&mesh));
    assert_eq!(theirs.triangle_count(), mesh.triangles.len());
    let mut hits = 0;
    for i in 0..400 {
        let origin = Vec3::new(
            -1.0 + 0.7 * (i % 20) as f32,
            -1.0 + 0.7 * (i / 20) as f32,
            5.0,
        );
        let ray = Ray::new(origin, Vec3::new(0.13, -0.07, -1.0));
        let expected = ours.nearest(&ray).map(|hit| hit.t);
        let found = theirs.nearest(&ray);
        assert_eq!(found.is_some(), expected.is_some(), "ray {i}");
        if let (Some(found), Some(expected)) = (found, expected) {
            assert!(
                (found - expected).abs() < 1e-4,
                "ray {i}: {found} {expected}"
            );
            hits += 1;
        }
    }
    assert!(hits > 100, "only {hits} rays hit anything");
}
