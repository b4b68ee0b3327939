//! Tests of which meshes are lit by a low sun from the side.

use super::*;
use crate::kdtree::Parameters;
use crate::mesh::Mesh;
use crate::scene::{self, Scene};

fn has_relief(mesh: &Mesh, upright: Vec3) -> bool {
    let tree = KdTree::build_sequential(mesh, &Parameters::default()).expect("a sound mesh");
    is_relief(&tree, upright)
}

#[test]
fn hills_are_a_relief_and_an_object_on_a_floor_is_not() {
    let terrain = scene::generate(Scene::Terrain, 5_000);
    assert!(has_relief(&terrain, Vec3::Y));
    assert!(!has_relief(&terrain, Vec3::X));
    assert!(!has_relief(&scene::generate(Scene::Flake, 5_000), Vec3::Y));
    // A small pyramid on a wide floor.
    let mut mesh = Mesh {
        positions: vec![
            Vec3::new(-9.0, 0.0, -9.0),
            Vec3::new(-9.0, 0.0, 9.0),
            Vec3::new(9.0, 0.0, 9.0),
            Vec3::new(9.0, 0.0, -9.0),
        ],
        normals: Vec::new(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    mesh.positions.extend([
        Vec3::new(-3.0, 0.0, -3.0),
        Vec3::new(0.0, 0.0, 3.0),
        Vec3::new(3.0, 0.0, -3.0),
        Vec3::new(0.0, 3.0, 0.0),
    ]);
    mesh.triangles.extend([[4, 5, 7], [5, 6, 7], [6, 4, 7]]);
    assert!(!has_relief(&mesh, Vec3::Y));
    assert!(!has_relief(&mesh, Vec3::ZERO));
}
