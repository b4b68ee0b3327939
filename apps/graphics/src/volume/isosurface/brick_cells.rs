//! The cells of a volume in bricks that are shared by the nodes of a program.
//!
//! A macrocell has 5³ voxels, which may be in several bricks. There are two ways to get them
//! ([`BrickFetch`]). A thread keeps the voxels of the last macrocells that it has entered: the rays
//! of a tile enter most macrocells several times.
//!
//! An error does not stop the ray: the rest of the volume is empty for it, and the error is kept
//! until it is [asked for](BrickCells::take_error).
//!
//! # Source
//! `getrhos_many` in Parker, Efficient user-level event notification, section 6.2.6: the bricks of
//! a macrocell are requested together.

use std::any::Any;
use std::cell::{Cell as Kept, RefCell};
use std::fmt;

use raddle::net::bricks::{BrickError, BrickReader};
use raddle_trace::profile::{NoProfile, Profiler};

use super::active::active_in_block;
use super::cells::{Cells, LeafCells, LeafPlace, cells_inside};
use super::functions::{ENTER, READ_MACROCELL};
use crate::volume::bricks::BrickLayout;
use crate::volume::cell::Cell;
use crate::volume::grid::Grid;
use crate::volume::macrocells::EDGE;
use crate::volume::voxels::{Voxel, VoxelKind};

/// The number of voxels along an edge of a macrocell.
const SIDE: usize = EDGE + 1;
/// The number of voxels of a macrocell.
const BLOCK: usize = SIDE * SIDE * SIDE;
/// The number of macrocells that a thread keeps. A tile of 64 × 64 pixels rarely needs more.
const KEPT: usize = 1 << 10;

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

/// The access of one thread to the voxels of a volume in bricks. The profiler measures the work of
/// the thread.
#[derive(Debug)]
pub struct BrickAccess<P = NoProfile> {
    profiler: P,
    reader: BrickReader,
    layout: BrickLayout,
    kind: VoxelKind,
    fetch: BrickFetch,
    /// The [`KeptBlocks`] of the type of the voxels.
    kept: Box<dyn Any + Send>,
}

impl<P: Profiler> BrickAccess<P> {
    /// Returns the access to the bricks of `reader`, which are divided by `layout` and have voxels
    /// of this type.
    ///
    /// # Panics
    /// If the bricks have another number of bytes than those of the layout.
    #[must_use]
    pub fn new(
        reader: BrickReader,
        layout: BrickLayout,
        kind: VoxelKind,
        fetch: BrickFetch,
        profiler: P,
    ) -> Self {
        let found = reader.bricks().options().brick_bytes;
        assert_eq!(found, layout.brick_bytes(), "bytes of a brick");
        Self {
            profiler,
            reader,
            layout,
            kind,
            fetch,
            kept: Box::new(()),
        }
    }

    /// Returns the reader of the bricks.
    #[must_use]
    pub const fn reader(&mut self) -> &mut BrickReader {
        &mut self.reader
    }

    /// Returns the profiler.
    #[must_use]
    pub const fn profiler(&self) -> &P {
        &self.profiler
    }

    /// Returns the reader and the profiler.
    pub const fn parts(&mut self) -> (&mut BrickReader, &P) {
        (&mut self.reader, &self.profiler)
    }

    /// Returns the reader and the profiler, and ends the access.
    #[must_use]
    pub fn into_parts(self) -> (BrickReader, P) {
        (self.reader, self.profiler)
    }

    /// Returns the type of the voxels.
    #[must_use]
    pub const fn kind(&self) -> VoxelKind {
        self.kind
    }
}

/// The macrocells that a thread has entered last, each at the place that its index selects.
struct KeptBlocks<T> {
    thresholds: Vec<T>,
    blocks: Box<[KeptBlock<T>]>,
}

#[derive(Clone)]
struct KeptBlock<T> {
    /// The macrocell, or a position that no volume has.
    leaf: [usize; 3],
    active: u64,
    voxels: [T; BLOCK],
}

impl<T: Voxel> KeptBlocks<T> {
    const NONE: [usize; 3] = [usize::MAX; 3];

    fn new() -> Self {
        let none = KeptBlock {
            leaf: Self::NONE,
            active: 0,
            voxels: [T::LOWEST; BLOCK],
        };
        Self {
            thresholds: Vec::new(),
            blocks: vec![none; KEPT].into(),
        }
    }

    /// Keeps only macrocells of which the cells with these surfaces are known.
    fn begin(&mut self, thresholds: &[T]) {
        if self.thresholds != thresholds {
            self.thresholds = thresholds.to_vec();
            for block in &mut self.blocks {
                block.leaf = Self::NONE;
            }
        }
    }
}

/// Returns the index of the place for a macrocell. Neighbours have different places.
const fn place_of([x, y, z]: [usize; 3]) -> usize {
    let index = (x & 15) | (y & 15) << 4 | (z & 3) << 8;
    (index ^ ((z >> 2) * 0x155)) & (KEPT - 1)
}

/// The cells of a volume in bricks, for one thread and one part of a picture.
pub(crate) struct BrickCells<'a, T, P> {
    profiler: &'a P,
    reader: RefCell<&'a mut BrickReader>,
    kept: RefCell<&'a mut KeptBlocks<T>>,
    layout: BrickLayout,
    fetch: BrickFetch,
    /// The number of cells along x, y and z.
    cells: [usize; 3],
    error: RefCell<Option<BrickError>>,
    entered: Kept<u64>,
    reused: Kept<u64>,
}

/// The cells of a macrocell.
pub(crate) enum BrickLeaf<'a, 'r, T, P> {
    /// Its voxels, and its cells that contain a surface.
    Block {
        voxels: [T; BLOCK],
        first: [usize; 3],
        active: u64,
    },
    /// The source, and its cells that are in the volume.
    Lazy {
        source: &'a BrickCells<'r, T, P>,
        inside: u64,
    },
}

impl<'r, T: Voxel, P: Profiler> BrickCells<'r, T, P> {
    /// Returns the cells of a volume with this grid, in which surfaces have these values.
    pub(crate) fn new(grid: &Grid, access: &'r mut BrickAccess<P>, isovalues: &[f64]) -> Self {
        if !access.kept.is::<KeptBlocks<T>>() {
            access.kept = Box::new(KeptBlocks::<T>::new());
        }
        let kept = access.kept.downcast_mut::<KeptBlocks<T>>();
        let kept = kept.expect("it was made above");
        // The smallest voxels that are inside of each surface.
        let thresholds: Vec<T> = isovalues.iter().filter_map(|&it| T::at_least(it)).collect();
        kept.begin(&thresholds);
        Self {
            profiler: &access.profiler,
            reader: RefCell::new(&mut access.reader),
            kept: RefCell::new(kept),
            layout: access.layout,
            fetch: access.fetch,
            cells: grid.size().map(|len| len - 1),
            error: RefCell::new(None),
            entered: Kept::new(0),
            reused: Kept::new(0),
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

    /// Returns the number of those that were kept since an earlier ray.
    pub(crate) fn reused(&self) -> u64 {
        self.reused.get()
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
        let (mut from, mut to) = ([0; 3], [0; 3]);
        for axis in 0..3 {
            from[axis] = self.layout.brick_along(first[axis]);
            to[axis] = self.layout.brick_along(first[axis] + len[axis] - 1);
        }
        let mut reader = self.reader.borrow_mut();
        // The first voxel of a brick along an axis, and the number of voxels of the block in it.
        let part = |axis: usize, brick: usize| {
            let begin = first[axis].max(edge * brick);
            (
                begin,
                (first[axis] + len[axis]).min(edge * (brick + 1)) - begin,
            )
        };
        for z in from[2]..=to[2] {
            let (begin_z, len_z) = part(2, z);
            for y in from[1]..=to[1] {
                let (begin_y, len_y) = part(1, y);
                for x in from[0]..=to[0] {
                    let (begin_x, len_x) = part(0, x);
                    let key = self.layout.key([x, y, z]);
                    match reader.get_profiled(key, self.profiler) {
                        Ok(bytes) => {
                            visit(&bytes, [begin_x, begin_y, begin_z], [len_x, len_y, len_z])
                        }
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
        if let Err(error) = reader.prefetch_profiled(&keys, self.profiler) {
            *self.error.borrow_mut() = Some(error);
        }
    }

    /// Returns the voxels of a macrocell.
    fn block(&self, leaf: [usize; 3]) -> BrickLeaf<'_, 'r, T, P> {
        let mut kept = self.kept.borrow_mut();
        let kept = &mut **kept;
        let place = place_of(leaf);
        let is_kept = kept.blocks[place].leaf == leaf;
        if is_kept {
            self.reused.set(self.reused.get() + 1);
        } else {
            self.read_block(leaf, kept);
        }
        let KeptBlock { voxels, active, .. } = &kept.blocks[place];
        BrickLeaf::Block {
            voxels: *voxels,
            first: leaf.map(|at| EDGE * at),
            active: *active,
        }
    }

    /// Reads the voxels of a macrocell. If they are not available, it counts as empty, and is not
    /// kept.
    fn read_block(&self, leaf: [usize; 3], kept: &mut KeptBlocks<T>) {
        let _call = self.profiler.call(&READ_MACROCELL);
        let first = leaf.map(|at| EDGE * at);
        let len = [0, 1, 2].map(|axis: usize| (self.cells[axis] + 1 - first[axis]).min(SIDE));
        if self.reader.borrow().has_latency() {
            self.prefetch(first, len);
        }
        let place = &mut kept.blocks[place_of(leaf)];
        let voxels = &mut place.voxels;
        let (layout, size) = (self.layout, size_of::<T>());
        let [row_bytes, slice_bytes] = layout.strides();
        let is_whole = self.for_each_brick(first, len, |bytes, begin, part| {
            let mut slice_from = layout.offset_of(begin);
            let to = [
                begin[0] - first[0],
                begin[1] - first[1],
                begin[2] - first[2],
            ];
            let mut slice_to = to[0] + SIDE * (to[1] + SIDE * to[2]);
            for _ in 0..part[2] {
                let (mut from, mut to) = (slice_from, slice_to);
                for _ in 0..part[1] {
                    let row = &bytes[from..from + part[0] * size];
                    let places = &mut voxels[to..to + part[0]];
                    for (place, voxel) in places.iter_mut().zip(row.chunks_exact(size)) {
                        *place = T::from_bytes(voxel);
                    }
                    from += row_bytes;
                    to += SIDE;
                }
                slice_from += slice_bytes;
                slice_to += SIDE * SIDE;
            }
        });
        if is_whole {
            place.active = active_in_block(&place.voxels, len, &kept.thresholds);
            place.leaf = leaf;
        } else {
            place.active = 0;
            place.leaf = KeptBlocks::<T>::NONE;
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

impl<'r, T: Voxel, P: Profiler> Cells for BrickCells<'r, T, P> {
    type Leaf<'b>
        = BrickLeaf<'b, 'r, T, P>
    where
        Self: 'b;
    type Profiler = P;

    #[inline(always)]
    fn profiler(&self) -> &P {
        self.profiler
    }

    #[inline]
    fn enter(&self, place: LeafPlace) -> BrickLeaf<'_, 'r, T, P> {
        let _call = self.profiler.call(&ENTER);
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

impl<T: Voxel, P: Profiler> LeafCells for BrickLeaf<'_, '_, T, P> {
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
                let kept = source.kept.borrow();
                let is_active = kept.thresholds.iter().any(is_active);
                is_active.then(|| Cell(voxels.map(Voxel::value)))
            }
        }
    }
}
