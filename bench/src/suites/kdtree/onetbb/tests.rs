//! The program's trees compared with Raddle's, on scenes and degenerate meshes; its input; and the
//! error without the library.

use glam::Vec3;
use raddle_graphics::mesh::Mesh;
use raddle_graphics::scene::{self, Scene};

use super::super::subject::Input;
use super::*;

/// Builds a mesh's tree with one to three threads and with a coarse grain, which checks the tree.
///
/// Does nothing if the library is missing, except to check the error.
fn check(name: &str, mesh: Mesh, depths: &[u32]) {
    let triangles = mesh.triangles.len() as u64;
    let input = Input::new(name, mesh).expect("a mesh");
    for &depth in depths {
        let subject = Subject::new(&input, depth).expect("a mesh has a tree");
        let mut peer = match Builder::start(&subject) {
            Ok(peer) => peer,
            Err(missing @ BenchError::PeerMissing { .. }) => {
                let text = missing.to_string();
                assert!(text.contains("kdtree-onetbb left out"), "{text}");
                assert!(text.contains("apt-get install"), "{text}");
                return;
            }
            Err(failure) => panic!("{failure}"),
        };
        for (workers, grain) in [(1, 1024), (2, 1024), (2, 16 * 1024), (3, 1024)] {
            let sample = peer.build(workers, grain);
            let sample =
                sample.unwrap_or_else(|failure| panic!("{workers} threads, {grain}: {failure}"));
            assert_eq!(sample.result, triangles);
        }
    }
}

fn mesh_of(triangles: &[[[f32; 3]; 3]]) -> Mesh {
    let corners = triangles.iter().flatten();
    Mesh {
        positions: corners.map(|&corner| Vec3::from_array(corner)).collect(),
        normals: Vec::new(),
        triangles: (0..triangles.len() as u32)
            .map(|index| [0, 1, 2].map(|corner| 3 * index + corner))
            .collect(),
    }
}

#[test]
fn scenes_have_the_same_tree() {
    for scene in Scene::ALL {
        let mesh = scene::generate(scene, 40_000);
        check("scene", mesh, &[0, 1, 8, 15, 64]);
    }
}

#[test]
fn triangles_on_a_grid_have_the_same_tree_even_if_lists_outgrow_their_memory() {
    let mut state = 5_u64;
    let mut number = move |bound: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as u32 % bound) as f32
    };
    let mut triangles = |count: usize, reach: u32| -> Vec<[[f32; 3]; 3]> {
        let mut triangle = |_| {
            let base = [0; 3].map(|_: i32| number(40) * 0.25 - 5.0);
            [0; 3].map(|_: i32| base.map(|value| value + number(reach) * 0.25))
        };
        (0..count).map(&mut triangle).collect()
    };
    check("small", mesh_of(&triangles(60, 5)), &[8, 64]);
    check("flat", mesh_of(&triangles(40_000, 3)), &[10]);
    // Each plane cuts many of these triangles.
    check("wide", mesh_of(&triangles(20_000, 60)), &[6]);
}

#[test]
fn degenerate_meshes_have_the_same_tree() {
    let alike = [[[0.0; 3], [1.0, 0.0, 0.5], [0.0, 1.0, 0.25]]; 300];
    let without_area = [[[0.0; 3], [0.0, -0.0, 0.0], [1.0; 3]], [[5.0; 3]; 3]];
    for triangles in [&alike[..0], &alike[..1], &alike, &without_area] {
        check("degenerate", mesh_of(triangles), &[0, 8, 64]);
    }
}

#[test]
fn the_input_file_is_removed_with_the_program() {
    let input = Input::new("flake", scene::generate(Scene::Flake, 500)).expect("a mesh");
    let subject = Subject::new(&input, 8).expect("a mesh has a tree");
    let Ok(peer) = Builder::start(&subject) else {
        return;
    };
    let path = peer.input.path.clone();
    let len = fs::metadata(&path).expect("the file exists").len();
    assert_eq!(len as usize, 40 + 36 * input.mesh.triangles.len());
    drop(peer);
    assert!(!path.exists());
}

#[test]
fn checksums_of_different_trees_differ() {
    let sum = |scene, triangle_count, depth| {
        let input = Input::new("", scene::generate(scene, triangle_count)).expect("a mesh");
        let subject = Subject::new(&input, depth).expect("a mesh has a tree");
        subject.of_reference(checksum)
    };
    let sums = [
        sum(Scene::Flake, 2_000, 15),
        sum(Scene::Flake, 2_000, 8),
        sum(Scene::Flake, 2_000, 7),
        sum(Scene::Flake, 1_000, 8),
        sum(Scene::Knot, 2_000, 8),
    ];
    for (index, one) in sums.iter().enumerate() {
        assert!(!sums[..index].contains(one), "{sums:x?}");
    }
    assert_eq!(sums[0], sum(Scene::Flake, 2_000, 15));
}
