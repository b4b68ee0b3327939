//! Triangulated polygons keep their area, their orientation and their corners.

use glam::Vec3;
use proptest::prelude::*;

use super::*;

fn triangulate(positions: &[Vec3]) -> Vec<[u32; 3]> {
    let corners: Vec<u32> = (0..positions.len() as u32).collect();
    let mut triangles = Vec::new();
    Triangulator::default()
        .triangulate(&corners, positions, |triangle| triangles.push(triangle))
        .expect("few corners");
    triangles
}

fn area(positions: &[Vec3], [a, b, c]: [u32; 3]) -> f32 {
    let [a, b, c] = [a, b, c].map(|corner| positions[corner as usize].truncate());
    (b - a).perp_dot(c - a) / 2.0
}

fn flat(points: &[[f32; 2]]) -> Vec<Vec3> {
    points.iter().map(|&[x, y]| Vec3::new(x, y, 0.0)).collect()
}

/// Asserts that the triangles fill a polygon of area `expected` without overlap.
fn assert_fills(positions: &[Vec3], expected: f32) {
    let triangles = triangulate(positions);
    assert_eq!(triangles.len(), positions.len() - 2);
    let areas: Vec<f32> = triangles.iter().map(|&it| area(positions, it)).collect();
    assert!(areas.iter().all(|&area| area >= 0.0), "reversed: {areas:?}");
    let sum: f32 = areas.iter().sum();
    assert!(
        (sum - expected).abs() < 1e-4 * expected,
        "{sum}, not {expected}"
    );
}

#[test]
fn convex_polygons_become_fans() {
    let square = flat(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    assert_eq!(triangulate(&square), [[0, 1, 2], [0, 2, 3]]);
    assert_fills(&square, 1.0);
}

#[test]
fn a_quad_with_a_notch_is_divided_at_the_notch() {
    for turn in 0..4 {
        let mut arrow = flat(&[[0.0, 0.0], [2.0, -2.0], [1.0, 0.0], [2.0, 2.0]]);
        arrow.rotate_left(turn);
        assert_fills(&arrow, 2.0);
    }
}

#[test]
fn a_comb_fills_its_own_area() {
    let comb = flat(&[
        [0.0, 0.0],
        [5.0, 0.0],
        [5.0, 2.0],
        [4.0, 2.0],
        [4.0, 1.0],
        [3.0, 1.0],
        [3.0, 2.0],
        [2.0, 2.0],
        [2.0, 1.0],
        [1.0, 1.0],
        [1.0, 2.0],
        [0.0, 2.0],
    ]);
    assert_fills(&comb, 8.0);
}

#[test]
fn a_polygon_with_collinear_corners_is_filled() {
    let square = flat(&[
        [0.0, 0.0],
        [1.0, 0.0],
        [2.0, 0.0],
        [2.0, 2.0],
        [1.0, 1.0],
        [0.0, 2.0],
    ]);
    assert_fills(&square, 3.0);
}

#[test]
fn a_pentagram_and_other_broken_polygons_still_give_their_number_of_triangles() {
    let star = |index: f32| {
        let angle = index * 4.0 * std::f32::consts::PI / 5.0;
        Vec3::new(angle.cos(), angle.sin(), 0.0)
    };
    let pentagram: Vec<Vec3> = (0..5).map(|index| star(index as f32)).collect();
    assert_eq!(triangulate(&pentagram).len(), 3);
    assert_eq!(triangulate(&[Vec3::ONE; 6]).len(), 4);
    let bow_tie = flat(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]);
    assert_eq!(triangulate(&bow_tie).len(), 2);
}

#[test]
fn the_orientation_of_the_polygon_is_kept_on_every_plane() {
    let notched = [[0.0, 0.0], [2.0, -2.0], [1.0, 0.0], [2.0, 2.0], [-1.0, 0.5]];
    let planes: [fn([f32; 2]) -> Vec3; 6] = [
        |[a, b]| Vec3::new(a, b, 0.0),
        |[a, b]| Vec3::new(b, a, 0.0),
        |[a, b]| Vec3::new(0.0, a, b),
        |[a, b]| Vec3::new(0.0, b, a),
        |[a, b]| Vec3::new(b, 0.0, a),
        |[a, b]| Vec3::new(a, 0.0, b),
    ];
    for (number, plane) in planes.into_iter().enumerate() {
        let positions: Vec<Vec3> = notched.iter().map(|&point| plane(point)).collect();
        let normals: Vec<Vec3> = triangulate(&positions)
            .into_iter()
            .map(|triangle| {
                let [a, b, c] = triangle.map(|corner| positions[corner as usize]);
                (b - a).cross(c - a)
            })
            .collect();
        assert!(
            normals.iter().all(|normal| normal.dot(normals[0]) > 0.0),
            "plane {number}: {normals:?}"
        );
    }
}

// Regression: the corners of such a polygon used to be cut off in their order, and the resulting
// slivers kept the kd-tree busy for half a minute.
#[test]
fn a_polygon_that_would_take_hours_is_rejected_before_any_triangle() {
    let corners: Vec<u32> = (0..60_000).collect();
    let zigzag: Vec<Vec3> = corners
        .iter()
        .map(|&index| {
            let angle = index as f32 * (2.0 * std::f32::consts::PI / 60_000.0);
            let radius = 1.0 + 0.5 * (1.7 * index as f32).sin();
            Vec3::new(radius * angle.cos(), radius * angle.sin(), 0.0)
        })
        .collect();
    let outcome =
        Triangulator::default().triangulate(&corners, &zigzag, |triangle| panic!("{triangle:?}"));
    let TooComplex { reflex_count } = outcome.expect_err("too many corners");
    assert!((20_000..40_000).contains(&reflex_count), "{reflex_count}");
}

proptest! {
    #[test]
    fn star_shaped_polygons_are_filled(radii in prop::collection::vec(0.2_f32..2.0, 3..40)) {
        let step = 2.0 * std::f32::consts::PI / radii.len() as f32;
        let positions: Vec<Vec3> = radii
            .iter()
            .enumerate()
            .map(|(index, radius)| {
                let angle = index as f32 * step;
                Vec3::new(angle.cos(), angle.sin(), 0.0) * *radius
            })
            .collect();
        let doubled: f32 = positions
            .iter()
            .zip(positions.iter().cycle().skip(1))
            .map(|(a, b)| a.truncate().perp_dot(b.truncate()))
            .sum();
        prop_assume!(doubled > 0.0);
        assert_fills(&positions, doubled / 2.0);
    }

    #[test]
    fn the_triangles_of_any_polygon_are_two_fewer_and_use_every_corner(
        points in prop::collection::vec((-3_i8..3, -3_i8..3, -3_i8..3), 3..30)
    ) {
        let positions: Vec<Vec3> = points
            .iter()
            .map(|&(x, y, z)| Vec3::new(x.into(), y.into(), z.into()))
            .collect();
        let triangles = triangulate(&positions);
        prop_assert_eq!(triangles.len(), positions.len() - 2);
        let mut used = vec![false; positions.len()];
        for corner in triangles.iter().flatten() {
            used[*corner as usize] = true;
        }
        prop_assert!(used.iter().all(|&used| used));
    }
}
