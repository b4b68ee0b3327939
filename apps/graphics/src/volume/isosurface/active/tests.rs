//! Tests of the active cells against their voxels.

use super::*;
use crate::volume::occupancy::{self, Occupancy};

#[test]
fn a_cell_is_active_if_voxels_are_on_both_sides() {
    for size in [[11, 6, 14], [11, 18, 3], [19, 6, 7]] {
        check(size);
    }
}

fn check(size: [usize; 3]) {
    let voxel = |index: usize| (index.wrapping_mul(2_654_435_761) >> 9) as u8 % 9;
    let voxels: Vec<u8> = (0..size.iter().product()).map(voxel).collect();
    let leaf_size = size.map(|len: usize| (len - 1).div_ceil(4));
    let occupancy = Occupancy::of_leaves(leaf_size, |_| true);
    for isovalues in [&[4.0][..], &[0.0], &[0.5], &[8.0], &[8.5], &[2.0, 7.25]] {
        let active = ActiveCells::of(size, &voxels, &occupancy, isovalues);
        let leaves = occupancy.level(0);
        for z in 0..size[2] - 1 {
            for y in 0..size[1] - 1 {
                for x in 0..size[0] - 1 {
                    let corner = |corner: usize| {
                        let (x, y, z) =
                            (x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2));
                        f64::from(voxels[x + size[0] * (y + size[1] * z)])
                    };
                    let expected = isovalues.iter().any(|&isovalue| {
                        let inside = (0..8).filter(|&it| corner(it) >= isovalue).count();
                        inside > 0 && inside < 8
                    });
                    let leaf = [x / 4, y / 4, z / 4];
                    let word = active.word(leaves.index_of(leaf), occupancy::bit(leaf));
                    let found = word >> occupancy::bit([x, y, z]) & 1 == 1;
                    assert_eq!(found, expected, "({x}, {y}, {z}) at {isovalues:?}");
                }
            }
        }
    }
}
