//! The opacity and the normal of each voxel, and the regions without opaque voxels.

use super::view::{NO_NORMAL, entry_of};
use crate::volume::macrocells::EDGE;
use crate::volume::occupancy::Occupancy;

/// The density from which voxels may be opaque, and from which they are as opaque as possible.
const DENSITY_MIN: u8 = 96;
const DENSITY_FULL: u8 = 135;
/// The rise of opacity for each density between them.
const DENSITY_RISE: f32 = 1.0 / 40.0;
/// The length of a gradient from which it does not limit opacity.
const GRADIENT_FULL: f32 = 70.0;
/// The square of the shortest gradient with a normal.
const GRADIENT_MIN: f32 = 1e-5;

/// The tables of a density map, without its outermost voxels.
#[derive(Debug)]
pub(super) struct Tables {
    /// The number of voxels along x, y and z.
    pub(super) size: [usize; 3],
    /// The opacity and the normal of each voxel.
    pub(super) voxels: Vec<Shaded>,
    /// The blocks with a cell that has an opaque voxel.
    pub(super) blocks: Occupancy,
    /// The number of blocks along x, y and z.
    pub(super) block_size: [usize; 3],
    /// The cells with an opaque voxel, for each block.
    pub(super) cells: Vec<u64>,
}

/// The opacity of a voxel, from 0 to 255, and the entry for its normal in the table of shades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shaded(u32);

impl Shaded {
    fn new(opacity: u8, normal: u16) -> Self {
        Self(u32::from(normal) << 8 | u32::from(opacity))
    }

    #[inline(always)]
    pub(super) fn opacity(self) -> u8 {
        self.0 as u8
    }

    #[inline(always)]
    pub(super) fn normal(self) -> usize {
        (self.0 >> 8) as usize
    }
}

impl Tables {
    pub(super) fn new(size_all: [usize; 3], densities: &[u8]) -> Self {
        let size = size_all.map(|len| len - 2);
        let [width, height, depth] = size;
        let mut voxels = vec![Shaded::new(0, NO_NORMAL); width * height * depth];
        let slice_len = width * height;
        let mut slices: Vec<_> = voxels.chunks_mut(slice_len).collect();
        raddle::for_each_mut(&mut slices, |z, voxels| {
            let (row, slice) = (size_all[0], size_all[0] * size_all[1]);
            for (index, voxel) in voxels.iter_mut().enumerate() {
                let (x, y) = (index % width, index / width);
                let at = (z + 1) * slice + (y + 1) * row + x + 1;
                let difference =
                    |step: usize| f32::from(densities[at + step]) - f32::from(densities[at - step]);
                let gradient = [difference(1), difference(row), difference(slice)];
                let square = gradient.iter().map(|it| it * it).sum::<f32>();
                if square > GRADIENT_MIN {
                    *voxel = Shaded::new(opacity(densities[at], square), entry_of(gradient));
                }
            }
        });
        let block_size = size.map(|len| len.div_ceil(EDGE));
        let cells = cells(size, block_size, &voxels);
        let blocks = Occupancy::of_leaves(block_size, |[x, y, z]| {
            cells[(z * block_size[1] + y) * block_size[0] + x] != 0
        });
        Self {
            size,
            voxels,
            blocks,
            block_size,
            cells,
        }
    }

    /// Returns the index of a block.
    #[inline(always)]
    pub(super) fn block(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.block_size[1] + y) * self.block_size[0] + x
    }
}

/// Returns the opacity of a voxel with a density and the square of a gradient.
fn opacity(density: u8, square: f32) -> u8 {
    if density <= DENSITY_MIN || square <= 1.0 {
        return 0;
    }
    let by_density = match density >= DENSITY_FULL {
        true => 1.0,
        false => f32::from(density - DENSITY_MIN + 1) * DENSITY_RISE,
    };
    let magnitude = (0.5 * square.sqrt()).trunc();
    let by_gradient = (magnitude / GRADIENT_FULL).min(1.0);
    (255.0 * by_density * by_gradient).round() as u8
}

/// Finds the cells with an opaque voxel: one word for each block.
fn cells(size: [usize; 3], block_size: [usize; 3], voxels: &[Shaded]) -> Vec<u64> {
    let [width, height, depth] = size;
    let is_opaque = |x: usize, y: usize, z: usize| {
        let (x, y, z) = (x.min(width - 1), y.min(height - 1), z.min(depth - 1));
        voxels[(z * height + y) * width + x].opacity() != 0
    };
    let mut cells = vec![0; block_size.iter().product()];
    raddle::for_each_mut(&mut cells, |index, word| {
        let [x, y, _] = block_size;
        let first = [index % x, index / x % y, index / (x * y)].map(|at| at * EDGE);
        let end = [0, 1, 2].map(|axis: usize| size[axis].min(first[axis] + EDGE));
        for z in first[2]..end[2] {
            for y in first[1]..end[1] {
                for x in first[0]..end[0] {
                    let corners = (0..8).any(|corner: usize| {
                        is_opaque(x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2))
                    });
                    let bit = crate::volume::occupancy::bit([x, y, z]);
                    *word |= u64::from(corners) << bit;
                }
            }
        }
    });
    cells
}
