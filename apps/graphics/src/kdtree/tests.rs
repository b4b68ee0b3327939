//! Compares whole trees with those of a builder that evaluates every plane of every cell from
//! scratch.

use glam::Vec3;
use proptest::prelude::*;

use super::*;
use crate::intersect::Corners;
use crate::kdtree::builders::input::Input;
use crate::kdtree::builders::progress::Progress;
use crate::kdtree::cells::names::Reference;
use crate::kdtree::cost::level::{LARGE_LEN_MIN, Level};
use crate::kdtree::fork_join::OneThread;
use crate::kdtree::preparation::duplicates;
use crate::kdtree::preparation::triangles::references_of;
use crate::mesh::Mesh;

mod naive;

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

fn corners() -> impl Strategy<Value = Corners> {
    let coordinate = || {
        prop_oneof![
            (0_i32..8).prop_map(|value| value as f32 * 0.25),
            0.0_f32..2.0
        ]
    };
    let corner = move || [coordinate(), coordinate(), coordinate()];
    // Small triangles as well as large ones.
    ([corner(), corner(), corner()], 0.05_f32..1.0).prop_map(|([a, b, c], scale)| {
        let near = |corner: [f32; 3]| {
            std::array::from_fn(|axis| a[axis] + scale * (corner[axis] - a[axis]))
        };
        [a, near(b), near(c)]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_split_is_the_best_of_all_planes(
        triangles in proptest::collection::vec(corners(), 0..40),
        intersection_cost in prop_oneof![Just(1.5), Just(80.0)],
        depth_limit in prop_oneof![
            Just(DepthLimit::Automatic),
            Just(DepthLimit::At(3)),
            Just(DepthLimit::At(12)),
        ],
    ) {
        let parameters = Parameters { intersection_cost, depth_limit, ..Parameters::default() };
        let tree = KdTree::build_sequential(&mesh_of(&triangles), &parameters).unwrap();
        let (references, extent) = references_of(&triangles, &OneThread);
        let input = Input::new(triangles, &parameters, Progress::new(|_| ())).unwrap();
        let naive = naive::build(&input, extent, &references, Level::ROOT);
        prop_assert!(naive.equals(&tree, tree.root()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_bound_on_copies_agrees_with_trying_all_planes(
        triangles in proptest::collection::vec(corners(), LARGE_LEN_MIN..3 * LARGE_LEN_MIN),
        copies_max in 1.0_f64..3.0,
    ) {
        let parameters = Parameters { copies_max, ..Parameters::default() };
        let tree = KdTree::build_sequential(&mesh_of(&triangles), &parameters).unwrap();
        let (references, extent) = references_of(&triangles, &OneThread);
        let input = Input::new(triangles, &parameters, Progress::new(|_| ())).unwrap();
        let naive = naive::build(&input, extent, &references, Level::ROOT);
        prop_assert!(naive.equals(&tree, tree.root()));
    }
}

/// Returns the lists of all leaves, in order.
fn leaves(tree: &KdTree) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    let mut pending = vec![tree.root()];
    while let Some(node) = pending.pop() {
        match node.kind() {
            NodeKind::Inner { children, .. } => {
                pending.push(tree.nodes()[children + 1]);
                pending.push(tree.nodes()[children]);
            }
            NodeKind::Leaf { .. } => all.push(tree.triangles_of(node).collect()),
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn each_triangle_is_stored_once_in_the_order_of_first_occurrence(
        triangles in proptest::collection::vec(corners(), 0..200),
    ) {
        let tree = KdTree::build_sequential(&mesh_of(&triangles), &Parameters::default()).unwrap();
        let mut seen = Vec::new();
        for triangle in leaves(&tree).concat() {
            if !seen.contains(&triangle) {
                seen.push(triangle);
            }
        }
        prop_assert_eq!(&seen, &tree.triangle_ids);
        for (corners, triangle) in tree.corners.iter().zip(seen) {
            prop_assert_eq!(corners, &triangles[triangle as usize]);
        }
    }
}

#[test]
fn no_triangles_make_an_empty_leaf() {
    let tree = KdTree::build_sequential(&Mesh::default(), &Parameters::default()).unwrap();
    assert_eq!(leaves(&tree), [Vec::<u32>::new()]);
    assert_eq!(tree.bounds().extent(), Vec3::ZERO);
    assert_eq!(
        tree,
        KdTree::build(&Mesh::default(), &Parameters::default()).unwrap()
    );
}

#[test]
fn triangles_with_two_equal_corners_are_left_out() {
    let triangles = [
        [[0.0; 3], [0.0; 3], [1.0; 3]],
        [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [[5.0; 3]; 3],
    ];
    let tree = KdTree::build_sequential(&mesh_of(&triangles), &Parameters::default()).unwrap();
    assert_eq!(leaves(&tree).concat(), [1]);
    assert_eq!(tree.bounds().max, Vec3::new(1.0, 1.0, 0.0));
}

#[test]
fn equal_triangles_share_one_leaf() {
    // One fewer than the number from which on duplicates are removed.
    const COUNT: usize = duplicates::RUN_LEN_MIN - 1;
    let triangles = [[[0.0; 3], [1.0, 0.0, 0.5], [0.0, 1.0, 0.25]]; COUNT];
    let tree = KdTree::build_sequential(&mesh_of(&triangles), &Parameters::default()).unwrap();
    let full: Vec<_> = leaves(&tree)
        .into_iter()
        .filter(|leaf| !leaf.is_empty())
        .collect();
    assert!(full.iter().all(|leaf| leaf.len() == COUNT), "{full:?}");
}

#[test]
fn the_first_of_many_equal_triangles_is_kept() {
    let other = [[0.0; 3], [1.0, 0.0, 0.5], [0.0, 1.0, 0.75]];
    let mut triangles = vec![[[0.0; 3], [1.0, 0.0, 0.5], [0.0, 1.0, 0.25]]; 100];
    triangles[0] = other;
    triangles[40] = other;
    let tree = KdTree::build_sequential(&mesh_of(&triangles), &Parameters::default()).unwrap();
    let mut kept = leaves(&tree).concat();
    kept.sort_unstable();
    kept.dedup();
    assert_eq!(kept, [0, 1]);
}

#[test]
fn a_plane_of_triangles_is_split_within_the_plane() {
    let mut triangles = Vec::new();
    for (x, y) in (0..16).flat_map(|x| (0..16).map(move |y| (x as f32, y as f32))) {
        triangles.push([[x, y, 3.0], [x + 1.0, y, 3.0], [x, y + 1.0, 3.0]]);
    }
    let tree = KdTree::build_sequential(&mesh_of(&triangles), &Parameters::default()).unwrap();
    assert!(leaves(&tree).iter().all(|leaf| leaf.len() < 8));
    assert!(tree.statistics().expected_cost.is_finite());
}

#[test]
fn triangles_with_collinear_corners_are_kept() {
    let triangles: Vec<Corners> = (0..50)
        .map(|index| {
            let x = index as f32;
            [[x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], [x + 2.0, 0.0, 0.0]]
        })
        .collect();
    let tree = KdTree::build_sequential(&mesh_of(&triangles), &Parameters::default()).unwrap();
    let all: std::collections::BTreeSet<u32> = leaves(&tree).concat().into_iter().collect();
    assert_eq!(all.len(), 50);
}

#[test]
fn the_tree_is_as_deep_as_the_limit() {
    let triangles: Vec<Corners> = (0..500)
        .map(|index| {
            let [x, y, z] = [7, 31, 101].map(|step| (index * step % 97) as f32);
            [[x, y, z], [x + 1.0, y, z], [x, y + 1.0, z + 1.0]]
        })
        .collect();
    for levels in [0, 1, 5] {
        let parameters = Parameters {
            depth_limit: DepthLimit::At(levels),
            ..Parameters::default()
        };
        let tree = KdTree::build_sequential(&mesh_of(&triangles), &parameters).unwrap();
        assert_eq!(tree.statistics().depth, levels);
    }
}

#[test]
fn errors_name_the_triangle_or_the_parameter() {
    let mesh = Mesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::new(0.0, f32::NAN, 0.0)],
        normals: Vec::new(),
        triangles: vec![[0, 1, 1], [0, 1, 3]],
    };
    let message = |mesh: &Mesh, parameters: &Parameters| {
        KdTree::build(mesh, parameters).unwrap_err().to_string()
    };
    assert_eq!(
        message(&mesh, &Parameters::default()),
        "triangle 1 has vertex 3; expected a vertex below 3"
    );
    let mesh = Mesh {
        triangles: vec![[0, 1, 2]],
        ..mesh
    };
    assert_eq!(
        message(&mesh, &Parameters::default()),
        "triangle 0 has coordinate NaN; expected a magnitude of at most 1e12"
    );
    let parameters = Parameters {
        traversal_cost: f64::NAN,
        ..Parameters::default()
    };
    assert_eq!(
        message(&Mesh::default(), &parameters),
        "traversal cost is NaN; expected a number above 0"
    );
    let parameters = Parameters {
        copies_max: 0.5,
        ..Parameters::default()
    };
    assert_eq!(
        message(&Mesh::default(), &parameters),
        "limit on copies is 0.5; expected a number of at least 1"
    );
}

#[test]
fn statistics_agree_with_the_leaves() {
    let triangles: Vec<Corners> = (0..64)
        .map(|index| {
            let x = 2.0 * index as f32;
            [[x, 0.0, 0.0], [x + 1.0, 0.0, 1.0], [x, 1.0, 0.0]]
        })
        .collect();
    let tree = KdTree::build_sequential(&mesh_of(&triangles), &Parameters::default()).unwrap();
    let statistics = tree.statistics();
    let leaves = leaves(&tree);
    assert_eq!(statistics.leaf_count, leaves.len());
    assert_eq!(statistics.node_count, 2 * leaves.len() - 1);
    assert_eq!(statistics.node_count + 1, tree.nodes().len());
    assert_eq!(statistics.entry_count, leaves.concat().len());
    assert_eq!(
        statistics.leaf_empty_count,
        leaves.iter().filter(|leaf| leaf.is_empty()).count()
    );
    // Cheaper than a single leaf with all triangles.
    assert!(statistics.expected_cost < 64.0 * tree.parameters().intersection_cost);
}
