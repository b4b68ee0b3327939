//! The state of a thread at each time.
//!
//! The innermost slice that says so decides: a task in a wait works, and the rest of the wait
//! waits. Joins, loops, sections, entries and scopes do not change the state of a worker. A thread
//! that is no worker has no tasks: it works in its sections, loops and scopes.

use raddle_timeline::{EventRecord, Timeline};
use serde::Serialize;

use raddle_trace::events::Thread;

use crate::recording::{RecordedThread, Recording};

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It runs a task, a message or a call.
    Works,
    /// It waits inside a task, and has nothing to run meanwhile.
    Waits,
    /// It has no task, and searches for one.
    Searches,
    /// It has no task, and sleeps.
    Sleeps,
    /// It is a compensating thread that is not needed.
    Rests,
    /// The recording was paused.
    Unrecorded,
    /// The recording does not say: before its first event, or outside of all calls.
    Unknown,
}

impl State {
    /// All states, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::Works,
        Self::Waits,
        Self::Searches,
        Self::Sleeps,
        Self::Rests,
        Self::Unrecorded,
        Self::Unknown,
    ];

    /// Returns the heading of a column for this state.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Waits => "waits",
            Self::Searches => "searches",
            Self::Sleeps => "sleeps",
            Self::Rests => "rests",
            Self::Unrecorded => "unrecorded",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the state that a slice says, if it says one.
    fn of(timeline: &Timeline, event: &EventRecord, is_worker: bool) -> Option<Self> {
        match timeline.text(event.category()) {
            "section" | "scope" | "loop" if !is_worker => Some(Self::Works),
            "task" | "fork" | "message" | "call" => Some(Self::Works),
            "wait" => Some(Self::Waits),
            "pause" => Some(Self::Unrecorded),
            "idle" => Some(match timeline.text(event.name()) {
                "sleep" => Self::Sleeps,
                "rest" => Self::Rests,
                _ => Self::Searches,
            }),
            _ => None,
        }
    }
}

/// A time in which the state of a thread did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The begin, in nanoseconds.
    pub from_ns: u64,
    /// The end.
    pub until_ns: u64,
    /// The state.
    pub state: State,
}

/// Returns the states of a thread from the begin of the recording to its end. No stretch is empty.
#[must_use]
pub fn stretches(recording: &Recording, thread: &RecordedThread) -> Vec<Stretch> {
    let (from_ns, until_ns) = recording.span_ns();
    let is_worker = matches!(thread.thread, Thread::Worker { .. });
    let mut stretches = Stretches {
        done: Vec::new(),
        at_ns: from_ns,
    };
    // The open slices with a state: the end and the state of each.
    let mut open: Vec<(u64, State)> = Vec::new();
    for (_, event) in recording.events_of(thread) {
        let Some(state) = State::of(recording.timeline(), event, is_worker) else {
            continue;
        };
        stretches.close(&mut open, event.from_ns());
        stretches.advance(event.from_ns(), state_of(&open));
        open.push((event.to_ns(), state));
    }
    stretches.close(&mut open, until_ns);
    stretches.advance(until_ns, state_of(&open));
    stretches.done
}

fn state_of(open: &[(u64, State)]) -> State {
    // A wait for a task inside of an idle time cannot be: the innermost slice decides.
    open.last().map_or(State::Unknown, |(_, state)| *state)
}

/// Stretches so far, and the time up to which they reach.
struct Stretches {
    done: Vec<Stretch>,
    at_ns: u64,
}

impl Stretches {
    /// Closes the slices that end up to `ns`, innermost first.
    fn close(&mut self, open: &mut Vec<(u64, State)>, ns: u64) {
        while let Some((end_ns, state)) = open.pop() {
            if end_ns > ns {
                open.push((end_ns, state));
                return;
            }
            self.advance(end_ns, state);
        }
    }

    /// Adds a stretch up to `ns`.
    fn advance(&mut self, ns: u64, state: State) {
        if ns <= self.at_ns {
            return;
        }
        let from_ns = std::mem::replace(&mut self.at_ns, ns);
        match self.done.last_mut() {
            Some(last) if last.state == state => last.until_ns = ns,
            _ => self.done.push(Stretch {
                from_ns,
                until_ns: ns,
                state,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests_support::recording;

    #[test]
    fn a_task_in_a_wait_works_and_the_rest_of_the_wait_waits() {
        let recording = recording(&[
            ("task", "outer", 10, 90),
            ("join", "join", 15, 85),
            ("wait", "wait for join", 20, 80),
            ("task", "inner", 30, 50),
            ("idle", "sleep", 60, 70),
            ("idle", "search", 95, 100),
        ]);
        let stretches = stretches(&recording, &recording.threads()[0]);
        let found: Vec<_> = stretches
            .iter()
            .map(|stretch| (stretch.from_ns, stretch.state))
            .collect();
        let expected = [
            (0, State::Unknown),
            (10, State::Works),
            (20, State::Waits),
            (30, State::Works),
            (50, State::Waits),
            (60, State::Sleeps),
            (70, State::Waits),
            (80, State::Works),
            (90, State::Unknown),
            (95, State::Searches),
        ];
        assert_eq!(found, expected);
        assert_eq!(stretches.last().map(|stretch| stretch.until_ns), Some(100));
    }
}
