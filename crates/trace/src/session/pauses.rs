//! Pauses: times in which a recording records nothing, so that it does not slow the program down.
//!
//! A program with a task or a message every 100 ns would spend a quarter of its time on recording
//! them. When a thread has filled a segment of its buffer, it knows how much of its time that took.
//! If it was more than [`SHARE_MAX`], it pauses the recording of all threads, for so long that the
//! mean is [`SHARE_MAX`]. All threads pause together, so that both ends of a message are recorded.
//! A thread of the recording sleeps until the pause is over.
//!
//! For each pause, the counters of all workers say how much was left out.

use std::collections::HashMap;
use std::ops::DerefMut;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use raddle_sync::clock::ticks;

use super::live::{reading_ticks, ticks_of};
use crate::record::live::{recording, set_recording};
use crate::sources::{self, Counts};

/// The share of a thread's time that recording may take, in thousandths.
const SHARE_MAX: u64 = 25;
/// The time for which a thread records before it may pause.
const WINDOW_NS: u64 = 300_000;
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(50);
/// The cost of a word of an event, and of a fork besides its events, in nanoseconds: while forks
/// are recorded, they take a slow path. On an AMD EPYC at 2.6 GHz, the cases `event-fork` and
/// `on-fib` of `raddle-bench trace` show 6 and 50 ns. If they are larger, recordings are shorter.
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
    /// The work that was left out, by runtime and worker.
    pub(crate) counts: HashMap<(u32, usize), Counts>,
}

#[derive(Debug, Default)]
struct State {
    /// True if this recording may pause.
    is_allowed: bool,
    /// True once the thread runs.
    has_thread: bool,
    /// The begin of the pause that is under way, and its length.
    under_way: Option<(u64, Duration)>,
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
        state.pauses.clear();
    });
}

/// Ends the pause that is under way, because the recording ends.
pub(super) fn end() {
    with_state(|state| state.under_way = None);
}

/// Returns all pauses of this recording, including the one that is under way.
pub(super) fn all() -> Vec<Pause> {
    with_state(|state| {
        let mut pauses = state.pauses.clone();
        if let Some((since, _)) = state.under_way {
            pauses.push(Pause {
                ticks: (since, ticks()),
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
    let cost = recorded.ticks();
    let allowed = passed * SHARE_MAX / 1_000;
    if cost <= allowed {
        return true;
    }
    let passed_ns = u128::from(passed) * 1_000 / u128::from(ticks_of(1_000).max(1));
    let pause_ns = passed_ns * u128::from(cost - allowed) / u128::from(allowed.max(1));
    let pause = Duration::from_nanos(u64::try_from(pause_ns).unwrap_or(u64::MAX)).min(PAUSE_MAX);
    with_state(|state| request(state, now, pause));
    true
}

fn request(state: &mut State, now: u64, pause: Duration) {
    let current = recording();
    if !state.is_allowed || state.under_way.is_some() || current == 0 {
        return;
    }
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
    state.next = current + 1;
    state.under_way = Some((now, pause));
    REQUESTED.notify_one();
}

/// Ends each pause when it is over.
fn serve() {
    loop {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        let pause = loop {
            match state.as_ref().and_then(|state| state.under_way) {
                Some((_, pause)) => break pause,
                None => {
                    state = REQUESTED
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner)
                }
            }
        };
        drop(state);
        let before = counts();
        thread::sleep(pause);
        let after = counts();
        let resumes = with_state(|state| resume(state, before, &after));
        if resumes {
            for source in sources::all() {
                source.recording_resumed();
            }
        }
    }
}

/// Ends a pause, unless the recording has ended meanwhile.
fn resume(
    state: &mut State,
    before: HashMap<(u32, usize), Counts>,
    after: &HashMap<(u32, usize), Counts>,
) -> bool {
    let Some((since, _)) = state.under_way.take() else {
        return false;
    };
    let counts = before.into_iter().map(|(worker, before)| {
        let after = after.get(&worker).copied().unwrap_or(before);
        (worker, after.since(before))
    });
    state.pauses.push(Pause {
        ticks: (since, ticks()),
        counts: counts.collect(),
    });
    set_recording(state.next);
    true
}

/// Returns the counters of all workers of all runtimes.
fn counts() -> HashMap<(u32, usize), Counts> {
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
