//! Tests of a ray against a single triangle.

use glam::Vec3;
use proptest::prelude::*;

use super::*;

fn test(ray: &Ray, corners: &Corners) -> Option<TriangleHit> {
    match main_axis(ray) {
        0 => Shear::<0>::new(ray).test(corners, ray.t_min, ray.t_max),
        1 => Shear::<1>::new(ray).test(corners, ray.t_min, ray.t_max),
        _ => Shear::<2>::new(ray).test(corners, ray.t_min, ray.t_max),
    }
}

const UNIT: Corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

#[test]
fn a_hit_contains_distance_and_weights() {
    let ray = Ray::new(Vec3::new(0.25, 0.5, 2.0), Vec3::new(0.0, 0.0, -4.0));
    let hit = test(&ray, &UNIT).unwrap();
    assert_eq!(hit.t, 0.5);
    assert_eq!(hit.weights, [0.25, 0.25, 0.5]);
}

#[test]
fn both_faces_count() {
    let ray = Ray::new(Vec3::new(0.25, 0.5, -2.0), Vec3::Z);
    assert_eq!(test(&ray, &UNIT).unwrap().t, 2.0);
}

#[test]
fn a_triangle_before_or_behind_the_stretch_is_missed() {
    let mut ray = Ray::new(Vec3::new(0.25, 0.25, 1.0), Vec3::NEG_Z);
    ray.t_max = 1.0;
    assert!(test(&ray, &UNIT).is_some());
    ray.t_max = 0.999;
    assert_eq!(test(&ray, &UNIT), None);
    ray.t_max = f32::INFINITY;
    ray.t_min = 1.001;
    assert_eq!(test(&ray, &UNIT), None);
    let away = Ray::new(Vec3::new(0.25, 0.25, 1.0), Vec3::Z);
    assert_eq!(test(&away, &UNIT), None);
}

#[test]
fn a_triangle_seen_from_its_edge_is_missed() {
    let ray = Ray::new(Vec3::new(-1.0, 0.25, 0.0), Vec3::X);
    assert_eq!(test(&ray, &UNIT), None);
}

#[test]
fn corners_and_edges_belong_to_the_triangle() {
    for (x, y) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.5, 0.0)] {
        let ray = Ray::new(Vec3::new(x, y, 1.0), Vec3::NEG_Z);
        assert!(test(&ray, &UNIT).is_some(), "at {x}, {y}");
    }
}

#[test]
fn tiny_and_huge_triangles_are_hit_alike() {
    for scale in [1e-30, 1e-15, 1.0, 1e11] {
        let corners = UNIT.map(|corner| corner.map(|value| value * scale));
        let ray = Ray::new(
            Vec3::new(0.25 * scale, 0.25 * scale, scale),
            Vec3::new(0.0, 0.0, -scale),
        );
        let hit = test(&ray, &corners).expect("a hit at every scale");
        assert!((hit.t - 1.0).abs() < 1e-6, "at scale {scale}: {hit:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn two_triangles_with_a_common_edge_leave_no_gap(
        quad in [[-1.0_f32..1.0, -1.0_f32..1.0, -1.0_f32..1.0], [-1.0..1.0, -1.0..1.0, -1.0..1.0]],
        sides in [-1.0_f32..1.0, -1.0..1.0],
        share in 0.01_f32..0.99,
        eye in [-1.0_f32..1.0, -1.0..1.0],
    ) {
        // The edge from `a` to `b`, and a point on either side of it as seen from the eye. The ray
        // aims at a point of the edge, apart from rounding.
        let [a, b] = quad.map(|[x, y, z]| Vec3::new(x, y, z * 0.5));
        prop_assume!((b - a).truncate().length() > 0.05);
        let across = Vec3::new(a.y - b.y, b.x - a.x, 0.0);
        let middle = (a + b) * 0.5;
        let c = middle + across * 2.0 + Vec3::Z * sides[0] * 0.2;
        let d = middle - across * 2.0 + Vec3::Z * sides[1] * 0.2;
        let origin = Vec3::new(eye[0] * 0.1, eye[1] * 0.1, 50.0) + middle;
        let ray = Ray::new(origin, a + share * (b - a) - origin);
        let [a, b, c, d] = [a, b, c, d].map(|point| point.to_array());
        prop_assert!(test(&ray, &[a, b, c]).is_some() || test(&ray, &[b, a, d]).is_some());
    }

    #[test]
    fn the_weights_and_t_give_the_same_point(
        corners in [
            [-1.0_f32..1.0, -1.0..1.0, -1.0..1.0],
            [-1.0_f32..1.0, -1.0..1.0, -1.0..1.0],
            [-1.0_f32..1.0, -1.0..1.0, -1.0..1.0],
        ],
        weights in [0.1_f32..1.0, 0.1_f32..1.0, 0.1_f32..1.0],
        eye in [-4.0_f32..4.0, -4.0..4.0, -4.0..4.0],
    ) {
        let [a, b, c] = corners.map(Vec3::from_array);
        let sum: f32 = weights.iter().sum();
        let target = (a * weights[0] + b * weights[1] + c * weights[2]) / sum;
        let origin = Vec3::from_array(eye);
        let direction = target - origin;
        // The ray must not lie in the plane of the triangle, where the point could be anywhere
        // along the ray.
        let normal = (b - a).cross(c - a);
        prop_assume!(normal.dot(direction).abs() > 0.05 * direction.length());
        let ray = Ray::new(origin, direction);
        let hit = test(&ray, &corners);
        prop_assert!(hit.is_some());
        let hit = hit.unwrap();
        let by_weights = a * hit.weights[0] + b * hit.weights[1] + c * hit.weights[2];
        prop_assert!((hit.t - 1.0).abs() < 1e-3);
        prop_assert!(by_weights.distance(ray.at(hit.t)) < 1e-3);
        prop_assert!(hit.weights.iter().all(|&weight| weight >= 0.0));
    }
}

/// Generates points with integer coordinates, for which integer arithmetic computes the exact
/// result.
fn integer_points(limit: i64) -> impl Strategy<Value = [i64; 3]> {
    [-limit..=limit, -limit..=limit, -limit..=limit]
}

/// Returns the edge functions of a triangle seen from an origin, times a positive number.
fn exact_edges(origin: [i64; 3], direction: [i64; 3], corners: [[i64; 3]; 3]) -> [i128; 3] {
    let [a, b, c] =
        corners.map(|corner| [0, 1, 2].map(|axis| i128::from(corner[axis] - origin[axis])));
    [(c, b), (a, c), (b, a)].map(|(first, second)| {
        let along = |axis: usize| {
            let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
            i128::from(direction[axis]) * (first[next] * second[last] - first[last] * second[next])
        };
        along(0) + along(1) + along(2)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn the_signs_are_those_of_exact_arithmetic(
        origin in integer_points(100_000),
        corner in integer_points(10_000),
        edges in [integer_points(300), integer_points(300)],
        shares in [0_i64..=64, 0_i64..=64],
        aside in integer_points(2),
    ) {
        // The ray aims next to a point of the triangle's plane, often a point of the border.
        let add = |a: [i64; 3], b: [i64; 3]| [0, 1, 2].map(|axis| a[axis] + b[axis]);
        let [b, c] = edges.map(|edge| add(corner, edge));
        let target = [0, 1, 2].map(|axis| {
            let [first, second] = [0, 1].map(|edge| shares[edge] * edges[edge][axis]);
            corner[axis] + (first + second) / 64 + aside[axis]
        });
        let direction = [0, 1, 2].map(|axis| target[axis] - origin[axis]);
        prop_assume!(direction.iter().map(|along| along.abs()).max() > Some(1000));
        let signs = exact_edges(origin, direction, [corner, b, c]).map(i128::signum);
        let determinant: i128 = exact_edges(origin, direction, [corner, b, c]).iter().sum();
        prop_assume!(determinant != 0);
        let is_hit = !(signs.contains(&-1) && signs.contains(&1));
        let float = |point: [i64; 3]| point.map(|value| value as f32);
        let vector = |point: [i64; 3]| Vec3::from_array(float(point));
        let ray = Ray::new(vector(origin), vector(direction));
        let hit = test(&ray, &[corner, b, c].map(float));
        prop_assert_eq!(hit.is_some(), is_hit, "{:?}", signs);
    }
}
