//! Decodes the words of recordings, and gives a time to each event.

use raddle_sync::log_segment::LogCopy;

use super::{Event, Events, Pause, Thread, Track};
use crate::profile::CallCost;
use crate::record::kind::Kind;
use crate::record::live::buffer::SEGMENT_WORDS;
use crate::record::live::head::{argument_of, kind_of, len_of, ticks_of_head};
use crate::record::live::tracks::Label;
use crate::session::pauses;

/// A copy of what one thread has recorded.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) label: Label,
    /// The segments, oldest first, and the number of segments that were overwritten.
    pub(crate) segments: (Vec<LogCopy>, u64),
    /// The counter when the thread ended, if it has ended.
    pub(crate) ended: Option<u64>,
}

impl Events {
    /// Decodes the copies of all buffers.
    pub(crate) fn decode(
        clock: Clock,
        mut copies: Vec<Copied>,
        pauses: &[pauses::Pause],
        names: Vec<String>,
        refused_threads: u64,
    ) -> Self {
        copies.sort_by(|one, other| one.label.cmp(&other.label));
        let tracks = copies
            .into_iter()
            .map(|copied| Track::decode(clock, copied))
            .collect();
        let (from_ns, until_ns) = clock.range();
        Self {
            from_ns,
            until_ns,
            tracks,
            pauses: pauses.iter().map(|pause| Pause::of(clock, pause)).collect(),
            names,
            refused_threads,
            scope_cost: CallCost::default(),
        }
    }
}

impl Pause {
    fn of(clock: Clock, pause: &pauses::Pause) -> Self {
        Self {
            from_ns: clock.ns(pause.ticks.0),
            until_ns: clock.ns(pause.ticks.1),
            counts: pause.counts.clone(),
        }
    }
}

impl Track {
    fn decode(clock: Clock, copied: Copied) -> Self {
        let (copies, lost) = copied.segments;
        let words: usize = copies.iter().map(|copied| copied.words.len()).sum();
        let mut decoder = Decoder::default();
        for copied in &copies {
            decoder.segment(copied);
        }
        let to_event = |record: Record| record.to_event(clock);
        let events: Vec<Event> = decoder.records.into_iter().map(to_event).collect();
        Self {
            thread: match copied.label {
                Label::Worker(runtime, index, is_compensating) => Thread::Worker {
                    runtime,
                    index,
                    is_compensating,
                },
                Label::Other(name) => Thread::Other(name),
            },
            dropped: (lost * SEGMENT_WORDS as u64 * events.len() as u64)
                .checked_div(words as u64)
                .unwrap_or(0),
            ended_ns: copied.ended.map(|ticks| clock.ns(ticks)),
            events,
        }
    }
}

/// Turns readings of the counter into times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    ticks: u64,
    ns: u64,
    passed: (u64, u64),
}

impl Clock {
    /// Creates a clock from two pairs of a reading and a time.
    pub(crate) fn between(first: (u64, u64), last: (u64, u64)) -> Self {
        Self {
            ticks: first.0,
            ns: first.1,
            passed: (
                last.0.saturating_sub(first.0).max(1),
                last.1.saturating_sub(first.1),
            ),
        }
    }

    /// Returns the time of a reading.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        // A thread may read the counter just before the recording does.
        let since = ticks.saturating_sub(self.ticks);
        let ns = u128::from(since) * u128::from(self.passed.1) / u128::from(self.passed.0);
        self.ns + ns as u64
    }

    /// Returns the time that a number of ticks takes.
    pub(crate) fn duration_ns(&self, ticks: f64) -> f64 {
        ticks * self.passed.1 as f64 / self.passed.0 as f64
    }

    pub(crate) fn range(&self) -> (u64, u64) {
        (self.ns, self.ns + self.passed.1)
    }
}

/// A record, with the counter at its time.
#[derive(Clone, Copy, Debug)]
struct Record {
    ticks: u64,
    is_timed: bool,
    kind: Kind,
    argument: u32,
    more: [u64; 2],
}

impl Record {
    fn to_event(self, clock: Clock) -> Event {
        Event {
            at_ns: clock.ns(self.ticks),
            is_timed: self.is_timed,
            kind: self.kind,
            argument: self.argument,
            more: self.more,
        }
    }
}

/// Turns words into records.
#[derive(Debug, Default)]
struct Decoder {
    records: Vec<Record>,
    /// The counter at the last reading.
    ticks: u64,
    /// The index of the first record since that reading, which has no time of its own.
    untimed: usize,
}

impl Decoder {
    fn segment(&mut self, copied: &LogCopy) {
        let mut words = copied.words.iter().copied();
        let kind_of = |head: &u64| Kind::from_number(kind_of(*head));
        if copied.words.first().and_then(kind_of) == Some(Kind::Resume) {
            self.resume();
        }
        // The first event of a segment has a reading, which the head of the segment gives.
        self.time(copied.begun);
        while let Some(head) = words.next() {
            let len = len_of(head);
            let mut more = [0; 2];
            for place in more.iter_mut().take(len) {
                *place = words.next().unwrap_or(0);
            }
            let passed = ticks_of_head(head);
            let Some(kind) = kind_of(&head) else { continue };
            if kind == Kind::Resume {
                self.resume();
            }
            if kind == Kind::Time || kind == Kind::Resume {
                self.time(more[0]);
            }
            if kind == Kind::Time {
                continue;
            }
            let is_timed = passed > 0;
            if is_timed && kind != Kind::Resume {
                // An event that follows a time has passed one tick.
                self.time(self.ticks + passed - 1);
            }
            self.records.push(Record {
                ticks: self.ticks,
                is_timed,
                kind,
                argument: argument_of(head),
                more,
            });
            if is_timed {
                self.untimed = self.records.len();
            }
        }
    }

    /// Gives the records without a time that come before a pause the time of the one before: the
    /// pause must not be spread over them.
    fn resume(&mut self) {
        let ticks = self.ticks;
        self.time(ticks);
    }

    /// Sets the counter for the next record, and spreads the time since the last reading over the
    /// records without one.
    fn time(&mut self, ticks: u64) {
        let since = self.ticks;
        self.ticks = ticks;
        let untimed = &mut self.records[self.untimed..];
        let parts = untimed.len() as u64 + 1;
        let passed = ticks.saturating_sub(since);
        for (place, record) in (1..).zip(untimed) {
            record.ticks = since + passed * place / parts;
        }
        self.untimed = self.records.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::live::head::head;

    fn decode(words: Vec<u64>) -> Vec<Record> {
        let mut decoder = Decoder::default();
        decoder.segment(&LogCopy {
            number: 1,
            begun: 1_000,
            words,
        });
        decoder.records
    }

    #[test]
    fn a_pause_is_not_spread_over_the_events_before_it() {
        let words = vec![
            head(Kind::RunMessage, 0, 11, 0),
            head(Kind::Send, 2, 0, 5),
            7,
            8,
            head(Kind::Resume, 1, 1, 0),
            900_000,
            head(Kind::Idle, 0, 1, 0),
        ];
        let records = decode(words);
        let ticks: Vec<u64> = records.iter().map(|record| record.ticks).collect();
        assert_eq!(ticks, [1_010, 1_010, 900_000, 900_000]);
    }

    #[test]
    fn an_event_without_a_time_lies_between_its_neighbours() {
        let words = vec![
            head(Kind::RunMessage, 0, 1, 0),
            head(Kind::Send, 2, 0, 5),
            7,
            8,
            head(Kind::Send, 2, 0, 6),
            9,
            10,
            head(Kind::Idle, 0, 91, 1),
        ];
        let records = decode(words);
        let ticks: Vec<u64> = records.iter().map(|record| record.ticks).collect();
        assert_eq!(ticks, [1_000, 1_030, 1_060, 1_090]);
        assert_eq!(records[1].more, [7, 8]);
        assert_eq!(records[2].argument, 6);
        assert!(records[0].is_timed && !records[2].is_timed);
    }

    #[test]
    fn a_long_time_has_a_record_of_its_own() {
        let words = vec![
            head(Kind::RunMessage, 0, 1, 0),
            head(Kind::Time, 1, 1, 0),
            1 << 40,
            head(Kind::Idle, 0, 1, 0),
        ];
        let records = decode(words);
        assert_eq!(records[1].ticks, 1 << 40);
        assert_eq!(records.len(), 2);
    }
}
