//! The builder by tasks gives the tree of the sequential builder, node for node, on generated
//! meshes.

use std::sync::Mutex;

use glam::Vec3;
use proptest::prelude::*;
use raddle_graphics::kdtree::{DepthLimit, KdTree, Parameters};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::scene::{Scene, generate};

use crate::common::runtime;
use crate::kdtree_support::{degenerate, soup};

/// Builds a tree by tasks and asserts that it equals the sequential one.
fn tree_of(mesh: &Mesh, parameters: &Parameters) -> KdTree {
    let tree = KdTree::build(mesh, parameters).unwrap();
    assert!(
        tree == KdTree::build_sequential(mesh, parameters).unwrap(),
        "the trees of {} triangles differ",
        mesh.triangles.len()
    );
    tree
}

#[test]
fn generated_scenes_have_one_tree() {
    for scene in Scene::ALL {
        for triangle_count in [1_000, 30_000, 60_000] {
            let mesh = generate(scene, triangle_count);
            for depth_limit in [DepthLimit::At(8), DepthLimit::At(15), DepthLimit::Automatic] {
                let parameters = Parameters {
                    depth_limit,
                    ..Parameters::default()
                };
                let statistics = tree_of(&mesh, &parameters).statistics();
                assert!(statistics.depth <= depth_limit.levels(mesh.triangles.len()));
                assert!(statistics.expected_cost.is_finite());
            }
        }
    }
}

#[test]
fn the_tree_does_not_depend_on_the_number_of_workers() {
    let mesh = generate(Scene::Terrain, 70_000);
    let sequential = KdTree::build_sequential(&mesh, &Parameters::default()).unwrap();
    for workers in [1, 2, 3, 8] {
        let runtime = runtime(workers);
        let tree = runtime.install(|| KdTree::build(&mesh, &Parameters::default()).unwrap());
        assert!(tree == sequential, "{workers} workers");
    }
}

#[test]
fn every_triangle_is_in_some_leaf() {
    let mesh = generate(Scene::Knot, 20_000);
    let tree = tree_of(&mesh, &Parameters::default());
    let mut seen = vec![false; mesh.triangles.len()];
    for &node in tree.nodes() {
        for triangle in tree.triangles_of(node) {
            seen[triangle as usize] = true;
        }
    }
    assert_eq!(seen.iter().filter(|&&seen| !seen).count(), 0);
}

#[test]
fn large_degenerate_inputs_have_one_tree() {
    for mesh in degenerate(20_000) {
        for depth_limit in [DepthLimit::Automatic, DepthLimit::Unlimited] {
            let parameters = Parameters {
                depth_limit,
                ..Parameters::default()
            };
            let statistics = tree_of(&mesh, &parameters).statistics();
            assert!(statistics.expected_cost.is_finite());
        }
    }
}

#[test]
fn tiny_inputs_have_a_tree() {
    for count in 0..4 {
        let mesh = soup((0..count).map(|index| {
            let corner = Vec3::splat(3.0 * index as f32);
            [corner, corner + Vec3::X, corner + Vec3::new(0.0, 1.0, 1.0)]
        }));
        let tree = tree_of(&mesh, &Parameters::default());
        assert!(tree.statistics().entry_count >= count);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_triangles_have_one_tree(
        seed in any::<u64>(),
        count in 4_000_usize..14_000,
        size in 0.001_f32..0.3,
        grid in prop_oneof![Just(0.0_f32), Just(0.125), Just(0.01)],
        intersection_cost in 0.5_f64..80.0,
        empty_bonus in 0.0_f64..1.0,
    ) {
        let mut state = seed | 1;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 24) as f32
        };
        let mut snapped = |scale: f32| {
            let value = random() * scale;
            if grid > 0.0 { (value / grid).round() * grid } else { value }
        };
        let triangles: Vec<[Vec3; 3]> = (0..count)
            .map(|_| {
                let corner = Vec3::new(snapped(1.0), snapped(1.0), snapped(1.0));
                let mut near = || corner + Vec3::new(snapped(size), snapped(size), snapped(size));
                [corner, near(), near()]
            })
            .collect();
        let parameters = Parameters {
            intersection_cost,
            empty_bonus,
            depth_limit: DepthLimit::At(20),
            ..Parameters::default()
        };
        tree_of(&soup(triangles), &parameters);
    }
}

// Regression: a build of a large mesh ran for many seconds without any report of its progress.
#[test]
fn the_shares_of_finished_subtrees_add_up_to_one() {
    let mesh = generate(Scene::Flake, 60_000);
    let parameters = Parameters::default();
    let reported = Mutex::new(Vec::new());
    let note = |share: f32| reported.lock().expect("no panic").push(share);
    let check = |builder: &str| {
        let mut shares = std::mem::take(&mut *reported.lock().expect("no panic"));
        shares.sort_by(f32::total_cmp);
        assert!(shares.len() > 10, "{builder}: {shares:?}");
        assert!(shares[0] > 0.0, "{builder}: {shares:?}");
        assert_eq!(shares.last(), Some(&1.0), "{builder}: {shares:?}");
        let step = shares.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(step.fold(0.0, f32::max) < 0.2, "{builder}: {shares:?}");
    };
    let tree = KdTree::build_with(&mesh, &parameters, note).expect("a tree");
    check("tasks");
    let other = KdTree::build_sequential_with(&mesh, &parameters, note).expect("a tree");
    check("sequential");
    assert!(tree == other);
}
