//! The ranges of values in the blocks of a volume: measured, or bounds that follow from a formula.
//!
//! The renderers of a process share one object. So the blocks in which there can be a surface are
//! determined once for each picture.

use std::sync::{Arc, Mutex};

use super::generate::{Bounded, Formula, GenerateError, VoxelBox};
use super::grid::Grid;
use super::histogram::Histogram;
use super::macrocells::{EDGE, Macrocells, Range};
use super::occupancy::{Occupancy, bit};

/// The number of places along an axis at which a histogram evaluates a formula.
const PLACES: usize = 32;

/// The ranges of values in the blocks of a volume.
#[derive(Debug)]
pub struct ValueRanges {
    source: Source,
    /// The smallest and the largest voxel.
    range: [f64; 2],
    /// The occupied blocks of the last picture, and its isovalues.
    last: Mutex<Option<(Vec<f64>, Arc<Occupancy>)>>,
}

#[derive(Debug)]
enum Source {
    Measured(Macrocells),
    Formula(Bounded),
}

impl ValueRanges {
    /// Returns the ranges that were measured in a volume.
    #[must_use]
    pub fn measured(macrocells: Macrocells) -> Self {
        Self {
            range: macrocells.range(),
            source: Source::Measured(macrocells),
            last: Mutex::default(),
        }
    }

    /// Returns bounds of the values of a generated volume, which need no memory. They may be wider
    /// than the values, so that rays examine some more blocks, and find the same surfaces.
    ///
    /// # Errors
    /// [`GenerateError::Size`] if an axis is too short or too long.
    pub fn of_formula(formula: Formula, size: [usize; 3]) -> Result<Self, GenerateError> {
        Grid::new(size)?;
        let bounded = Bounded::new(formula, size);
        Ok(Self {
            range: bounded.range(),
            source: Source::Formula(bounded),
            last: Mutex::default(),
        })
    }

    /// Returns the smallest and the largest value of the volume, exactly.
    #[must_use]
    pub const fn range(&self) -> [f64; 2] {
        self.range
    }

    /// Returns a histogram that needs no voxels: of the middle of the range of each block, or of a
    /// formula's values at up to 32³ places.
    #[must_use]
    pub fn histogram(&self, bin_count: usize) -> Histogram {
        match &self.source {
            Source::Measured(macrocells) => {
                let [blocks, ..] = macrocells.levels();
                let scale = macrocells.scale();
                let middle =
                    |range: &Range| 0.5 * range.map(|it| scale.value(it)).iter().sum::<f64>();
                Histogram::of_values(self.range, bin_count, blocks.ranges.iter().map(middle))
            }
            Source::Formula(bounded) => {
                let places = bounded.size().map(|len| {
                    let count = len.min(PLACES);
                    (0..count).map(move |index| index * (len - 1) / (count - 1).max(1))
                });
                let [xs, ys, zs] = places;
                let places = zs.flat_map(|z| {
                    let xs = xs.clone();
                    ys.clone()
                        .flat_map(move |y| xs.clone().map(move |x| [x, y, z]))
                });
                let whole = bounded.part(VoxelBox {
                    first: [0; 3],
                    last: bounded.size().map(|len| len - 1),
                });
                let values = places.map(|place| whole.voxel(place));
                Histogram::of_values(self.range, bin_count, values)
            }
        }
    }

    /// Returns true if these can be the ranges of a volume on this grid.
    pub(crate) fn fit(&self, grid: &Grid) -> bool {
        match &self.source {
            Source::Measured(macrocells) => macrocells.fit(grid),
            Source::Formula(bounded) => bounded.size() == grid.size(),
        }
    }

    /// Returns the macrocells that may contain a surface. One thread computes them, and threads
    /// that need the same ones meanwhile wait for it.
    ///
    /// A worker of a runtime does not wait, and computes them by itself: while a worker computes
    /// in parallel, it may run another task that asks for them, which must not wait for it.
    pub(crate) fn occupancy(&self, isovalues: &[f64]) -> Arc<Occupancy> {
        if raddle::worker_index().is_some() {
            return Arc::new(self.compute(isovalues));
        }
        let mut last = self.last.lock().expect("nothing panics under this lock");
        if let Some((of, occupancy)) = &*last
            && of == isovalues
        {
            return Arc::clone(occupancy);
        }
        let occupancy = Arc::new(self.compute(isovalues));
        *last = Some((isovalues.to_vec(), Arc::clone(&occupancy)));
        occupancy
    }

    fn compute(&self, isovalues: &[f64]) -> Occupancy {
        match &self.source {
            Source::Measured(macrocells) => occupancy_of(macrocells, isovalues),
            Source::Formula(bounded) => occupancy_of_formula(bounded, isovalues),
        }
    }
}

/// Selects the macrocells that contain an isovalue: it is above the lowest level, and not above the
/// highest one.
pub(crate) fn occupancy_of(macrocells: &Macrocells, isovalues: &[f64]) -> Occupancy {
    let levels = isovalues
        .iter()
        .map(|&value| macrocells.scale().level(value));
    let levels: Vec<f64> = levels.collect();
    Occupancy::of(macrocells, |[low, high]| {
        let is_between = |&level: &f64| f64::from(low) < level && level <= f64::from(high);
        levels.iter().any(is_between)
    })
}

/// Selects the macrocells that may contain an isovalue.
fn occupancy_of_formula(bounded: &Bounded, isovalues: &[f64]) -> Occupancy {
    let size = bounded.size();
    let leaves = size.map(|len| (len - 1).div_ceil(EDGE));
    Occupancy::top_down(leaves, |level, word, blocks| {
        // The number of cells along an edge of a macrocell of this level.
        let edge = EDGE.pow(level as u32 + 1);
        let voxels = |first: [usize; 3], edge: usize| VoxelBox {
            first,
            last: [0, 1, 2].map(|axis: usize| (first[axis] + edge).min(size[axis] - 1)),
        };
        let first = word.map(|index| index * EDGE);
        let part = bounded.part(voxels(first.map(|index| index * edge), edge * EDGE));
        let end = [0, 1, 2].map(|axis: usize| blocks[axis].min(first[axis] + EDGE));
        let mut bits = 0;
        for z in first[2]..end[2] {
            for y in first[1]..end[1] {
                for x in first[0]..end[0] {
                    let block = [x, y, z];
                    let [low, high] = part.bounds(voxels(block.map(|index| index * edge), edge));
                    let is_between = |&value: &f64| low < value && value <= high;
                    bits |= u64::from(isovalues.iter().any(is_between)) << bit(block);
                }
            }
        }
        bits
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_histogram_counts_all_blocks() {
        for formula in FORMULAS {
            let size = [23, 18, 40];
            let volume = formula.volume(size).expect("a valid size");
            let measured = ValueRanges::measured(Macrocells::of(&volume)).histogram(16);
            // Macrocells of four cells along each axis.
            assert_eq!(measured.counts.iter().sum::<u64>(), 6 * 5 * 10);
            let sampled = ValueRanges::of_formula(formula, size).expect("a valid size");
            let sampled = sampled.histogram(16);
            assert_eq!(sampled.counts.iter().sum::<u64>(), 23 * 18 * 32);
            assert_eq!(sampled.range, measured.range);
            let [low, high] = sampled.range;
            assert!((low..=high).contains(&sampled.threshold()));
        }
    }

    const FORMULAS: [Formula; 2] = [Formula::Spheres, Formula::MarschnerLobb];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn bounds_contain_all_values(
            size in prop::array::uniform3(2..40_usize),
            share in 0.0..1.0_f64,
            which in 0..2_usize,
        ) {
            let formula = FORMULAS[which];
            let volume = formula.volume(size).expect("a small volume");
            let macrocells = Macrocells::of(&volume);
            let ranges = ValueRanges::of_formula(formula, size).expect("a valid size");
            prop_assert_eq!(ranges.range(), macrocells.range());
            let [low, high] = ranges.range();
            let value = low + share * (high - low);
            let exact = occupancy_of(&macrocells, &[value]);
            let bounded = ranges.occupancy(&[value]);
            for z in 0..(size[2] - 1).div_ceil(EDGE) {
                for y in 0..(size[1] - 1).div_ceil(EDGE) {
                    for x in 0..(size[0] - 1).div_ceil(EDGE) {
                        let block = [x, y, z];
                        let is_missing = exact.level(0).get(block) && !bounded.level(0).get(block);
                        prop_assert!(!is_missing, "{block:?}");
                    }
                }
            }
        }
    }

    // Bounds that are too wide would make every ray examine the whole volume.
    #[test]
    fn bounds_are_not_much_wider_than_the_values() {
        for formula in FORMULAS {
            let size = [97; 3];
            let volume = formula.volume(size).expect("a small volume");
            let macrocells = Macrocells::of(&volume);
            let ranges = ValueRanges::of_formula(formula, size).expect("a valid size");
            let [low, high] = ranges.range();
            let value = (low + high) / 2.0;
            let exact = occupancy_of(&macrocells, &[value]).leaf_count();
            let bounded = ranges.occupancy(&[value]).leaf_count();
            assert!(exact > 0 && bounded >= exact);
            assert!(
                bounded * 10 <= exact * 13,
                "{formula}: {bounded} for {exact}"
            );
        }
    }

    // A worker that computes in parallel may run another task that asks for the same blocks.
    #[test]
    fn tasks_that_ask_at_the_same_time_do_not_wait_for_each_other() {
        let ranges = ValueRanges::of_formula(Formula::Spheres, [90; 3]).expect("a valid size");
        let expected = ranges.occupancy(&[0.0]);
        let mut tasks = [0.0; 64];
        raddle::for_each_mut(&mut tasks, |_, value| {
            assert_eq!(ranges.occupancy(&[*value]), expected);
        });
    }

    #[test]
    fn blocks_of_a_picture_are_determined_once() {
        let ranges = ValueRanges::of_formula(Formula::Spheres, [20; 3]).expect("a valid size");
        let first = ranges.occupancy(&[0.0]);
        assert!(Arc::ptr_eq(&first, &ranges.occupancy(&[0.0])));
        assert!(!Arc::ptr_eq(&first, &ranges.occupancy(&[1.0])));
        assert!(ValueRanges::of_formula(Formula::Spheres, [1, 20, 20]).is_err());
    }
}
