//! A timeline that Raddle has recorded: its threads, and the facts about its processes.

use raddle_timeline::{EventRecord, Timeline, Value};
use raddle_trace::events::Thread;
use raddle_trace::export::FACTS;
use raddle_trace::profile::CallCost;
use thiserror::Error;

/// A timeline that Raddle has recorded.
#[derive(Debug)]
pub struct Recording {
    timeline: Timeline,
    threads: Vec<RecordedThread>,
    facts: Vec<Facts>,
}

/// A thread of a recorded process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedThread {
    /// The index of its track in the timeline.
    pub track: usize,
    /// The number of its process.
    pub process: u32,
    /// The thread.
    pub thread: Thread,
}

/// Facts about a recorded process.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Facts {
    /// The number of the process: 0 for the first node of a job, and for a program without nodes.
    pub process: u32,
    /// The name of the process: the program, or the node with its job if there are several.
    pub name: String,
    /// The time at which the recording began, in nanoseconds.
    pub from_ns: u64,
    /// The time at which it ended.
    pub until_ns: u64,
    /// About how many events were dropped, because the buffer was full.
    pub dropped_events: u64,
    /// The number of threads without events, because there were too many threads.
    pub refused_threads: u64,
    /// The cost of recording a scope.
    pub scope_cost: CallCost,
    /// Facts about the runtimes of the process, as JSON: counters, places, traffic.
    pub runtimes: Vec<serde_json::Value>,
}

/// The error for a timeline that cannot be analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// Raddle has not recorded it.
    #[error(
        "found no facts of a recording, with which each begins: the file is damaged, or not a \
         recording; expected one that `--trace` or RADDLE_TRACE of a Raddle program has written \
         (timelines of `raddle simulate` are for Perfetto)"
    )]
    Foreign,
    /// Two parts are the same, or not of the same program.
    #[error(
        "found two recordings of the process {process}: one file twice, or files of different \
         programs; expected the parts of one job"
    )]
    Twice {
        /// The number of the process.
        process: u32,
    },
    /// Its times cannot be those of a recording.
    #[error(
        "found events that take {years} years together; expected times of less than a century: the \
         file is damaged"
    )]
    Times {
        /// The sum of all times, in years.
        years: u64,
    },
}

/// The largest count that is believed, so that sums of counts are numbers.
const COUNT_MAX: u64 = 1 << 48;

/// The largest sum of the durations of all events, and of the recording itself. Sums of times in
/// the analyses are never larger than a few of it.
const SUM_MAX_NS: u128 = 1 << 60;

impl Recording {
    /// Finds the threads and the facts of a timeline.
    ///
    /// # Errors
    /// [`RecordingError`] if it has no facts about any process, or times that no clock has.
    pub fn new(timeline: Timeline) -> Result<Self, RecordingError> {
        let mut facts = Vec::new();
        let mut threads = Vec::new();
        for (index, track) in timeline.tracks().iter().enumerate() {
            let process = track
                .process
                .map_or(0, |process| timeline.processes()[process].number);
            let first = track.events.clone().next();
            let is_facts =
                |event: &usize| timeline.text(timeline.events()[*event].category()) == FACTS;
            match first.filter(is_facts) {
                // Two parts of one process share a track.
                Some(_) if track.events.clone().filter(is_facts).count() > 1 => {
                    return Err(RecordingError::Twice { process });
                }
                Some(event) => facts.push(Facts::of(&timeline, event, process)),
                None if track.unit.is_none() => threads.push(RecordedThread {
                    track: index,
                    process,
                    thread: Thread::from(timeline.text(track.name)),
                }),
                None => {}
            }
        }
        if facts.is_empty() {
            return Err(RecordingError::Foreign);
        }
        let mut processes: Vec<u32> = facts.iter().map(|facts| facts.process).collect();
        processes.sort_unstable();
        if let Some(pair) = processes.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(RecordingError::Twice { process: pair[0] });
        }
        let recording = Self {
            timeline,
            threads,
            facts,
        };
        recording.check_times()?;
        Ok(recording)
    }

    fn check_times(&self) -> Result<(), RecordingError> {
        const YEAR_NS: u128 = 31_557_600_000_000_000;
        let (from_ns, until_ns) = self.span_ns();
        let durations = self.timeline.events().iter();
        let durations = durations.map(|event| u128::from(event.duration_ns()));
        let sum_ns = durations.sum::<u128>() + u128::from(until_ns.saturating_sub(from_ns));
        match sum_ns <= SUM_MAX_NS {
            true => Ok(()),
            false => Err(RecordingError::Times {
                years: u64::try_from(sum_ns / YEAR_NS).unwrap_or(u64::MAX),
            }),
        }
    }

    /// Returns the timeline.
    #[must_use]
    pub const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Returns all threads, by process, workers first.
    #[must_use]
    pub fn threads(&self) -> &[RecordedThread] {
        &self.threads
    }

    /// Returns the facts about all processes.
    #[must_use]
    pub fn facts(&self) -> &[Facts] {
        &self.facts
    }

    /// Returns the begin and the end of the recording, over all processes.
    #[must_use]
    pub fn span_ns(&self) -> (u64, u64) {
        let from = self.facts.iter().map(|facts| facts.from_ns).min();
        let until = self.facts.iter().map(|facts| facts.until_ns).max();
        let (first, last) = self.timeline.span_ns();
        let from = from.unwrap_or(first).min(first);
        (from, until.unwrap_or(last).max(last).max(from))
    }

    /// Returns the name of a thread; with its process if there are several.
    #[must_use]
    pub fn thread_name(&self, process: u32, thread: &Thread) -> String {
        match self.facts_of(process) {
            Some(facts) if self.facts.len() > 1 => format!("{}, {thread}", facts.name),
            _ => thread.to_string(),
        }
    }

    /// Returns the facts about a process.
    pub(crate) fn facts_of(&self, process: u32) -> Option<&Facts> {
        self.facts.iter().find(|facts| facts.process == process)
    }

    /// Returns the cost of recording a scope in a process.
    #[must_use]
    pub fn scope_cost(&self, process: u32) -> CallCost {
        let facts = self.facts_of(process);
        facts.map_or_else(CallCost::default, |facts| facts.scope_cost)
    }

    /// Returns the number of workers of all processes, without compensating threads: that of the
    /// largest runtime of each process.
    #[must_use]
    pub fn worker_count(&self) -> usize {
        let of_process = |facts: &Facts| {
            let workers = self
                .threads
                .iter()
                .filter_map(|thread| match thread.thread {
                    Thread::Worker {
                        runtime,
                        is_compensating: false,
                        ..
                    } if thread.process == facts.process => Some(runtime),
                    _ => None,
                });
            let mut runtimes: Vec<u32> = workers.collect();
            runtimes.sort_unstable();
            let counts = runtimes
                .chunk_by(|one, other| one == other)
                .map(<[u32]>::len);
            counts.max().unwrap_or(0)
        };
        self.facts.iter().map(of_process).sum()
    }

    /// Returns the thread of a track.
    pub(crate) fn thread_of(&self, track: usize) -> Option<&RecordedThread> {
        let index = self.threads.partition_point(|thread| thread.track < track);
        self.threads
            .get(index)
            .filter(|thread| thread.track == track)
    }

    /// Returns an argument of an event.
    pub(crate) fn argument(&self, event: usize, wanted: &str) -> Option<Value<'_>> {
        let mut arguments = self.timeline.arguments(event);
        arguments.find_map(|(name, value)| (name == wanted).then_some(value))
    }

    /// Returns an argument of an event that is a whole number.
    pub(crate) fn number(&self, event: usize, wanted: &str) -> Option<u64> {
        match self.argument(event, wanted) {
            Some(Value::Unsigned(number)) => Some(number),
            _ => None,
        }
    }

    /// Returns the time off the CPU that a note says: at most since the begin of the recording.
    pub(crate) fn lost_ns(&self, note: usize) -> u64 {
        let until_ns = self.timeline.events()[note].from_ns();
        let lost_ns = self.number(note, "value").unwrap_or(0);
        lost_ns.min(until_ns.saturating_sub(self.span_ns().0))
    }

    /// Returns the innermost function around an event.
    pub(crate) fn function_around(&self, event: usize) -> Option<&EventRecord> {
        let mut at = self.timeline.events()[event].parent();
        while let Some(index) = at {
            let record = &self.timeline.events()[index];
            if is_function(self.timeline.text(record.category())) {
                return Some(record);
            }
            at = record.parent();
        }
        None
    }

    /// Returns the object that a message is for: its collection, and its number in there.
    pub(crate) fn object_of(&self, event: usize) -> Option<(u64, u64)> {
        Some((
            self.number(event, "collection")?,
            self.number(event, "element")?,
        ))
    }

    /// Returns the events of a thread, in the order of time, with their indexes.
    pub(crate) fn events_of(
        &self,
        thread: &RecordedThread,
    ) -> impl Iterator<Item = (usize, &EventRecord)> {
        let range = self.timeline.tracks()[thread.track].events.clone();
        let events = &self.timeline.events()[range.clone()];
        range.zip(events)
    }
}

impl Facts {
    fn of(timeline: &Timeline, event: usize, process: u32) -> Self {
        let number = |wanted| {
            let mut arguments = timeline.arguments(event);
            let number = arguments.find_map(|(name, value)| match value {
                Value::Unsigned(number) if name == wanted => Some(number),
                _ => None,
            });
            number.unwrap_or(0)
        };
        let cost_ns = |wanted| {
            let mut arguments = timeline.arguments(event);
            arguments.find_map(|(name, value)| match value {
                Value::Float(cost_ns) if name == wanted => Some(cost_ns),
                Value::Unsigned(cost_ns) if name == wanted => Some(cost_ns as f64),
                _ => None,
            })
        };
        let named = timeline
            .processes()
            .iter()
            .find(|found| found.number == process);
        let name = named.map_or("", |found| timeline.text(found.name));
        let runtimes = timeline
            .arguments(event)
            .filter_map(|(name, value)| match value {
                Value::Text(json) if name.starts_with("runtime ") => {
                    serde_json::from_str(json).ok()
                }
                _ => None,
            });
        Self {
            process,
            name: match name {
                "" => format!("node {process}"),
                name => name.to_owned(),
            },
            from_ns: number("from_ns"),
            until_ns: number("until_ns"),
            dropped_events: number("dropped_events").min(COUNT_MAX),
            refused_threads: number("refused_threads").min(COUNT_MAX),
            scope_cost: CallCost {
                interior_ns: cost_ns("scope_interior_ns").unwrap_or(0.0),
                exterior_ns: cost_ns("scope_exterior_ns").unwrap_or(0.0),
            },
            runtimes: runtimes.collect(),
        }
    }
}

/// Returns true if events of this category are calls of functions.
pub(crate) fn is_function(category: &str) -> bool {
    matches!(
        category,
        "task" | "fork" | "message" | "entry" | "call" | "section" | "scope" | "loop"
    )
}

/// Recordings for the tests of this crate.
#[cfg(test)]
pub(crate) mod tests_support {
    use raddle_timeline::{Event, Format, Track, Writer, read};

    use super::*;

    /// A slice: its category, its name, its begin and its end.
    pub(crate) type Slice = (&'static str, &'static str, u64, u64);

    /// Returns the recording of a worker with these slices, sorted by their begins, from 0 to 100.
    pub(crate) fn recording(slices: &[Slice]) -> Recording {
        recording_with_cost(slices, 0.0, 0.0)
    }

    /// Returns such a recording with the costs of a scope, in nanoseconds.
    pub(crate) fn recording_with_cost(slices: &[Slice], interior: f64, exterior: f64) -> Recording {
        let bytes = write(slices, interior, exterior).expect("memory");
        Recording::new(read(&bytes[..]).expect("a timeline")).expect("facts")
    }

    /// Begins a recording of one process with these workers and facts, on the tracks from 1 on.
    fn begin(
        workers: &[&'static str],
        arguments: &[(&'static str, Value<'_>)],
    ) -> std::io::Result<Writer<Vec<u8>>> {
        let mut writer = Writer::new(Format::Perfetto, Vec::new())?;
        writer.process(0, "program")?;
        for (id, name) in ["raddle"].iter().chain(workers).enumerate() {
            writer.track(&Track {
                id: id as u64,
                process: 0,
                thread: id as u32,
                name,
                rank: 0,
            })?;
        }
        let facts = Event {
            category: FACTS,
            arguments,
            ..Event::named("facts")
        };
        writer.instant(0, 0, &facts)?;
        Ok(writer)
    }

    fn write(slices: &[Slice], interior: f64, exterior: f64) -> std::io::Result<Vec<u8>> {
        let arguments = [
            ("from_ns", Value::Unsigned(0)),
            ("until_ns", Value::Unsigned(100)),
            ("scope_interior_ns", Value::Float(interior)),
            ("scope_exterior_ns", Value::Float(exterior)),
        ];
        let mut writer = begin(&["worker 0"], &arguments)?;
        let mut open: Vec<u64> = Vec::new();
        for (category, name, from_ns, to_ns) in slices {
            while let Some(end_ns) = open.pop_if(|end_ns| *end_ns <= *from_ns) {
                writer.end(1, end_ns)?;
            }
            let event = Event {
                category,
                ..Event::named(name)
            };
            writer.begin(1, *from_ns, &event)?;
            open.push(*to_ns);
        }
        while let Some(end_ns) = open.pop() {
            writer.end(1, end_ns)?;
        }
        writer.finish()
    }

    /// Returns the recording of two workers: the first one sends two messages of an
    /// object, and the second one has nothing to do before it runs one of them.
    pub(crate) fn two_workers() -> Recording {
        let bytes = write_two_workers().expect("memory");
        Recording::new(read(&bytes[..]).expect("a timeline")).expect("facts")
    }

    fn write_two_workers() -> std::io::Result<Vec<u8>> {
        let mut writer = begin(&["worker 0", "worker 1"], &[])?;
        let object = |element| {
            [
                ("collection", Value::Unsigned(4)),
                ("element", Value::Unsigned(element)),
            ]
        };
        let run = Event {
            category: "message",
            arguments: &object(0),
            ..Event::named("Cell::begin")
        };
        writer.begin(1, 100, &run)?;
        let mut sent = object(1).to_vec();
        sent.extend([
            ("worker", Value::Unsigned(1)),
            ("bytes", Value::Unsigned(64)),
        ]);
        let send = Event {
            category: "send",
            arguments: &sent,
            flows: &[7],
            ..Event::named("Cell::receive")
        };
        writer.instant(1, 110, &send)?;
        writer.instant(1, 120, &Event { flows: &[], ..send })?;
        writer.end(1, 200)?;
        for (name, from_ns, to_ns) in [("search", 10, 50), ("sleep", 50, 1_100)] {
            let idle = Event {
                category: "idle",
                ..Event::named(name)
            };
            writer.slice(2, from_ns, to_ns, &idle)?;
        }
        let received = Event {
            category: "message",
            arguments: &object(1),
            flows_ended: &[7],
            ..Event::named("Cell::receive")
        };
        writer.slice(2, 1_110, 1_300, &received)?;
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use raddle_timeline::{Event, Format, Track, Writer, read};

    use super::*;
    use crate::summary::Summary;

    /// Returns the recording of two processes with these facts, and a worker with one task.
    fn recording(facts: &[(&str, Value<'_>)], task_ns: u64) -> Result<Recording, RecordingError> {
        let write = || {
            let mut writer = Writer::new(Format::Perfetto, Vec::new())?;
            for process in 0..2 {
                writer.process(process, "program")?;
                let track = |id: u32, name| Track {
                    id: u64::from(2 * process + id),
                    process,
                    thread: id,
                    name,
                    rank: 0,
                };
                writer.track(&track(0, "raddle"))?;
                writer.track(&track(1, "worker 0"))?;
                let event = Event {
                    category: FACTS,
                    arguments: facts,
                    ..Event::named("facts")
                };
                writer.instant(u64::from(2 * process), 0, &event)?;
                let task = Event {
                    category: "task",
                    ..Event::named("task")
                };
                writer.begin(u64::from(2 * process + 1), 0, &task)?;
                writer.end(u64::from(2 * process + 1), task_ns)?;
            }
            writer.finish()
        };
        let bytes: std::io::Result<Vec<u8>> = write();
        Recording::new(read(&bytes.expect("memory")[..]).expect("a timeline"))
    }

    #[test]
    fn counts_of_a_damaged_file_add_up_to_a_number() {
        let facts = [("dropped_events", Value::Unsigned(u64::MAX))];
        let recording = recording(&facts, 10).expect("facts");
        assert_eq!(Summary::of(&recording).dropped_events, 2 * COUNT_MAX);
    }

    #[test]
    fn a_recording_that_ends_before_it_begins_has_no_length() {
        let facts = [
            ("from_ns", Value::Unsigned(500)),
            ("until_ns", Value::Unsigned(3)),
        ];
        let recording = recording(&facts, 0).expect("facts");
        let (from_ns, until_ns) = recording.span_ns();
        assert!(from_ns <= until_ns);
        assert_eq!(Summary::of(&recording).length_ns, until_ns - from_ns);
    }

    #[test]
    fn times_that_no_clock_has_are_an_error() {
        let error = recording(&[], u64::MAX / 2).expect_err("292 years, twice");
        assert_eq!(error.to_string().lines().count(), 1);
        assert!(
            matches!(error, RecordingError::Times { years: 500.. }),
            "{error}"
        );
    }
}
