//! The histogram of a volume.

use super::array::Volume;
use super::voxels::{Voxel, with_voxels};

#[cfg(test)]
mod tests;

/// The number of voxels that a task counts.
const CHUNK_LEN: usize = 1 << 18;

/// The minimum number of voxels in a task for each count, so that the counts of all tasks take
/// little memory.
const VOXELS_PER_COUNT: usize = 128;

/// The number of voxels in ranges of equal width, from the smallest to the largest value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Histogram {
    /// The smallest and the largest value.
    pub range: [f64; 2],
    /// The number of voxels of each range. The last one includes its upper end.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Counts the voxels of a volume in `bin_count` ranges with all workers.
    ///
    /// `range` is the smallest and the largest value, see
    /// [`Macrocells::range`](super::Macrocells::range).
    #[must_use]
    pub fn of(volume: &Volume, range: [f64; 2], bin_count: usize) -> Self {
        let bin_count = bin_count.max(1);
        let counts = with_voxels!(volume.voxels(), voxels => count(voxels, range, bin_count));
        Self { range, counts }
    }

    /// Counts values one after the other.
    pub(crate) fn of_values(
        range: [f64; 2],
        bin_count: usize,
        values: impl Iterator<Item = f64>,
    ) -> Self {
        let mut counts = vec![0; bin_count.max(1)];
        let [low, high] = range;
        let scale = match high > low {
            true => counts.len() as f64 / (high - low),
            false => 0.0,
        };
        let last = counts.len() - 1;
        for value in values {
            // A value below the range becomes 0.
            let bin = ((value - low) * scale) as usize;
            counts[bin.min(last)] += 1;
        }
        Self { range, counts }
    }

    /// Returns the value that best divides the voxels into two classes; the middle of the range if
    /// there is only one value.
    ///
    /// # Source
    /// N. Otsu: A Threshold Selection Method from Gray-Level Histograms. IEEE Transactions on
    /// Systems, Man, and Cybernetics 9(1), 1979.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        let total: f64 = self.counts.iter().map(|&count| count as f64).sum();
        let weighted = |(bin, &count): (usize, &u64)| bin as f64 * count as f64;
        let sum: f64 = self.counts.iter().enumerate().map(weighted).sum();
        let (mut below, mut sum_below) = (0.0, 0.0);
        let (mut best, mut best_bin) = (-1.0, 0.5 * self.counts.len() as f64 - 0.5);
        for (bin, &count) in self.counts.iter().enumerate() {
            below += count as f64;
            sum_below += weighted((bin, &count));
            let above = total - below;
            if below == 0.0 || above == 0.0 {
                continue;
            }
            let difference = sum_below / below - (sum - sum_below) / above;
            let between = below * above * difference * difference;
            if between > best {
                (best, best_bin) = (between, bin as f64);
            }
        }
        let width = (self.range[1] - self.range[0]) / self.counts.len() as f64;
        self.range[0] + (best_bin + 1.0) * width
    }
}

fn count<T: Voxel>(voxels: &[T], [low, high]: [f64; 2], bin_count: usize) -> Vec<u64> {
    let scale = match high > low {
        true => bin_count as f64 / (high - low),
        false => 0.0,
    };
    let chunk_len = CHUNK_LEN.max(VOXELS_PER_COUNT * bin_count);
    let chunks: Vec<&[T]> = voxels.chunks(chunk_len).collect();
    let counts = raddle::map(0..chunks.len(), |index| {
        let mut counts = vec![0_u64; bin_count];
        for voxel in chunks[index] {
            let bin = ((voxel.value() - low) * scale) as usize;
            counts[bin.min(bin_count - 1)] += 1;
        }
        counts
    });
    let mut all = vec![0; bin_count];
    for counts in counts {
        for (sum, count) in all.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    all
}
