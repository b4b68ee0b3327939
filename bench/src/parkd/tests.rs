//! The peer's trees, compared with Raddle's node for node.

use std::collections::HashSet;

use glam::Vec3;
use raddle_graphics::kdtree::{DepthLimit, KdTree};
use raddle_graphics::scene::{self, Scene};

use super::*;

/// The grains of the tests. The peer is measured with both. The second exceeds most meshes here.
const GRAINS: [usize; 2] = [1024, 16 * 1024];

/// Builds on pools of one to three threads and compares the trees. The peer does not limit copies.
///
/// The events of a mesh are sorted once for each pool, not for each tree.
fn check(mesh: &Mesh, parameters: impl IntoIterator<Item = Parameters>) {
    let expected: Vec<_> = parameters
        .into_iter()
        .map(|parameters| {
            let parameters = Parameters {
                copies_max: f64::INFINITY,
                ..parameters
            };
            let tree = KdTree::build_sequential(mesh, &parameters).unwrap();
            let statistics = tree.statistics();
            (parameters, tree, statistics)
        })
        .collect();
    for (thread_count, grains) in [(1, &GRAINS[..1]), (2, &GRAINS), (3, &GRAINS[..1])] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(thread_count)
            .build()
            .unwrap();
        let prepared = pool.install(|| prepare(mesh));
        for (&grain, (parameters, expected, statistics)) in grains
            .iter()
            .flat_map(|grain| expected.iter().map(move |expected| (grain, expected)))
        {
            let (tree, _) = pool.install(|| build(prepared.clone(), parameters, grain));
            assert_eq!(tree.nodes.len(), statistics.node_count, "{parameters:?}");
            assert_eq!(tree.entries.len(), statistics.entry_count, "{parameters:?}");
            assert!(
                tree.is_same_as(expected),
                "{thread_count} threads, grain {grain}, {parameters:?}"
            );
        }
    }
}

fn limits() -> impl Iterator<Item = Parameters> {
    let limits = [
        DepthLimit::At(0),
        DepthLimit::At(1),
        DepthLimit::At(8),
        DepthLimit::Automatic,
        DepthLimit::Unlimited,
    ];
    limits.into_iter().map(|depth_limit| Parameters {
        depth_limit,
        ..Parameters::default()
    })
}

fn mesh_of(triangles: &[Corners]) -> Mesh {
    Mesh {
        positions: triangles
            .iter()
            .flatten()
            .map(|&corner| Vec3::from_array(corner))
            .collect(),
        normals: Vec::new(),
        triangles: (0..triangles.len() as u32)
            .map(|index| [3 * index, 3 * index + 1, 3 * index + 2])
            .collect(),
    }
}

/// Returns a generator of pseudorandom numbers below a bound.
fn numbers(mut state: u64) -> impl FnMut(u32) -> u32 {
    move |bound| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % bound
    }
}

/// Returns triangles with corners on a coarse grid around the origin, so that planes, ties and both
/// zeros are frequent.
fn triangles_on_a_grid(count: usize, seed: u64, reach: u32) -> Vec<Corners> {
    let mut number = numbers(seed);
    (0..count)
        .map(|_| {
            let base = [0; 3].map(|_: i32| number(40) as f32 * 0.25 - 5.0);
            [0; 3].map(|_: i32| {
                base.map(|value| {
                    let value = value + number(reach) as f32 * 0.25;
                    if value == 0.0 && number(2) == 0 {
                        -0.0
                    } else {
                        value
                    }
                })
            })
        })
        .collect()
}

#[test]
fn scenes_have_the_same_tree() {
    for scene in Scene::ALL {
        let mesh = scene::generate(scene, 20_000);
        check(&mesh, limits());
    }
}

#[test]
fn small_scenes_have_the_same_tree_for_all_costs() {
    for (scene, triangle_count) in [
        (Scene::Flake, 500),
        (Scene::Terrain, 3_000),
        (Scene::Knot, 2_000),
    ] {
        let mesh = scene::generate(scene, triangle_count);
        for (intersection_cost, empty_bonus) in [(0.5, 1.0), (1.5, 0.8), (80.0, 0.0), (0.01, 0.9)] {
            let parameters = Parameters {
                intersection_cost,
                empty_bonus,
                ..Parameters::default()
            };
            check(&mesh, [parameters]);
        }
    }
}

#[test]
fn triangles_on_a_grid_have_the_same_tree() {
    for (seed, count) in (0..).zip([2, 3, 5, 9, 20, 33, 64, 65, 100, 400, 1_000]) {
        for reach in [2, 5, 12] {
            let mesh = mesh_of(&triangles_on_a_grid(count, seed, reach));
            check(&mesh, limits());
        }
    }
}

#[test]
fn many_triangles_on_a_grid_have_the_same_tree_with_any_number_of_threads() {
    let mut triangles = triangles_on_a_grid(40_000, 77, 3);
    // The peer does not remove duplicates.
    let mut seen = HashSet::new();
    triangles.retain(|triangle| seen.insert(triangle.map(|corner| corner.map(f32::to_bits))));
    let mesh = mesh_of(&triangles);
    let parameters = Parameters {
        depth_limit: DepthLimit::At(10),
        ..Parameters::default()
    };
    check(&mesh, [parameters]);
}

#[test]
fn degenerate_meshes_have_the_same_tree() {
    // As many duplicates as Raddle keeps: the peer removes none.
    let alike = [[[0.0; 3], [1.0, 0.0, 0.5], [0.0, 1.0, 0.25]]; 15];
    let mut flat = triangles_on_a_grid(500, 1, 4);
    let mut line = flat.clone();
    for corner in flat.as_flattened_mut() {
        corner[2] = 3.0;
    }
    for corner in line.as_flattened_mut() {
        corner[1] = 0.0;
        corner[2] = 0.0;
    }
    let without_area: [Corners; 3] = [
        [[0.0; 3], [0.0; 3], [1.0; 3]],
        [[5.0; 3]; 3],
        [[0.0; 3], [1.0; 3], [0.0, -0.0, 0.0]],
    ];
    let tiny = triangles_on_a_grid(300, 2, 4)
        .iter()
        .map(|corners| corners.map(|corner| corner.map(|value| value * 1e-38)))
        .collect::<Vec<_>>();
    let huge = triangles_on_a_grid(300, 3, 4)
        .iter()
        .map(|corners| corners.map(|corner| corner.map(|value| value * 1e11)))
        .collect::<Vec<_>>();
    let meshes: [&[Corners]; 8] = [
        &[],
        &alike[..1],
        &alike,
        &flat,
        &line,
        &without_area,
        &tiny,
        &huge,
    ];
    for triangles in meshes {
        for parameters in limits() {
            check(&mesh_of(triangles), [parameters]);
        }
    }
}

#[test]
fn a_different_tree_is_detected() {
    let mesh = scene::generate(Scene::Flake, 2_000);
    let (tree, _) = build(prepare(&mesh), &Parameters::default(), GRAINS[0]);
    let shallow = Parameters {
        depth_limit: DepthLimit::At(6),
        ..Parameters::default()
    };
    let other_mesh = scene::generate(Scene::Knot, 2_000);
    for other in [
        KdTree::build_sequential(&mesh, &shallow),
        KdTree::build_sequential(&other_mesh, &Parameters::default()),
        KdTree::build_sequential(&Mesh::default(), &Parameters::default()),
    ] {
        assert!(!tree.is_same_as(&other.unwrap()));
    }
    let same = KdTree::build_sequential(&mesh, &Parameters::default()).unwrap();
    assert!(tree.is_same_as(&same));
    for index in 0..tree.nodes.len() {
        let mut changed = tree.clone();
        changed.nodes[index].payload ^= 1;
        assert!(!changed.is_same_as(&same), "payload of node {index}");
        let mut changed = tree.clone();
        changed.nodes[index].word ^= 4;
        assert!(!changed.is_same_as(&same), "word of node {index}");
    }
    let mut changed = tree.clone();
    changed.entries.swap(0, 1);
    assert!(!changed.is_same_as(&same));
}

#[test]
fn lists_that_outgrow_their_buffers_continue_in_new_ones() {
    // Long thin triangles across each other: each plane cuts many.
    let mut number = numbers(5);
    let triangles: Vec<Corners> = (0..3_000)
        .map(|_| {
            let [a, b] = [0; 2].map(|_: i32| [0; 3].map(|_: i32| number(1_000) as f32));
            [a, b, [b[0] + 1.0, b[1], b[2] + 1.0]]
        })
        .collect();
    let mesh = mesh_of(&triangles);
    let parameters = Parameters {
        depth_limit: DepthLimit::At(9),
        copies_max: f64::INFINITY,
        ..Parameters::default()
    };
    let tree = KdTree::build_sequential(&mesh, &parameters).unwrap();
    assert!(tree.statistics().entry_count > 3 * triangles.len());
    check(&mesh, [parameters]);
}
