//! Waits: which thread waited for which, or for which location, and for how long.

use raddle_timeline::Value;
use raddle_trace::events::Thread;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

use crate::recording::{RecordedThread, Recording};
use crate::table::{Cell, Table};

/// The waits of a recording, the longest first.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Waits {
    /// One entry per waiting thread, reason, and thread or location that it waited for.
    pub pairs: Vec<WaitPair>,
}

/// The waits of one thread for one reason and one other party.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WaitPair {
    /// The thread that waited.
    pub thread: String,
    /// True if it is a worker.
    pub is_worker: bool,
    /// The reason: `wait for join`, `wait for location` and others.
    pub reason: String,
    /// The thread that it waited for. For a location, the thread that had the last section before
    /// the wait ended.
    pub on: Option<String>,
    /// The location that it waited for.
    pub location: Option<String>,
    /// The number of waits.
    pub count: u64,
    /// The time that it waited without other work, in nanoseconds.
    pub idle_ns: u64,
    /// The time of the tasks that it ran meanwhile, without their own waits, in nanoseconds.
    pub worked_ns: u64,
}

/// A party of a wait: the waiting thread, the reason, the thread, the location.
type Key = (usize, String, Option<usize>, Option<String>);

impl Waits {
    /// Collects the waits of a recording.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let timeline = recording.timeline();
        let sections = section_ends(recording);
        let mut sums: BTreeMap<Key, (u64, u64, u64)> = BTreeMap::new();
        for (own, thread) in recording.threads().iter().enumerate() {
            let worked = worked_inside(recording, thread);
            for (index, event) in recording.events_of(thread) {
                if timeline.text(event.category()) != "wait" {
                    continue;
                }
                let (mut on, mut location) = (None, None);
                match timeline.arguments(index).find(|(name, _)| *name == "on") {
                    Some((_, Value::Unsigned(worker))) => {
                        on = worker_of(recording, own, worker);
                    }
                    Some((_, Value::Text(name))) => {
                        on = last_holder(&sections, name, own, event.to_ns());
                        location = Some(name.to_owned());
                    }
                    _ => {}
                }
                let reason = timeline.text(event.name()).to_owned();
                let (inside_ns, worked_ns) = worked.get(&index).copied().unwrap_or_default();
                let sum = sums.entry((own, reason, on, location)).or_default();
                sum.0 += 1;
                sum.1 += event.duration_ns().saturating_sub(inside_ns);
                sum.2 += worked_ns;
            }
        }
        let name = |index: usize| {
            let thread = &recording.threads()[index];
            recording.thread_name(thread.process, &thread.thread)
        };
        let pair =
            |((own, reason, on, location), (count, idle_ns, worked_ns)): (Key, _)| WaitPair {
                thread: name(own),
                is_worker: matches!(recording.threads()[own].thread, Thread::Worker { .. }),
                reason,
                on: on.map(name),
                location,
                count,
                idle_ns,
                worked_ns,
            };
        let mut pairs: Vec<WaitPair> = sums.into_iter().map(pair).collect();
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.idle_ns));
        Self { pairs }
    }
}

/// Returns, for each wait of a thread, the time of the tasks that ran directly inside of it: with
/// the waits inside of these tasks, and without.
fn worked_inside(recording: &Recording, thread: &RecordedThread) -> HashMap<usize, (u64, u64)> {
    let timeline = recording.timeline();
    let is_wait = |event: usize| timeline.text(timeline.events()[event].category()) == "wait";
    let mut worked: HashMap<usize, (u64, u64)> = HashMap::new();
    for (_, event) in recording.events_of(thread) {
        match timeline.text(event.category()) {
            "task" | "fork" | "message" | "call" => {
                if let Some(wait) = event.parent().filter(|parent| is_wait(*parent)) {
                    let (inside_ns, worked_ns) = worked.entry(wait).or_default();
                    *inside_ns += event.duration_ns();
                    *worked_ns += event.duration_ns();
                }
            }
            "wait" => {
                let mut around = event.parent();
                while let Some(outer) = around.filter(|outer| !is_wait(*outer)) {
                    around = timeline.events()[outer].parent();
                }
                // That task counts with the outer wait already.
                if let Some((_, worked_ns)) = around.and_then(|outer| worked.get_mut(&outer)) {
                    *worked_ns = worked_ns.saturating_sub(event.duration_ns());
                }
            }
            _ => {}
        }
    }
    worked
}

/// Returns the index of a worker of the runtime and process of thread `own`.
fn worker_of(recording: &Recording, own: usize, worker: u64) -> Option<usize> {
    let threads = recording.threads();
    let own = &threads[own];
    let Thread::Worker { runtime, .. } = own.thread else {
        return None;
    };
    let wanted = usize::try_from(worker).ok()?;
    threads.iter().position(|thread| {
        let is_it = matches!(
            thread.thread,
            Thread::Worker { runtime: of, index, .. } if (of, index) == (runtime, wanted)
        );
        is_it && thread.process == own.process
    })
}

/// The ends of the sections of each location, with the index of the thread, in the order of time.
type SectionEnds = HashMap<String, Vec<(u64, usize)>>;

fn section_ends(recording: &Recording) -> SectionEnds {
    let timeline = recording.timeline();
    let mut ends = SectionEnds::new();
    for (own, thread) in recording.threads().iter().enumerate() {
        for (_, event) in recording.events_of(thread) {
            if timeline.text(event.category()) == "section" {
                let name = timeline.text(event.name()).to_owned();
                ends.entry(name).or_default().push((event.to_ns(), own));
            }
        }
    }
    for ends in ends.values_mut() {
        ends.sort_unstable();
    }
    ends
}

/// Returns the other thread that had the last section of a location before `until_ns`.
fn last_holder(ends: &SectionEnds, location: &str, own: usize, until_ns: u64) -> Option<usize> {
    /// The end of a section is recorded just after the next one may begin.
    const LATE_NS: u64 = 2_000;
    let ends = ends.get(location)?;
    let count = ends.partition_point(|(end_ns, _)| *end_ns <= until_ns + LATE_NS);
    let others = ends[..count].iter().rev();
    others
        .map(|(_, thread)| *thread)
        .find(|thread| *thread != own)
}

impl Waits {
    /// Returns a table with a row for each waiting thread, reason and party.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = [
            ("thread", 0),
            ("reason", 0),
            ("on", 0),
            ("waits", 0),
            ("idle ms", 3),
            ("worked meanwhile ms", 3),
        ];
        let mut table = Table::new("waits", "Waits", columns);
        for pair in &self.pairs {
            table.row([
                pair.thread.clone().into(),
                pair.reason.clone().into(),
                pair.party().into(),
                pair.count.into(),
                Cell::Real(pair.idle_ns as f64 * 1e-6),
                Cell::Real(pair.worked_ns as f64 * 1e-6),
            ]);
        }
        table
    }
}

impl WaitPair {
    /// Returns the thread or location that was waited for, if the recording says so.
    #[must_use]
    pub fn party(&self) -> Option<String> {
        match (&self.location, &self.on) {
            (Some(location), Some(thread)) => Some(format!("{location} of {thread}")),
            (Some(party), None) | (None, Some(party)) => Some(party.clone()),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests_support::recording;

    #[test]
    fn the_time_of_tasks_in_a_wait_is_not_idle() {
        let recording = recording(&[
            ("task", "outer", 0, 80),
            ("wait", "wait for scope", 10, 60),
            ("task", "inner", 20, 50),
            ("wait", "wait for scope", 70, 75),
        ]);
        let waits = Waits::of(&recording);
        let [pair] = &waits.pairs[..] else {
            panic!("{waits:?}");
        };
        assert_eq!(
            (&*pair.thread, &*pair.reason),
            ("worker 0", "wait for scope")
        );
        assert_eq!((pair.count, pair.idle_ns, pair.worked_ns), (2, 25, 30));
        assert!(waits.table().to_string().contains("worked meanwhile"));
    }

    // Regression: the time of tasks in nested waits was counted for each wait around them.
    #[test]
    fn a_nested_wait_counts_once() {
        let recording = recording(&[
            ("task", "outer", 0, 80),
            ("wait", "wait for scope", 10, 60),
            ("task", "inner", 20, 50),
            ("wait", "wait for scope", 25, 45),
            ("task", "innermost", 30, 40),
        ]);
        let waits = Waits::of(&recording);
        let [pair] = &waits.pairs[..] else {
            panic!("{waits:?}");
        };
        assert_eq!((pair.count, pair.idle_ns, pair.worked_ns), (2, 30, 20));
    }

    #[test]
    fn the_last_other_holder_of_a_location_is_found() {
        let ends = HashMap::from([(
            "block".to_owned(),
            vec![(10, 0), (5_000, 1), (10_000, 0), (90_000, 2)],
        )]);
        assert_eq!(last_holder(&ends, "block", 2, 20_000), Some(0));
        assert_eq!(last_holder(&ends, "block", 0, 20_000), Some(1));
        assert_eq!(last_holder(&ends, "other", 0, 20_000), None);
    }
}
