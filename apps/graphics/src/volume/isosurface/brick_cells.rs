//! The cells of a volume in bricks that are shared by the nodes of a program.
//!
//! A macrocell has 5³ voxels, which may be in several bricks. There are two ways to get them
//! ([`BrickFetch`]).
//!
//! An error does not stop the ray: the rest of the volume is empty for it, and the error is kept
//! until it is [asked for](BrickCells::take_error).
//!
//! # Source
//! `getrhos_many` in Parker, Efficient user-level event notification, section 6.2.6: the bricks of
//! a macrocell are requested together.

use std::cell::{Cell as Kept, RefCell};
use std::fmt;

use raddle::net::bricks::{BrickError, BrickReader};

use super::active::active_in_block;
use super::cells::{Cells, LeafCells, LeafPlace, cells_inside};
use crate::volume::bricks::BrickLayout;
use crate::volume::cell::Cell;
use crate::volume::grid::Grid;
use crate::volume::macrocells::EDGE;
use crate::volume::voxels::Voxel;

/// The number of voxels along an edge of a macrocell.
const SIDE: usize = EDGE + 1;
/// The number of voxels of a macrocell.
const BLOCK: usize = SIDE * SIDE * SIDE;

/// The bricks that a ray fetches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BrickFetch {
    /// All bricks of a macrocell that may contain a surface, when a ray enters it. Those that are
    /// not in memory are requested at once.
    #[default]
    Macrocell,
    /// The bricks of a cell, when a ray reaches it.
    Brick,
}

impl BrickFetch {
    /// All ways.
    pub const ALL: [Self; 2] = [Self::Macrocell, Self::Brick];

    /// Returns the name that a command line takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Macrocell => "macrocell",
            Self::Brick => "brick",
        }
    }
}

impl fmt::Display for BrickFetch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The cells of a volume in bricks, for one thread.
pub(crate) struct BrickCells<'a, T> {
    reader: RefCell<&'a mut BrickReader>,
    layout: BrickLayout,
    fetch: BrickFetch,
    /// The number of cells along x, y and z.
    cells: [usize; 3],
    /// The smallest voxels that are inside of each surface.
    thresholds: Vec<T>,
    error: RefCell<Option<BrickError>>,
    entered: Kept<u64>,
}

/// The cells of a macrocell.
pub(crate) enum BrickLeaf<'a, 'r, T> {
    /// Its voxels, and its cells that contain a surface.
    Block {
        voxels: [T; BLOCK],
        first: [usize; 3],
        active: u64,
    },
    /// The source, and its cells that are in the volume.
    Lazy {
        source: &'a BrickCells<'r, T>,
        inside: u64,
    },
}

impl<'r, T: Voxel> BrickCells<'r, T> {
    /// Returns the cells of a volume with this grid, in which surfaces have these values.
    pub(crate) fn new(
        grid: &Grid,
        layout: BrickLayout,
        reader: &'r mut BrickReader,
        fetch: BrickFetch,
        isovalues: &[f64],
    ) -> Self {
        let thresholds = isovalues.iter();
        Self {
            reader: RefCell::new(reader),
            layout,
            fetch,
            cells: grid.size().map(|len| len - 1),
            thresholds: thresholds.filter_map(|&it| T::at_least(it)).collect(),
            error: RefCell::new(None),
            entered: Kept::new(0),
        }
    }

    /// Takes the first error since the last call.
    pub(crate) fn take_error(&self) -> Option<BrickError> {
        self.error.take()
    }

    /// Returns the number of macrocells that rays, or packets of them, have entered.
    pub(crate) fn entered(&self) -> u64 {
        self.entered.get()
    }

    /// Calls `visit` with each brick of the voxels from `first` on, `len` along each axis, and the
    /// part of the voxels that is in it: the first one and their number. Returns false, and keeps
    /// the error, if a brick is not available.
    fn for_each_brick(
        &self,
        first: [usize; 3],
        len: [usize; 3],
        mut visit: impl FnMut(&[u8], [usize; 3], [usize; 3]),
    ) -> bool {
        if self.error.borrow().is_some() {
            return false;
        }
        let edge = self.layout.edge();
        let last = [0, 1, 2].map(|axis: usize| first[axis] + len[axis] - 1);
        let (from, to) = (self.layout.brick_of(first), self.layout.brick_of(last));
        let mut reader = self.reader.borrow_mut();
        for z in from[2]..=to[2] {
            for y in from[1]..=to[1] {
                for x in from[0]..=to[0] {
                    let brick = [x, y, z];
                    let begin = [0, 1, 2].map(|axis: usize| first[axis].max(edge * brick[axis]));
                    let end =
                        [0, 1, 2].map(|axis: usize| (last[axis] + 1).min(edge * (brick[axis] + 1)));
                    let part = [0, 1, 2].map(|axis: usize| end[axis] - begin[axis]);
                    match reader.get(self.layout.key(brick)) {
                        Ok(bytes) => visit(&bytes, begin, part),
                        Err(error) => {
                            *self.error.borrow_mut() = Some(error);
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    /// Requests the bricks of these voxels that are not in memory, all at once.
    fn prefetch(&self, first: [usize; 3], len: [usize; 3]) {
        let last = [0, 1, 2].map(|axis: usize| first[axis] + len[axis] - 1);
        let (from, to) = (self.layout.brick_of(first), self.layout.brick_of(last));
        if from == to || self.error.borrow().is_some() {
            return;
        }
        let mut keys = Vec::new();
        for z in from[2]..=to[2] {
            for y in from[1]..=to[1] {
                keys.extend((from[0]..=to[0]).map(|x| self.layout.key([x, y, z])));
            }
        }
        let mut reader = self.reader.borrow_mut();
        if let Err(error) = reader.prefetch(&keys) {
            *self.error.borrow_mut() = Some(error);
        }
    }

    /// Reads the voxels of a macrocell.
    fn block(&self, leaf: [usize; 3]) -> BrickLeaf<'_, 'r, T> {
        let first = leaf.map(|at| EDGE * at);
        let len = [0, 1, 2].map(|axis: usize| (self.cells[axis] + 1 - first[axis]).min(SIDE));
        if self.reader.borrow().has_latency() {
            self.prefetch(first, len);
        }
        let mut voxels = [T::LOWEST; BLOCK];
        let layout = self.layout;
        let is_whole = self.for_each_brick(first, len, |bytes, begin, part| {
            let inner = [0, 1, 2].map(|axis: usize| begin[axis] - first[axis]);
            for z in 0..part[2] {
                for y in 0..part[1] {
                    let from = layout.offset_of([begin[0], begin[1] + y, begin[2] + z]);
                    let to = inner[0] + SIDE * (inner[1] + y + SIDE * (inner[2] + z));
                    let row = bytes[from..].chunks_exact(size_of::<T>());
                    for (place, voxel) in voxels[to..to + part[0]].iter_mut().zip(row) {
                        *place = T::from_bytes(voxel);
                    }
                }
            }
        });
        let active = match is_whole {
            true => active_in_block(&voxels, len, &self.thresholds),
            false => 0,
        };
        BrickLeaf::Block {
            voxels,
            first,
            active,
        }
    }

    /// Reads the voxels of a cell.
    fn read(&self, at: [usize; 3]) -> Option<[T; 8]> {
        let mut voxels = [T::LOWEST; 8];
        let layout = self.layout;
        let is_whole = self.for_each_brick(at, [2; 3], |bytes, begin, part| {
            for z in begin[2]..begin[2] + part[2] {
                for y in begin[1]..begin[1] + part[1] {
                    for x in begin[0]..begin[0] + part[0] {
                        let corner = (x - at[0]) + 2 * (y - at[1]) + 4 * (z - at[2]);
                        voxels[corner] = T::from_bytes(&bytes[layout.offset_of([x, y, z])..]);
                    }
                }
            }
        });
        is_whole.then_some(voxels)
    }
}

impl<'r, T: Voxel> Cells for BrickCells<'r, T> {
    type Leaf<'b>
        = BrickLeaf<'b, 'r, T>
    where
        Self: 'b;

    #[inline]
    fn enter(&self, place: LeafPlace) -> BrickLeaf<'_, 'r, T> {
        self.entered.set(self.entered.get() + 1);
        match self.fetch {
            BrickFetch::Macrocell => self.block(place.at),
            BrickFetch::Brick => BrickLeaf::Lazy {
                source: self,
                inside: cells_inside(place.at, self.cells),
            },
        }
    }

    fn cell(&self, at: [usize; 3]) -> Cell {
        let voxels = self.read(at).unwrap_or([T::LOWEST; 8]);
        Cell(voxels.map(Voxel::value))
    }
}

impl<T: Voxel> LeafCells for BrickLeaf<'_, '_, T> {
    #[inline(always)]
    fn active(&self) -> u64 {
        match self {
            Self::Block { active, .. } => *active,
            Self::Lazy { inside, .. } => *inside,
        }
    }

    #[inline(always)]
    fn cell(&self, at: [usize; 3]) -> Option<Cell> {
        match self {
            Self::Block { voxels, first, .. } => {
                let [x, y, z] = [0, 1, 2].map(|axis: usize| at[axis] - first[axis]);
                Some(Cell::read(
                    voxels,
                    x + SIDE * (y + SIDE * z),
                    [SIDE, SIDE * SIDE],
                ))
            }
            Self::Lazy { source, .. } => {
                let voxels = source.read(at)?;
                let is_active = |threshold: &T| {
                    let inside = voxels.iter().filter(|&voxel| voxel >= threshold).count();
                    (1..voxels.len()).contains(&inside)
                };
                let is_active = source.thresholds.iter().any(is_active);
                is_active.then(|| Cell(voxels.map(Voxel::value)))
            }
        }
    }
}
