//! The costs of the runtime that a recording shows.

use serde::Serialize;

use crate::links::Links;
use crate::recording::Recording;

/// The costs of the runtime that are added to the work, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Costs {
    /// The time from a task that becomes free to its begin on another worker.
    pub steal_ns: u64,
    /// The time from a message to its begin on another worker that has nothing else to do.
    pub message_ns: u64,
}

impl Default for Costs {
    /// Costs of a machine with one package, for recordings without any steal or message to another
    /// worker.
    fn default() -> Self {
        Self {
            steal_ns: 2_000,
            message_ns: 1_000,
        }
    }
}

impl Costs {
    /// Returns the costs that a recording shows: the median of the times from publishing a fork to
    /// its begin on another worker, and the lower quartile of those from sending a message to its
    /// begin on another worker, because messages also wait for those before them.
    pub(crate) fn of(recording: &Recording, links: &Links) -> Self {
        let timeline = recording.timeline();
        let (mut forks, mut messages) = (Vec::new(), Vec::new());
        for thread in recording.threads() {
            for (index, event) in recording.events_of(thread) {
                let times = match timeline.text(event.category()) {
                    "publish" => &mut forks,
                    "send" => &mut messages,
                    _ => continue,
                };
                if let Some(effect) = links.effect_of(index) {
                    let effect = &timeline.events()[effect];
                    if effect.track() != event.track() {
                        times.push(effect.from_ns().saturating_sub(event.from_ns()));
                    }
                }
            }
        }
        let quantile = |times: &mut Vec<u64>, share: usize| {
            times.sort_unstable();
            times.get(times.len() / share).copied()
        };
        let usual = Self::default();
        Self {
            steal_ns: quantile(&mut forks, 2).unwrap_or(usual.steal_ns),
            message_ns: quantile(&mut messages, 4).unwrap_or(usual.message_ns),
        }
    }
}
