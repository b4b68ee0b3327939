//! The range of values in each block of a volume, in three levels.
//!
//! A *cell* is the cube between eight voxels. A macrocell of the lowest level has 4 × 4 × 4 cells,
//! and its range is that of their 5 × 5 × 5 voxels. A macrocell of each higher level consists of
//! 4 × 4 × 4 macrocells of the level below. So a ray that passes a block of 64 × 64 × 64 cells
//! without visible values takes one step.
//!
//! Ranges are pairs of 16-bit [levels](Scale): exact for integers, and rounded outwards for floats.
//! They take 6.3 % of the memory of voxels of one byte, and less for others.
//!
//! # Source
//! S. Parker, P. Shirley, Y. Livnat, C. Hansen, P.-P. Sloan: Interactive Ray Tracing for Isosurface
//! Rendering. IEEE Visualization 1998, section 4 (a hierarchy of grids with minimum and maximum).

use super::array::Volume;
use super::grid::Grid;
use super::voxels::{Voxel, with_voxels};

#[cfg(test)]
mod tests;

/// The number of cells along an edge of a macrocell of the lowest level, and of macrocells along an
/// edge of one of the next level.
pub(crate) const EDGE: usize = 4;
/// The number of levels.
pub(crate) const LEVELS: usize = 3;

/// A range of levels: the lowest and the highest.
pub(crate) type Range = [u16; 2];

/// The ranges of all macrocells of a volume.
#[derive(Debug, Clone, PartialEq)]
pub struct Macrocells {
    scale: Scale,
    range: [f64; 2],
    levels: [Blocks; LEVELS],
}

/// The macrocells of a level.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Blocks {
    /// The number of macrocells along x, y and z.
    pub(crate) size: [usize; 3],
    /// The range of each macrocell, x fastest.
    pub(crate) ranges: Vec<Range>,
}

/// The map from values to 16-bit levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    lowest: f64,
    levels_per_value: f64,
}

impl Macrocells {
    /// Computes the ranges of a volume with all workers. Takes one pass over the voxels.
    #[must_use]
    pub fn of(volume: &Volume) -> Self {
        let size = volume.size();
        with_voxels!(volume.voxels(), voxels => Self::of_voxels(size, voxels))
    }

    fn of_voxels<T: Voxel>(size: [usize; 3], voxels: &[T]) -> Self {
        let ranges = Self::leaf_ranges(size, voxels);
        let (scale, range) = Self::scale_of(&ranges);
        let leaves = Blocks {
            size: Self::leaf_size(size),
            ranges: ranges
                .into_iter()
                .map(|range| scale.levels(range))
                .collect(),
        };
        Self::of_leaves(scale, range, leaves)
    }

    /// Returns the number of macrocells of the lowest level along x, y and z.
    pub(crate) fn leaf_size(size: [usize; 3]) -> [usize; 3] {
        size.map(|len| (len - 1).div_ceil(EDGE))
    }

    /// Computes the smallest and the largest voxel of each macrocell of the lowest level.
    pub(crate) fn leaf_ranges<T: Voxel>(size: [usize; 3], voxels: &[T]) -> Vec<[T; 2]> {
        leaf_ranges(size, Self::leaf_size(size), voxels)
    }

    /// Returns the scale for these ranges, and the smallest and the largest voxel.
    pub(crate) fn scale_of<T: Voxel>(ranges: &[[T; 2]]) -> (Scale, [f64; 2]) {
        let [low, high] = ranges.iter().fold([T::HIGHEST, T::LOWEST], |all, range| {
            [all[0].smaller(range[0]), all[1].larger(range[1])]
        });
        let range = [low.value(), high.value()];
        (Scale::of::<T>(range[0], range[1]), range)
    }

    /// Creates the higher levels from the macrocells of the lowest one.
    pub(crate) fn of_leaves(scale: Scale, range: [f64; 2], leaves: Blocks) -> Self {
        let middle = leaves.merged();
        let top = middle.merged();
        Self {
            scale,
            range,
            levels: [leaves, middle, top],
        }
    }

    /// Returns the smallest and the largest value of the volume.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        self.range
    }

    /// Returns the number of bytes of all ranges.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let counts = self.levels.iter().map(|blocks| blocks.ranges.len());
        (counts.sum::<usize>() * size_of::<Range>()) as u64
    }

    /// Returns true if these can be the macrocells of a volume on this grid: their number is right.
    pub(crate) fn fit(&self, grid: &Grid) -> bool {
        self.levels[0].size == Self::leaf_size(grid.size())
    }

    /// Returns the macrocells of the levels, the smallest ones first.
    pub(crate) fn levels(&self) -> &[Blocks; LEVELS] {
        &self.levels
    }

    /// Returns a value that no voxel of a macrocell of the lowest level exceeds. For integers, it
    /// is the largest voxel.
    #[inline]
    pub(crate) fn highest(&self, [x, y, z]: [usize; 3]) -> f64 {
        let Blocks { size, ranges } = &self.levels[0];
        let [_, high] = ranges[(z * size[1] + y) * size[0] + x];
        self.scale.value(high)
    }

    /// Returns the map from values to levels.
    pub(crate) fn scale(&self) -> Scale {
        self.scale
    }
}

impl Scale {
    /// Returns the scale for voxels of type `T` between two values.
    fn of<T: Voxel>(low: f64, high: f64) -> Self {
        let (type_low, type_high) = (T::LOWEST.value(), T::HIGHEST.value());
        if type_low.is_finite() && type_high - type_low <= f64::from(u16::MAX) {
            return Self {
                lowest: type_low,
                levels_per_value: 1.0,
            };
        }
        let width = high - low;
        let mut scale = Self {
            lowest: low,
            levels_per_value: if width > 0.0 {
                f64::from(u16::MAX) / width
            } else {
                1.0
            },
        };
        // An isovalue that is the highest value must not be above the highest level.
        while scale.level(high) > f64::from(u16::MAX) {
            scale.levels_per_value = scale.levels_per_value.next_down();
        }
        scale
    }

    /// Returns the value of level 0, and the number of levels for each unit.
    pub(crate) const fn parts(self) -> (f64, f64) {
        (self.lowest, self.levels_per_value)
    }

    /// Returns the scale with these parts.
    pub(crate) const fn of_parts(lowest: f64, levels_per_value: f64) -> Self {
        Self {
            lowest,
            levels_per_value,
        }
    }

    /// Returns levels between which the values from one voxel to another one are.
    pub(crate) fn levels<T: Voxel>(self, [low, high]: [T; 2]) -> Range {
        [
            self.level_below(low.value()),
            self.level_above(high.value()),
        ]
    }

    /// Returns the level of a value, with a fraction. Levels increase with values.
    pub(crate) fn level(self, value: f64) -> f64 {
        (value - self.lowest) * self.levels_per_value
    }

    /// Returns the value of a level.
    pub(crate) fn value(self, level: u16) -> f64 {
        f64::from(level) / self.levels_per_value + self.lowest
    }

    fn level_below(self, value: f64) -> u16 {
        self.level(value).floor() as u16
    }

    fn level_above(self, value: f64) -> u16 {
        self.level(value).ceil() as u16
    }
}

impl Blocks {
    /// Returns the macrocells of the next level.
    fn merged(&self) -> Self {
        let size = self.size.map(|len| len.div_ceil(EDGE));
        let mut ranges = vec![[u16::MAX, 0]; size.iter().product()];
        let mut below = self.ranges.iter();
        for z in 0..self.size[2] {
            for y in 0..self.size[1] {
                let row = ((z / EDGE) * size[1] + (y / EDGE)) * size[0];
                for (x, range) in (0..self.size[0]).zip(&mut below) {
                    let all = &mut ranges[row + (x / EDGE)];
                    *all = [all[0].min(range[0]), all[1].max(range[1])];
                }
            }
        }
        Self { size, ranges }
    }
}

/// Computes the ranges of the lowest level, layer by layer in parallel.
fn leaf_ranges<T: Voxel>(size: [usize; 3], leaf_size: [usize; 3], voxels: &[T]) -> Vec<[T; 2]> {
    let layer_len = leaf_size[0] * leaf_size[1];
    let mut ranges = vec![[T::HIGHEST, T::LOWEST]; layer_len * leaf_size[2]];
    let mut layers: Vec<_> = ranges.chunks_mut(layer_len).collect();
    raddle::for_each_mut(&mut layers, |layer, ranges| {
        let [width, height, _] = size;
        // The smallest and the largest of the voxels of one row of macrocells, for each x.
        let (mut lows, mut highs) = (vec![T::HIGHEST; width], vec![T::LOWEST; width]);
        for (row, ranges) in ranges.chunks_mut(leaf_size[0]).enumerate() {
            lows.fill(T::HIGHEST);
            highs.fill(T::LOWEST);
            for z in inner(layer, size[2]) {
                for y in inner(row, height) {
                    let voxels = &voxels[(z * height + y) * width..][..width];
                    for ((low, high), &voxel) in lows.iter_mut().zip(&mut highs).zip(voxels) {
                        *low = low.smaller(voxel);
                        *high = high.larger(voxel);
                    }
                }
            }
            for (column, range) in ranges.iter_mut().enumerate() {
                for x in inner(column, width) {
                    *range = [range[0].smaller(lows[x]), range[1].larger(highs[x])];
                }
            }
        }
    });
    ranges
}

/// Returns the voxels of the macrocell with an index along an axis of `len` voxels.
fn inner(index: usize, len: usize) -> std::ops::Range<usize> {
    let first = index * EDGE;
    first..len.min(first + EDGE + 1)
}
