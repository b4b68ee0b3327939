//! The division of a volume into bricks: cubes of voxels without overlap.
//!
//! A brick has `edge` voxels along each axis. Bricks at the upper ends of a volume contain padding,
//! so that all have the same number of bytes. The key of a brick counts the bricks of a volume, x
//! fastest. In a brick, the voxels are in the same order, each with its lowest byte first.
//!
//! # Source
//! Parker, Efficient user-level event notification, sections 5.2 and 6.1: bricks of 12³ voxels of
//! two bytes.

use std::ops::Range;

use thiserror::Error;

use super::grid::Grid;
use super::voxels::{Voxel, Voxels, with_voxels};

/// The division of a grid into bricks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrickLayout {
    size: [usize; 3],
    edge: usize,
    /// The number of bricks along x, y and z.
    counts: [usize; 3],
    voxel_bytes: usize,
    /// A number by which a multiplication divides by the edge.
    reciprocal: u64,
}

/// The edge of a brick is out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("bricks with an edge of {0} voxels; expected 1 to {EDGE_MAX}")]
pub struct BrickEdgeError(pub usize);

/// The maximum number of voxels along an edge of a brick.
pub const EDGE_MAX: usize = 256;

impl BrickLayout {
    /// Divides a grid into bricks with an edge of `edge` voxels, of `voxel_bytes` bytes each.
    ///
    /// # Errors
    /// A [`BrickEdgeError`] if the edge is 0 or more than [`EDGE_MAX`].
    pub fn new(grid: &Grid, edge: usize, voxel_bytes: usize) -> Result<Self, BrickEdgeError> {
        if !(1..=EDGE_MAX).contains(&edge) {
            return Err(BrickEdgeError(edge));
        }
        Ok(Self {
            size: grid.size(),
            edge,
            counts: grid.size().map(|len| len.div_ceil(edge)),
            voxel_bytes,
            // Exact for positions and edges below 2³² together, which are below 2²⁴ and 2⁹.
            reciprocal: (1 << 32) / edge as u64 + 1,
        })
    }

    /// Returns the number of voxels along an edge of a brick.
    #[must_use]
    pub const fn edge(&self) -> usize {
        self.edge
    }

    /// Returns the number of bricks along x, y and z.
    #[must_use]
    pub const fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// Returns the number of bricks.
    #[must_use]
    pub fn brick_count(&self) -> u64 {
        self.counts.iter().map(|&count| count as u64).product()
    }

    /// Returns the number of bytes of a brick.
    #[must_use]
    pub const fn brick_bytes(&self) -> usize {
        self.edge * self.edge * self.edge * self.voxel_bytes
    }

    /// Returns the key of the brick at a position among the bricks.
    #[inline]
    #[must_use]
    pub const fn key(&self, [x, y, z]: [usize; 3]) -> u64 {
        (x + self.counts[0] * (y + self.counts[1] * z)) as u64
    }

    /// Returns the range of voxels of a brick along each axis, without padding.
    #[must_use]
    pub fn voxels_of(&self, key: u64) -> [Range<usize>; 3] {
        // The number of bricks fits, because that of the voxels of a grid does.
        let key = key as usize;
        let [width, height, _] = self.counts;
        let at = [key % width, key / width % height, key / (width * height)];
        [0, 1, 2].map(|axis: usize| {
            let first = at[axis] * self.edge;
            first..self.size[axis].min(first + self.edge)
        })
    }

    /// Writes the brick with a key of a volume in memory. The padding is zero.
    ///
    /// # Panics
    /// Panics if there is no such brick, `voxels` are not those of the volume, or `into` has
    /// another length than a brick.
    pub fn write<T: Voxel>(&self, voxels: &[T], key: u64, into: &mut [u8]) {
        assert_eq!(into.len(), self.brick_bytes(), "bytes of a brick");
        let [x, y, z] = self.voxels_of(key);
        into.fill(0);
        for (row, z) in z.enumerate().map(|(at, z)| (at * self.edge, z)) {
            for (row, y) in y.clone().enumerate().map(|(at, y)| (row + at, y)) {
                let first = self.size[0] * (y + self.size[1] * z);
                let voxels = &voxels[first + x.start..first + x.end];
                let row = &mut into[row * self.edge * self.voxel_bytes..];
                for (place, voxel) in row.chunks_exact_mut(self.voxel_bytes).zip(voxels) {
                    voxel.to_bytes(place);
                }
            }
        }
    }

    /// Writes the brick with a key of a volume in memory, as [`write`](Self::write) does.
    ///
    /// # Panics
    /// As for [`write`](Self::write).
    pub fn write_any(&self, voxels: &Voxels, key: u64, into: &mut [u8]) {
        with_voxels!(voxels, list => self.write(list, key, into));
    }

    /// Returns the brick that contains a voxel, as its position among the bricks.
    #[inline]
    pub(crate) fn brick_of(&self, voxel: [usize; 3]) -> [usize; 3] {
        let [x, y, z] = voxel;
        [
            self.brick_along(x),
            self.brick_along(y),
            self.brick_along(z),
        ]
    }

    /// Returns the position of a brick along an axis, for a voxel along this axis.
    #[inline(always)]
    pub(crate) const fn brick_along(&self, voxel: usize) -> usize {
        // A division takes several times as long, and this is done for every macrocell.
        ((voxel as u64 * self.reciprocal) >> 32) as usize
    }

    /// Returns the numbers of bytes from a voxel to the next one along y, and along z.
    #[inline]
    pub(crate) const fn strides(&self) -> [usize; 2] {
        let row = self.edge * self.voxel_bytes;
        [row, self.edge * row]
    }

    /// Returns the offset of a voxel in the bytes of its brick.
    #[inline]
    pub(crate) fn offset_of(&self, voxel: [usize; 3]) -> usize {
        let [x, y, z] = voxel;
        let [x, y, z] = [
            x - self.edge * self.brick_along(x),
            y - self.edge * self.brick_along(y),
            z - self.edge * self.brick_along(z),
        ];
        (x + self.edge * (y + self.edge * z)) * self.voxel_bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::grid::AXIS_MAX;
    use super::*;

    proptest! {
        #[test]
        fn each_voxel_is_in_its_brick(
            size in prop::array::uniform3(2..20_usize),
            edge in 1..25_usize,
        ) {
            let grid = Grid::new(size).expect("valid");
            let layout = BrickLayout::new(&grid, edge, 2).expect("valid");
            let count = size.iter().product();
            let voxels: Vec<i16> = (0..count).map(|index| index as i16 - 300).collect();
            let mut seen = 0;
            for key in 0..layout.brick_count() {
                let mut bytes = vec![9; layout.brick_bytes()];
                layout.write(&voxels, key, &mut bytes);
                let [xs, ys, zs] = layout.voxels_of(key);
                for z in zs {
                    for y in ys.clone() {
                        for x in xs.clone() {
                            let at = [x, y, z];
                            prop_assert_eq!(layout.key(layout.brick_of(at)), key);
                            let voxel = i16::from_bytes(&bytes[layout.offset_of(at)..]);
                            let index = x + size[0] * (y + size[1] * z);
                            prop_assert_eq!(voxel, voxels[index]);
                            seen += 1;
                        }
                    }
                }
                let lens = layout.voxels_of(key).map(|range| range.len());
                let padding = bytes.len() / 2 - lens.iter().product::<usize>();
                let zeros = bytes.chunks_exact(2).filter(|voxel| *voxel == [0, 0]).count();
                prop_assert!(zeros >= padding);
            }
            prop_assert_eq!(seen, count);
        }
    }

    proptest! {
        #[test]
        fn a_multiplication_divides(voxel in 0..AXIS_MAX, edge in 1..=EDGE_MAX) {
            let grid = Grid::new([2; 3]).expect("valid");
            let layout = BrickLayout::new(&grid, edge, 2).expect("valid");
            for voxel in [voxel, voxel / edge * edge, (voxel / edge * edge).saturating_sub(1)] {
                prop_assert_eq!(layout.brick_along(voxel), voxel / edge);
            }
            prop_assert_eq!(layout.brick_along(AXIS_MAX), AXIS_MAX / edge);
        }
    }

    #[test]
    fn edges_out_of_range_are_errors() {
        let grid = Grid::new([10; 3]).expect("valid");
        let error = BrickLayout::new(&grid, 0, 2).expect_err("no voxels");
        let expected = "bricks with an edge of 0 voxels; expected 1 to 256";
        assert_eq!(error.to_string(), expected);
        assert!(BrickLayout::new(&grid, 257, 2).is_err());
    }
}
