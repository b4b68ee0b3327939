//! Every ray has the hit of a loop over all triangles: the same triangle at the same distance, to
//! the last bit.

use std::ops::Range;

use glam::Vec3;
use proptest::prelude::*;
use raddle_graphics::kdtree::{KdTree, Parameters};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::ray::Ray;

use crate::kdtree_support::{nearest_of_all, soup};

fn check(mesh: &Mesh, tree: &KdTree, ray: &Ray) -> Result<(), TestCaseError> {
    let expected = nearest_of_all(mesh, ray);
    prop_assert_eq!(tree.nearest(ray), expected, "{:?}", ray);
    prop_assert_eq!(tree.is_hit(ray), expected.is_some(), "{:?}", ray);
    Ok(())
}

fn point(grid: bool) -> impl Strategy<Value = Vec3> {
    let coordinate = move || {
        if grid {
            (0_i32..=6).prop_map(|value| value as f32 * 0.5).boxed()
        } else {
            (0.0_f32..3.0).boxed()
        }
    };
    [coordinate(), coordinate(), coordinate()].prop_map(Vec3::from_array)
}

/// Generates few triangles of all sizes. On a coarse grid, many share edges, planes and corners.
fn mesh(grid: bool) -> impl Strategy<Value = Mesh> {
    mesh_of(grid, 1..60)
}

fn mesh_of(grid: bool, count: Range<usize>) -> impl Strategy<Value = Mesh> {
    proptest::collection::vec([point(grid), point(grid), point(grid)], count).prop_map(
        move |corners| {
            soup(corners.into_iter().map(|[a, b, c]| {
                let near = |corner: Vec3| if grid { corner } else { a + (corner - a) * 0.3 };
                [a, near(b), near(c)]
            }))
        },
    )
}

/// Generates rays between points. Some pairs of points share coordinates, so that the rays run
/// along planes and edges.
fn rays(grid: bool) -> impl Strategy<Value = Vec<Ray>> {
    let ends = (
        point(grid),
        point(grid),
        0_u32..8,
        prop_oneof![Just(1.0_f32), 0.01_f32..4.0],
    );
    proptest::collection::vec(ends, 1..40).prop_map(|ends| {
        ends.into_iter()
            .filter_map(|(from, mut to, along, length)| {
                for axis in 0..3 {
                    if along >> axis & 1 == 1 {
                        to[axis] = from[axis];
                    }
                }
                let direction = (to - from) * length;
                let origin = from - direction;
                (direction != Vec3::ZERO).then(|| Ray::new(origin, direction))
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn rays_at_scattered_triangles(mesh in mesh(false), rays in rays(false)) {
        let tree = KdTree::build(&mesh, &Parameters::default()).unwrap();
        for ray in rays {
            check(&mesh, &tree, &ray)?;
        }
    }

    #[test]
    fn rays_along_the_planes_of_a_grid(mesh in mesh(true), rays in rays(true)) {
        for empty_bonus in [0.8, 0.1] {
            let traversal_cost = 0.1;
            let parameters = Parameters { empty_bonus, traversal_cost, ..Parameters::default() };
            let tree = KdTree::build(&mesh, &parameters).unwrap();
            for ray in &rays {
                check(&mesh, &tree, ray)?;
                check(&mesh, &tree, &Ray { direction: -ray.direction, ..*ray })?;
            }
        }
    }

    #[test]
    fn rays_at_corners_and_edges(
        mesh in mesh(false),
        origin in point(false),
        share in 0.0_f32..1.0,
    ) {
        let parameters = Parameters { traversal_cost: 0.1, ..Parameters::default() };
        let tree = KdTree::build(&mesh, &parameters).unwrap();
        let origin = origin * 3.0 - 3.0;
        for index in 0..mesh.triangles.len() {
            let [a, b, _] = mesh.triangle(index);
            for target in [a, a + share * (b - a)] {
                prop_assume!(target != origin);
                check(&mesh, &tree, &Ray::new(origin, target - origin))?;
            }
        }
    }

    #[test]
    fn stretches_of_rays(
        mesh in mesh(false),
        from in point(false),
        to in point(false),
        margin in 0.0_f32..0.4,
    ) {
        prop_assume!(from != to);
        let tree = KdTree::build(&mesh, &Parameters::default()).unwrap();
        check(&mesh, &tree, &Ray::between(from, to, margin))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    // If tests are cheap, leaves are large, and rays search them by boxes.
    #[test]
    fn rays_at_large_leaves(
        (mesh, rays) in any::<bool>().prop_flat_map(|grid| (mesh_of(grid, 64..400), rays(grid))),
        intersection_cost in 0.0001_f64..0.1,
    ) {
        let parameters = Parameters { intersection_cost, ..Parameters::default() };
        let tree = KdTree::build_sequential(&mesh, &parameters).unwrap();
        for ray in &rays {
            check(&mesh, &tree, ray)?;
            check(&mesh, &tree, &Ray { direction: -ray.direction, ..*ray })?;
        }
        for index in 0..mesh.triangles.len().min(20) {
            let origin = Vec3::new(7.0, -3.0, 4.5);
            check(&mesh, &tree, &Ray::new(origin, mesh.triangle(index)[0] - origin))?;
        }
    }
}

/// Creates a sheet of squares, two triangles each, at the given height.
fn sheet(edge: u32, height: f32) -> Mesh {
    let at = |x: u32, y: u32| x + y * (edge + 1);
    let mut mesh = Mesh::default();
    for (y, x) in (0..=edge).flat_map(|y| (0..=edge).map(move |x| (y, x))) {
        mesh.positions.push(Vec3::new(x as f32, y as f32, height));
    }
    for (y, x) in (0..edge).flat_map(|y| (0..edge).map(move |x| (y, x))) {
        let corners = [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)];
        mesh.triangles.push([corners[0], corners[1], corners[2]]);
        mesh.triangles.push([corners[0], corners[2], corners[3]]);
    }
    mesh
}

#[test]
fn no_ray_slips_through_a_flat_sheet() {
    let mesh = sheet(12, 0.0);
    let tree = KdTree::build(&mesh, &Parameters::default()).unwrap();
    // Points at the border are left out, since a slanting ray may miss the sheet there.
    for (x, y) in (1..48).flat_map(|x| (1..48).map(move |y| (x as f32 * 0.25, y as f32 * 0.25))) {
        for origin in [
            Vec3::new(x, y, 1.0),
            Vec3::new(3.3, 4.1, 7.7),
            Vec3::new(40.0, 6.0, -3.0),
        ] {
            let ray = Ray::new(origin, Vec3::new(x, y, 0.0) - origin);
            let hit = tree.nearest(&ray);
            assert!(hit.is_some(), "{ray:?}");
            assert_eq!(hit, nearest_of_all(&mesh, &ray), "{ray:?}");
        }
    }
}

#[test]
fn the_first_of_two_identical_triangles_is_hit() {
    let mut mesh = sheet(4, 0.0);
    let copies: Vec<[u32; 3]> = mesh.triangles.clone();
    mesh.triangles.extend(copies);
    let tree = KdTree::build(&mesh, &Parameters::default()).unwrap();
    for index in 0..400 {
        let target = Vec3::new((index % 20) as f32 * 0.2, (index / 20) as f32 * 0.2, 0.0);
        let ray = Ray::new(Vec3::new(2.0, 2.0, 5.0), target - Vec3::new(2.0, 2.0, 5.0));
        let hit = tree.nearest(&ray).unwrap();
        assert!((hit.triangle as usize) < mesh.triangles.len() / 2);
        assert_eq!(Some(hit), nearest_of_all(&mesh, &ray));
    }
}
