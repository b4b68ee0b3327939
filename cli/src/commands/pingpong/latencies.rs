//! Many times, told by a few: the shortest, the longest, and quantiles.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::table;

/// Of a thousand times, how many are no longer than what is reported besides the shortest and the longest.
const PER_MILLE: [(&str, usize); 4] = [
    ("median", 500),
    ("90 %", 900),
    ("99 %", 990),
    ("99.9 %", 999),
];
/// The same in JSON.
const KEYS: [&str; 4] = ["median", "p90", "p99", "p99_9"];

/// The times of many round trips or waits, the shortest first.
#[derive(Debug)]
pub(super) struct Latencies(Vec<Duration>);

impl Latencies {
    /// Sorts times, of which there is at least one: the command line lets no `--trips 0` through.
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// How many they are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The shortest.
    pub(super) fn min(&self) -> Duration {
        self.0[0]
    }

    /// The longest.
    pub(super) fn max(&self) -> Duration {
        self.0[self.0.len() - 1]
    }

    /// The time than which so many of a thousand are no longer.
    pub(super) fn quantile(&self, per_mille: usize) -> Duration {
        let rank = (self.0.len() * per_mille).div_ceil(1_000);
        self.0[rank.saturating_sub(1)]
    }

    /// The heads of its columns.
    pub(super) fn head() -> String {
        let names = PER_MILLE.map(|(name, _)| name);
        let all = ["min"].into_iter().chain(names).chain(["max"]);
        in_columns(all.map(str::to_owned))
    }

    /// Its columns, below those heads.
    pub(super) fn columns(&self) -> String {
        let quantiles = PER_MILLE.map(|(_, per_mille)| self.quantile(per_mille));
        let all = [self.min()]
            .into_iter()
            .chain(quantiles)
            .chain([self.max()]);
        in_columns(all.map(table::time))
    }

    /// Seconds, a key for each column.
    pub(super) fn json(&self) -> Map<String, Value> {
        let seconds = |time: Duration| json!(time.as_secs_f64());
        let mut value = Map::new();
        value.insert("min_s".to_owned(), seconds(self.min()));
        for (key, (_, per_mille)) in KEYS.into_iter().zip(PER_MILLE) {
            value.insert(format!("{key}_s"), seconds(self.quantile(per_mille)));
        }
        value.insert("max_s".to_owned(), seconds(self.max()));
        value
    }
}

fn in_columns(words: impl Iterator<Item = String>) -> String {
    words
        .map(|word| format!("{word:>9}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_time_than_which_so_many_are_no_longer() {
        let times = Latencies::of((1..=1_000).rev().map(Duration::from_nanos).collect());
        let at = |per_mille| times.quantile(per_mille).as_nanos();
        assert_eq!((at(500), at(900), at(999)), (500, 900, 999));
        assert_eq!((times.min().as_nanos(), times.max().as_nanos()), (1, 1_000));
        let few = Latencies::of([30, 10, 20].map(Duration::from_nanos).to_vec());
        assert_eq!(few.quantile(500), Duration::from_nanos(20));
        assert_eq!(few.quantile(999), Duration::from_nanos(30));
        let one = Latencies::of(vec![Duration::from_nanos(5)]);
        assert_eq!(one.quantile(1), Duration::from_nanos(5));
    }
}
