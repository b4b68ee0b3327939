//! Sentences about a recording: where the time went, and what to do about it.
//!
//! Each finding has a loss: the part of the workers' time that the program would gain without the
//! problem, as far as the recording shows it. Findings are sorted by it. Time in which a worker had
//! no CPU was never the program's, so that it counts for the finding that says so and for no other.

use serde::Serialize;

use crate::forecast::Limit;
use crate::gaps::GapPair;
use crate::states::State;
use crate::summary::Summary;
use crate::table::{Cell, Table};
use crate::utilisation::{ThreadUtilisation, own_count};

/// The smallest loss that is worth a sentence.
const LOSS_MIN: f64 = 0.05;

/// The smallest loss by a grain that is too fine, if it is a larger part of the time of all tasks
/// and messages than [`GRAIN_COST_MIN`]: it also keeps other workers searching.
const GRAIN_LOSS_MIN: f64 = 0.01;
const GRAIN_COST_MIN: f64 = 0.1;

/// A sentence about a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of the problem.
    pub kind: FindingKind,
    /// The part of the workers' time that is lost, from 0 to 1.
    #[serde(rename = "lost_share")]
    pub loss: f64,
    /// The sentence.
    pub text: String,
}

/// The kind of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// The states of all workers, in all.
    Overview,
    /// Work that waits in the operating system.
    Blocked,
    /// Work that waits for a CPU.
    Preempted,
    /// Tasks or messages are too short.
    Grain,
    /// Some workers have much more work than others.
    Imbalance,
    /// Workers wait for other workers or for locations.
    Waits,
    /// Workers have nothing to do until messages come.
    Messages,
    /// The program cannot use more workers.
    Parallelism,
    /// The recording does not have all events.
    Incomplete,
}

/// The time of all workers in each state.
struct Totals<'a> {
    workers: Vec<&'a ThreadUtilisation>,
    /// The number of workers that were there at the same time, without compensating threads.
    count: usize,
    /// The sum over the workers, without unrecorded and unknown times, and without those in which
    /// they had work but no CPU.
    known_ns: f64,
    /// The time in which workers had work but no CPU.
    preempted_ns: f64,
}

/// Returns the findings of a summary, the overview first, then by loss.
pub(crate) fn find(summary: &Summary) -> Vec<Finding> {
    let totals = Totals::of(summary);
    let mut findings: Vec<Finding> = [
        blocked(summary, &totals),
        preempted(&totals),
        grain(summary, &totals),
        imbalance(summary, &totals),
        waits(summary, &totals),
        gaps(summary, &totals),
        parallelism(summary),
        incomplete(summary),
    ]
    .into_iter()
    .flatten()
    .collect();
    findings.sort_by(|one, other| {
        let by_loss = other.loss.total_cmp(&one.loss);
        by_loss.then_with(|| one.kind.cmp(&other.kind))
    });
    findings.insert(0, overview(summary, &totals));
    findings
}

/// Returns a table with a row for each finding.
pub(crate) fn table(findings: &[Finding]) -> Table {
    let columns = [("finding", 0), ("% lost", 1)];
    let mut table = Table::new("findings", "Findings", columns);
    for finding in findings {
        table.row([
            finding.text.clone().into(),
            Cell::Real(finding.loss * 100.0),
        ]);
    }
    table
}

impl<'a> Totals<'a> {
    fn of(summary: &'a Summary) -> Self {
        let is_worker = |thread: &&ThreadUtilisation| thread.is_worker;
        let workers: Vec<_> = summary
            .utilisation
            .threads
            .iter()
            .filter(is_worker)
            .collect();
        let sum = |states: &[State]| {
            let of_worker = |worker: &&ThreadUtilisation| -> u64 {
                states.iter().map(|state| worker.of(*state)).sum()
            };
            workers.iter().map(of_worker).sum::<u64>() as f64
        };
        let known_ns = sum(&[State::Works, State::Waits, State::Searches, State::Sleeps]);
        let functions = summary.off_cpu.functions.iter();
        let preempted = functions.filter(|function| !function.is_blocked);
        let preempted_ns = preempted.map(|function| function.ns as f64).sum::<f64>();
        let preempted_ns = preempted_ns.min(known_ns);
        Self {
            known_ns: (known_ns - preempted_ns).max(1.0),
            preempted_ns,
            count: summary.utilisation.worker_count(),
            workers,
        }
    }

    /// Returns the part of the workers' time in a state.
    fn share(&self, state: State) -> f64 {
        let ns = self.workers.iter().map(|worker| worker.of(state));
        ns.sum::<u64>() as f64 / (self.known_ns + self.preempted_ns)
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns how often something happened.
fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

/// Returns a duration with a unit of three digits.
pub(crate) fn duration(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e6 => format!("{:.1} µs", ns * 1e-3),
        ..1e9 => format!("{:.1} ms", ns * 1e-6),
        _ => format!("{:.2} s", ns * 1e-9),
    }
}

fn overview(summary: &Summary, totals: &Totals<'_>) -> Finding {
    let workers = totals.count;
    let plural = if workers == 1 { "" } else { "s" };
    let mut text = match workers {
        0 => "No worker has recorded anything.".to_owned(),
        _ => format!(
            "In {}, {workers} worker{plural} worked {} of the time, waited inside tasks {}, \
             searched for work {} and slept {}.",
            duration(summary.length_ns as f64),
            percent(totals.share(State::Works)),
            percent(totals.share(State::Waits)),
            percent(totals.share(State::Searches)),
            percent(totals.share(State::Sleeps)),
        ),
    };
    let unknown = unknown_share(summary);
    if unknown >= 0.1 {
        text = format!(
            "Only {} of the time was recorded. {text}",
            percent(1.0 - unknown)
        );
    }
    text += &other_threads(summary);
    Finding {
        kind: FindingKind::Overview,
        loss: 1.0 - totals.share(State::Works),
        text,
    }
}

/// Says how much the threads worked that are no workers, if they did.
fn other_threads(summary: &Summary) -> String {
    let threads = summary.utilisation.threads.iter();
    let others = threads.filter(|thread| !thread.is_worker && thread.of(State::Works) > 0);
    let works: Vec<u64> = others.map(|thread| thread.of(State::Works)).collect();
    let all_ns = works.iter().sum::<u64>() as f64;
    let share = all_ns / (works.len() as f64 * summary.length_ns.max(1) as f64);
    match works.len() {
        0 => String::new(),
        1 => format!(" One other thread worked {} of it.", percent(share)),
        count => format!(
            " {count} other threads worked {} of it each, on average.",
            percent(share)
        ),
    }
}

/// Finds functions that wait in the operating system.
fn blocked(summary: &Summary, totals: &Totals<'_>) -> Option<Finding> {
    let mut functions = summary.off_cpu.functions.iter();
    let function =
        functions.find(|function| function.is_blocked && !function.function.is_empty())?;
    let loss = function.ns as f64 / totals.known_ns;
    let of_function = function.ns as f64 / function.of_ns.max(1) as f64;
    let threads = match function.threads {
        1 => "one thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    (loss >= LOSS_MIN).then(|| Finding {
        kind: FindingKind::Blocked,
        loss,
        text: format!(
            "{} waited in the operating system {} on {threads}, {} in all, which is {} of its own \
             time: look for a lock that is held there, or for files. A lock that is held for a \
             short time, or an object with its own entry, keeps the workers running.",
            function.function,
            times(function.count),
            duration(function.ns as f64),
            percent(of_function.min(1.0)),
        ),
    })
}

/// Finds work that had no CPU.
fn preempted(totals: &Totals<'_>) -> Option<Finding> {
    let loss = totals.preempted_ns / (totals.known_ns + totals.preempted_ns);
    (loss >= LOSS_MIN).then(|| Finding {
        kind: FindingKind::Preempted,
        loss,
        text: format!(
            "Workers with work had no CPU for {}: other threads or programs use the same CPUs. Use \
             as many workers as there are free CPUs.",
            duration(totals.preempted_ns),
        ),
    })
}

/// Finds tasks and messages that are so short that their cost matters.
fn grain(summary: &Summary, totals: &Totals<'_>) -> Option<Finding> {
    let cost_ns = |grain: &crate::grain::Grain| grain.count as f64 * grain.cost_ns;
    let kinds = summary.grains.kinds.iter();
    let short = kinds.filter(|grain| grain.mean_ns < grain.pays_ns);
    let grain = short.max_by(|one, other| cost_ns(one).total_cmp(&cost_ns(other)))?;
    let loss = (cost_ns(grain) / totals.known_ns).min(1.0);
    let all_ns = |grain: &crate::grain::Grain| grain.count as f64 * (grain.mean_ns + grain.cost_ns);
    let cost_share = cost_ns(grain)
        / summary
            .grains
            .kinds
            .iter()
            .map(all_ns)
            .sum::<f64>()
            .max(1.0);
    let is_costly = loss >= GRAIN_LOSS_MIN && cost_share >= GRAIN_COST_MIN;
    (loss >= LOSS_MIN || is_costly).then(|| Finding {
        kind: FindingKind::Grain,
        loss,
        text: format!(
            "The grain of {} is too fine: {} {}s of {} each cost the runtime about {} each. From \
             {} on a grain pays: combine about {}.",
            grain.name,
            grain.count,
            grain.category,
            duration(grain.mean_ns),
            duration(grain.cost_ns),
            duration(grain.pays_ns),
            grain.combine(),
        ),
    })
}

/// Finds workers with much more work than others that were there at the same time.
fn imbalance(summary: &Summary, totals: &Totals<'_>) -> Option<Finding> {
    let works_ns = |worker: &ThreadUtilisation| worker.of(State::Works) as f64;
    let uneven = summary.utilisation.teams().into_iter().filter_map(|team| {
        let busiest = team.iter().max_by_key(|worker| worker.of(State::Works))?;
        let all_ns: f64 = team.iter().map(|worker| works_ns(worker)).sum();
        let own = own_count(&team);
        let mean_ns = all_ns / own.max(1) as f64;
        // The program could be faster by the difference between the busiest worker and the mean.
        let loss = (works_ns(busiest) - mean_ns) * own as f64 / totals.known_ns;
        let is_uneven = own > 1 && works_ns(busiest) > 1.25 * mean_ns && loss >= LOSS_MIN;
        let share = works_ns(busiest) / all_ns.max(1.0);
        is_uneven.then(|| (loss, busiest.name.clone(), share, own))
    });
    let (loss, busiest, share, count) = uneven.max_by(|one, other| one.0.total_cmp(&other.0))?;
    let mut kinds = summary.durations.kinds.iter();
    let advice = match kinds.any(|kind| kind.category == "message") {
        false => "Divide its tasks, so that other workers can take a part.",
        true => {
            "Messages run where their objects are: create the objects on all workers, or let them \
             move (load balancing)."
        }
    };
    Some(Finding {
        kind: FindingKind::Imbalance,
        loss,
        text: format!(
            "The load is uneven: {busiest} did {} of the work of {count} workers. {advice}",
            percent(share),
        ),
    })
}

/// Finds the longest waits.
fn waits(summary: &Summary, totals: &Totals<'_>) -> Option<Finding> {
    // Threads outside of the runtime may wait as long as they like.
    let pairs = || summary.waits.pairs.iter().filter(|pair| pair.is_worker);
    let pair = pairs().next()?;
    let all_ns: u64 = pairs().map(|pair| pair.idle_ns).sum();
    let loss = all_ns as f64 / totals.known_ns;
    let party = pair
        .party()
        .map_or_else(String::new, |party| format!(": {party}"));
    (loss >= LOSS_MIN).then(|| Finding {
        kind: FindingKind::Waits,
        loss,
        text: format!(
            "Workers waited {} inside of tasks without other work. The longest: {} waited {}, {} \
             in all ({}{party}).",
            duration(all_ns as f64),
            pair.thread,
            times(pair.count),
            duration(pair.idle_ns as f64),
            pair.reason,
        ),
    })
}

/// Finds workers without work that wait for messages of other workers.
fn gaps(summary: &Summary, totals: &Totals<'_>) -> Option<Finding> {
    // Before a message from outside, there is no work to do. The time before the sender has begun
    // is a wait for something else.
    let pairs = || summary.gaps.pairs.iter().filter(|pair| pair.is_from_worker);
    let waited_ns = |pair: &GapPair| pair.before_ns + pair.after_ns;
    let pair = pairs().max_by_key(|pair| waited_ns(pair))?;
    let all_ns: u64 = pairs().map(waited_ns).sum();
    let after_ns: u64 = pairs().map(|pair| pair.after_ns).sum();
    let loss = all_ns as f64 / totals.known_ns;
    let sent_by = match &*pair.sent_by {
        "" => String::new(),
        function => format!(" in {function}"),
    };
    let advice = match 2 * after_ns > all_ns {
        true => {
            "Most of it passed after sending, until the worker was awake: give each worker more \
             objects, so that it has other messages to run, or more work per message."
        }
        false => {
            "Send earlier in the entry that sends, divide it, or give each worker more objects, so \
             that it has other messages to run."
        }
    };
    (loss >= LOSS_MIN).then(|| Finding {
        kind: FindingKind::Messages,
        loss,
        text: format!(
            "Workers had nothing to do for {} until messages of other workers came, {} of it after \
             these were sent. The longest: {} had nothing to do {}, {} in all, until {} sent \
             {}{sent_by}. {advice}",
            duration(all_ns as f64),
            duration(after_ns as f64),
            pair.worker,
            times(pair.count),
            duration(waited_ns(pair) as f64),
            pair.sender,
            pair.entry,
        ),
    })
}

/// Finds programs that cannot use their workers, or twice as many.
fn parallelism(summary: &Summary) -> Option<Finding> {
    let forecast = summary.forecast.as_ref()?;
    let point = forecast.point(forecast.recorded_workers.max(2))?;
    let efficiency = point.speedup / point.run.workers as f64;
    let is_limited = point.limit != Limit::Workers && efficiency < 0.8;
    is_limited.then(|| Finding {
        kind: FindingKind::Parallelism,
        loss: if forecast.recorded_workers > 1 {
            1.0 - efficiency
        } else {
            0.0
        },
        text: format!(
            "The program has parallelism for {:.1} workers (work {}, span {}). On {} workers it is \
             limited by {}.",
            forecast.span.parallelism(),
            duration(forecast.span.work_ns as f64),
            duration(forecast.span.span_ns as f64),
            point.run.workers,
            point.limit,
        ),
    })
}

/// Returns the share of the workers' time of which the recording has no events. If events were
/// dropped, nothing is known about the time before a worker's oldest one.
fn unknown_share(summary: &Summary) -> f64 {
    let workers = summary.utilisation.threads.iter();
    let workers = workers.filter(|thread| thread.is_worker && !thread.is_compensating);
    let (mut unknown_ns, mut all_ns) = (0, 0);
    for worker in workers {
        let (from_ns, until_ns) = worker.lifetime_ns;
        let from_ns = if summary.dropped_events > 0 {
            0
        } else {
            from_ns
        };
        let known = State::ALL.into_iter();
        let known = known.filter(|state| !matches!(state, State::Unknown | State::Unrecorded));
        let known_ns: u64 = known.map(|state| worker.of(state)).sum();
        unknown_ns += (until_ns - from_ns).saturating_sub(known_ns);
        all_ns += until_ns - from_ns;
    }
    unknown_ns as f64 / all_ns.max(1) as f64
}

/// Says if events are missing.
fn incomplete(summary: &Summary) -> Option<Finding> {
    let unrecorded: u64 = summary
        .utilisation
        .threads
        .iter()
        .map(|thread| thread.of(State::Unrecorded))
        .max()?;
    let share = unrecorded as f64 / summary.length_ns.max(1) as f64;
    let dropped = summary.dropped_events;
    let text = match dropped {
        0 if share < 0.02 => return None,
        0 => format!(
            "{} of the time was not recorded, so that the program was not slowed down; \
             RADDLE_TRACE_DETAIL=all records everything.",
            percent(share),
        ),
        _ => format!(
            "About {dropped} older events did not fit into the buffer, so that {} of the time of \
             the workers is unknown; RADDLE_TRACE_BUFFER enlarges it.",
            percent(unknown_share(summary)),
        ),
    };
    Some(Finding {
        kind: FindingKind::Incomplete,
        loss: 0.0,
        text,
    })
}
