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

use super::live::ticks_of;
use crate::record::live::{recording, set_recording};
use crate::sources::{self, Counts};

/// The share of a thread's time that recording may take, in thousandths.
const SHARE_MAX: u64 = 25;
/// The time for which a thread records before it may pause.
const WINDOW_NS: u64 = 300_000;
/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_millis(50);
/// The costs of an event, in tenths of nanoseconds: of a word, and of a reading of the counter.
const WORD_COST: u64 = 45;
const READING_COST: u64 = 120;

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

/// Pauses the recording if `words` words and `readings` readings of the counter were too much for
/// the time of this thread since `since`. Returns true if a new window begins for this thread.
pub(crate) fn pause_if_costly(words: u64, readings: u64, since: u64) -> bool {
    let now = ticks();
    let passed = now.saturating_sub(since);
    if passed < ticks_of(WINDOW_NS) {
        return false;
    }
    let cost = ticks_of((words * WORD_COST + readings * READING_COST) / 10);
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
