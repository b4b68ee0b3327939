//! Tests of the quick test against the exact one.

use proptest::prelude::*;

use super::*;
use crate::volume::cell::Cell;

fn points() -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0])
}

/// Voxels as floats, or as small integers, for which equality with the isovalue is common.
fn cells() -> impl Strategy<Value = [f64; 8]> {
    prop_oneof![
        prop::array::uniform8(-100.0..100.0),
        prop::array::uniform8(60_000..60_003_u16).prop_map(|voxels| voxels.map(f64::from)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_ray_that_crosses_the_surface_is_kept(
        voxels in cells(), from in points(), to in points(), share in 0.0..=1.0, is_close: bool,
        shifts in prop::array::uniform6(-1.0..=1.0), error in prop_oneof![Just(1e-5), Just(1e-3)]
    ) {
        let cell = Cell(voxels);
        let [low, high] = cell.range();
        // Close to the value at an end, the error decides.
        let isovalue = match is_close {
            true => cell.value(from) - 1e-6 * share * (high - low),
            false => low + share * (high - low),
        };
        let cubic = cell.cubic(from, to, isovalue);
        let sides = [from, to].map(|point| cell.value(point) >= isovalue);
        let shifted = |point: [f64; 3], end: usize| {
            [0, 1, 2].map(|axis: usize| {
                let place: f64 = point[axis] + error * shifts[3 * end + axis];
                Vec4::splat(place.clamp(0.0, 1.0) as f32)
            })
        };
        let ends = [shifted(from, 0), shifted(to, 1)];
        let corners = Corners::new(voxels.map(|it| (it - isovalue) as f32), error as f32);
        let kept = corners.crossed_by(&ends);
        prop_assert!(kept == 0 || kept == 0xF, "equal rays have equal outcomes");
        if cubic.first_change(0.0, sides[0], sides[1]).is_some() {
            prop_assert_eq!(kept, 0xF);
        }
    }
}

#[test]
fn a_ray_far_from_the_surface_is_dropped_and_one_without_a_place_is_kept() {
    let corners = Corners::new([-1.0, -2.0, -1.0, -2.0, -1.0, -2.0, -1.0, 5.0], 1e-4);
    let ends = |x: f32| [0.0, 0.5].map(|at| [Vec4::splat(x), Vec4::splat(at), Vec4::splat(at)]);
    assert_eq!(corners.crossed_by(&ends(0.1)), 0);
    assert_eq!(corners.crossed_by(&ends(f32::NAN)), 0xF);
}
