//! The report of a worker at the end of a run.

use std::ops::AddAssign;

use raddle::net::NodeId;
use raddle::net::bricks::BrickCounters;

use super::profile::ThreadReport;
use crate::volume::isosurface::BrickCounts;

/// The reports of a run that has ended.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunReport {
    /// The reports of the workers that are left, by node.
    pub workers: Vec<(NodeId, WorkerReport)>,
    /// The times of all threads, if they were profiled, by node.
    pub threads: Vec<ThreadReport>,
}

/// The counts of a worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerReport {
    /// The tiles that it has rendered.
    pub tiles: u64,
    /// The pixels of these tiles.
    pub pixels: u64,
    /// The work of the rays through these pixels.
    pub work: BrickCounts,
    /// The bricks that its renderers have asked for.
    pub bricks: BrickCounters,
    /// The bricks that it has sent to other workers.
    pub answered: u64,
}

/// The number of counts of a report.
const WORDS: usize = 18;

impl WorkerReport {
    /// Returns all counts, in the order of a message.
    const fn words(&mut self) -> [&mut u64; WORDS] {
        let (work, bricks) = (&mut self.work, &mut self.bricks);
        [
            &mut self.tiles,
            &mut self.pixels,
            &mut work.rays.rays_inside,
            &mut work.rays.cells,
            &mut work.rays.cubics,
            &mut work.rays.hits,
            &mut work.rays.rays_shadow,
            &mut work.macrocells,
            &mut work.reused,
            &mut bricks.local,
            &mut bricks.hits,
            &mut bricks.misses,
            &mut bricks.joined,
            &mut bricks.alone,
            &mut bricks.produced,
            &mut bricks.recovered,
            &mut bricks.requests,
            &mut self.answered,
        ]
    }

    /// Returns the bytes of a message.
    pub(super) fn write(mut self) -> Vec<u8> {
        let words = self.words();
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Reads the bytes of a message.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks();
        let words: &[[u8; 8]; WORDS] = words.try_into().ok()?;
        if !rest.is_empty() {
            return None;
        }
        let mut report = Self::default();
        for (place, &word) in report.words().into_iter().zip(words) {
            *place = u64::from_le_bytes(word);
        }
        Some(report)
    }
}

impl AddAssign for WorkerReport {
    fn add_assign(&mut self, mut other: Self) {
        for (sum, more) in self.words().into_iter().zip(other.words()) {
            *sum += *more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let words: Vec<u8> = (1..=WORDS as u64).flat_map(u64::to_le_bytes).collect();
        let mut report = WorkerReport::read(&words).expect("a report");
        assert_eq!((report.tiles, report.answered), (1, WORDS as u64));
        assert_eq!(report.write(), words);
        assert!(WorkerReport::read(&words[1..]).is_none());
        report += report;
        assert_eq!((report.tiles, report.answered), (2, 2 * WORDS as u64));
    }
}
