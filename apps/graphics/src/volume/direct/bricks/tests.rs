//! Tests of bricks against voxels and closed forms.

use super::*;

fn at(bricks: &mut Bricks, voxels: &[f32], point: [f32; 3]) -> Vec4 {
    let macrocell = point.map(|it| (it as usize).min(7) / EDGE);
    let brick = bricks.get(voxels, macrocell);
    brick.at(Vec3::from_array(point).extend(0.0) - brick.first)
}

#[test]
fn linear_values_have_their_gradient_inside_and_half_of_it_across_the_border() {
    let size = [6, 7, 8];
    let value = |index: usize| {
        let at = [index % 6, index / 6 % 7, index / 42].map(|at| at as f32);
        2.0 * at[0] + 3.0 * at[1] - at[2]
    };
    let voxels: Vec<f32> = (0..6 * 7 * 8).map(value).collect();
    let mut bricks = Bricks::new(size, true);
    let mut check = |point: [f32; 3], gradient: [f32; 3]| {
        let [x, y, z] = point;
        let expected = Vec3::from_array(gradient);
        let expected = Vec4::new(2.0 * x + 3.0 * y - z, expected.x, expected.y, expected.z);
        let found = at(&mut bricks, &voxels, point);
        assert!(
            (found - expected).abs().max_element() < 1e-5,
            "{point:?} {found}"
        );
    };
    // Differences over two voxels inside, and over one at the border.
    check([2.25, 3.5, 4.75], [4.0, 6.0, -2.0]);
    check([4.0, 4.0, 4.0], [4.0, 6.0, -2.0]);
    check([0.0, 0.0, 0.0], [2.0, 3.0, -1.0]);
    check([5.0, 6.0, 7.0], [2.0, 3.0, -1.0]);
    check([0.5, 3.0, 4.0], [3.0, 6.0, -2.0]);
}

#[test]
fn a_brick_makes_room_for_another_one_and_comes_back() {
    // Macrocells 0 and 8 along x have the same place.
    let size = [40, 2, 2];
    let voxels: Vec<f32> = (0..40 * 4).map(|index| (index % 40) as f32).collect();
    let mut bricks = Bricks::new(size, false);
    for x in [1.5, 33.5, 1.5, 2.5, 38.0] {
        let brick = bricks.get(&voxels, [x as usize / EDGE, 0, 0]);
        let found = brick.at(Vec4::new(x, 0.5, 0.5, 0.0) - brick.first);
        assert_eq!(found, Vec4::new(x, 0.0, 0.0, 0.0));
    }
}

#[test]
fn points_outside_of_a_brick_move_onto_its_border() {
    let voxels = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let mut bricks = Bricks::new([2, 2, 2], false);
    for (point, value) in [([-9.0; 3], 1.0), ([9.0; 3], 8.0), ([f32::NAN; 3], 1.0)] {
        let brick = bricks.get(&voxels, [0; 3]);
        assert_eq!(brick.at(Vec3::from_array(point).extend(0.0)).x, value);
    }
}
