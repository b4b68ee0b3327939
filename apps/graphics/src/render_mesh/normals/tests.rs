//! Tests of packed normals.

use super::*;

#[test]
fn packing_keeps_directions() {
    for index in 0..10_000 {
        let angle = index as f32;
        let unit = Vec3::new(angle.sin(), (0.7 * angle).cos(), (1.3 * angle).sin()).normalize();
        assert!(Packed::new(unit).get().distance(unit) < 1e-4, "{unit}");
    }
    for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
        assert_eq!(Packed::new(axis).get(), axis);
        assert_eq!(Packed::new(-axis).get(), -axis);
    }
    assert_eq!(Packed::new(Vec3::ZERO).get(), Vec3::ZERO);
}
