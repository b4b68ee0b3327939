//! Pauses: times in which a recording records nothing, so that it does not slow the program down.
//!
//! A program with a task or a message every 100 ns would spend a quarter of its time on recording
//! them. When a thread has filled a segment of its buffer, it knows how much of its time that took.
//! If it was more than [`SHARE_MAX`], it pauses the recording of all threads, for so long that the
//! mean is [`SHARE_MAX`]. All threads pause together, so that both ends of a message are recorded.
//! A thread of the recording sleeps until the pause is over. It also compares the speed of the
//! program in the pause to that before ([`super::slowdown`]).
//!
//! For each pause, the counters of all workers say how much was left out.

use std::collections::HashMap;
use std::ops::DerefMut;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use raddle_sync::clock::ticks;

use super::WINDOW_BITS;
use super::live::{ns_of, reading_ticks, ticks_of};
use super::slowdown::{Part, Slowdown};
use crate::record::live::{recording, set_recording};
use crate::sources::{self, Counts};

/// The share of a thread's time that recording may take.
const SHARE_MAX: f64 = 0.02;
/// The time for which a thread records before it may pause.
const WINDOW_NS: u64 = 300_000;
/// The number of pauses that are kept: at least one segment is filled between two of them.
const PAUSES_MAX: usize = 1 << 14;
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(50);
/// The cost of a word of an event, and of a fork besides its events, in nanoseconds: while forks
/// are recorded, they take a slow path. On an AMD EPYC at 2.6 GHz, the cases `event-fork` and
/// `on-fib` of `raddle-bench trace` show 6 and 50 ns. What else an event costs is learnt.
const WORD_NS: u64 = 6;
const FORK_NS: u64 = 50;

/// The events that a thread has recorded since some time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recorded {
    /// The number of words.
    pub(crate) words: u64,
    /// The number of readings of the counter.
    pub(crate) readings: u64,
    /// The number of forks.
    pub(crate) forks: u64,
}

impl Recorded {
    /// Returns the time that it took, in ticks.
    fn ticks(self) -> u64 {
        let readings = self.readings * reading_ticks();
        readings + ticks_of(self.words * WORD_NS + self.forks * FORK_NS)
    }
}

/// A time in which nothing was recorded.
#[derive(Clone, Debug)]
pub(crate) struct Pause {
    /// The counter at its begin and at its end.
    pub(crate) ticks: (u64, u64),
    /// The work that was left out.
    pub(crate) counts: AllCounts,
}

/// The counts of all workers, by runtime and worker.
type AllCounts = HashMap<(u32, usize), Counts>;

/// A pause that is under way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// The counter at its begin.
    since: u64,
    length: Duration,
    /// The expected share of recording in the time before it.
    share: f64,
}

#[derive(Debug, Default)]
struct State {
    /// True if this recording may pause.
    is_allowed: bool,
    /// True once the thread runs.
    has_thread: bool,
    /// The pause that is under way.
    under_way: Option<UnderWay>,
    /// The counts of all workers when the last pause ended, and the counter.
    resumed: Option<(AllCounts, u64)>,
    slowdown: Slowdown,
    /// The recording to go on with: see [`crate::record`].
    next: u32,
    pauses: Vec<Pause>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);
static REQUESTED: Condvar = Condvar::new();

fn with_state<R>(call: impl FnOnce(&mut State) -> R) -> R {
    let mut state = locked();
    call(state.get_or_insert_default())
}

fn locked() -> impl DerefMut<Target = Option<State>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets the pauses of the recording before.
pub(super) fn begin(is_allowed: bool) {
    with_state(|state| {
        state.is_allowed = is_allowed;
        state.under_way = None;
        state.resumed = None;
        state.slowdown = Slowdown::default();
        state.pauses.clear();
    });
}

/// Ends the recording, and the pause that is under way. Both at once: a pause could otherwise begin
/// or end in between, and the recording go on.
pub(super) fn end() {
    with_state(|state| {
        state.under_way = None;
        set_recording(0);
    });
}

/// Returns all pauses of this recording, including the one that is under way.
pub(super) fn all() -> Vec<Pause> {
    with_state(|state| {
        let mut pauses = state.pauses.clone();
        if let Some(under_way) = state.under_way {
            pauses.push(Pause {
                ticks: (under_way.since, ticks()),
                counts: HashMap::new(),
            });
        }
        pauses
    })
}

/// Pauses the recording if the events since `since` took too much of the time of this thread.
/// Returns true if a new window begins for it.
pub(crate) fn pause_if_costly(recorded: Recorded, since: u64) -> bool {
    let now = ticks();
    let passed = now.saturating_sub(since);
    if passed < ticks_of(WINDOW_NS) {
        return false;
    }
    let share = recorded.ticks() as f64 / passed as f64;
    with_state(|state| request(state, now, passed, share));
    true
}

/// Requests a pause after `passed` ticks, of which recording is expected to have taken a share.
fn request(state: &mut State, now: u64, passed: u64, share: f64) {
    let current = recording();
    let cost = share * state.slowdown.factor();
    if !state.is_allowed || state.under_way.is_some() || current == 0 || cost <= SHARE_MAX {
        return;
    }
    let pause_ns = ns_of(passed) as f64 * (cost - SHARE_MAX) / SHARE_MAX;
    let length = Duration::from_nanos(pause_ns as u64).min(PAUSE_MAX);
    if !state.has_thread {
        let thread = thread::Builder::new().name("raddle-recording".to_owned());
        // Without the thread, everything is recorded.
        if thread.spawn(serve).is_err() {
            state.is_allowed = false;
            return;
        }
        state.has_thread = true;
    }
    set_recording(0);
    state.next = next_window(current);
    state.under_way = Some(UnderWay {
        since: now,
        length,
        share,
    });
    REQUESTED.notify_one();
}

/// Ends each pause when it is over.
fn serve() {
    loop {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = loop {
            match state.as_ref().and_then(|state| state.under_way) {
                Some(under_way) => break under_way,
                None => {
                    state = REQUESTED
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner)
                }
            }
        };
        drop(state);
        let before = (counts(), ticks());
        thread::sleep(pause.length);
        let after = (counts(), ticks());
        let resumes = with_state(|state| resume(state, pause.since, before, after));
        if resumes {
            sources::notice_recording();
        }
    }
}

/// Ends the pause that began at `since`, unless the recording has ended meanwhile.
fn resume(
    state: &mut State,
    since: u64,
    before: (AllCounts, u64),
    after: (AllCounts, u64),
) -> bool {
    let is_it = |under_way: &mut UnderWay| under_way.since == since;
    let Some(under_way) = state.under_way.take_if(is_it) else {
        return false;
    };
    if let Some(resumed) = &state.resumed {
        let [recorded, paused] = [part(resumed, &before), part(&before, &after)];
        state.slowdown.learn(recorded, paused, under_way.share);
    }
    let pause = Pause {
        ticks: (under_way.since, ticks()),
        counts: between(&before.0, &after.0),
    };
    keep(&mut state.pauses, pause);
    state.resumed = Some(after);
    set_recording(state.next);
    true
}

/// Keeps a pause. Forgets the oldest ones if there are too many: events from before them have made
/// space for later ones.
fn keep(pauses: &mut Vec<Pause>, pause: Pause) {
    if pauses.len() >= PAUSES_MAX {
        pauses.drain(..PAUSES_MAX / 4);
    }
    pauses.push(pause);
}

/// Returns the work between two times, with the readings of the counter.
fn part(from: &(AllCounts, u64), to: &(AllCounts, u64)) -> Part {
    let counts = between(&from.0, &to.0);
    Part {
        work: counts.values().map(|counts| counts.work()).sum(),
        time: to.1.saturating_sub(from.1),
    }
}

/// Returns the differences of the counts of all workers that were there before.
fn between(from: &AllCounts, to: &AllCounts) -> AllCounts {
    let of_workers = from.iter().map(|(worker, from)| {
        let to = to.get(worker).copied().unwrap_or(*from);
        (*worker, to.since(*from))
    });
    of_workers.collect()
}

/// Returns the counters of all workers of all runtimes.
fn counts() -> AllCounts {
    let mut all = HashMap::new();
    for source in sources::all() {
        let runtime = source.snapshot();
        let workers = runtime.workers.iter().enumerate();
        all.extend(workers.map(|(index, worker)| {
            let counts = Counts::from(&worker.counters);
            ((runtime.number, index), counts)
        }));
    }
    all
}

/// Returns the window after another one of the same recording. After the last one, the first
/// follows.
const fn next_window(window: u32) -> u32 {
    let mask = (1 << WINDOW_BITS) - 1;
    window & !mask | window.wrapping_add(1) & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    // Regression: memory for pauses grew without a bound.
    #[test]
    fn only_the_latest_pauses_are_kept() {
        let mut pauses = Vec::new();
        for at in 0..3 * PAUSES_MAX as u64 {
            let pause = Pause {
                ticks: (at, at),
                counts: HashMap::new(),
            };
            keep(&mut pauses, pause);
            assert!(pauses.len() <= PAUSES_MAX);
            assert_eq!(pauses.last().map(|pause| pause.ticks.0), Some(at));
        }
        assert!(pauses.is_sorted_by_key(|pause| pause.ticks));
    }

    // Regression: a pause that was over after the end of its recording made it go on.
    #[test]
    fn a_pause_that_is_over_after_the_end_does_not_resume() {
        let under_way = UnderWay {
            since: 5,
            length: Duration::ZERO,
            share: 0.5,
        };
        let counts = || (HashMap::new(), 0);
        // The recording has ended, or another pause is under way.
        let later = UnderWay {
            since: 6,
            ..under_way
        };
        for of_state in [None, Some(later)] {
            let mut state = State {
                under_way: of_state,
                ..State::default()
            };
            assert!(!resume(&mut state, under_way.since, counts(), counts()));
            assert!(state.pauses.is_empty());
        }
    }

    // Regression: the windows of a recording ran into the number of the next one.
    #[test]
    fn windows_stay_within_their_recording() {
        let recording = 7 << WINDOW_BITS;
        assert_eq!(next_window(recording), recording + 1);
        assert_eq!(next_window((8 << WINDOW_BITS) - 1), recording);
    }
}
