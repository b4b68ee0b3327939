//! The opacity and the normal of the voxels in regions with opaque ones.
//!
//! A map is divided into blocks of 4 × 4 × 4 cells. A block with an opaque voxel has a brick: the
//! opacity and the normal of all voxels at the corners of its cells, 5 × 5 × 5, in 8 cache lines.
//! So a ray reads few lines and pages, and the empty parts of a map take nearly no memory.

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

/// The number of voxels along each side of a brick.
const BRICK_EDGE: usize = EDGE + 1;
/// The distance of voxels in a brick along x, y and z.
const STEPS: [usize; 3] = [1, BRICK_EDGE, BRICK_EDGE * BRICK_EDGE];
/// The number of voxels of a brick.
const BRICK_LEN: usize = BRICK_EDGE * STEPS[2];
/// The number of voxels of a brick from the first to the last corner of a cell.
const CELL_LEN: usize = STEPS[0] + STEPS[1] + STEPS[2] + 1;

/// The tables of a density map, without its outermost voxels.
#[derive(Debug)]
pub(super) struct Tables {
    /// The number of voxels along x, y and z.
    pub(super) size: [usize; 3],
    /// The blocks that have a brick.
    pub(super) occupancy: Occupancy,
    /// The number of blocks along x, y and z.
    pub(super) block_size: [usize; 3],
    blocks: Vec<Block>,
    bricks: Vec<Brick>,
}

/// A block of cells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Block {
    /// The cells with an opaque voxel.
    pub(super) cells: u64,
    /// The index of the brick, if there are such cells.
    brick: u32,
}

/// The voxels at the corners of all cells of a block.
#[derive(Debug, Clone)]
#[repr(align(64))]
struct Brick([Shaded; BRICK_LEN]);

/// The opacity of a voxel, from 0 to 255, and the entry for its normal in the table of shades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shaded(u32);

impl Shaded {
    const NONE: Self = Self::new(0, NO_NORMAL);

    const fn new(opacity: u8, normal: u16) -> Self {
        Self((normal as u32) << 8 | opacity as u32)
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
        let map = Map {
            densities,
            size: size_all.map(|len| len - 2),
        };
        let block_size = map.size.map(|len| len.div_ceil(EDGE));
        let mut blocks = vec![Block::default(); block_size.iter().product()];
        let [x, y, _] = block_size;
        let place = |index: usize| [index % x, index / x % y, index / (x * y)];
        raddle::for_each_mut(&mut blocks, |index, block| {
            block.cells = map.cells(place(index));
        });
        let mut places = Vec::new();
        for (index, block) in blocks.iter_mut().enumerate() {
            if block.cells != 0 {
                block.brick = places.len() as u32;
                places.push(place(index));
            }
        }
        let mut bricks = vec![Brick([Shaded::NONE; BRICK_LEN]); places.len()];
        raddle::for_each_mut(&mut bricks, |index, Brick(voxels)| {
            map.for_each_in(places[index], |at, voxel| voxels[at] = map.shaded(voxel));
        });
        let occupancy = Occupancy::of_leaves(block_size, |[x, y, z]| {
            blocks[(z * block_size[1] + y) * block_size[0] + x].cells != 0
        });
        Self {
            size: map.size,
            occupancy,
            block_size,
            blocks,
            bricks,
        }
    }

    /// Returns a block.
    #[inline(always)]
    pub(super) fn block(&self, [x, y, z]: [usize; 3]) -> Block {
        self.blocks[(z * self.block_size[1] + y) * self.block_size[0] + x]
    }

    /// Returns the voxels at the corners of a cell of a block with a brick: first those with the
    /// smaller z, of these first those with the smaller y, and of these first that with the smaller
    /// x.
    #[inline(always)]
    pub(super) fn corners(&self, [x, y, z]: [usize; 3]) -> [Shaded; 8] {
        let block = self.block([x / EDGE, y / EDGE, z / EDGE]);
        let first = x % EDGE + y % EDGE * STEPS[1] + z % EDGE * STEPS[2];
        let voxels = &self.bricks[block.brick as usize].0[first..first + CELL_LEN];
        std::array::from_fn(|corner: usize| {
            voxels[(corner & 1) + (corner >> 1 & 1) * STEPS[1] + (corner >> 2) * STEPS[2]]
        })
    }
}

/// The densities of a map.
#[derive(Debug, Clone, Copy)]
struct Map<'a> {
    /// All densities, x fastest.
    densities: &'a [u8],
    /// The number of voxels along x, y and z, without the outermost ones.
    size: [usize; 3],
}

impl Map<'_> {
    /// Visits the voxels at the corners of the cells of a block: the index in a brick, and that in
    /// the densities. Beyond the map, the last voxels are repeated.
    fn for_each_in(&self, block: [usize; 3], mut visit: impl FnMut(usize, usize)) {
        let [row, slice] = self.steps();
        let along = |axis: usize, at: usize| (EDGE * block[axis] + at).min(self.size[axis] - 1) + 1;
        let mut index = 0;
        for z in 0..BRICK_EDGE {
            for y in 0..BRICK_EDGE {
                let first = along(2, z) * slice + along(1, y) * row;
                for x in 0..BRICK_EDGE {
                    visit(index, first + along(0, x));
                    index += 1;
                }
            }
        }
    }

    /// Returns the distances of voxels along y and z in the densities.
    fn steps(&self) -> [usize; 2] {
        let row = self.size[0] + 2;
        [row, row * (self.size[1] + 2)]
    }

    /// Returns the cells of a block with an opaque voxel, as bits.
    fn cells(&self, block: [usize; 3]) -> u64 {
        let mut is_opaque = [false; BRICK_LEN];
        let mut is_any_opaque = false;
        self.for_each_in(block, |index, voxel| {
            is_opaque[index] = self.densities[voxel] > DENSITY_MIN
                && opacity(self.densities[voxel], square(self.gradient(voxel))) != 0;
            is_any_opaque |= is_opaque[index];
        });
        if !is_any_opaque {
            return 0;
        }
        let len = [0, 1, 2].map(|axis: usize| EDGE.min(self.size[axis] - EDGE * block[axis]));
        let mut cells = 0;
        for z in 0..len[2] {
            for y in 0..len[1] {
                for x in 0..len[0] {
                    let corners = (0..8).any(|corner: usize| {
                        let at = [x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2)];
                        is_opaque[at[0] + at[1] * STEPS[1] + at[2] * STEPS[2]]
                    });
                    cells |= u64::from(corners) << crate::volume::occupancy::bit([x, y, z]);
                }
            }
        }
        cells
    }

    /// Returns opacity and normal of a voxel.
    fn shaded(&self, voxel: usize) -> Shaded {
        let gradient = self.gradient(voxel);
        let square = square(gradient);
        if square > GRADIENT_MIN {
            Shaded::new(opacity(self.densities[voxel], square), entry_of(gradient))
        } else {
            Shaded::NONE
        }
    }

    /// Returns the differences between the voxels on both sides along x, y and z.
    fn gradient(&self, voxel: usize) -> [f32; 3] {
        let [row, slice] = self.steps();
        let density = |at: usize| f32::from(self.densities[at]);
        [1, row, slice].map(|step| density(voxel + step) - density(voxel - step))
    }
}

/// Returns the square of the length of a gradient.
fn square(gradient: [f32; 3]) -> f32 {
    gradient.iter().map(|it| it * it).sum()
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
