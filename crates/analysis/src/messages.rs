//! Messages: from which worker, node and object to which, how many bytes, and how late they ran.

use raddle_timeline::Value;
use raddle_trace::events::Thread;
use raddle_trace::record::ALL_INDEX;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::links::Links;
use crate::recording::{RecordedThread, Recording};
use crate::table::{Cell, Table};

/// The messages of a recording.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Messages {
    /// The entries to which messages were sent, the most bytes first.
    pub entries: Vec<EntryMessages>,
    /// The parties of [`between_workers`](Self::between_workers): names of threads, in the order of
    /// the recording.
    pub threads: Vec<String>,
    /// The messages from one thread to another one: pairs of indexes of `threads`.
    pub between_workers: Vec<Flow<usize>>,
    /// The parties of [`between_nodes`](Self::between_nodes): names of processes.
    pub nodes: Vec<String>,
    /// The messages from one node to another one: pairs of indexes of `nodes`.
    pub between_nodes: Vec<Flow<usize>>,
    /// The messages from one object to another one: collection and element of each. The sender is
    /// `None` if no entry of an object has sent it. The most bytes first.
    pub between_objects: Vec<(Option<Object>, Object, Traffic)>,
}

/// The messages to one entry.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct EntryMessages {
    /// The name of the entry.
    pub entry: String,
    /// The messages.
    pub traffic: Traffic,
    /// The number of messages that were seen to run, and the sum of the times from their sending to
    /// their begin, in nanoseconds.
    pub run: (u64, u64),
}

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// The number of messages.
    pub messages: u64,
    /// The sum of their bytes.
    pub bytes: u64,
}

/// The messages from one party to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Flow<P> {
    /// The sender.
    pub from: P,
    /// The receiver.
    pub to: P,
    /// The messages.
    pub traffic: Traffic,
}

/// An object: the number of its collection, and its number in there.
pub type Object = (u64, u64);

impl Traffic {
    fn add(&mut self, bytes: u64) {
        self.messages += 1;
        self.bytes += bytes;
    }
}

/// The sums of messages while a recording is read.
#[derive(Default)]
struct Sums<'a> {
    entries: HashMap<&'a str, EntryMessages>,
    workers: BTreeMap<(usize, usize), Traffic>,
    nodes: BTreeMap<(u32, u32), Traffic>,
    objects: HashMap<(Option<Object>, Object), Traffic>,
}

impl Messages {
    /// Counts the messages of a recording.
    pub(crate) fn of(recording: &Recording, links: &Links) -> Self {
        let timeline = recording.timeline();
        let threads = recording.threads();
        let of_track = |track: usize| threads.iter().position(|thread| thread.track == track);
        let mut sums = Sums::default();
        for (sender, thread) in threads.iter().enumerate() {
            for (index, event) in recording.events_of(thread) {
                match timeline.text(event.category()) {
                    "send" => {}
                    "node" if timeline.text(event.name()) == "send to node" => {
                        let arguments = Arguments::of(recording, index);
                        if let Some(node) = arguments.node {
                            let pair = (thread.process, node);
                            sums.nodes.entry(pair).or_default().add(arguments.bytes);
                        }
                        continue;
                    }
                    _ => continue,
                }
                let arguments = Arguments::of(recording, index);
                let arrival = links.effect_of(index).map(|run| &timeline.events()[run]);
                let entry = sums.entries.entry(timeline.text(event.name())).or_default();
                entry.traffic.add(arguments.bytes);
                if let Some(run) = arrival {
                    entry.run.0 += 1;
                    entry.run.1 += run.from_ns().saturating_sub(event.from_ns());
                }
                let receiver = arrival
                    .and_then(|run| of_track(run.track()))
                    .or_else(|| arguments.receiver(threads, thread));
                if let Some(receiver) = receiver {
                    let pair = (sender, receiver);
                    sums.workers.entry(pair).or_default().add(arguments.bytes);
                }
                let pair = (sending_object(recording, index), arguments.object);
                sums.objects.entry(pair).or_default().add(arguments.bytes);
            }
        }
        sums.into_messages(recording)
    }
}

impl Sums<'_> {
    fn into_messages(self, recording: &Recording) -> Messages {
        let mut entries: Vec<EntryMessages> = self
            .entries
            .into_iter()
            .map(|(entry, messages)| EntryMessages {
                entry: entry.to_owned(),
                ..messages
            })
            .collect();
        entries.sort_by(|one, other| {
            let by_bytes = other.traffic.bytes.cmp(&one.traffic.bytes);
            by_bytes.then_with(|| one.entry.cmp(&other.entry))
        });
        let mut objects: Vec<_> = self
            .objects
            .into_iter()
            .map(|((from, to), traffic)| (from, to, traffic))
            .collect();
        objects.sort_by_key(|(from, to, traffic)| (std::cmp::Reverse(traffic.bytes), *from, *to));
        let threads = recording.threads().iter();
        let name = |thread: &RecordedThread| recording.thread_name(thread.process, &thread.thread);
        let (nodes, between_nodes) = between_nodes(recording, &self.nodes);
        Messages {
            entries,
            threads: threads.map(name).collect(),
            between_workers: flows(self.workers),
            nodes,
            between_nodes,
            between_objects: objects,
        }
    }
}

/// Returns the names of all nodes that have sent or received, and the flows between them.
fn between_nodes(
    recording: &Recording,
    sums: &BTreeMap<(u32, u32), Traffic>,
) -> (Vec<String>, Vec<Flow<usize>>) {
    let parties = sums.keys().flat_map(|(from, to)| [*from, *to]);
    let parties: Vec<u32> = parties.collect::<BTreeSet<_>>().into_iter().collect();
    // It is there.
    let index = |party: u32| parties.binary_search(&party).unwrap_or(0);
    let flow = |((from, to), traffic): (&(u32, u32), &Traffic)| Flow {
        from: index(*from),
        to: index(*to),
        traffic: *traffic,
    };
    let flows = sums.iter().map(flow).collect();
    // The recording of a node that was killed is missing.
    let name = |process: &u32| {
        let facts = recording.facts_of(*process);
        facts.map_or_else(
            || format!("process {process} (not recorded)"),
            |facts| facts.name.clone(),
        )
    };
    (parties.iter().map(name).collect(), flows)
}

fn flows<P>(sums: BTreeMap<(P, P), Traffic>) -> Vec<Flow<P>> {
    let flow = |((from, to), traffic)| Flow { from, to, traffic };
    sums.into_iter().map(flow).collect()
}

/// The arguments of a message that was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Arguments {
    object: Object,
    worker: Option<u64>,
    node: Option<u32>,
    bytes: u64,
}

impl Arguments {
    fn of(recording: &Recording, event: usize) -> Self {
        let mut found = Self::default();
        for (name, value) in recording.timeline().arguments(event) {
            let Value::Unsigned(number) = value else {
                continue;
            };
            match name {
                "collection" => found.object.0 = number,
                "element" => found.object.1 = number,
                "worker" => found.worker = Some(number),
                "node" => found.node = u32::try_from(number).ok(),
                // A recording has 40 bits for them.
                "bytes" => found.bytes = number.min((1 << 40) - 1),
                _ => {}
            }
        }
        found
    }

    /// Returns the index of the worker to which a thread has sent the message, if it says so.
    fn receiver(&self, threads: &[RecordedThread], sender: &RecordedThread) -> Option<usize> {
        let runtime_of = |thread: &Thread| match thread {
            Thread::Worker { runtime, .. } => Some(*runtime),
            _ => None,
        };
        let runtime = runtime_of(&sender.thread).unwrap_or(0);
        let wanted = Thread::Worker {
            runtime,
            index: usize::try_from(self.worker?).ok()?,
            is_compensating: false,
        };
        let is_it =
            |thread: &RecordedThread| thread.process == sender.process && thread.thread == wanted;
        threads.iter().position(is_it)
    }
}

/// Returns the object of which an entry has sent a message.
fn sending_object(recording: &Recording, event: usize) -> Option<Object> {
    let timeline = recording.timeline();
    let mut at = timeline.events()[event].parent();
    while let Some(index) = at {
        let record = &timeline.events()[index];
        let category = timeline.text(record.category());
        let is_object = |name: &str| matches!(name, "collection" | "element");
        let has_object = timeline.arguments(index).any(|(name, _)| is_object(name));
        if matches!(category, "message" | "entry") && has_object {
            return Some(Arguments::of(recording, index).object);
        }
        at = record.parent();
    }
    None
}

impl Messages {
    /// Returns a table with a row for each entry that messages were sent to.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = [
            ("entry", 0),
            ("messages", 0),
            ("bytes", 0),
            ("mean bytes", 1),
            ("sent to run us", 3),
        ];
        let mut table = Table::new("messages", "Messages by entry", columns);
        for entry in &self.entries {
            let Traffic { messages, bytes } = entry.traffic;
            let (run, late_ns) = entry.run;
            let late_us = (run > 0).then(|| late_ns as f64 * 1e-3 / run as f64);
            table.row([
                entry.entry.clone().into(),
                messages.into(),
                bytes.into(),
                Cell::Real(bytes as f64 / messages.max(1) as f64),
                late_us.into(),
            ]);
        }
        table
    }
}

impl Messages {
    /// Returns a table with a row for each pair of threads.
    #[must_use]
    pub fn table_of_workers(&self) -> Table {
        let title = "Messages between workers";
        table_of_flows("workers", title, &self.threads, &self.between_workers)
    }

    /// Returns a table with a row for each pair of nodes.
    #[must_use]
    pub fn table_of_nodes(&self) -> Table {
        let title = "Messages between nodes";
        table_of_flows("nodes", title, &self.nodes, &self.between_nodes)
    }

    /// Returns a table with a row for each pair of objects.
    #[must_use]
    pub fn table_of_objects(&self) -> Table {
        let columns = [("from", 0), ("to", 0), ("messages", 0), ("bytes", 0)];
        let mut table = Table::new("objects", "Messages between objects", columns);
        for (from, to, traffic) in &self.between_objects {
            table.row([
                from.map_or_else(|| "outside".to_owned(), object_name)
                    .into(),
                object_name(*to).into(),
                traffic.messages.into(),
                traffic.bytes.into(),
            ]);
        }
        table
    }
}

/// Returns a table with a row for each pair of parties, the most bytes first.
fn table_of_flows(
    key: &'static str,
    title: &'static str,
    names: &[String],
    flows: &[Flow<usize>],
) -> Table {
    let columns = [("from", 0), ("to", 0), ("messages", 0), ("bytes", 0)];
    let mut table = Table::new(key, title, columns);
    let mut flows = flows.to_vec();
    flows.sort_by_key(|flow| std::cmp::Reverse(flow.traffic.bytes));
    for flow in flows {
        table.row([
            names[flow.from].clone().into(),
            names[flow.to].clone().into(),
            flow.traffic.messages.into(),
            flow.traffic.bytes.into(),
        ]);
    }
    table
}

/// Returns true if the number of an object means all objects of its collection on a worker.
pub(crate) const fn is_all(element: u64) -> bool {
    element & 0xffff_ffff == ALL_INDEX as u64
}

/// Returns the name of an object: the number of its collection, the worker that has made it, and
/// its index there.
pub(crate) fn object_name((collection, element): Object) -> String {
    let (worker, index) = (element >> 32, element & 0xffff_ffff);
    match worker {
        worker if is_all(element) => format!("all of chare {collection} on worker {worker}"),
        0 => format!("chare {collection}:{index}"),
        _ => format!("chare {collection}:{index} of worker {worker}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests_support::two_workers;

    #[test]
    fn messages_are_counted_by_entry_worker_and_object() {
        let recording = two_workers();
        let messages = Messages::of(&recording, &Links::of(&recording));
        let traffic = Traffic {
            messages: 2,
            bytes: 128,
        };
        let [entry] = &messages.entries[..] else {
            panic!("{messages:?}");
        };
        assert_eq!((&*entry.entry, entry.traffic), ("Cell::receive", traffic));
        assert_eq!(entry.run, (1, 1_000));
        let flow = Flow {
            from: 0,
            to: 1,
            traffic,
        };
        assert_eq!(messages.between_workers, [flow]);
        assert_eq!(messages.between_objects, [(Some((4, 0)), (4, 1), traffic)]);
        assert!(
            messages.table().to_string().contains("1.000"),
            "{messages:?}"
        );
    }
}
