//! The report of a worker at the end of a run.

use raddle::net::bricks::BrickCounters;

/// The counts of a worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerReport {
    /// The bricks that its renderers have asked for.
    pub bricks: BrickCounters,
    /// The bricks that it has sent to other workers.
    pub answered: u64,
}

/// The number of counts of a report.
const WORDS: usize = 8;

impl WorkerReport {
    /// Returns the bytes of a message.
    pub(super) fn write(&self) -> Vec<u8> {
        let bricks = &self.bricks;
        let words: [u64; WORDS] = [
            bricks.local,
            bricks.hits,
            bricks.misses,
            bricks.joined,
            bricks.alone,
            bricks.recovered,
            bricks.requests,
            self.answered,
        ];
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
        let bricks = &mut report.bricks;
        let places = [
            &mut bricks.local,
            &mut bricks.hits,
            &mut bricks.misses,
            &mut bricks.joined,
            &mut bricks.alone,
            &mut bricks.recovered,
            &mut bricks.requests,
            &mut report.answered,
        ];
        for (place, &word) in places.into_iter().zip(words) {
            *place = u64::from_le_bytes(word);
        }
        Some(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let words: Vec<u8> = (1..=WORDS as u64).flat_map(u64::to_le_bytes).collect();
        let report = WorkerReport::read(&words).expect("a report");
        assert_eq!((report.bricks.local, report.answered), (1, 8));
        assert_eq!(report.write(), words);
        assert!(WorkerReport::read(&words[1..]).is_none());
    }
}
