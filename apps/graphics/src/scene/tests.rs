//! Tests of the guarantees for generated scenes: counts, closed surfaces, normals, reproducibility.

use std::collections::HashMap;

use glam::Vec3;

use super::*;
use crate::bounds::Bounds;

#[test]
fn counts_are_close_to_the_request_and_never_above() {
    for scene in Scene::ALL {
        let least = scene.triangle_count_min();
        for wanted in (0..3_000).chain([9_999, 12_345, 100_000, 1_000_003]) {
            let count = generate(scene, wanted).triangles.len();
            assert!(count <= wanted.max(least), "{scene}: {count} for {wanted}");
            let share = match wanted {
                100_000.. => 0.99,
                1_000.. => 0.95,
                _ => 0.5,
            };
            assert!(
                count as f64 >= share * wanted as f64,
                "{scene}: {count} for {wanted}"
            );
        }
        assert_eq!(generate(scene, 0).triangles.len(), least, "{scene}");
    }
}

#[test]
fn large_scenes_have_nearly_the_requested_count() {
    for scene in Scene::ALL {
        let count = generate(scene, 200_000).triangles.len();
        assert!((199_000..=200_000).contains(&count), "{scene}: {count}");
    }
}

#[test]
fn a_scene_is_a_function_of_its_seed() {
    for scene in Scene::ALL {
        assert_eq!(generate(scene, 5_000), generate_with_seed(scene, 5_000, 0));
        assert_ne!(
            generate_with_seed(scene, 5_000, 1),
            generate_with_seed(scene, 5_000, 2),
            "{scene}"
        );
    }
}

#[test]
fn every_mesh_is_sound_and_of_moderate_size() {
    for scene in Scene::ALL {
        for count in [0, 100, 20_000] {
            let mesh = generate(scene, count);
            assert_eq!(mesh.normals.len(), mesh.positions.len(), "{scene}");
            assert!(
                mesh.normals.iter().all(|normal| normal.is_normalized()),
                "{scene} {count}"
            );
            assert_eq!(mesh.degenerate_count(), 0, "{scene} {count}");
            let Bounds { min, max } = mesh.bounds();
            assert!(
                min.min_element() > -3.0 && max.max_element() < 3.0,
                "{scene} {count}"
            );
            let used: std::collections::HashSet<u32> =
                mesh.triangles.iter().flatten().copied().collect();
            assert_eq!(used.len(), mesh.positions.len(), "{scene} {count}");
        }
    }
}

#[test]
fn triangles_face_where_their_normals_point() {
    for scene in [Scene::Flake, Scene::Knot] {
        let mesh = generate(scene, 20_000);
        for (index, triangle) in mesh.triangles.iter().enumerate() {
            for &corner in triangle {
                let normal = mesh.normals[corner as usize];
                assert!(
                    face(&mesh, index).dot(normal) > 0.0,
                    "{scene}: triangle {index}"
                );
            }
        }
    }
}

#[test]
fn all_of_a_terrain_faces_the_sky() {
    let mesh = generate(Scene::Terrain, 20_000);
    assert!((0..mesh.triangles.len()).all(|index| face(&mesh, index).y > 0.0));
    assert!(mesh.normals.iter().all(|normal| normal.y > 0.0));
}

/// Returns the normal of a triangle, which is not a unit vector.
fn face(mesh: &Mesh, index: usize) -> Vec3 {
    let [a, b, c] = mesh.triangle(index);
    (b - a).cross(c - a)
}

#[test]
fn flakes_and_knots_have_no_border_and_terrains_have_one_around() {
    for (scene, is_closed) in [
        (Scene::Flake, true),
        (Scene::Knot, true),
        (Scene::Terrain, false),
    ] {
        let mesh = generate(scene, 20_000);
        // In a closed sheet every edge occurs once in each direction.
        let mut edges: HashMap<(u32, u32), i32> = HashMap::new();
        for &[a, b, c] in &mesh.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                *edges.entry((from.min(to), from.max(to))).or_default() +=
                    if from < to { 1 } else { -1 };
            }
        }
        let borders = edges.values().filter(|&&balance| balance != 0).count();
        assert_eq!(borders == 0, is_closed, "{scene}: {borders}");
    }
}

#[test]
fn a_coarse_terrain_lies_near_a_fine_one() {
    let height_near = |mesh: &Mesh, x: f32, z: f32| {
        let distance = |point: &Vec3| (point.x - x).powi(2) + (point.z - z).powi(2);
        mesh.positions
            .iter()
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .expect("a terrain has vertices")
            .y
    };
    let (coarse, fine) = (
        generate(Scene::Terrain, 3_200),
        generate(Scene::Terrain, 80_000),
    );
    let mut differences = 0.0;
    for x in -9_i8..=9 {
        for z in -9_i8..=9 {
            let (x, z) = (f32::from(x) / 5.0, f32::from(z) / 5.0);
            differences += (height_near(&coarse, x, z) - height_near(&fine, x, z)).abs();
        }
    }
    assert!(differences / 361.0 < 0.08, "{}", differences / 361.0);
}

#[test]
fn an_unknown_name_is_an_error_that_lists_the_names() {
    for scene in Scene::ALL {
        assert_eq!(scene.to_string().parse(), Ok(scene));
    }
    let message = "teapot"
        .parse::<Scene>()
        .expect_err("there is none")
        .to_string();
    assert_eq!(message, "scene \"teapot\"; expected flake, terrain or knot");
}

#[test]
#[should_panic(expected = "are more than")]
fn too_many_triangles_are_rejected() {
    let _ = generate(Scene::Knot, TRIANGLE_COUNT_MAX + 1);
}
