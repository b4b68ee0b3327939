//! Summaries of many times: the shortest, the longest, and quantiles.

use std::time::Duration;

use crate::report::{Column, Object, Row};
use crate::units;

/// The quantiles of a summary: heading, key in JSON, and how many of 1,000 times are not longer.
const QUANTILES: [(&str, &str, usize); 4] = [
    ("median", "median_s", 500),
    ("90 %", "p90_s", 900),
    ("99 %", "p99_s", 990),
    ("99.9 %", "p99_9_s", 999),
];

/// The times of many round trips or waits, in ascending order.
#[derive(Debug)]
pub(super) struct Latencies(Vec<Duration>);

impl Latencies {
    /// Sorts at least one time.
    ///
    /// There is always one: the command line does not accept `--trips 0`.
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// Returns the number of times.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the shortest time.
    pub(super) fn min(&self) -> Duration {
        self.0[0]
    }

    /// Returns the longest time.
    pub(super) fn max(&self) -> Duration {
        self.0[self.0.len() - 1]
    }

    /// Returns the shortest time that at least `per_mille` of 1,000 times do not exceed.
    pub(super) fn quantile(&self, per_mille: usize) -> Duration {
        let rank = (self.0.len() * per_mille).div_ceil(1_000);
        self.0[rank.saturating_sub(1)]
    }

    /// Returns the columns that [`add_cells`](Self::add_cells) fills.
    pub(super) fn columns() -> impl Iterator<Item = Column> {
        let quantiles = QUANTILES.map(|(heading, ..)| heading);
        let headings = ["min"].into_iter().chain(quantiles).chain(["max"]);
        headings.map(|heading| Column::right(heading, 9))
    }

    /// Adds a cell for each column.
    pub(super) fn add_cells(&self, row: &mut Row) {
        row.cell(units::time(self.min()));
        for (_, _, per_mille) in QUANTILES {
            row.cell(units::time(self.quantile(per_mille)));
        }
        row.cell(units::time(self.max()));
    }

    /// Returns an object with a field for each column, in seconds.
    pub(super) fn object(&self) -> Object {
        let mut object = Object::new();
        object.field("min_s", self.min().as_secs_f64());
        for (_, key, per_mille) in QUANTILES {
            object.field(key, self.quantile(per_mille).as_secs_f64());
        }
        object.field("max_s", self.max().as_secs_f64());
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_time_that_the_given_share_does_not_exceed() {
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
