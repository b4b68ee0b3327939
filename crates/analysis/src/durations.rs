//! Histograms of the times of tasks, messages and entries.
//!
//! A *grain* is the time of one task or message without the tasks that ran inside of its waits, and
//! without the times in which the operating system ran something else on its CPU. Each costs the
//! runtime some time besides. If the grain is short, that cost is a large part of it.

use raddle_timeline::EventKind;
use raddle_trace::record::kind::PREEMPTED;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

use crate::recording::Recording;
use crate::table::{Cell, Table};

/// The categories of slices that are grains.
const GRAINS: [&str; 4] = ["task", "fork", "message", "entry"];

/// The durations of all tasks, messages and entries, by category and name.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Durations {
    /// One entry per category and name, the longest total time first.
    pub kinds: Vec<Histogram>,
}

/// The durations of the tasks, messages or entries of one name.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Histogram {
    /// The name.
    pub name: String,
    /// The category: `task`, `fork`, `message` or `entry`.
    pub category: String,
    /// The number of them.
    pub count: u64,
    /// The sum of their durations, in nanoseconds.
    pub total_ns: u64,
    /// The shortest and the longest one, in nanoseconds.
    pub range_ns: (u64, u64),
    /// The number of those that took from 2^n to 2^(n+1) ns, by n.
    #[serde(serialize_with = "as_pairs")]
    pub powers: BTreeMap<u32, u64>,
}

impl Durations {
    /// Computes the histograms of a recording.
    ///
    /// The duration of a grain is that of its slice, less that of the waits inside of it and of the
    /// times in which it had no CPU.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let timeline = recording.timeline();
        let mut kinds: BTreeMap<(&str, &str), Histogram> = BTreeMap::new();
        for thread in recording.threads() {
            // The time that does not count, directly inside of each grain.
            let mut outside: BTreeMap<usize, u64> = BTreeMap::new();
            for (index, event) in recording.events_of(thread) {
                let lost_ns = match timeline.text(event.category()) {
                    "wait" => event.duration_ns(),
                    "note" if timeline.text(event.name()) == PREEMPTED => recording.lost_ns(index),
                    _ => continue,
                };
                if let Some(grain) = enclosing_grain(recording, index) {
                    *outside.entry(grain).or_default() += lost_ns;
                }
            }
            for (index, event) in recording.events_of(thread) {
                let category = timeline.text(event.category());
                if event.kind() != EventKind::Slice || !GRAINS.contains(&category) {
                    continue;
                }
                let outside_ns = outside.get(&index).copied().unwrap_or(0);
                let name = timeline.text(event.name());
                let kind = kinds.entry((category, name)).or_default();
                kind.add(event.duration_ns().saturating_sub(outside_ns));
            }
        }
        let mut kinds: Vec<Histogram> = kinds
            .into_iter()
            .map(|((category, name), histogram)| Histogram {
                name: name.to_owned(),
                category: category.to_owned(),
                ..histogram
            })
            .collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.total_ns));
        Self { kinds }
    }
}

fn as_pairs<S: Serializer>(powers: &BTreeMap<u32, u64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(powers)
}

/// Returns the innermost task, message or entry around an event, if no other wait is in between.
fn enclosing_grain(recording: &Recording, event: usize) -> Option<usize> {
    let timeline = recording.timeline();
    let mut at = timeline.events()[event].parent();
    while let Some(index) = at {
        let record = &timeline.events()[index];
        match timeline.text(record.category()) {
            "wait" => return None,
            category if GRAINS.contains(&category) => return Some(index),
            _ => at = record.parent(),
        }
    }
    None
}

impl Histogram {
    fn add(&mut self, ns: u64) {
        self.range_ns = match self.count {
            0 => (ns, ns),
            _ => (self.range_ns.0.min(ns), self.range_ns.1.max(ns)),
        };
        self.count += 1;
        self.total_ns += ns;
        *self.powers.entry(ns.max(1).ilog2()).or_default() += 1;
    }

    /// Returns the mean duration, in nanoseconds.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.total_ns as f64 / self.count.max(1) as f64
    }

    /// Returns a bound that at least half of the durations do not exceed, within a factor of two.
    #[must_use]
    pub fn median_ns(&self) -> u64 {
        let mut left = self.count.div_ceil(2);
        for (power, count) in &self.powers {
            if *count >= left {
                return (2_u64 << power) - 1;
            }
            left -= count;
        }
        0
    }
}

impl Durations {
    /// Returns a table with a row for each kind of grain.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = [
            ("name", 0),
            ("kind", 0),
            ("count", 0),
            ("total ms", 3),
            ("mean us", 3),
            ("median us <", 3),
            ("shortest us", 3),
            ("longest us", 3),
        ];
        let mut table = Table::new(
            "durations",
            "Durations of tasks, messages and entries",
            columns,
        );
        for kind in &self.kinds {
            table.row([
                kind.name.clone().into(),
                kind.category.clone().into(),
                kind.count.into(),
                Cell::Real(kind.total_ns as f64 * 1e-6),
                Cell::Real(kind.mean_ns() * 1e-3),
                Cell::Real(kind.median_ns() as f64 * 1e-3),
                Cell::Real(kind.range_ns.0 as f64 * 1e-3),
                Cell::Real(kind.range_ns.1 as f64 * 1e-3),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests_support::recording;

    #[test]
    fn a_wait_does_not_count_for_the_task_around_it_and_the_tasks_inside_count_for_themselves() {
        let recording = recording(&[
            ("task", "outer", 0, 80),
            ("join", "join", 5, 75),
            ("wait", "wait for join", 10, 60),
            ("task", "inner", 20, 50),
            ("wait", "wait for scope", 30, 40),
            ("task", "inner", 80, 84),
        ]);
        let durations = Durations::of(&recording);
        let of = |name: &str| {
            let mut kinds = durations.kinds.iter();
            kinds.find(|kind| kind.name == name).expect("a histogram")
        };
        let outer = of("outer");
        assert_eq!((outer.count, outer.total_ns), (1, 30));
        let inner = of("inner");
        assert_eq!(
            (inner.count, inner.total_ns, inner.range_ns),
            (2, 24, (4, 20))
        );
        assert_eq!(inner.powers, BTreeMap::from([(2, 1), (4, 1)]));
        assert_eq!(inner.median_ns(), 7);
        assert!(durations.table().to_string().contains("longest us"));
    }
}
