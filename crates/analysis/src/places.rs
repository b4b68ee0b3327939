//! The places of the workers, beside the bytes and the tasks that went between them.
//!
//! A recording says for each pair of workers which part of the machine they share (`sharing` in the
//! facts about a runtime), so that traffic and steals can be sorted by distance.

use std::collections::BTreeMap;

use raddle_trace::events::Thread;
use serde::Serialize;

use crate::recording::Recording;
use crate::table::{Cell, Table};

/// The places of all workers, and what went between them.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Places {
    /// The workers of all runtimes.
    pub workers: Vec<WorkerPlace>,
    /// The pairs of workers between which anything went, the most bytes first.
    pub pairs: Vec<WorkerPair>,
    /// Steals and bytes by the part of the machine that both workers share, the nearest first.
    pub distances: Vec<Distance>,
}

/// The place of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WorkerPlace {
    /// The name of the worker.
    pub name: String,
    /// The CPU to which it was bound at the end, if it was bound.
    pub cpu: Option<u64>,
    /// The reason for this place.
    pub reason: String,
}

/// The bytes and tasks that went between two workers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WorkerPair {
    /// The worker that sent the bytes, or from which tasks were taken: an index of `workers`.
    pub from: usize,
    /// The worker that received them.
    pub to: usize,
    /// The smallest part of the machine that both share: `L3`, `Package`; empty if it is unknown.
    pub shared: String,
    /// The bytes that the runtime has moved: messages and tasks, in cache lines.
    pub bytes: f64,
    /// The number of tasks taken.
    pub steals: u64,
}

/// The bytes and tasks that went between workers that share one part of the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Distance {
    /// The part of the machine that they share; empty if it is unknown.
    pub shared: String,
    /// The number of pairs of different workers that share it, and nothing smaller.
    pub pairs: u64,
    /// The bytes that the runtime has moved between them: messages and tasks, in cache lines.
    pub bytes: f64,
    /// The number of tasks taken from each other.
    pub steals: u64,
}

/// The facts about one runtime that are needed here.
struct Runtime<'a> {
    process: u32,
    number: u32,
    facts: &'a serde_json::Value,
    /// The index of its first worker.
    first: usize,
}

impl Places {
    /// Collects the places and the traffic of a recording.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let mut places = Self::default();
        let mut runtimes: Vec<Runtime<'_>> = Vec::new();
        for facts in recording.facts() {
            for of_runtime in &facts.runtimes {
                let number = of_runtime["runtime"].as_u64().unwrap_or(0) as u32;
                runtimes.push(Runtime {
                    process: facts.process,
                    number,
                    facts: of_runtime,
                    first: places.workers.len(),
                });
                for (index, entry) in list(&of_runtime["plan"]["entries"]).iter().enumerate() {
                    let thread = Thread::Worker {
                        runtime: number,
                        index,
                        is_compensating: false,
                    };
                    places.workers.push(WorkerPlace {
                        name: recording.thread_name(facts.process, &thread),
                        cpu: entry["cpu"].as_u64(),
                        reason: entry["reason"].as_str().unwrap_or_default().to_owned(),
                    });
                }
            }
        }
        let mut pairs: BTreeMap<(usize, usize), (f64, u64)> = BTreeMap::new();
        for runtime in &runtimes {
            for entry in list(&runtime.facts["traffic"]["entries"]) {
                if let [Some(from), Some(to)] = [0, 1].map(|place| entry[place].as_u64()) {
                    let pair = (runtime.first + from as usize, runtime.first + to as usize);
                    pairs.entry(pair).or_default().0 += entry[2].as_f64().unwrap_or(0.0);
                }
            }
        }
        for (pair, count) in steals(recording, &runtimes) {
            pairs.entry(pair).or_default().1 += count;
        }
        places.collect(&runtimes, pairs);
        places
    }

    fn collect(&mut self, runtimes: &[Runtime<'_>], pairs: BTreeMap<(usize, usize), (f64, u64)>) {
        let shared = |from: usize, to: usize| {
            let after = runtimes.partition_point(|runtime| runtime.first <= from.min(to));
            let Some(runtime) = after.checked_sub(1).map(|index| &runtimes[index]) else {
                return (usize::MAX, String::new());
            };
            let sharing = &runtime.facts["sharing"];
            let [one, other] = [from.min(to), from.max(to)].map(|worker| worker - runtime.first);
            let kinds = list(&sharing["kinds"]);
            match sharing["between"][other][one].as_u64() {
                Some(kind) if (kind as usize) + 1 < kinds.len() => {
                    let name = kinds[kind as usize].as_str().unwrap_or_default();
                    (kind as usize, name.to_owned())
                }
                _ => (usize::MAX, String::new()),
            }
        };
        let mut distances: BTreeMap<(usize, String), Distance> = BTreeMap::new();
        for (index, runtime) in runtimes.iter().enumerate() {
            let end = runtimes
                .get(index + 1)
                .map_or(self.workers.len(), |next| next.first);
            for to in runtime.first..end {
                for from in runtime.first..to {
                    let key = shared(from, to);
                    let distance = distances.entry(key.clone()).or_insert_with(|| Distance {
                        shared: key.1,
                        pairs: 0,
                        bytes: 0.0,
                        steals: 0,
                    });
                    distance.pairs += 1;
                    for pair in [(from, to), (to, from)] {
                        let (bytes, steals) = pairs.get(&pair).copied().unwrap_or_default();
                        distance.bytes += bytes;
                        distance.steals += steals;
                    }
                }
            }
        }
        // A damaged file may name workers that do not exist.
        let exists = |(from, to): &(usize, usize)| from.max(to) < &self.workers.len();
        let pairs = pairs.into_iter().filter(|(pair, _)| exists(pair));
        let pairs: Vec<_> = pairs.collect();
        self.distances = distances.into_values().collect();
        let pair = |((from, to), (bytes, steals)): ((usize, usize), (f64, u64))| WorkerPair {
            from,
            to,
            shared: shared(from, to).1,
            bytes,
            steals,
        };
        self.pairs = pairs.into_iter().map(pair).collect();
        self.pairs.sort_by(|one, other| {
            let by_bytes = other.bytes.total_cmp(&one.bytes);
            by_bytes.then_with(|| other.steals.cmp(&one.steals))
        });
    }

    /// Returns a table with a row for each worker.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = [("worker", 0), ("CPU", 0), ("reason", 0)];
        let mut table = Table::new("places", "Places of the workers", columns);
        for worker in &self.workers {
            table.row([
                worker.name.clone().into(),
                worker.cpu.into(),
                worker.reason.clone().into(),
            ]);
        }
        table
    }

    /// Returns a table with a row for each pair of workers.
    #[must_use]
    pub fn table_of_pairs(&self) -> Table {
        let columns = [
            ("from", 0),
            ("CPU", 0),
            ("to", 0),
            ("CPU", 0),
            ("shared", 0),
            ("bytes moved", 0),
            ("tasks taken", 0),
        ];
        let mut table = Table::new("traffic", "Traffic between workers", columns);
        for pair in &self.pairs {
            let (from, to) = (&self.workers[pair.from], &self.workers[pair.to]);
            table.row([
                from.name.clone().into(),
                from.cpu.into(),
                to.name.clone().into(),
                to.cpu.into(),
                pair.shared.clone().into(),
                Cell::Real(pair.bytes),
                pair.steals.into(),
            ]);
        }
        table
    }

    /// Returns a table with a row for each distance.
    #[must_use]
    pub fn table_of_distances(&self) -> Table {
        let columns = [
            ("shared", 0),
            ("pairs of workers", 0),
            ("tasks taken", 0),
            ("bytes moved", 0),
        ];
        let mut table = Table::new("distances", "Steals and traffic by distance", columns);
        for distance in &self.distances {
            let shared = match distance.shared.is_empty() {
                true => "unknown".to_owned(),
                false => distance.shared.clone(),
            };
            table.row([
                shared.into(),
                distance.pairs.into(),
                distance.steals.into(),
                Cell::Real(distance.bytes),
            ]);
        }
        table
    }
}

fn list(value: &serde_json::Value) -> &[serde_json::Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Counts the tasks that each worker has taken, by victim and thief.
fn steals(recording: &Recording, runtimes: &[Runtime<'_>]) -> BTreeMap<(usize, usize), u64> {
    let timeline = recording.timeline();
    let mut steals: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for thread in recording.threads() {
        let Thread::Worker { runtime, index, .. } = thread.thread else {
            continue;
        };
        let is_it = |of: &&Runtime<'_>| (of.process, of.number) == (thread.process, runtime);
        let Some(runtime) = runtimes.iter().find(is_it) else {
            continue;
        };
        let count = list(&runtime.facts["plan"]["entries"]).len();
        for (event, record) in recording.events_of(thread) {
            if timeline.text(record.category()) != "steal" {
                continue;
            }
            let Some(victim) = recording.number(event, "victim") else {
                continue;
            };
            // Compensating threads have no place of their own.
            if (victim as usize) < count && index < count {
                let pair = (runtime.first + victim as usize, runtime.first + index);
                *steals.entry(pair).or_default() += 1;
            }
        }
    }
    steals
}
