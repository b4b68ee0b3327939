//! Divides the slices of each thread into strands.
//!
//! The slices of a thread are walked in the order of time, with a stack of those that are open. A
//! run that begins in a wait is a run of its own, so each run has a frame with its present strand.

use std::collections::HashMap;

use raddle_timeline::{EventKind, EventRecord, NameId, Value};
use raddle_trace::events::Thread;
use raddle_trace::record::kind::PREEMPTED;

use super::{ObjectRank, Run, Strand};
use crate::dense::Dense;
use crate::messages::is_all;
use crate::recording::{RecordedThread, Recording};

/// The shortest part into which a loop is divided, and the largest number of parts.
const PART_NS: u64 = 5_000;
const PARTS_MAX: u64 = 1_024;

/// The strands of all threads, and what links those of different threads.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) strands: Vec<Strand>,
    pub(super) edges: Vec<(u32, u32)>,
    pub(super) runs: Vec<Run>,
    /// For each instant that causes something, the strand that ends there.
    pub(super) ends_at: Dense,
    /// For each run and entry that an instant may have caused, its first strand.
    pub(super) begins_at: Dense,
    /// The instants of threads outside of all runs that cause something, and the ends of their
    /// waits.
    pub(super) outside: Vec<OutsideEvent>,
    /// The joins with a second half elsewhere, by process, runtime and worker.
    pub(super) stolen: HashMap<(u32, u32, usize), Vec<StolenJoin>>,
    pub(super) waits: Vec<Wait>,
    pub(super) sections: HashMap<(u32, NameId), Vec<Section>>,
    /// The messages of each object: process, collection and element.
    pub(super) objects: HashMap<(u32, u64, u64), Vec<Served>>,
}

/// A join of which another worker has run the second half.
#[derive(Clone, Copy, Debug)]
pub(super) struct StolenJoin {
    pub(super) depth: u64,
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    /// The strand that has made the fork.
    pub(super) fork: u32,
    /// The strand after the join.
    pub(super) after: u32,
}

/// A wait that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) run: u32,
    pub(super) until_ns: u64,
    /// The strand after it.
    pub(super) after: u32,
    /// True for a scope, which waits for all of its tasks; false for one handle.
    pub(super) is_for_all: bool,
}

/// An event of a thread that is outside of all runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutsideEvent {
    pub(super) thread: u32,
    pub(super) at_ns: u64,
    pub(super) event: usize,
    /// True if a wait of the thread ends, false if it causes something.
    pub(super) ends_wait: bool,
}

/// A section of a location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) from_ns: u64,
    pub(super) is_write: bool,
    pub(super) first: u32,
    pub(super) last: u32,
}

/// A message that an object has received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub(super) from_ns: u64,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) run: u32,
}

/// An open slice.
#[derive(Clone, Copy, Debug)]
enum Open {
    Run,
    Wait {
        is_for_all: Option<bool>,
    },
    Join(Join),
    Loop(WholeLoop),
    Section {
        is_write: bool,
        first: u32,
    },
    Entry {
        first: u32,
    },
    /// A slice that only names strands.
    Name,
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Join {
    fork: u32,
    depth: Option<u64>,
    /// The begin of the second half, until it has begun.
    half_ns: Option<u64>,
    /// The last strand of the first half, once the second has begun.
    first_half: Option<u32>,
}

/// The present strand of an open run.
#[derive(Clone, Copy, Debug)]
struct Frame {
    run: u32,
    strand: u32,
}

/// A loop that was not divided, because no other worker asked for a part of it.
#[derive(Clone, Copy, Debug)]
struct WholeLoop {
    items: u64,
    /// The number of slices directly inside, of which each item has about as many.
    slices: u64,
    /// The number of slices that have begun.
    begun: u64,
    /// The strand before the loop.
    before: u32,
    /// The position in `parts` of the first part of this loop.
    first_part: usize,
}

/// Walks over the events of one thread.
struct Walk<'a> {
    recording: &'a Recording,
    thread: &'a RecordedThread,
    number: u32,
    found: &'a mut Found,
    open: Vec<(usize, u64, Open)>,
    frames: Vec<Frame>,
    /// The open slices that give strands their names.
    names: Vec<u32>,
    /// For each loop, the number of slices directly inside; `None` if it was divided.
    loops: HashMap<usize, Option<u64>>,
    /// The last strands of the parts of loops that are open.
    parts: Vec<u32>,
    /// The strand in which the thread was preempted last, and for how long in that strand.
    preempted: Option<(u32, u64)>,
}

impl Found {
    /// Finds the strands of all threads.
    pub(super) fn of(recording: &Recording) -> Self {
        let mut found = Self::default();
        for (number, thread) in recording.threads().iter().enumerate() {
            let mut walk = Walk {
                recording,
                thread,
                number: number as u32,
                found: &mut found,
                open: Vec::new(),
                frames: Vec::new(),
                names: Vec::new(),
                loops: slices_of_loops(recording, thread),
                parts: Vec::new(),
                preempted: None,
            };
            for (index, event) in recording.events_of(thread) {
                walk.step(index, event);
            }
            walk.close_to(None);
        }
        found
    }

    /// Numbers the objects, and gives each run the number of its own.
    pub(super) fn number_objects(&mut self, recording: &Recording) -> Vec<ObjectRank> {
        let timeline = recording.timeline();
        let mut keys: Vec<(u32, u64, u64)> = self.objects.keys().copied().collect();
        // All nodes of a job have the same arrays, and each node has a block of their elements.
        // The objects that are all elements of a worker are divided in the same way, apart from
        // single elements.
        let collection = |key: &(u32, u64, u64)| (key.1, is_all(key.2));
        keys.sort_unstable_by_key(|key| (collection(key), *key));
        let mut ranks = Vec::with_capacity(keys.len());
        for of_collection in keys.chunk_by(|one, other| collection(one) == collection(other)) {
            let count = of_collection.len() as u64;
            let rank = |rank| ObjectRank { rank, count };
            ranks.extend((0..count).map(rank));
        }
        for (number, key) in keys.iter().enumerate() {
            for served in &self.objects[key] {
                let run = &mut self.runs[served.run as usize];
                let event = &timeline.events()[run.event as usize];
                let of_run = match timeline.text(event.category()) {
                    "message" => &mut run.object,
                    _ => &mut run.makes,
                };
                of_run.get_or_insert(number as u32);
            }
        }
        ranks
    }
}

impl Walk<'_> {
    fn step(&mut self, index: usize, event: &EventRecord) {
        self.close_to(event.parent());
        let at_ns = event.from_ns();
        self.begin_second_halves(at_ns);
        let recording = self.recording;
        if event.kind() != EventKind::Instant {
            self.begin_item(at_ns);
        }
        let open = match recording.timeline().text(event.category()) {
            "task" | "fork" | "message" | "call" => self.begin_run(index, at_ns),
            "wait" => self.begin_wait(event, at_ns),
            "join" => self.begin_join(index, at_ns),
            "loop" => self.begin_loop(index, at_ns),
            "section" => self.begin_section(index, at_ns),
            "entry" => self.begin_entry(index, at_ns),
            "scope" => {
                self.names.push(index as u32);
                self.split(at_ns);
                Open::Name
            }
            "put" | "publish" | "send" => {
                self.cause(index, at_ns);
                return;
            }
            "note" if recording.timeline().text(event.name()) == PREEMPTED => {
                self.lose(recording.lost_ns(index));
                return;
            }
            _ => Open::Other,
        };
        if event.kind() != EventKind::Instant {
            self.open.push((index, event.to_ns(), open));
        }
    }

    /// Begins a strand of the innermost run.
    fn begin(&mut self, at_ns: u64, run: u32) -> u32 {
        let strand = self.found.strands.len() as u32;
        self.found.strands.push(Strand {
            from_ns: at_ns,
            duration_ns: 0,
            lost_ns: 0,
            run,
            event: self.names.last().copied().unwrap_or_default(),
        });
        strand
    }

    fn end(&mut self, strand: u32, at_ns: u64) {
        let is_it = |preempted: &mut (u32, u64)| preempted.0 == strand;
        let lost_ns = self.preempted.take_if(is_it).map_or(0, |(_, ns)| ns);
        let strand = &mut self.found.strands[strand as usize];
        let whole_ns = at_ns.saturating_sub(strand.from_ns);
        strand.lost_ns = lost_ns.min(whole_ns);
        strand.duration_ns = whole_ns - strand.lost_ns;
    }

    /// Takes time from the present strand in which another thread used the CPU.
    fn lose(&mut self, ns: u64) {
        let Some(frame) = self.frames.last() else {
            return;
        };
        let before = self.preempted.filter(|(strand, _)| *strand == frame.strand);
        self.preempted = Some((frame.strand, ns + before.map_or(0, |(_, ns)| ns)));
    }

    /// Ends the present strand, and begins one that depends on it. Returns the one that has ended.
    fn split(&mut self, at_ns: u64) -> Option<u32> {
        let frame = *self.frames.last()?;
        self.end(frame.strand, at_ns);
        let next = self.begin(at_ns, frame.run);
        self.found.edges.push((frame.strand, next));
        self.set_strand(next);
        Some(frame.strand)
    }

    fn set_strand(&mut self, strand: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.strand = strand;
        }
    }

    fn strand(&self) -> u32 {
        self.frames.last().map_or(0, |frame| frame.strand)
    }

    fn begin_run(&mut self, index: usize, at_ns: u64) -> Open {
        self.names.push(index as u32);
        let run = self.found.runs.len() as u32;
        let first = self.begin(at_ns, run);
        self.found.runs.push(Run {
            event: index as u32,
            first,
            last: first,
            object: None,
            makes: None,
        });
        self.found.begins_at.insert(index, first as usize);
        self.frames.push(Frame { run, strand: first });
        Open::Run
    }

    fn end_run(&mut self, index: usize, at_ns: u64) {
        self.names.pop();
        let Some(frame) = self.frames.pop() else {
            return;
        };
        self.end(frame.strand, at_ns);
        let run = &mut self.found.runs[frame.run as usize];
        run.last = frame.strand;
        let (first, last) = (run.first, run.last);
        self.serve(index, first, last, frame.run);
    }

    /// Notes that an object has run a message.
    fn serve(&mut self, index: usize, first: u32, last: u32, run: u32) {
        let Some((collection, element)) = self.recording.object_of(index) else {
            return;
        };
        let key = (self.thread.process, collection, element);
        let from_ns = self.recording.timeline().events()[index].from_ns();
        self.found.objects.entry(key).or_default().push(Served {
            from_ns,
            first,
            last,
            run,
        });
    }

    fn begin_entry(&mut self, index: usize, at_ns: u64) -> Open {
        self.names.push(index as u32);
        if self.split(at_ns).is_none() {
            return Open::Name;
        }
        let first = self.strand();
        self.found.begins_at.insert(index, first as usize);
        Open::Entry { first }
    }

    fn begin_wait(&mut self, event: &EventRecord, at_ns: u64) -> Open {
        if let Some(frame) = self.frames.last().copied() {
            self.end(frame.strand, at_ns);
        }
        let is_for_all = match self.recording.timeline().text(event.name()) {
            "wait for scope" => Some(true),
            "wait for handle" => Some(false),
            // Joins and sections say themselves what they depend on.
            _ => None,
        };
        Open::Wait { is_for_all }
    }

    fn end_wait(&mut self, is_for_all: Option<bool>, index: usize, at_ns: u64) {
        let Some(frame) = self.frames.last().copied() else {
            return self.note_outside(index, at_ns, true);
        };
        let after = self.begin(at_ns, frame.run);
        self.found.edges.push((frame.strand, after));
        self.set_strand(after);
        if let Some(is_for_all) = is_for_all {
            self.found.waits.push(Wait {
                run: frame.run,
                until_ns: at_ns,
                after,
                is_for_all,
            });
        }
    }

    fn begin_join(&mut self, index: usize, at_ns: u64) -> Open {
        let Some(fork) = self.split(at_ns) else {
            return Open::Other;
        };
        let number = |name| self.recording.number(index, name);
        Open::Join(Join {
            fork,
            depth: number("depth"),
            half_ns: number("second_ns").map(|second_ns| at_ns.saturating_add(second_ns)),
            first_half: None,
        })
    }

    /// Begins the second halves of the innermost joins that begin up to `ns`.
    fn begin_second_halves(&mut self, ns: u64) {
        let Some((_, _, Open::Join(join))) = self.open.last_mut() else {
            return;
        };
        let Some(half_ns) = join.half_ns.take_if(|half_ns| *half_ns <= ns) else {
            return;
        };
        let Some(frame) = self.frames.last().copied() else {
            return;
        };
        join.first_half = Some(frame.strand);
        let fork = join.fork;
        self.end(frame.strand, half_ns);
        let second = self.begin(half_ns, frame.run);
        self.found.edges.push((fork, second));
        self.set_strand(second);
    }

    fn end_join(&mut self, join: Join, index: usize, at_ns: u64) {
        if self.split(at_ns).is_none() {
            return;
        }
        let after = self.strand();
        match (join.first_half, join.depth) {
            (Some(first_half), _) => self.found.edges.push((first_half, after)),
            (None, Some(depth)) => {
                let Thread::Worker {
                    runtime,
                    index: worker,
                    ..
                } = self.thread.thread
                else {
                    return;
                };
                let key = (self.thread.process, runtime, worker);
                let from_ns = self.recording.timeline().events()[index].from_ns();
                self.found.stolen.entry(key).or_default().push(StolenJoin {
                    depth,
                    from_ns,
                    to_ns: at_ns,
                    fork: join.fork,
                    after,
                });
            }
            (None, None) => {}
        }
    }

    /// Begins a loop. If it was not divided, each of its items could have been run by another
    /// worker.
    fn begin_loop(&mut self, index: usize, at_ns: u64) -> Open {
        let items = self.recording.number(index, "items").unwrap_or(0);
        let Some(Some(slices)) = self.loops.get(&index).copied().filter(|_| items > 1) else {
            return Open::Other;
        };
        let Some(before) = self.split(at_ns) else {
            return Open::Other;
        };
        Open::Loop(WholeLoop {
            items,
            slices,
            begun: 0,
            before,
            first_part: self.parts.len(),
        })
    }

    /// Begins another item of the innermost loop, if a slice directly inside of it is about to
    /// begin, and the items before have had their slices.
    fn begin_item(&mut self, at_ns: u64) {
        let Some((_, _, Open::Loop(of_loop))) = self.open.last_mut() else {
            return;
        };
        let per_item = of_loop.slices.div_ceil(of_loop.items).max(1);
        let begun = of_loop.begun;
        of_loop.begun += 1;
        if begun == 0 || !begun.is_multiple_of(per_item) {
            return;
        }
        let before = of_loop.before;
        if let Some(frame) = self.frames.last().copied() {
            self.end(frame.strand, at_ns);
            self.parts.push(frame.strand);
            let next = self.begin(at_ns, frame.run);
            self.found.edges.push((before, next));
            self.set_strand(next);
        }
    }

    fn end_loop(&mut self, of_loop: WholeLoop, at_ns: u64) {
        let Some(last) = self.split(at_ns) else {
            return;
        };
        let after = self.strand();
        if of_loop.slices == 0 {
            self.divide(last, of_loop, after);
        }
        for part in self.parts.split_off(of_loop.first_part) {
            self.found.edges.push((part, after));
        }
    }

    /// Divides the only strand of a loop evenly.
    fn divide(&mut self, strand: u32, of_loop: WholeLoop, after: u32) {
        let whole = self.found.strands[strand as usize];
        let most = (whole.duration_ns / PART_NS).min(PARTS_MAX);
        let count = of_loop.items.min(most).max(1);
        let part_ns = whole.duration_ns / count;
        self.found.strands[strand as usize].duration_ns = whole.duration_ns - part_ns * (count - 1);
        for part in 1..count {
            let next = self.found.strands.len() as u32;
            self.found.strands.push(Strand {
                from_ns: whole.from_ns + whole.duration_ns - part_ns * (count - part),
                duration_ns: part_ns,
                lost_ns: 0,
                ..whole
            });
            self.found
                .edges
                .extend([(of_loop.before, next), (next, after)]);
        }
    }

    fn begin_section(&mut self, index: usize, at_ns: u64) -> Open {
        self.names.push(index as u32);
        if self.split(at_ns).is_none() {
            return Open::Name;
        }
        let access = self.recording.argument(index, "access");
        Open::Section {
            is_write: access == Some(Value::Text("write")),
            first: self.strand(),
        }
    }

    /// Notes an instant that may cause something elsewhere.
    fn cause(&mut self, index: usize, at_ns: u64) {
        match self.split(at_ns) {
            Some(ended) => {
                self.found.ends_at.insert(index, ended as usize);
            }
            None => self.note_outside(index, at_ns, false),
        }
    }

    fn note_outside(&mut self, event: usize, at_ns: u64, ends_wait: bool) {
        // A worker without a task only searches, and publishes forks of others.
        if matches!(self.thread.thread, Thread::Worker { .. }) {
            return;
        }
        self.found.outside.push(OutsideEvent {
            thread: self.number,
            at_ns,
            event,
            ends_wait,
        });
    }

    /// Closes the open slices inside of `parent`.
    fn close_to(&mut self, parent: Option<usize>) {
        while let Some((index, to_ns, _)) = self.open.last().copied() {
            if Some(index) == parent {
                return;
            }
            self.begin_second_halves(to_ns);
            let Some((_, _, open)) = self.open.pop() else {
                return;
            };
            self.close(index, to_ns, open);
        }
    }

    fn close(&mut self, index: usize, to_ns: u64, open: Open) {
        match open {
            Open::Run => self.end_run(index, to_ns),
            Open::Wait { is_for_all } => self.end_wait(is_for_all, index, to_ns),
            Open::Join(join) => self.end_join(join, index, to_ns),
            Open::Loop(of_loop) => self.end_loop(of_loop, to_ns),
            Open::Section { is_write, first } => {
                self.names.pop();
                let Some(last) = self.split(to_ns) else {
                    return;
                };
                let event = &self.recording.timeline().events()[index];
                let key = (self.thread.process, event.name());
                self.found.sections.entry(key).or_default().push(Section {
                    from_ns: event.from_ns(),
                    is_write,
                    first,
                    last,
                });
            }
            Open::Entry { first } => {
                self.names.pop();
                if let (Some(last), Some(frame)) = (self.split(to_ns), self.frames.last().copied())
                {
                    self.serve(index, first, last, frame.run);
                }
            }
            Open::Name => {
                self.names.pop();
                self.split(to_ns);
            }
            Open::Other => {}
        }
    }
}

/// Counts the slices directly inside of each loop; `None` for loops that were divided, or that
/// cause something else.
fn slices_of_loops(recording: &Recording, thread: &RecordedThread) -> HashMap<usize, Option<u64>> {
    let timeline = recording.timeline();
    let mut loops = HashMap::new();
    for (index, event) in recording.events_of(thread) {
        let category = timeline.text(event.category());
        if category == "loop" {
            loops.insert(index, Some(0));
        }
        let Some(of_loop) = event.parent().and_then(|parent| loops.get_mut(&parent)) else {
            continue;
        };
        match (event.kind(), category) {
            (_, "join" | "put" | "send" | "wait") => *of_loop = None,
            (EventKind::Instant, _) => {}
            _ => *of_loop = of_loop.map(|slices: u64| slices + 1),
        }
    }
    loops
}
