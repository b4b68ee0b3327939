//! Tests of the bits against the predicate.

use super::*;
use crate::volume::{Macrocells, Volume};

#[test]
fn a_macrocell_is_occupied_if_its_range_is() {
    let size = [70, 23, 40];
    let voxel = |index: usize| (index.wrapping_mul(2_654_435_761) >> 7) as u8 % 251;
    let voxels: Vec<u8> = (0..size.iter().product()).map(voxel).collect();
    // Only a few voxels are above the threshold.
    let voxels: Vec<u8> = voxels
        .into_iter()
        .map(|it| if it == 250 { it } else { 3 })
        .collect();
    let volume = Volume::new(size, voxels).expect("a sound volume");
    let macrocells = Macrocells::of(&volume);
    let occupancy = Occupancy::of(&macrocells, |[_, high]| high > 100);
    let mut count = 0;
    for (level, blocks) in macrocells.levels().iter().enumerate() {
        for (index, range) in blocks.ranges.iter().enumerate() {
            let [width, height, _] = blocks.size;
            let at = [
                index % width,
                index / width % height,
                index / (width * height),
            ];
            assert_eq!(
                occupancy.level(level).get(at),
                range[1] > 100,
                "{level} {at:?}"
            );
            count += u64::from(level == 0 && range[1] > 100);
        }
    }
    assert_eq!(occupancy.leaf_count(), count);
    assert!(count > 10);
}

#[test]
fn positions_are_visited_once_each() {
    let size = [9, 5, 6];
    let is_chosen = |[x, y, z]: [usize; 3]| (x + 2 * y + 3 * z) % 7 == 0;
    let occupancy = Occupancy::of_leaves(size, is_chosen);
    let leaves = occupancy.level(0);
    let mut visited = Vec::new();
    for index in 0..leaves.words().len() {
        leaves.for_each_in(index, |at, bit| {
            assert_eq!(leaves.index_of(at), index);
            assert_eq!(super::bit(at), bit as u32);
            visited.push(at);
        });
    }
    visited.sort_unstable();
    let mut expected = Vec::new();
    for x in 0..size[0] {
        for y in 0..size[1] {
            expected.extend((0..size[2]).map(|z| [x, y, z]).filter(|&at| is_chosen(at)));
        }
    }
    assert_eq!(visited, expected);
    assert!(occupancy.level(1).get([0, 0, 0]));
}
