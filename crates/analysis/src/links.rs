//! The cause of each task and message: the event that has put, published or sent it.
//!
//! Within a process, a recording has arrows from causes to effects. A message between processes has
//! two: from its sending to its arrival, and from there to its run.

use std::collections::HashMap;

use crate::dense::Dense;
use crate::recording::Recording;

/// The category of the arrival of a message of another process.
const ARRIVAL: &str = "arrival";

/// The causes of tasks and messages: indexes of events.
#[derive(Debug, Default)]
pub(crate) struct Links {
    cause_of: Dense,
    effect_of: Dense,
}

impl Links {
    /// Finds the causes of all tasks and messages.
    pub(crate) fn of(recording: &Recording) -> Self {
        let timeline = recording.timeline();
        let is_arrival = |event: usize| {
            let event = &timeline.events()[event];
            timeline.text(event.category()) == ARRIVAL
        };
        let (arrivals, runs): (Vec<_>, Vec<_>) = timeline
            .arrows()
            .into_iter()
            .partition(|arrow| is_arrival(arrow.to));
        let sent: HashMap<usize, usize> = arrivals
            .into_iter()
            .map(|arrow| (arrow.to, arrow.from))
            .collect();
        let mut links = Self::default();
        for arrow in runs {
            // The part of the recording in which a message was sent may be missing.
            let cause = match is_arrival(arrow.from) {
                true => sent.get(&arrow.from).copied(),
                false => Some(arrow.from),
            };
            if let Some(cause) = cause {
                links.cause_of.insert(arrow.to, cause);
                links.effect_of.insert(cause, arrow.to);
            }
        }
        links
    }

    /// Returns the event that has caused a task or message.
    pub(crate) fn cause_of(&self, effect: usize) -> Option<usize> {
        self.cause_of.get(effect)
    }

    /// Returns the task or message that an event has caused.
    pub(crate) fn effect_of(&self, cause: usize) -> Option<usize> {
        self.effect_of.get(cause)
    }
}
