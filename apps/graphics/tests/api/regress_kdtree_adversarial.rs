//! Regression tests with meshes that made trees slow to build or to traverse: needles, random large
//! triangles and duplicates.
//!
//! - A fan of 250,000 needles took 18 times the CPU time of a tree of depth 12, for hardly a lower
//!   cost of rays: planes cut every needle again and again. The time tripled with every doubling of
//!   the number of needles.
//! - Many random large triangles became one leaf, since no single plane makes rays cheaper there.
//!   Each ray tested all triangles, and rendering took hours without a warning.
//! - A million equal triangles became one leaf too.
//!
//! The tests count references and triangle tests; none measures time.

use glam::Vec3;
use raddle_graphics::kdtree::messages::{MessageBuilder, MessageOptions};
use raddle_graphics::kdtree::{KdTree, Parameters, Prepared};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::ray::Ray;
use raddle_graphics::render::FrameOptions;
use raddle_graphics::render_mesh::{self as render, RenderOptions};
use raddle_graphics::scene::{Scene, generate};

use crate::common::runtime;
use crate::kdtree_support::{nearest_of_all, soup};

/// Returns a generator of random numbers in [0, 1), which are the same for the same seed.
fn numbers(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 24) as f32
    }
}

/// Returns a point on the unit sphere.
fn direction(random: &mut impl FnMut() -> f32) -> Vec3 {
    let (sin, cos) = (std::f32::consts::TAU * random()).sin_cos();
    let height = 2.0 * random() - 1.0;
    let radius = (1.0 - height * height).sqrt();
    Vec3::new(radius * cos, radius * sin, height)
}

/// Creates needles from one point in all directions.
fn needles(count: usize) -> Mesh {
    let mut random = numbers(1);
    soup((0..count).map(|_| {
        let end = direction(&mut random);
        [Vec3::ZERO, end, end + 0.001 * direction(&mut random)]
    }))
}

/// Creates a round fan of needles, in one plane or with a wavy rim.
fn fan(count: usize, height: f32) -> Mesh {
    let rim = |index: usize| {
        let angle = std::f32::consts::TAU * index as f32 / count as f32;
        let (sin, cos) = angle.sin_cos();
        Vec3::new(cos, sin, height * (7.0 * angle).sin())
    };
    soup((0..count).map(|index| [Vec3::ZERO, rim(index), rim(index + 1)]))
}

/// Creates triangles with corners anywhere in a cube.
fn large_triangles(count: usize) -> Mesh {
    let mut random = numbers(2);
    let mut point = || Vec3::new(random(), random(), random());
    soup((0..count).map(|_| [point(), point(), point()]))
}

/// Returns rays from around a mesh to corners of its triangles and to points in its box.
fn rays(mesh: &Mesh, count: usize) -> impl Iterator<Item = Ray> + use<'_> {
    let bounds = mesh.bounds();
    let mut random = numbers(3);
    (0..count).map(move |index| {
        let origin = bounds.center() + bounds.extent().length() * direction(&mut random);
        let target = if index % 2 == 0 {
            mesh.triangle(index * 7919 % mesh.triangles.len())[index % 3]
        } else {
            bounds.min + bounds.extent() * Vec3::new(random(), random(), random())
        };
        Ray::new(origin, target - origin)
    })
}

/// Returns the tree of a mesh. Asserts that all builders give the same tree, and that rays have the
/// hits of the list of triangles.
fn tree_of(mesh: &Mesh) -> KdTree {
    let parameters = Parameters::default();
    let runtime = runtime(2);
    let tree = runtime.install(|| KdTree::build(mesh, &parameters).unwrap());
    let sequential = KdTree::build_sequential(mesh, &parameters).unwrap();
    assert!(tree == sequential, "by tasks and sequentially");
    let builder = MessageBuilder::new(&runtime, MessageOptions::default());
    let built = builder.build(Prepared::new(mesh).unwrap(), &parameters, |_| ());
    assert!(built.unwrap().tree == sequential, "by messages");
    for ray in rays(mesh, 100) {
        let expected = nearest_of_all(mesh, &ray);
        assert_eq!(tree.nearest(&ray), expected, "{ray:?}");
        assert_eq!(tree.is_hit(&ray), expected.is_some(), "{ray:?}");
    }
    tree
}

/// A kind of mesh: its name, and a function that creates one with a given number of triangles.
type Kind = (&'static str, fn(usize) -> Mesh);

#[test]
fn needles_have_a_bounded_number_of_references() {
    let kinds: [Kind; 3] = [
        ("in all directions", needles),
        ("a flat fan", |count| fan(count, 0.0)),
        ("a fan with waves", |count| fan(count, 0.5)),
    ];
    for (kind, needles) in kinds {
        for count in [10_000, 20_000] {
            let statistics = tree_of(&needles(count)).statistics();
            let copies = statistics.entry_count as f64 / count as f64;
            // The bound of 4.7 applies to large cells; small ones copy a little more.
            assert!(copies < 7.0, "{kind}: {copies:.1} references per needle");
        }
    }
}

#[test]
fn without_a_bound_needles_have_many_references() {
    let parameters = Parameters {
        copies_max: f64::INFINITY,
        ..Parameters::default()
    };
    let tree = KdTree::build_sequential(&fan(2_000, 0.0), &parameters).unwrap();
    let statistics = tree.statistics();
    assert!(statistics.entry_count > 100 * 2_000, "{statistics:?}");
}

#[test]
fn the_bound_on_copies_does_not_affect_ordinary_meshes() {
    let unbounded = Parameters {
        copies_max: f64::INFINITY,
        ..Parameters::default()
    };
    for scene in Scene::ALL {
        let mesh = generate(scene, 30_000);
        let tree = KdTree::build_sequential(&mesh, &Parameters::default()).unwrap();
        let other = KdTree::build_sequential(&mesh, &unbounded).unwrap();
        assert!(tree.nodes() == other.nodes(), "{scene}");
        assert!(!tree.statistics().is_slow, "{scene}");
    }
}

#[test]
fn rays_test_a_small_part_of_a_huge_leaf_and_the_tree_is_reported_as_slow() {
    let tests = [10_000, 40_000].map(|count| {
        let statistics = tree_of(&large_triangles(count)).statistics();
        assert_eq!(statistics.leaf_largest, count);
        assert!(statistics.is_slow, "{statistics:?}");
        assert!(
            statistics.tests_per_ray < 0.25 * count as f64,
            "{statistics:?}"
        );
        statistics.tests_per_ray
    });
    // Less than linear: the exponent is about 0.7.
    assert!(tests[1] < 3.2 * tests[0], "{tests:?} tests per ray");
}

/// Returns a mesh with `count` copies of each triangle of another one.
fn copies_of(mesh: &Mesh, count: usize) -> Mesh {
    Mesh {
        triangles: mesh.triangles.repeat(count),
        ..mesh.clone()
    }
}

#[test]
fn a_million_equal_triangles_have_the_tree_and_the_picture_of_one() {
    let one = soup([[Vec3::ZERO, Vec3::X, Vec3::new(0.0, 1.0, 0.5)]]);
    let many = copies_of(&one, 1_000_000);
    let trees = [&one, &many].map(|mesh| KdTree::build(mesh, &Parameters::default()).unwrap());
    assert_eq!(trees[1].nodes(), trees[0].nodes());
    let statistics = trees[1].statistics();
    assert_eq!((statistics.entry_count, statistics.is_slow), (1, false));
    let frame = FrameOptions {
        size: (64, 64),
        ..FrameOptions::default()
    };
    let options = RenderOptions {
        frame,
        ..RenderOptions::default()
    };
    let picture = |mesh: &Mesh, tree: &KdTree| {
        let rendering = render::render(mesh, tree, &options, |_| ()).unwrap();
        (rendering.picture, rendering.report.rays_hit)
    };
    let [one, many] =
        [(&one, &trees[0]), (&many, &trees[1])].map(|(mesh, tree)| picture(mesh, tree));
    assert!(one.1 > 0);
    assert!(one == many, "the pictures differ");
}

#[test]
fn copies_of_a_mesh_cost_rays_nothing() {
    let mesh = generate(Scene::Flake, 500);
    let tree = tree_of(&mesh);
    let copied = copies_of(&mesh, 30);
    let other = tree_of(&copied);
    for ray in rays(&mesh, 500) {
        assert_eq!(other.nearest(&ray), tree.nearest(&ray), "{ray:?}");
    }
    let [of_one, of_many] = [&tree, &other].map(|tree| tree.statistics().tests_per_ray);
    assert!(
        of_many < 2.0 * of_one,
        "{of_many} and {of_one} tests per ray"
    );
}

// Rotated and mirrored copies have their own rounding, and therefore their own hits.
#[test]
fn rotated_copies_are_hit_as_in_the_list() {
    let mesh = generate(Scene::Knot, 200);
    let mut turned = copies_of(&mesh, 60);
    for (index, triangle) in turned.triangles.iter_mut().enumerate() {
        triangle.rotate_left(index % 3);
        if index % 2 == 0 {
            triangle.swap(0, 1);
        }
    }
    tree_of(&turned);
}
