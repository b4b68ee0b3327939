//! The writing side of a recording: one recorder per thread.
//!
//! The recorder is a thread-local variable without a destructor, so that an event finds it by one
//! instruction, also in the destructors of other such variables.

use std::cell::{Cell, RefCell};

use raddle_sync::clock::ticks;

use super::buffer::{self, SEGMENT_WORDS, Segment};
use super::head::{TICKS_BITS, head, ticks_of_head};
use super::names::ScopeName;
use super::off_cpu::{LONG_NS, Lost, OffCpu};
use super::stamps::{SHORT_NS, Stamps};
use super::tracks::{self, Label, OwnTrack};
use super::{names, recording, set_recording};
use crate::is_forked;
use crate::record::kind::{BLOCKED, Idling, Kind, PREEMPTED};
use crate::session::pauses::{self, Recorded};
use crate::session::{self, WINDOW_BITS};

/// The number of rounds, and of scopes in each, by which the cost of a scope is measured.
const MEASURED_ROUNDS: usize = 9;
const MEASURED_SCOPES: usize = 200;

/// The number of names that a thread finds without a lock.
const KNOWN_NAMES: usize = 64;

struct Recorder {
    /// The recording that the segment belongs to, and the window between two pauses.
    recording: Cell<u32>,
    /// `None` if there is none for the next event.
    segment: Cell<Option<&'static Segment>>,
    /// The counter at the last reading.
    last: Cell<u64>,
    /// [`SHORT_NS`] in ticks.
    short: Cell<u64>,
    /// The time without an event, in ticks, after which the next event asks the system whether this
    /// thread was on a CPU, or has no space for its time.
    long: Cell<u64>,
    off_cpu: OffCpu,
    /// The counter at the last question.
    asked: Cell<u64>,
    stamps: Stamps,
    /// The counter when this thread began to count its events, and the counts. The words are those
    /// of full segments.
    since: Cell<u64>,
    recorded: Cell<Recorded>,
    readings: Cell<u64>,
    forks: Cell<u64>,
    known: [Cell<KnownName>; KNOWN_NAMES],
    worker: Cell<Option<(u32, usize, bool)>>,
}

/// A name by the addresses of its parts, which are constants of the program.
#[derive(Clone, Copy)]
struct KnownName {
    owner: usize,
    member: usize,
    member_len: usize,
    number: u32,
}

thread_local! {
    static RECORDER: Recorder = const {
        Recorder {
            recording: Cell::new(0),
            segment: Cell::new(None),
            last: Cell::new(0),
            short: Cell::new(0),
            long: Cell::new(0),
            off_cpu: OffCpu::new(),
            asked: Cell::new(0),
            stamps: Stamps::new(),
            since: Cell::new(0),
            recorded: Cell::new(Recorded { words: 0, readings: 0, forks: 0 }),
            readings: Cell::new(0),
            forks: Cell::new(0),
            known: [const {
                Cell::new(KnownName { owner: 0, member: 0, member_len: 0, number: 0 })
            }; KNOWN_NAMES],
            worker: Cell::new(None),
        }
    };
    /// The track of this thread. `None` if there are too many threads.
    static TRACK: RefCell<Option<OwnTrack>> = const { RefCell::new(None) };
}

/// Records an event of this thread.
#[inline(never)]
pub(crate) fn put<const N: usize>(kind: Kind, argument: u32, more: [u64; N]) {
    RECORDER.with(|recorder| recorder.put(kind, argument, more));
}

/// Records that a scope of the program begins or ends on this thread.
#[inline(never)]
pub(crate) fn put_scope<const IS_END: bool>(name: u32) {
    RECORDER.with(|recorder| recorder.put_scope::<IS_END>(name));
}

/// Returns the number of the name `owner::member`.
#[inline]
pub(crate) fn name(owner: &'static str, member: &'static str) -> u32 {
    RECORDER.with(|recorder| recorder.name(owner, member))
}

/// Sets the label of this thread for the recordings that begin from now on.
pub(crate) fn set_worker(worker: (u32, usize, bool)) {
    RECORDER.with(|recorder| {
        recorder.worker.set(Some(worker));
        // Events from before are on a track of their own.
        recorder.recording.set(0);
    });
}

/// Measures the cost of a scope, on this thread, while nothing is recorded.
///
/// Three scopes, each inside the one before, are recorded again and again. The innermost one takes
/// only the time between its own readings of the counter: the interior cost. The middle one takes
/// that time and all of the innermost one, so the difference of the two is the whole cost of a
/// scope.
///
/// # Source
/// Parker: user-level notification, 2013, sect. 4.6.
pub(crate) fn measure_scope() -> ScopeTicks {
    RECORDER.with(Recorder::measure_scope)
}

/// The cost of a scope, in ticks: of its begin and its end together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScopeTicks {
    /// The part between the two readings of the counter.
    pub(crate) interior: f64,
    /// The part before the first reading and after the second one.
    pub(crate) exterior: f64,
}

impl Recorder {
    fn measure_scope(&self) -> ScopeTicks {
        let Some(scratch) = buffer::take(true) else {
            return ScopeTicks {
                interior: 0.0,
                exterior: 0.0,
            };
        };
        let segment = self.segment.replace(Some(scratch));
        let recording = self.recording.replace(recording());
        // No event is late: a late one would have a second record.
        let long = self.long.replace(u64::MAX);
        static NAME: ScopeName = ScopeName::new("measurement");
        let begin = || self.put_scope::<false>(NAME.number());
        let end = || self.put_scope::<true>(NAME.number());
        // The medians of several rounds: the thread may be interrupted.
        let rounds: Vec<ScopeTicks> = (0..MEASURED_ROUNDS)
            .map(|_| {
                self.last.set(ticks());
                scratch.begin(0, 0);
                for _ in 0..MEASURED_SCOPES {
                    begin();
                    begin();
                    begin();
                    end();
                    end();
                    end();
                }
                cost_of(&buffer::words_so_far(scratch))
            })
            .collect();
        self.segment.set(segment);
        self.recording.set(recording);
        self.long.set(long);
        buffer::give_back([scratch]);
        let median = |part: fn(&ScopeTicks) -> f64| {
            let mut parts: Vec<f64> = rounds.iter().map(part).collect();
            parts.sort_by(f64::total_cmp);
            parts[MEASURED_ROUNDS / 2]
        };
        ScopeTicks {
            interior: median(|round| round.interior),
            exterior: median(|round| round.exterior),
        }
    }

    #[inline(always)]
    fn put<const N: usize>(&self, kind: Kind, argument: u32, more: [u64; N]) {
        let Some(segment) = self.segment.get() else {
            return self.put_slow(kind, argument, &more);
        };
        let at = segment.len();
        if self.recording.get() != recording() || at + N >= SEGMENT_WORDS {
            return self.put_slow(kind, argument, &more);
        }
        let forks = self.forks.get() + u64::from(kind == Kind::Fork);
        self.forks.set(forks);
        let passed = match self.stamps.begin(kind) {
            None => 0,
            Some(before) => {
                let passed = ticks().wrapping_sub(self.last.get());
                // Also if the counter has not moved, or moved backwards.
                if passed.wrapping_sub(1) >= self.long.get() {
                    let of_before = (before, passed as i64);
                    return self.put_late(segment, of_before, (kind, argument), &more);
                }
                self.last.set(self.last.get() + passed);
                self.readings.set(self.readings.get() + 1);
                self.stamps.learn(before, kind, passed, self.short.get());
                passed
            }
        };
        self.store(segment, at, head(kind, N, passed, argument), more);
        if kind == Kind::Idle && argument == Idling::Sleeps as u32 {
            // The next event asks how often this thread has waited by then.
            self.long.set(0);
        }
    }

    /// Records the begin or the end of a scope: as [`put`](Self::put), always with a time.
    #[inline(always)]
    fn put_scope<const IS_END: bool>(&self, name: u32) {
        let kind = const {
            match IS_END {
                true => Kind::EndScope,
                false => Kind::Scope,
            }
        };
        let Some(segment) = self.segment.get() else {
            return self.put_slow(kind, name, &[]);
        };
        let at = segment.len();
        if self.recording.get() != recording() || at >= SEGMENT_WORDS {
            return self.put_slow(kind, name, &[]);
        }
        let before = self.stamps.begin_timed(kind);
        let passed = ticks().wrapping_sub(self.last.get());
        // Also if the counter has not moved, or moved backwards.
        if passed.wrapping_sub(1) >= self.long.get() {
            return self.put_late(segment, (before, passed as i64), (kind, name), &[]);
        }
        self.last.set(self.last.get() + passed);
        self.readings.set(self.readings.get() + 1);
        if self.stamps.has_expected() {
            self.learn(before, kind, passed);
        }
        segment.append(at, [head(kind, 0, passed, name)]);
    }

    /// Learns from a reading. A function of its own, because few scopes need it.
    #[cold]
    #[inline(never)]
    fn learn(&self, before: u8, kind: Kind, passed: u64) {
        self.stamps.learn(before, kind, passed, self.short.get());
    }

    #[inline(always)]
    fn store<const N: usize>(&self, segment: &Segment, at: usize, head: u64, more: [u64; N]) {
        match more.as_slice() {
            [] => segment.append(at, [head]),
            [one] => segment.append(at, [head, *one]),
            [one, two, ..] => segment.append(at, [head, *one, *two]),
        }
    }

    /// Records an event that comes `passed` ticks after the last reading, which is long, or after a
    /// sleep. The time gets a record of its own, because it may not fit. If the counter has moved
    /// backwards, no time has passed.
    ///
    /// The long time is that since the event before, of the kind `before`: events without a reading
    /// are those that have taken little time again and again.
    #[cold]
    fn put_late(
        &self,
        segment: &Segment,
        (before, passed): (u8, i64),
        (kind, argument): (Kind, u32),
        more: &[u64],
    ) {
        // All records together.
        if segment.len() + 9 + more.len() >= SEGMENT_WORDS {
            return self.put_slow(kind, argument, more);
        }
        let (since, passed) = (self.last.get(), u64::try_from(passed).unwrap_or(0));
        let now = since + passed;
        if self.stamps.has_expected() {
            let begun = since + self.stamps.expected().min(passed);
            segment.append(segment.len(), [head(Kind::Time, 1, 1, 0), begun]);
        }
        let is_work = !(before == Kind::Idle as u8 || before == Kind::Wait as u8);
        let lost = self.lost_time(now, is_work);
        for (reason, ns) in [(BLOCKED, lost.blocked_ns), (PREEMPTED, lost.preempted_ns)] {
            if ns > 0 {
                let name = self.name("", reason);
                segment.append(segment.len(), [head(Kind::Note, 1, 0, name), ns]);
            }
        }
        segment.append(segment.len(), [head(Kind::Time, 1, 1, 0), now]);
        self.last.set(now);
        self.stamps.learn(before, kind, passed, self.short.get());
        self.store_slice(segment, head(kind, more.len(), 1, argument), more);
    }

    /// Returns the time in which this thread had work, but was not on a CPU, since the system was
    /// asked last. `is_work` is false if the thread had no work since its last event.
    fn lost_time(&self, now: u64, is_work: bool) -> Lost {
        let long = session::ticks_of(LONG_NS).min(1 << TICKS_BITS);
        self.long.set(long);
        if self.worker.get().is_none() {
            return Lost::default();
        }
        let since_ns = session::ns_of(now.saturating_sub(self.asked.replace(now)));
        if !is_work {
            self.off_cpu.note();
            return Lost::default();
        }
        let passed_ns = session::ns_of(now.saturating_sub(self.last.get()));
        self.off_cpu.ask(since_ns, passed_ns)
    }

    fn store_slice(&self, segment: &Segment, head: u64, more: &[u64]) {
        let at = segment.len();
        match *more {
            [] => segment.append(at, [head]),
            [one] => segment.append(at, [head, one]),
            [one, two, ..] => segment.append(at, [head, one, two]),
        }
    }

    /// Records an event that is the first of this thread in a recording or after a pause, or that
    /// does not fit into the last segment.
    #[cold]
    fn put_slow(&self, kind: Kind, argument: u32, more: &[u64]) {
        let current = recording();
        if current == 0 {
            return;
        }
        if is_forked() {
            // The threads that hold the locks of the recording may not exist here.
            return set_recording(0);
        }
        let before = self.recording.replace(current);
        let now = ticks();
        if before >> WINDOW_BITS != current >> WINDOW_BITS {
            self.begin_recording();
        } else if before != current {
            return self.resume(now, kind, argument, more);
        } else if self.segment.get().is_some() {
            let before = self.recorded.get();
            let recorded = Recorded {
                words: before.words + SEGMENT_WORDS as u64,
                readings: self.readings.get(),
                forks: self.forks.get(),
            };
            self.recorded.set(recorded);
            if pauses::pause_if_costly(recorded, self.since.get()) {
                self.begin_window(now);
            }
        }
        self.begin_segment(now);
        if let Some(segment) = self.segment.get() {
            self.last.set(now);
            self.store_slice(segment, head(kind, more.len(), 1, argument), more);
        }
    }

    /// Records the first event of this thread after a pause.
    fn resume(&self, now: u64, kind: Kind, argument: u32, more: &[u64]) {
        self.begin_window(now);
        let has_space = |segment: &Segment| segment.len() + 3 + more.len() < SEGMENT_WORDS;
        if !self.segment.get().is_some_and(has_space) {
            self.begin_segment(now);
        }
        if let Some(segment) = self.segment.get() {
            segment.append(segment.len(), [head(Kind::Resume, 1, 1, 0), now]);
            self.last.set(now);
            self.store_slice(segment, head(kind, more.len(), 1, argument), more);
        }
    }

    /// Adds a track for this thread.
    fn begin_recording(&self) {
        self.short.set(session::ticks_of(SHORT_NS));
        self.begin_window(ticks());
        let track = tracks::add(self.label());
        // A thread that is just ending records no more.
        let _ = TRACK.try_with(|own| *own.borrow_mut() = track);
    }

    /// Counts words and readings from now on.
    fn begin_window(&self, now: u64) {
        self.since.set(now);
        self.recorded.set(Recorded::default());
        self.readings.set(0);
        self.forks.set(0);
        // Time lost before is not of interest.
        self.asked.set(now);
        self.off_cpu.note();
    }

    fn begin_segment(&self, now: u64) {
        let next = TRACK.try_with(|track| {
            let track = track.borrow();
            track.as_ref().map(|track| track.next_segment(now))
        });
        self.segment.set(next.ok().flatten());
    }

    fn label(&self) -> Label {
        match self.worker.get() {
            Some((runtime, index, is_compensating)) => {
                Label::Worker(runtime, index, is_compensating)
            }
            None => {
                let thread = std::thread::current();
                Label::Other(thread.name().unwrap_or("thread").to_owned())
            }
        }
    }

    #[inline]
    fn name(&self, owner: &'static str, member: &'static str) -> u32 {
        let (of_owner, of_member) = (owner.as_ptr().addr(), member.as_ptr().addr());
        let hash = (of_member >> 3) ^ (of_member >> 9) ^ (of_owner >> 4);
        let place = &self.known[hash % KNOWN_NAMES];
        let known = place.get();
        if known.owner == of_owner && known.member == of_member && known.member_len == member.len()
        {
            return known.number;
        }
        let number = match owner {
            _ if is_forked() => return 0,
            "" => names::number_of(member),
            _ => names::number_of(&format!("{owner}::{member}")),
        };
        place.set(KnownName {
            owner: of_owner,
            member: of_member,
            member_len: member.len(),
            number,
        });
        number
    }
}

/// Returns the cost of a scope from the records of scopes that are nested three deep.
fn cost_of(words: &[u64]) -> ScopeTicks {
    let passed = |word: &u64| ticks_of_head(*word) as f64;
    let (mut innermost, mut middle) = (0.0, 0.0);
    for nested in words.chunks_exact(6) {
        // The ticks of each event since the one before: begins of the three scopes, then their
        // ends.
        innermost += passed(&nested[3]);
        middle += passed(&nested[2]) + passed(&nested[3]) + passed(&nested[4]);
    }
    let count = (words.len() / 6).max(1) as f64;
    ScopeTicks {
        interior: innermost / count,
        exterior: (middle - 2.0 * innermost) / count,
    }
}
