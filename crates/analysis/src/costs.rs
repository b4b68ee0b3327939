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
    /// The time that a task or message costs the worker that puts or sends it to itself.
    pub local_ns: u64,
}

/// The limits of the cost of a task or message for its own worker: 80 to 130 ns on an AMD EPYC at
/// 2.6 GHz (`raddle-bench overhead`), and up to ten times as much without optimisation.
const LOCAL_NS: (u64, u64) = (100, 1_000);

/// The number of times that show a cost.
const SAMPLES_MIN: usize = 20;

impl Default for Costs {
    /// Costs of a machine with one package, for recordings without any steal or message to another
    /// worker.
    fn default() -> Self {
        Self {
            steal_ns: 2_000,
            message_ns: 1_000,
            local_ns: LOCAL_NS.0,
        }
    }
}

impl Costs {
    /// Returns the costs that a recording shows. Those of steals and messages are lower quartiles
    /// of the times from publishing a fork, or sending a message, to its begin on another worker:
    /// the other worker may also have been asleep, preempted or busy. Fewer than 20 of them show
    /// nothing, and the default counts.
    pub(crate) fn of(recording: &Recording, links: &Links) -> Self {
        let timeline = recording.timeline();
        let (mut forks, mut messages) = (Vec::new(), Vec::new());
        // The times between two tasks that are put one after the other, and those of short tasks.
        let (mut between, mut runs) = (Vec::new(), Vec::new());
        for thread in recording.threads() {
            let mut last = None;
            for (index, event) in recording.events_of(thread) {
                match timeline.text(event.category()) {
                    "put" | "send" => {
                        let before = last.replace((event.parent(), event.from_ns()));
                        if let Some((parent, at_ns)) = before
                            && parent == event.parent()
                        {
                            between.push(event.from_ns() - at_ns);
                        }
                    }
                    "task" | "message" => runs.push(event.duration_ns()),
                    _ => {}
                }
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
            let is_enough = times.len() >= SAMPLES_MIN;
            is_enough.then(|| times[times.len() / share])
        };
        let usual = Self::default();
        Self {
            steal_ns: quantile(&mut forks, 4).unwrap_or(usual.steal_ns),
            message_ns: quantile(&mut messages, 4).unwrap_or(usual.message_ns),
            // The shortest times show the cost without the program's own work. To put a task costs
            // about as much as to take and run it; if either has work of its own, the other shows
            // the cost of both.
            local_ns: quantile(&mut between, 20)
                .zip(quantile(&mut runs, 20))
                .map_or(usual.local_ns, |(put_ns, run_ns)| 2 * put_ns.min(run_ns))
                .clamp(LOCAL_NS.0, LOCAL_NS.1),
        }
    }
}
