//! Equal points share a vertex, in the order of their first appearance.

use glam::Vec3;

use super::*;

#[test]
fn equal_points_share_a_number_and_zeros_have_no_sign() {
    let mut welder = Welder::new();
    assert_eq!(welder.vertex(Vec3::new(0.0, 1.0, 2.0)), Some(0));
    assert_eq!(welder.vertex(Vec3::new(3.0, 1.0, 2.0)), Some(1));
    assert_eq!(welder.vertex(Vec3::new(-0.0, 1.0, 2.0)), Some(0));
    assert_eq!(welder.points.len(), 2);
}

#[test]
fn numbers_survive_the_growth_of_the_table() {
    let mut welder = Welder::new();
    let point = |index: u32| Vec3::new(index as f32, (index % 7) as f32, 0.5);
    for round in 0..2 {
        for index in 0..10_000 {
            assert_eq!(welder.vertex(point(index)), Some(index), "round {round}");
        }
    }
    assert_eq!(welder.points.len(), 10_000);
}
