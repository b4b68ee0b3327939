//! Tests of the cubic in a cell against the trilinear interpolant.

use proptest::prelude::*;

use super::*;

fn points() -> impl Strategy<Value = [f64; 3]> {
    prop::array::uniform3(prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0])
}

/// Voxels as floats, or as small integers, for which equality with an isovalue is common.
fn cells() -> impl Strategy<Value = Cell> {
    prop_oneof![
        prop::array::uniform8(-100.0..100.0).prop_map(Cell),
        prop::array::uniform8(0..5_u8).prop_map(|voxels| Cell(voxels.map(f64::from))),
    ]
}

/// Finds the first change of side by many small steps.
fn by_steps(cubic: &Cubic, is_inside: bool) -> Option<f64> {
    const STEPS: u32 = 20_000;
    let place = |step: u32| f64::from(step) / f64::from(STEPS);
    (1..STEPS)
        .map(place)
        .find(|&s| (cubic.value(s) >= 0.0) != is_inside)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_cubic_is_the_interpolant_along_the_way(
        cell in cells(), from in points(), to in points(), isovalue in -5.0..5.0, s in 0.0..=1.0
    ) {
        let point = [0, 1, 2].map(|axis: usize| from[axis] + s * (to[axis] - from[axis]));
        let cubic = cell.cubic(from, to, isovalue);
        prop_assert!((cubic.value(s) - (cell.value(point) - isovalue)).abs() < 1e-10);
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_interpolant(cell in cells(), point in points()) {
        const STEP: f64 = 1e-3;
        let gradient = cell.gradient(point);
        for axis in 0..3 {
            // The interpolant is linear along each axis.
            let mut moved = point;
            moved[axis] += STEP;
            let slope = (cell.value(moved) - cell.value(point)) / STEP;
            prop_assert!((gradient[axis] - slope).abs() < 1e-8, "{gradient:?} {slope}");
        }
    }

    #[test]
    fn the_first_change_is_found_exactly(cell in cells(), from in points(), to in points()) {
        let isovalue = 2.0;
        let cubic = cell.cubic(from, to, isovalue);
        let sides = [from, to].map(|point| cell.value(point) >= isovalue);
        let found = cubic.first_change(0.0, sides[0], sides[1]);
        if let Some(s) = found {
            prop_assert!((0.0..=1.0).contains(&s));
            let slope = (cubic.value(s + 1e-6) - cubic.value(s - 1e-6)).abs() / 2e-6;
            prop_assert!(cubic.value(s).abs() <= 1e-9 * (1.0 + slope), "{s}: {}", cubic.value(s));
        }
        if let Some(expected) = by_steps(&cubic, sides[0]) {
            // Rounding decides only about values next to zero.
            let is_close = cubic.value(expected).abs() < 1e-9;
            let is_before = found.is_some_and(|s| s <= expected + 1e-9);
            prop_assert!(is_close || is_before, "{found:?} {expected}");
        }
    }

    #[test]
    fn two_cells_agree_on_their_common_face(
        voxels in prop::array::uniform12(-100.0..100.0_f64), y in 0.0..=1.0, z in 0.0..=1.0
    ) {
        // Three voxels along x, two along y and z.
        let at = |x: usize, y: usize, z: usize| voxels[x + 3 * (y + 2 * z)];
        let cell = |first: usize| {
            let voxel = |corner: usize| at(first + (corner & 1), corner >> 1 & 1, corner >> 2);
            Cell(std::array::from_fn(voxel))
        };
        let (a, b) = (cell(0).value([1.0, y, z]), cell(1).value([0.0, y, z]));
        prop_assert_eq!(a.to_bits(), b.to_bits());
    }

    #[test]
    fn further_changes_follow_each_other(cell in cells(), from in points(), to in points()) {
        let isovalue = 1.5;
        let cubic = cell.cubic(from, to, isovalue);
        let mut is_inside = cell.value(from) >= isovalue;
        let is_inside_at_end = cell.value(to) >= isovalue;
        let (mut place, mut count) = (0.0, 0);
        while let Some(next) = cubic.first_change(place, is_inside, is_inside_at_end) {
            prop_assert!(next >= place);
            (place, is_inside) = (next, !is_inside);
            count += 1;
            if count == 3 {
                break;
            }
        }
        prop_assert!(count <= 3);
    }
}

#[test]
fn a_surface_that_only_touches_from_inside_is_not_crossed() {
    // The value falls to exactly the isovalue in the middle, which is inside.
    let cubic = Cubic([0.0, 4.0, -4.0, 1.0]);
    assert_eq!(cubic.value(0.5), 0.0);
    assert_eq!(cubic.first_change(0.0, true, true), None);
    // From outside, the touch is a crossing.
    let from_outside = Cubic([0.0, -4.0, 4.0, -1.0]);
    let touch = from_outside.first_change(0.0, false, false);
    assert!(touch.is_some_and(|s| (s - 0.5).abs() < 1e-6), "{touch:?}");
}

#[test]
fn two_roots_between_ends_on_one_side_are_found() {
    let cubic = Cubic([0.0, 8.0, -8.0, 1.5]);
    let first = cubic.first_change(0.0, true, true).expect("a root");
    assert!((first - 0.25).abs() < 1e-9);
    let second = cubic.first_change(first, false, true).expect("a root");
    assert!((second - 0.75).abs() < 1e-9);
    assert_eq!(cubic.first_change(second, true, true), None);
}

#[test]
fn the_range_covers_all_voxels() {
    let cell = Cell([3.0, 1.0, 4.0, 1.5, 9.0, 2.0, 6.0, -5.0]);
    assert_eq!(cell.range(), [-5.0, 9.0]);
    let voxels: Vec<u8> = (0..27).collect();
    let read = Cell::read(&voxels, 13, [3, 9]);
    assert_eq!(read.0, [13.0, 14.0, 16.0, 17.0, 22.0, 23.0, 25.0, 26.0]);
}
