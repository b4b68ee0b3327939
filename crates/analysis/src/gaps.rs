//! Gaps: times in which a worker had nothing to do until a message came, and where that message
//! came from.
//!
//! A gap has up to three parts. Before the function that sends the message has begun, there was
//! nothing to send yet: that function may have waited for messages itself. From then until the
//! message was sent, the worker depends on this function. From then on it depends on the runtime:
//! on the transfer and the wake-up.

use std::collections::BTreeMap;

use raddle_timeline::EventRecord;
use raddle_trace::events::Thread;
use serde::Serialize;

use crate::links::Links;
use crate::recording::{RecordedThread, Recording};
use crate::table::{Cell, Table};

/// The gaps of a recording, the longest first.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Gaps {
    /// One entry per worker, sender, entry that the message was for, and function that sent it.
    pub pairs: Vec<GapPair>,
}

/// The gaps of one worker that messages of one kind ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GapPair {
    /// The worker that had nothing to do.
    pub worker: String,
    /// The thread that sent the message.
    pub sender: String,
    /// True if it is a worker.
    pub is_from_worker: bool,
    /// The entry that the message was for.
    pub entry: String,
    /// The innermost task, entry or scope that sent the message. Empty if it was sent outside of
    /// all of them.
    pub sent_by: String,
    /// The number of gaps.
    pub count: u64,
    /// The time until the functions that have sent the messages began, in nanoseconds.
    pub earlier_ns: u64,
    /// The time from then until the messages were sent.
    pub before_ns: u64,
    /// The time from then until they ran.
    pub after_ns: u64,
}

impl GapPair {
    /// Returns the length of all gaps, in nanoseconds.
    #[must_use]
    pub const fn ns(&self) -> u64 {
        self.earlier_ns + self.before_ns + self.after_ns
    }
}

/// A worker, a sender, an entry and a function; threads by their indexes.
type Key<'a> = (usize, usize, &'a str, &'a str);

impl Gaps {
    /// Collects the gaps of a recording.
    pub(crate) fn of(recording: &Recording, links: &Links) -> Self {
        let timeline = recording.timeline();
        let threads = recording.threads();
        let thread_of = |event: &EventRecord| {
            let mut threads = threads.iter();
            threads.position(|thread| thread.track == event.track())
        };
        let mut sums: BTreeMap<Key<'_>, [u64; 4]> = BTreeMap::new();
        for (worker, thread) in threads.iter().enumerate() {
            for (idle_ns, message) in ends_of_idleness(recording, thread) {
                let Some(send) = links.cause_of(message) else {
                    continue;
                };
                let (run, sent) = (&timeline.events()[message], &timeline.events()[send]);
                // A worker does not wait for itself: its own message was found late.
                let Some(sender) = thread_of(sent).filter(|sender| *sender != worker) else {
                    continue;
                };
                let (from_ns, until_ns) = (idle_ns, run.from_ns());
                let sent_ns = sent.from_ns().clamp(from_ns, until_ns);
                let sends = recording.function_around(send);
                let begun_ns = sends.map_or(sent_ns, |function| function.from_ns());
                let begun_ns = begun_ns.clamp(from_ns, sent_ns);
                let sent_by = sends.map_or("", |function| timeline.text(function.name()));
                let key = (worker, sender, timeline.text(sent.name()), sent_by);
                let sums = sums.entry(key).or_default();
                let parts = [
                    1,
                    begun_ns - from_ns,
                    sent_ns - begun_ns,
                    until_ns - sent_ns,
                ];
                for (sum, part) in sums.iter_mut().zip(parts) {
                    *sum += part;
                }
            }
        }
        let name = |index: usize| {
            let thread: &RecordedThread = &threads[index];
            recording.thread_name(thread.process, &thread.thread)
        };
        let pair = |((worker, sender, entry, sent_by), sums): (Key<'_>, [u64; 4])| {
            let [count, earlier_ns, before_ns, after_ns] = sums;
            GapPair {
                worker: name(worker),
                sender: name(sender),
                is_from_worker: matches!(threads[sender].thread, Thread::Worker { .. }),
                entry: entry.to_owned(),
                sent_by: sent_by.to_owned(),
                count,
                earlier_ns,
                before_ns,
                after_ns,
            }
        };
        let mut pairs: Vec<GapPair> = sums.into_iter().map(pair).collect();
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.ns()));
        Self { pairs }
    }

    /// Returns a table with a row for each worker, sender, entry and function.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = [
            ("worker", 0),
            ("until", 0),
            ("from", 0),
            ("sent by", 0),
            ("gaps", 0),
            ("before that began ms", 3),
            ("before sending ms", 3),
            ("after sending ms", 3),
        ];
        let mut table = Table::new("gaps", "Idle until a message came", columns);
        for pair in &self.pairs {
            table.row([
                pair.worker.clone().into(),
                pair.entry.clone().into(),
                pair.sender.clone().into(),
                pair.sent_by.clone().into(),
                pair.count.into(),
                Cell::Real(pair.earlier_ns as f64 * 1e-6),
                Cell::Real(pair.before_ns as f64 * 1e-6),
                Cell::Real(pair.after_ns as f64 * 1e-6),
            ]);
        }
        table
    }
}

/// Returns the messages that have ended a time in which a worker had nothing to do, each with the
/// begin of that time.
fn ends_of_idleness(recording: &Recording, thread: &RecordedThread) -> Vec<(u64, usize)> {
    if !matches!(thread.thread, Thread::Worker { .. }) {
        return Vec::new();
    }
    let timeline = recording.timeline();
    let mut ends = Vec::new();
    let mut idle_ns = None;
    for (index, event) in recording.events_of(thread) {
        match timeline.text(event.category()) {
            // A search and the sleep after it are one time.
            "idle" if event.parent().is_none() => {
                idle_ns.get_or_insert(event.from_ns());
            }
            "message" => ends.extend(idle_ns.take().map(|from_ns| (from_ns, index))),
            "task" | "fork" | "call" | "wait" | "pause" => idle_ns = None,
            _ => {}
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests_support::two_workers;

    #[test]
    fn a_gap_is_divided_by_the_time_at_which_the_message_was_sent() {
        let recording = two_workers();
        let gaps = Gaps::of(&recording, &Links::of(&recording));
        let [pair] = &gaps.pairs[..] else {
            panic!("{gaps:?}");
        };
        let names = [&*pair.worker, &*pair.sender, &*pair.entry, &*pair.sent_by];
        assert_eq!(
            names,
            ["worker 1", "worker 0", "Cell::receive", "Cell::begin"]
        );
        // Idle from 10 on; the sending entry began at 100, sent at 110, and it ran at 1,110.
        let parts = (pair.earlier_ns, pair.before_ns, pair.after_ns);
        assert_eq!((pair.count, parts), (1, (90, 10, 1_000)));
        assert!(pair.is_from_worker);
        assert!(gaps.table().to_string().contains("before sending"));
    }
}
