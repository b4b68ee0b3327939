//! The test of one triangle.

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
fn a_hit_tells_distance_and_weights() {
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
fn what_lies_before_or_behind_the_stretch_is_missed() {
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
        // The edge from `a` to `b`, and a point on either side of it as seen from the eye; the ray aims at a
        // point of the edge as well as rounding lets it.
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
    fn the_weights_give_the_point_that_t_gives(
        corners in [[-1.0_f32..1.0, -1.0..1.0, -1.0..1.0], [-1.0_f32..1.0, -1.0..1.0, -1.0..1.0], [-1.0_f32..1.0, -1.0..1.0, -1.0..1.0]],
        weights in [0.1_f32..1.0, 0.1_f32..1.0, 0.1_f32..1.0],
        eye in [-4.0_f32..4.0, -4.0..4.0, -4.0..4.0],
    ) {
        let [a, b, c] = corners.map(Vec3::from_array);
        let sum: f32 = weights.iter().sum();
        let target = (a * weights[0] + b * weights[1] + c * weights[2]) / sum;
        let origin = Vec3::from_array(eye);
        let direction = target - origin;
        // Not from the edge: there the point is anywhere along the ray.
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
