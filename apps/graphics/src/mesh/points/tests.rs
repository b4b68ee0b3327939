//! Offsets are round, and only where they are needed. Broken vertices are errors only where they
//! are used.

use super::*;

const TRIANGLE: [[u32; 3]; 1] = [[0, 1, 2]];

fn points(list: &[[f64; 3]]) -> Points<DVec3> {
    let mut points = Points::new();
    for &values in list {
        points.push(Place::Line(1), values);
    }
    points
}

#[test]
fn a_mesh_near_the_origin_keeps_its_coordinates() {
    let near = [[3.0, 0.1, 0.2], [4.0, 0.0, 0.0], [3.0, 1.0, 0.0]];
    let (positions, offset) = points(&near).finish(&TRIANGLE).expect("a mesh");
    assert_eq!(offset, DVec3::ZERO);
    assert_eq!(positions[0], Vec3::new(3.0, 0.1, 0.2));
}

#[test]
fn a_mesh_moved_by_a_round_number_gets_its_coordinates_back() {
    let near = [[0.25, 0.5, -0.125], [1.75, 0.0, 3.5], [-1.0, 1.0, 0.0625]];
    let (expected, _) = points(&near).finish(&TRIANGLE).expect("a mesh");
    for distance in [
        DVec3::splat(5e5),
        DVec3::new(5e6, -5e5, 0.0),
        DVec3::X * -300.0,
    ] {
        let far = near.map(|point| (DVec3::from_array(point) + distance).to_array());
        let (positions, offset) = points(&far).finish(&TRIANGLE).expect("a mesh");
        assert_eq!(offset, distance);
        assert_eq!(positions, expected);
    }
}

#[test]
fn relative_coordinates_stay_within_bounds() {
    let huge = [[9e11, 0.0, 0.0], [9.9e11, 1e11, 0.0], [7.6e11, 0.0, 1e11]];
    let (positions, offset) = points(&huge).finish(&TRIANGLE).expect("a mesh");
    for (position, point) in positions.iter().zip(huge) {
        let error = (position.as_dvec3() + offset - DVec3::from_array(point)).abs();
        assert!(error.max_element() < 1e6, "{position} {offset}");
    }
}

#[test]
fn an_unused_vertex_does_not_affect_the_offset_and_stays_within_bounds() {
    let far = [
        [9e5, 0.0, 0.0],
        [9e5 + 1.0, 0.0, 0.0],
        [9e5, 1.0, 0.0],
        [-1e12, 0.0, 0.0],
    ];
    let (positions, offset) = points(&far).finish(&TRIANGLE).expect("a mesh");
    assert_eq!(offset, DVec3::X * 9e5);
    assert_eq!(positions[1], Vec3::X);
    assert_eq!(positions[3].x, -COORDINATE_MAX);
}

#[test]
fn a_broken_vertex_is_an_error_only_if_it_is_used() {
    let list = [
        [0.0; 3],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [f64::NAN, 0.0, 0.0],
    ];
    let (positions, _) = points(&list).finish(&TRIANGLE).expect("it is not used");
    assert_eq!(positions[3], Vec3::ZERO);
    let fault = points(&list).finish(&[[0, 1, 3]]).expect_err("it is used");
    assert_eq!(fault.place, Place::Line(1));
    assert!(fault.problem.to_string().starts_with("coordinate NaN"));
}

#[test]
fn a_broken_vertex_is_found_even_if_its_fault_is_not_kept() {
    let mut points = Points::<DVec3>::new();
    for _ in 0..=BROKEN_KEPT_MAX {
        points.push(Place::Line(7), [f64::INFINITY; 3]);
    }
    let last = BROKEN_KEPT_MAX as u32;
    let fault = points.finish(&[[last; 3]]).expect_err("it is used");
    assert_eq!(fault.place, Place::Whole);
    assert!(fault.problem.to_string().contains("vertex 1024"));
}
