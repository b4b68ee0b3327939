//! Tests of the ranges against all voxels of their blocks.

use super::*;
use crate::volume::{Volume, Voxels};

/// Returns voxels that depend on their index in an irregular way.
fn scattered(size: [usize; 3]) -> Vec<u32> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    (0..size.iter().product()).map(|_| next()).collect()
}

fn check(size: [usize; 3], voxels: impl Into<Voxels>, tolerance: f64) {
    let volume = Volume::new(size, voxels).expect("a sound volume");
    let macrocells = Macrocells::of(&volume);
    let scale = macrocells.scale();
    for (level, blocks) in macrocells.levels().iter().enumerate() {
        let edge = 4_usize << (2 * level);
        assert_eq!(blocks.size, size.map(|len| (len - 1).div_ceil(edge)));
        for (index, &[low, high]) in blocks.ranges.iter().enumerate() {
            let [width, height, _] = blocks.size;
            let at = [
                index % width,
                index / width % height,
                index / (width * height),
            ];
            let [x, y, z] = [0, 1, 2]
                .map(|axis: usize| edge * at[axis]..=(edge * (at[axis] + 1)).min(size[axis] - 1));
            let mut range = [f64::INFINITY, f64::NEG_INFINITY];
            for z in z {
                for y in y.clone() {
                    for x in x.clone() {
                        let value = volume.value([x, y, z]);
                        range = [range[0].min(value), range[1].max(value)];
                    }
                }
            }
            let (low, high) = (scale.value(low), scale.value(high));
            assert!(
                low <= range[0] && range[0] - low <= tolerance,
                "{low} {range:?}"
            );
            assert!(
                high >= range[1] && high - range[1] <= tolerance,
                "{high} {range:?}"
            );
        }
    }
}

#[test]
fn integers_have_exact_ranges() {
    for size in [[2, 2, 2], [5, 9, 6], [17, 20, 70]] {
        let numbers = scattered(size);
        check(
            size,
            numbers.iter().map(|&it| it as u8).collect::<Vec<_>>(),
            0.0,
        );
        check(
            size,
            numbers.iter().map(|&it| it as i8).collect::<Vec<_>>(),
            0.0,
        );
        check(
            size,
            numbers.iter().map(|&it| it as u16).collect::<Vec<_>>(),
            0.0,
        );
        check(
            size,
            numbers.iter().map(|&it| it as i16).collect::<Vec<_>>(),
            0.0,
        );
    }
}

#[test]
fn ranges_of_floats_are_rounded_outwards() {
    let size = [18, 11, 33];
    let floats = |scale: f32| -> Vec<f32> {
        scattered(size)
            .into_iter()
            .map(|it| (it as f32 - 30_000.0) * scale)
            .collect()
    };
    check(size, floats(1e-3), 66.0 / 65_535.0 * 1.01);
    check(size, floats(1e30), 6.6e34 / 65_535.0 * 1.01);
    check(size, vec![4.25_f32; size.iter().product()], 0.0);
}

#[test]
fn the_range_of_the_volume_is_exact() {
    let volume = Volume::new([2, 3, 2], (3..15_u8).collect::<Vec<_>>()).expect("a sound volume");
    let macrocells = Macrocells::of(&volume);
    assert_eq!(macrocells.range(), [3.0, 14.0]);
    assert_eq!(macrocells.bytes(), 3 * 4);
}

#[test]
fn the_highest_value_is_not_above_the_highest_level() {
    for high in [1.7_f32, 0.1, 3.3, 1e-30, 7e20, 12345.678] {
        let volume = Volume::new([2; 3], vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, high]);
        let macrocells = Macrocells::of(&volume.expect("a sound volume"));
        let level = macrocells.scale().level(f64::from(high));
        assert!(level <= 65_535.0, "{high}: {level}");
    }
}
