//! The cause of each task and message: the event that has put, published or sent it.
//!
//! Within a process, a recording has flows from causes to effects. Between processes it has none,
//! because a message that crosses carries no number for it. Messages from one process to one entry
//! of one object of another process are paired in the order of their times, up to the first pause
//! of any process: later, there may be others in between. In a process with several runtimes, an
//! object of that number may be in each of them, and there is no pair.

use std::collections::{HashMap, VecDeque};

use raddle_timeline::{EventRecord, NameId};
use raddle_trace::events::Thread;

use crate::dense::Dense;
use crate::recording::Recording;

/// The difference between the times of two processes of one machine that is taken for an error.
const ERROR_NS: u64 = 20_000;

/// The causes of tasks and messages: indexes of events.
#[derive(Debug, Default)]
pub(crate) struct Links {
    cause_of: Dense,
    effect_of: Dense,
}

/// An entry of an object in a process.
type Target = (u32, NameId, u64, u64);

impl Links {
    /// Finds the causes of all tasks and messages.
    pub(crate) fn of(recording: &Recording) -> Self {
        let mut links = Self::default();
        for arrow in recording.timeline().arrows() {
            links.add(arrow.from, arrow.to);
        }
        if recording.facts().len() > 1 {
            links.add_between_processes(recording);
        }
        links
    }

    fn add(&mut self, cause: usize, effect: usize) {
        self.cause_of.insert(effect, cause);
        self.effect_of.insert(cause, effect);
    }

    /// Returns the event that has caused a task or message.
    pub(crate) fn cause_of(&self, effect: usize) -> Option<usize> {
        self.cause_of.get(effect)
    }

    /// Returns the task or message that an event has caused.
    pub(crate) fn effect_of(&self, cause: usize) -> Option<usize> {
        self.effect_of.get(cause)
    }

    fn add_between_processes(&mut self, recording: &Recording) {
        let timeline = recording.timeline();
        let mut sent: HashMap<Target, Vec<(u64, usize)>> = HashMap::new();
        let mut run: HashMap<Target, Vec<(u64, usize)>> = HashMap::new();
        let mut runtimes: HashMap<Target, (Option<u32>, bool)> = HashMap::new();
        let until_ns = first_pause_ns(recording);
        for thread in recording.threads() {
            let events = recording.events_of(thread);
            for (index, event) in events.take_while(|(_, event)| event.from_ns() < until_ns) {
                let of_event = (event.from_ns(), index);
                let Some((collection, element)) = recording.object_of(index) else {
                    continue;
                };
                match timeline.text(event.category()) {
                    "send" => {
                        if let Some(node) = recording.number(index, "node") {
                            let target = (node as u32, event.name(), collection, element);
                            sent.entry(target).or_default().push(of_event);
                        }
                    }
                    "message" | "entry" if self.cause_of(index).is_none() => {
                        let target = (thread.process, event.name(), collection, element);
                        run.entry(target).or_default().push(of_event);
                        let own = runtime_of(&thread.thread);
                        let (runtime, is_one) = runtimes.entry(target).or_insert((own, true));
                        *is_one &= *runtime == own;
                    }
                    _ => {}
                }
            }
        }
        let clock_errors = recording.facts().iter().map(|facts| facts.clock_error_ns);
        let error_ns = ERROR_NS + 2 * clock_errors.max().unwrap_or(0);
        sent.retain(|target, _| runtimes.get(target).is_some_and(|(_, is_one)| *is_one));
        for (target, mut causes) in sent {
            let mut effects = run.remove(&target).unwrap_or_default();
            causes.sort_unstable();
            effects.sort_unstable();
            let mut causes = VecDeque::from(causes);
            for (at_ns, effect) in effects {
                // A message without a cause before it was sent before the recording began.
                let is_before = |cause: &(u64, usize)| cause.0 <= at_ns + error_ns;
                if let Some((_, cause)) = causes.pop_front_if(|cause| is_before(cause)) {
                    self.add(cause, effect);
                }
            }
        }
    }
}

/// Returns the begin of the first pause of any process.
fn first_pause_ns(recording: &Recording) -> u64 {
    let timeline = recording.timeline();
    let events = timeline.events().iter();
    let pauses = events.filter(|event| timeline.text(event.category()) == "pause");
    pauses.map(EventRecord::from_ns).min().unwrap_or(u64::MAX)
}

/// Returns the number of the runtime of a worker.
const fn runtime_of(thread: &Thread) -> Option<u32> {
    match thread {
        Thread::Worker { runtime, .. } => Some(*runtime),
        _ => None,
    }
}
