//! The cells of a volume, as the rays to a surface read them: macrocell by macrocell.
//!
//! A tracer follows rays through the macrocells that may contain a surface. It *enters* such a
//! macrocell, and then reads cells in it. So a source of cells can fetch what a macrocell needs at
//! once, wherever its voxels are.

use crate::volume::cell::Cell;
use crate::volume::macrocells::EDGE;
use crate::volume::occupancy::bit;
use crate::volume::voxels::Voxel;

use raddle_trace::profile::{NoProfile, Profiler};

use super::active::ActiveCells;

/// The place of a macrocell: its position, and its word and bit in the occupancy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeafPlace {
    pub(crate) at: [usize; 3],
    pub(crate) word: usize,
    pub(crate) bit: u32,
}

/// A source of cells.
pub(crate) trait Cells {
    /// The cells of a macrocell.
    type Leaf<'a>: LeafCells
    where
        Self: 'a;
    /// The measurement of the work.
    type Profiler: Profiler;

    /// Returns the profiler of the thread that follows the rays.
    fn profiler(&self) -> &Self::Profiler;

    /// Enters a macrocell.
    fn enter(&self, place: LeafPlace) -> Self::Leaf<'_>;

    /// Returns the cell at a place anywhere in the volume.
    fn cell(&self, at: [usize; 3]) -> Cell;
}

/// The cells of a macrocell.
pub(crate) trait LeafCells {
    /// Returns a bit for each cell that may contain a surface.
    fn active(&self) -> u64;

    /// Returns a cell, or `None` if it contains no surface.
    fn cell(&self, at: [usize; 3]) -> Option<Cell>;
}

/// The cells of a volume that is in memory as one array.
#[derive(Debug)]
pub(crate) struct ArrayCells<'a, T> {
    voxels: &'a [T],
    /// The distances to the next row and the next slice of voxels.
    strides: [usize; 2],
    active: &'a ActiveCells,
}

/// The cells of a macrocell of an array.
#[derive(Debug)]
pub(crate) struct ArrayLeaf<'a, T> {
    voxels: &'a [T],
    strides: [usize; 2],
    active: u64,
}

impl<'a, T> ArrayCells<'a, T> {
    /// Returns the cells of a volume of some size. `active` are those that contain a surface.
    pub(crate) fn new(
        [width, height, _]: [usize; 3],
        voxels: &'a [T],
        active: &'a ActiveCells,
    ) -> Self {
        Self {
            voxels,
            strides: [width, width * height],
            active,
        }
    }
}

impl<T: Voxel> Cells for ArrayCells<'_, T> {
    type Leaf<'b>
        = ArrayLeaf<'b, T>
    where
        Self: 'b;
    type Profiler = NoProfile;

    #[inline(always)]
    fn profiler(&self) -> &NoProfile {
        &NoProfile
    }

    #[inline(always)]
    fn enter(&self, place: LeafPlace) -> ArrayLeaf<'_, T> {
        ArrayLeaf {
            voxels: self.voxels,
            strides: self.strides,
            active: self.active.word(place.word, place.bit),
        }
    }

    #[inline(always)]
    fn cell(&self, at: [usize; 3]) -> Cell {
        read(self.voxels, at, self.strides)
    }
}

impl<T: Voxel> LeafCells for ArrayLeaf<'_, T> {
    #[inline(always)]
    fn active(&self) -> u64 {
        self.active
    }

    #[inline(always)]
    fn cell(&self, at: [usize; 3]) -> Option<Cell> {
        Some(read(self.voxels, at, self.strides))
    }
}

#[inline(always)]
fn read<T: Voxel>(voxels: &[T], [x, y, z]: [usize; 3], strides: [usize; 2]) -> Cell {
    let [width, slice] = strides;
    Cell::read(voxels, x + width * y + slice * z, strides)
}

/// Returns a bit for each cell of a macrocell that is in a volume with this number of cells.
pub(crate) fn cells_inside(leaf: [usize; 3], cells: [usize; 3]) -> u64 {
    let first = leaf.map(|at| EDGE * at);
    let mut mask = 0;
    for index in 0..EDGE * EDGE * EDGE {
        let inner = [index % EDGE, index / EDGE % EDGE, index / (EDGE * EDGE)];
        let at = [0, 1, 2].map(|axis: usize| first[axis] + inner[axis]);
        if (0..3).all(|axis| at[axis] < cells[axis]) {
            mask |= 1 << bit(at);
        }
    }
    mask
}
