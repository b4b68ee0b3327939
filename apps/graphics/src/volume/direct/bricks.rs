//! Values and gradients of the macrocells near the rays of a worker.
//!
//! The rays of a tile pass through the same macrocells, each of them with several samples. So a
//! worker reads the voxels of a macrocell once, computes the gradients at its corners, and keeps
//! both in a brick: four numbers for each of the 5 × 5 × 5 corners of its cells. A sample is then
//! one interpolation of four numbers between eight corners, instead of 32 voxels.
//!
//! The content of a brick depends on the volume only. So a picture does not depend on which bricks
//! a worker has.

use glam::{Vec3, Vec4};

use crate::volume::macrocells::EDGE;
use crate::volume::voxels::Voxel;

#[cfg(test)]
mod tests;

/// The number of corners of cells along an edge.
const CORNERS: usize = EDGE + 1;
/// The number of voxels along an edge that the gradients at the corners need.
const VOXELS: usize = CORNERS + 2;
/// The number of corners of a brick, as a power of two, and those from the first to the last one of
/// a cell.
const LEN: usize = 128;
const CELL_LEN: usize = CORNERS * CORNERS + CORNERS + 2;
/// The places of bricks are the lowest bits of the coordinates of their macrocells.
const PLACE_LOGS: [u32; 3] = [3, 3, 2];
const PLACES: usize = 1 << (PLACE_LOGS[0] + PLACE_LOGS[1] + PLACE_LOGS[2]);
/// The key of a place without a brick.
const NO_KEY: usize = usize::MAX;

/// The middle between 2²³ and 2²⁴: floats around it are the integers.
const INTEGERS: f32 = 12_582_912.0;

/// The bricks of a worker: 256 of them, of which rays use 2 KB each. They fit into the second-level
/// cache.
#[derive(Debug)]
pub(super) struct Bricks {
    has_gradients: bool,
    /// The number of voxels along x, y and z.
    size: [usize; 3],
    /// The index of the macrocell at each place.
    keys: Vec<usize>,
    bricks: Vec<Brick>,
    /// The voxels for a new brick.
    block: Box<Block>,
}

/// The voxels around a macrocell. The last one of each row is not used.
type Block = [[[f32; VOXELS + 1]; VOXELS]; VOXELS];

/// A value and the gradient at each corner of the cells of a macrocell, x fastest.
#[derive(Debug, Clone)]
pub(super) struct Brick {
    /// The coordinates of the first corner.
    pub(super) first: Vec4,
    corners: [Vec4; LEN + CELL_LEN],
}

impl Bricks {
    /// Creates a set without bricks, for a volume with a number of voxels along x, y and z.
    /// Gradients are zero if they are not requested.
    pub(super) fn new(size: [usize; 3], has_gradients: bool) -> Self {
        Self {
            has_gradients,
            size,
            keys: vec![NO_KEY; PLACES],
            bricks: vec![Brick::default(); PLACES],
            block: Box::default(),
        }
    }

    /// Returns the brick of a macrocell. All calls must be with the same voxels.
    #[inline(always)]
    pub(super) fn get<T: Voxel>(&mut self, voxels: &[T], macrocell: [usize; 3]) -> &Brick {
        let [x, y, z] = macrocell;
        let key = (z * self.size[1] + y) * self.size[0] + x;
        let low = |axis: usize| macrocell[axis] % (1 << PLACE_LOGS[axis]);
        let place = ((low(2) << PLACE_LOGS[1] | low(1)) << PLACE_LOGS[0]) | low(0);
        if self.keys[place] != key {
            self.keys[place] = key;
            read_block(&mut self.block, voxels, self.size, macrocell);
            let first = Vec3::from_array(macrocell.map(|index| (EDGE * index) as f32));
            self.bricks[place].first = first.extend(0.0);
            self.bricks[place].fill(&self.block, self.has_gradients);
        }
        &self.bricks[place]
    }
}

impl Default for Brick {
    fn default() -> Self {
        Self {
            first: Vec4::ZERO,
            corners: [Vec4::ZERO; LEN + CELL_LEN],
        }
    }
}

impl Brick {
    /// Computes the values and gradients at all corners.
    fn fill(&mut self, block: &Block, has_gradients: bool) {
        for z in 0..CORNERS {
            for y in 0..CORNERS {
                let row = &block[z + 1][y + 1];
                let (before_y, behind_y) = (&block[z + 1][y], &block[z + 1][y + 2]);
                let (before_z, behind_z) = (&block[z][y + 1], &block[z + 2][y + 1]);
                let corners = &mut self.corners[CORNERS * (CORNERS * z + y)..][..CORNERS];
                for (x, corner) in corners.iter_mut().enumerate() {
                    let x = x + 1;
                    *corner = match has_gradients {
                        true => Vec4::new(
                            row[x],
                            row[x + 1] - row[x - 1],
                            behind_y[x] - before_y[x],
                            behind_z[x] - before_z[x],
                        ),
                        false => Vec4::new(row[x], 0.0, 0.0, 0.0),
                    };
                }
            }
        }
    }

    /// Interpolates the value and the gradient at a point, in voxels from the first corner.
    #[inline(always)]
    pub(super) fn at(&self, point: Vec4) -> Vec4 {
        const LAST: Vec4 = Vec4::splat(3.999_999_8);
        let point = point.max(Vec4::ZERO).min(LAST);
        // The sum is rounded to an integer. A point on a corner may belong to either cell.
        let cell = ((point - 0.5) + INTEGERS) - INTEGERS;
        let [u, v, w, _] = (point - cell).to_array();
        let index = cell.dot(Vec4::new(
            1.0,
            CORNERS as f32,
            (CORNERS * CORNERS) as f32,
            0.0,
        ));
        let index = (index + INTEGERS).to_bits() as usize % LEN;
        let corners = &self.corners[index..index + CELL_LEN];
        let row = |offset: usize| mix(corners[offset], corners[offset + 1], u);
        let slice = |offset: usize| mix(row(offset), row(offset + CORNERS), v);
        mix(slice(0), slice(CORNERS * CORNERS), w)
    }
}

/// Reads the voxels around a macrocell. At the border of the volume, the outermost voxel takes the
/// place of a missing one.
#[inline(never)]
fn read_block<T: Voxel>(block: &mut Block, voxels: &[T], size: [usize; 3], macrocell: [usize; 3]) {
    let first = macrocell.map(|index| EDGE * index);
    let [width, height, _] = size;
    let at =
        |axis: usize, offset: usize| (first[axis] + offset).saturating_sub(1).min(size[axis] - 1);
    let is_inner = first[0] > 0 && first[0] + EDGE + 2 <= width;
    for (z, slice) in block.iter_mut().enumerate() {
        for (y, row) in slice.iter_mut().enumerate() {
            let start = (at(2, z) * height + at(1, y)) * width;
            if is_inner {
                let voxels = &voxels[start + first[0] - 1..][..VOXELS];
                for (number, &voxel) in row.iter_mut().zip(voxels) {
                    *number = voxel.into();
                }
            } else {
                for (x, number) in row.iter_mut().enumerate() {
                    *number = voxels[start + at(0, x)].into();
                }
            }
        }
    }
}

/// Interpolates between two corners.
#[inline(always)]
fn mix(low: Vec4, high: Vec4, share: f32) -> Vec4 {
    low + (high - low) * share
}
