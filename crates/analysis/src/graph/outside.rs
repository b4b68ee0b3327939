//! The threads outside of the runtime, and what they have begun ([`super`], rule 7).
//!
//! Such a thread calls the runtime, waits, and calls it again. The recording has its puts and
//! messages, and most of its waits. Where it has no wait, but nothing ran on a worker, the thread
//! has probably waited for what ended last.

use std::collections::{BTreeSet, HashMap};

use super::strands::{Found, OutsideEvent};
use super::{OUTSIDE, Run, Strand};
use crate::links::Links;

/// The time by which the end of a task may be recorded late: a worker wakes the thread that waits
/// for the task before it records the end, and may be interrupted in between.
const LATE_NS: u64 = 500_000;

/// Something that no run has caused.
enum Root {
    Event(OutsideEvent),
    Run(u32),
}

/// The place in the outside of one thread: its last strand, and its end.
#[derive(Clone, Copy)]
struct Place {
    strand: u32,
    ns: u64,
    /// True if that was the end of a wait, false if the thread caused something.
    has_waited: bool,
}

/// Inserts the strands of the outside before everything that no run has caused.
pub(super) fn add(links: &Links, found: &mut Found) {
    let mut roots: Vec<(u64, Root)> = Vec::new();
    for event in std::mem::take(&mut found.outside) {
        roots.push((event.at_ns, Root::Event(event)));
    }
    for (index, run) in found.runs.iter().enumerate() {
        if links.cause_of(run.event as usize).is_none() {
            let at_ns = found.strands[run.first as usize].from_ns;
            roots.push((at_ns, Root::Run(index as u32)));
        }
    }
    roots.sort_by_key(|(at_ns, _)| *at_ns);
    // The time before the first call is not a part of the program's work.
    let begin_ns = roots.first().map_or(0, |(at_ns, _)| *at_ns);
    let mut outside = Outside {
        quiet: Quiet::of(found),
        begin_ns,
        places: HashMap::new(),
        caused: HashMap::new(),
        last: None,
        found,
    };
    for (at_ns, root) in roots {
        match root {
            Root::Run(run) => outside.begin_run(at_ns, run),
            Root::Event(event) if event.ends_wait => outside.end_wait(event),
            Root::Event(event) => {
                let effect = links.effect_of(event.event);
                let first = effect.and_then(|effect| outside.found.begins_at.get(effect));
                let run = first.map(|first| outside.found.strands[first].run);
                outside.cause(event, run);
            }
        }
    }
}

struct Outside<'a> {
    found: &'a mut Found,
    quiet: Quiet,
    begin_ns: u64,
    places: HashMap<u32, Place>,
    /// For each thread, the runs that it has caused and not waited for, by their ends.
    caused: HashMap<u32, BTreeSet<(u64, u32)>>,
    /// The last strand that began while nothing ran.
    last: Option<u32>,
}

impl Outside<'_> {
    /// Adds a strand of the outside that depends on another strand.
    fn strand(&mut self, before: Option<u32>, from_ns: u64, to_ns: u64, event: usize) -> u32 {
        let strand = self.found.strands.len() as u32;
        self.found.strands.push(Strand {
            from_ns: from_ns.min(to_ns),
            duration_ns: to_ns.saturating_sub(from_ns),
            lost_ns: 0,
            run: OUTSIDE,
            event: event as u32,
        });
        if let Some(before) = before {
            self.found.edges.push((before, strand));
        }
        strand
    }

    /// Adds a strand for a thread outside that puts a task or sends a message, which becomes `run`.
    fn cause(&mut self, event: OutsideEvent, run: Option<u32>) {
        if let Some(run) = run {
            let end_ns = self.end_of(run);
            let caused = self.caused.entry(event.thread).or_default();
            caused.insert((end_ns, run));
        }
        let place = self.places.get(&event.thread).copied();
        let (before, since_ns) = match (self.quiet.at(event.at_ns), place) {
            // Without a wait in the recording, the thread may have waited until all had ended.
            (At::Quiet(run, end_ns), place)
                if place.is_none_or(|place| !place.has_waited && place.ns < end_ns) =>
            {
                (Some(self.found.runs[run as usize].last), end_ns)
            }
            (_, Some(place)) => (Some(place.strand), place.ns),
            (_, None) => (None, self.begin_ns.max(event.at_ns)),
        };
        let strand = self.strand(before, since_ns, event.at_ns, event.event);
        self.found.ends_at.insert(event.event, strand as usize);
        self.last = Some(strand);
        self.places.insert(
            event.thread,
            Place {
                strand,
                ns: event.at_ns,
                has_waited: false,
            },
        );
    }

    /// Ends a wait of a thread outside: for one of the tasks that it has put, or for what ended
    /// last.
    fn end_wait(&mut self, event: OutsideEvent) {
        let run = self.take_ended(event.thread, event.at_ns).or_else(|| {
            match self.quiet.at(event.at_ns) {
                At::Quiet(run, _) => Some(run),
                At::First | At::Busy => None,
            }
        });
        let strand = self.strand(None, event.at_ns, event.at_ns, event.event);
        let place = self.places.get(&event.thread).copied();
        let ended = run.map(|run| self.found.runs[run as usize].last);
        let before = place.map(|place| place.strand).into_iter().chain(ended);
        self.found
            .edges
            .extend(before.map(|before| (before, strand)));
        self.places.insert(
            event.thread,
            Place {
                strand,
                ns: event.at_ns,
                has_waited: true,
            },
        );
    }

    /// Takes the run that a thread has caused and that has ended closest to a time, since a thread
    /// goes on soon after the end of what it waits for.
    fn take_ended(&mut self, thread: u32, at_ns: u64) -> Option<u32> {
        let caused = self.caused.get_mut(&thread)?;
        let before = caused.range(..=(at_ns, u32::MAX)).next_back().copied();
        let after = caused.range((at_ns + 1, 0)..=(at_ns + LATE_NS, u32::MAX));
        let after = after.min().copied();
        let closest = [before, after].into_iter().flatten();
        let closest = closest.min_by_key(|(end_ns, _)| end_ns.abs_diff(at_ns))?;
        caused.remove(&closest);
        Some(closest.1)
    }

    /// Adds a strand before a call or message without a known cause.
    fn begin_run(&mut self, at_ns: u64, run: u32) {
        let Run { event, first, .. } = self.found.runs[run as usize];
        let (before, since_ns) = match self.quiet.at(at_ns) {
            At::First => (None, self.begin_ns),
            At::Quiet(run, end_ns) => (Some(self.found.runs[run as usize].last), end_ns),
            // It was possible at the latest since the last time at which nothing ran.
            At::Busy => (self.last, at_ns),
        };
        let is_busy = matches!(self.quiet.at(at_ns), At::Busy);
        let strand = self.strand(before, since_ns, at_ns, event as usize);
        self.found.edges.push((strand, first));
        if !is_busy || self.last.is_none() {
            self.last = Some(strand);
        }
    }

    fn end_of(&self, run: u32) -> u64 {
        self.found.strands[self.found.runs[run as usize].last as usize].until_ns()
    }
}

/// The times at which no run was open.
struct Quiet {
    /// The begin and the end of each time with open runs, and the run that ended last.
    busy: Vec<(u64, u64, u32)>,
}

/// The state of the program at a time.
enum At {
    /// No run has begun yet.
    First,
    /// A run is open.
    Busy,
    /// No run is open; the last one that has ended, and its end.
    Quiet(u32, u64),
}

impl Quiet {
    fn of(found: &Found) -> Self {
        let span = |(index, run): (usize, &Run)| {
            let [first, last] = [run.first, run.last].map(|strand| &found.strands[strand as usize]);
            (first.from_ns, last.until_ns(), index as u32)
        };
        let mut spans: Vec<(u64, u64, u32)> = found.runs.iter().enumerate().map(span).collect();
        spans.sort_unstable();
        let mut busy: Vec<(u64, u64, u32)> = Vec::new();
        for (from_ns, to_ns, run) in spans {
            match busy.last_mut() {
                // A run that begins where one ends leaves no time in between.
                Some(last) if from_ns <= last.1 => {
                    if to_ns > last.1 {
                        (last.1, last.2) = (to_ns, run);
                    }
                }
                _ => busy.push((from_ns, to_ns, run)),
            }
        }
        Self { busy }
    }

    fn at(&self, ns: u64) -> At {
        let before = self.busy.partition_point(|(from_ns, ..)| *from_ns < ns);
        match self.busy[..before].last() {
            None => At::First,
            Some((_, to_ns, _)) if *to_ns > ns + LATE_NS => At::Busy,
            // The end may be recorded late.
            Some((_, to_ns, run)) => At::Quiet(*run, (*to_ns).min(ns)),
        }
    }
}
