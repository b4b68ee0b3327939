//! Links each task and message to the event that caused it.
//!
//! Tasks and messages do not carry a number for this: it would not fit into their memory. A task
//! has the identity of its memory, which later tasks use again: the last put of that identity
//! before the task begins is its own. Messages to one object and entry run in the order of their
//! sending, except for messages of different senders, between which nothing differs: the oldest one
//! that has not run is taken. A message of another node counts as sent when it arrives; it carries
//! a number, which links its arrival to its sending.
//!
//! A message or task that was sent or put before a pause of the recording, and ran after it, has no
//! link: there may have been others in between.
//!
//! # Invariants
//! 1. An event has at most one link, and a cause at most one effect.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::events::{Event, Events, Thread};
use crate::record::kind::Kind;

/// The difference between the times of two threads that is taken for an error.
const ERROR_NS: u64 = 5_000;

/// The links of the events of all tracks.
#[derive(Debug)]
pub(super) struct Flows {
    /// By track, the link of each event, by its index.
    pub(super) of_tracks: Vec<HashMap<usize, Link>>,
}

/// The link of an event to its cause or effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) flow: Option<u64>,
    /// The name with which a task was put.
    pub(super) name: Option<u32>,
}

/// An event that causes or begins something, by track and index.
#[derive(Clone, Copy, Debug)]
struct Place {
    at_ns: u64,
    track: usize,
    index: usize,
}

/// Causes that have had no effect yet, and the effects, each in the order of time.
#[derive(Debug, Default)]
struct Pending {
    causes: Vec<Place>,
    effects: Vec<Place>,
}

impl Flows {
    /// Finds the links. Flows of process `process` have numbers that no other process uses.
    pub(super) fn of(events: &Events, process: u32) -> Self {
        let mut flows = Self {
            of_tracks: events.tracks.iter().map(|_| HashMap::new()).collect(),
        };
        let (tasks, messages) = collect(events);
        let window = |at_ns| {
            events
                .pauses
                .partition_point(|pause| pause.until_ns <= at_ns)
        };
        let mut next = (u64::from(process) << 40) + 1;
        let mut link = |flows: &mut Self, cause: Place, effect: Place| {
            let of_cause = &events.tracks[cause.track].events[cause.index];
            let name = (of_cause.kind == Kind::Put).then_some(of_cause.more[0] as u32);
            let flow = Some(next);
            next += 1;
            flows.of_tracks[cause.track].insert(cause.index, Link { flow, name: None });
            flows.of_tracks[effect.track].insert(effect.index, Link { flow, name });
        };
        for (_, mut pending) in sorted(tasks) {
            pending.match_latest(window, |cause, effect| link(&mut flows, cause, effect));
        }
        for (_, mut pending) in sorted(messages) {
            pending.match_oldest(window, |cause, effect| link(&mut flows, cause, effect));
        }
        flows
    }
}

type Tasks = HashMap<u32, Pending>;
/// Messages by runtime, entry and object: each runtime numbers its objects for itself. A thread
/// that is no worker has no runtime.
type Messages = HashMap<(Option<u32>, u32, u64), Pending>;

/// Collects the causes and effects: of tasks by identity, of messages by entry and object.
fn collect(events: &Events) -> (Tasks, Messages) {
    let (mut tasks, mut messages) = (Tasks::new(), Messages::new());
    for (track, of_track) in events.tracks.iter().enumerate() {
        let runtime = match of_track.thread {
            Thread::Worker { runtime, .. } => Some(runtime),
            Thread::Other(_) => None,
        };
        for (index, event) in of_track.events.iter().enumerate() {
            let place = Place {
                at_ns: event.at_ns,
                track,
                index,
            };
            let message = |event: &Event| (runtime, event.argument, event.more[0]);
            match event.kind {
                Kind::Put | Kind::Publish => {
                    tasks.entry(event.argument).or_default().causes.push(place);
                }
                Kind::RunTask | Kind::RunFork => {
                    tasks.entry(event.argument).or_default().effects.push(place);
                }
                Kind::Send | Kind::Arrive => messages
                    .entry(message(event))
                    .or_default()
                    .causes
                    .push(place),
                Kind::Entry => messages
                    .entry(message(event))
                    .or_default()
                    .effects
                    .push(place),
                _ => {}
            }
        }
    }
    give_outside(&mut messages);
    (tasks, messages)
}

/// Gives the messages that threads outside have sent to the runtime with that object, if there is
/// only one.
fn give_outside(messages: &mut Messages) {
    let outside: Vec<(Option<u32>, u32, u64)> = messages
        .keys()
        .filter(|(runtime, ..)| runtime.is_none())
        .copied()
        .collect();
    let runtimes: BTreeSet<Option<u32>> = messages.keys().map(|(runtime, ..)| *runtime).collect();
    for key in outside {
        let of_runtimes = runtimes.iter().filter(|runtime| runtime.is_some());
        let keys = of_runtimes.map(|runtime| (*runtime, key.1, key.2));
        let mut with_object = keys.filter(|key| messages.contains_key(key));
        let (Some(only), None) = (with_object.next(), with_object.next()) else {
            continue;
        };
        drop(with_object);
        if let (Some(from), Some(to)) = (messages.remove(&key), messages.get_mut(&only)) {
            to.causes.extend(from.causes);
            to.effects.extend(from.effects);
        }
    }
}

/// Returns the pairs in the order of their keys, so that equal recordings give equal files.
fn sorted<K: Ord + Copy>(map: HashMap<K, Pending>) -> Vec<(K, Pending)> {
    let mut pairs: Vec<_> = map.into_iter().collect();
    pairs.sort_unstable_by_key(|(key, _)| *key);
    pairs
}

impl Pending {
    fn sort(&mut self) {
        self.causes.sort_by_key(|place| place.at_ns);
        self.effects.sort_by_key(|place| place.at_ns);
    }

    /// Links each effect to the last cause before it in the same window between two pauses.
    fn match_latest(&mut self, window: impl Fn(u64) -> usize, mut link: impl FnMut(Place, Place)) {
        self.sort();
        let mut causes = self.causes.iter().peekable();
        for effect in &self.effects {
            let mut last = None;
            while let Some(cause) = causes.next_if(|cause| cause.at_ns <= effect.at_ns + ERROR_NS) {
                last = Some(*cause);
                // A later cause belongs to the next effect, if that is only late by an error.
                if cause.at_ns >= effect.at_ns {
                    break;
                }
            }
            if let Some(cause) = last
                && window(cause.at_ns) == window(effect.at_ns)
            {
                link(cause, *effect);
            }
        }
    }

    /// Links each effect to the oldest cause before it that has none yet, in the same window
    /// between two pauses.
    fn match_oldest(&mut self, window: impl Fn(u64) -> usize, mut link: impl FnMut(Place, Place)) {
        self.sort();
        let mut causes: VecDeque<Place> = self.causes.iter().copied().collect();
        for effect in &self.effects {
            while causes
                .front()
                .is_some_and(|cause| window(cause.at_ns) < window(effect.at_ns))
            {
                causes.pop_front();
            }
            let Some(cause) = causes.front() else { return };
            if cause.at_ns <= effect.at_ns + ERROR_NS {
                link(*cause, *effect);
                causes.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Track;

    fn event(at_ns: u64, kind: Kind, argument: u32, word: u64) -> Event {
        Event {
            at_ns,
            is_timed: true,
            kind,
            argument,
            more: [word, 0],
        }
    }

    fn events(tracks: Vec<Vec<Event>>) -> Events {
        let track = |events| Track {
            thread: Thread::Other("one".to_owned()),
            events,
            dropped: 0,
            ended_ns: None,
        };
        Events {
            tracks: tracks.into_iter().map(track).collect(),
            ..Events::default()
        }
    }

    #[test]
    fn a_task_is_linked_to_its_own_put_and_has_its_name() {
        let events = events(vec![
            vec![event(100, Kind::Put, 7, 1), event(60_000, Kind::Put, 7, 2)],
            vec![
                event(50_000, Kind::RunTask, 7, 0),
                event(90_000, Kind::RunTask, 7, 0),
            ],
        ]);
        let flows = Flows::of(&events, 0);
        let of = |track: usize, index: usize| flows.of_tracks[track][&index];
        assert_eq!(of(0, 0).flow, of(1, 0).flow);
        assert_eq!(of(0, 1).flow, of(1, 1).flow);
        assert_eq!((of(1, 0).name, of(1, 1).name), (Some(1), Some(2)));
    }

    #[test]
    fn messages_to_one_object_are_linked_in_order_and_others_apart() {
        let events = events(vec![
            vec![
                event(1, Kind::Send, 3, 10),
                event(2, Kind::Send, 3, 11),
                event(3, Kind::Send, 3, 10),
            ],
            vec![
                event(20_000, Kind::Entry, 3, 11),
                event(30_000, Kind::Entry, 3, 10),
                event(40_000, Kind::Entry, 3, 10),
                event(50_000, Kind::Entry, 3, 10),
            ],
        ]);
        let flows = Flows::of(&events, 1);
        let flow = |track: usize, index: usize| flows.of_tracks[track].get(&index);
        assert_eq!(flow(0, 1), flow(1, 0));
        assert_eq!(flow(0, 0), flow(1, 1));
        assert_eq!(flow(0, 2), flow(1, 2));
        assert_eq!(flow(1, 3), None, "it was sent before the recording");
        assert!(flow(0, 0).expect("linked").flow > Some(1 << 40));
    }
}
