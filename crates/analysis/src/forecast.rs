//! The expected speedup of a recorded program on 1 to 256 workers, and the reason why it is not
//! more.
//!
//! The strands of the recording are run on simulated workers ([`crate::simulation`]), with the
//! costs of steals and messages that the recording shows. A forecast needs all events: a recording
//! with pauses, or one that has lost events, has none.

use std::fmt;

use serde::Serialize;

use crate::costs::Costs;
use crate::graph::Graph;
use crate::links::Links;
use crate::recording::Recording;
use crate::simulation::{Simulated, simulate};
use crate::span::Span;
use crate::table::{Cell, Table};

/// The numbers of workers of a forecast, besides the recorded one.
const WORKERS: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// The share of the recording that may be missing.
const MISSING_MAX: f64 = 0.02;

/// The expected speedup of a recorded program.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Forecast {
    /// The number of workers of the recording.
    pub recorded_workers: usize,
    /// The time from the first task, message or call to the end of the last one, in nanoseconds.
    pub recorded_ns: u64,
    /// Work and span.
    pub span: Span,
    /// The costs that were added.
    pub costs: Costs,
    /// One entry per number of workers, in ascending order.
    pub points: Vec<Point>,
}

/// The forecast for a number of workers.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Point {
    /// The simulated run.
    pub run: Simulated,
    /// The time on one worker divided by the time on these.
    pub speedup: f64,
    /// The reason why the speedup is less than the number of workers.
    pub limit: Limit,
}

/// The factor that limits the speedup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// Nothing: more workers are as fast as they can be.
    Workers,
    /// Time outside of the runtime.
    Outside,
    /// The critical path, and the function that has most of it.
    Path(String),
    /// The objects of one worker have more messages than those of others.
    Objects,
    /// The cost of taking tasks from other workers.
    Steals,
    /// Phases with fewer tasks than workers, and the function that has most of the critical path.
    Phases(String),
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workers => formatter.write_str("the number of workers"),
            Self::Outside => formatter.write_str("time outside of the runtime"),
            Self::Path(name) => write!(formatter, "the critical path, mostly in {name}"),
            Self::Objects => {
                formatter.write_str("the objects of one worker, which have most of the work")
            }
            Self::Steals => formatter.write_str("tasks too short to be taken by other workers"),
            Self::Phases(name) => write!(
                formatter,
                "phases with fewer tasks than workers; the critical path is mostly in {name}"
            ),
        }
    }
}

/// The reason why a recording has no forecast.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoForecast {
    /// Nothing ran.
    Empty,
    /// The recording had pauses.
    Pauses,
    /// Events were dropped.
    Dropped,
    /// The file ends too early.
    CutOff,
}

impl fmt::Display for NoForecast {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Empty => "nothing ran in this recording",
            Self::Pauses => {
                "the recording has pauses, because the program has very short tasks; record all \
                 events with RADDLE_TRACE_DETAIL=all"
            }
            Self::CutOff => "the file ends too early, so that it lacks events",
            Self::Dropped => {
                "the recording has lost events; record with a larger RADDLE_TRACE_BUFFER, or a \
                 shorter run"
            }
        })
    }
}

impl Forecast {
    pub(crate) fn of(recording: &Recording, links: &Links) -> Result<Self, NoForecast> {
        check(recording)?;
        let graph = Graph::of(recording, links);
        if graph.runs.is_empty() {
            return Err(NoForecast::Empty);
        }
        let span = Span::of(recording, &graph);
        let costs = Costs::of(recording, links);
        let recorded_workers = recording.worker_count();
        let mut counts: Vec<usize> = WORKERS.into_iter().chain([recorded_workers]).collect();
        // A recording may have only threads that are no workers.
        counts.retain(|workers| *workers > 0);
        counts.sort_unstable();
        counts.dedup();
        let runs: Vec<Simulated> = counts
            .into_iter()
            .map(|workers| simulate(&graph, workers, costs))
            .collect();
        let one_ns = runs[0].ns;
        let point = |run: Simulated| Point {
            run,
            speedup: one_ns as f64 / run.ns.max(1) as f64,
            limit: limit(&span, run, one_ns, !graph.objects.is_empty()),
        };
        Ok(Self {
            recorded_workers,
            recorded_ns: recorded_ns(&graph),
            costs,
            points: runs.into_iter().map(point).collect(),
            span,
        })
    }

    /// Returns the forecast for a number of workers, if there is one.
    #[must_use]
    pub fn point(&self, workers: usize) -> Option<&Point> {
        self.points
            .iter()
            .find(|point| point.run.workers == workers)
    }

    /// Returns a table with a row for each number of workers.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = [
            ("workers", 0),
            ("time ms", 3),
            ("speedup", 2),
            ("efficiency %", 1),
            ("steals", 0),
            ("limited by", 0),
        ];
        let mut table = Table::new("forecast", "Forecast", columns);
        for point in &self.points {
            table.row([
                (point.run.workers as u64).into(),
                Cell::Real(point.run.ns as f64 * 1e-6),
                point.speedup.into(),
                Cell::Real(point.speedup * 100.0 / point.run.workers as f64),
                point.run.steals.into(),
                point.limit.to_string().into(),
            ]);
        }
        table
    }
}

/// Returns an error if the recording does not have all events.
fn check(recording: &Recording) -> Result<(), NoForecast> {
    if recording
        .facts()
        .iter()
        .any(|facts| facts.dropped_events > 0)
    {
        return Err(NoForecast::Dropped);
    }
    let timeline = recording.timeline();
    if timeline.cut_at().is_some() {
        return Err(NoForecast::CutOff);
    }
    let (from_ns, until_ns) = recording.span_ns();
    let mut worst_ns = 0;
    for thread in recording.threads() {
        let events = recording.events_of(thread);
        let pauses = events.filter(|(_, event)| timeline.text(event.category()) == "pause");
        worst_ns = pauses
            .map(|(_, pause)| pause.duration_ns())
            .sum::<u64>()
            .max(worst_ns);
    }
    match worst_ns as f64 > MISSING_MAX * (until_ns - from_ns) as f64 {
        true => Err(NoForecast::Pauses),
        false => Ok(()),
    }
}

fn recorded_ns(graph: &Graph) -> u64 {
    let of_runs = || {
        graph
            .strands
            .iter()
            .filter(|strand| strand.run != crate::graph::OUTSIDE)
    };
    let from_ns = of_runs().map(|strand| strand.from_ns).min().unwrap_or(0);
    let to_ns = of_runs().map(crate::graph::Strand::until_ns).max();
    to_ns.unwrap_or(0) - from_ns
}

/// Returns the factor that limits a run: the largest part of what it lacks to the ideal time.
/// `has_objects` says whether there are objects, which are bound to workers.
fn limit(span: &Span, run: Simulated, one_ns: u64, has_objects: bool) -> Limit {
    /// The efficiency from which on a program uses its workers well.
    const GOOD: f64 = 0.9;
    let ns = run.ns as f64;
    let ideal_ns = one_ns as f64 / run.workers as f64;
    if ideal_ns >= GOOD * ns {
        return Limit::Workers;
    }
    let lost_ns = ns - ideal_ns;
    if span.outside_ns as f64 * (1.0 - 1.0 / run.workers as f64) >= lost_ns / 2.0 {
        return Limit::Outside;
    }
    if span.span_ns as f64 >= GOOD * ns {
        return Limit::Path(span.longest().to_owned());
    }
    if run.stealing_ns as f64 / run.workers as f64 >= lost_ns / 2.0 {
        return Limit::Steals;
    }
    let is_one_always_busy = run.busiest_ns as f64 >= GOOD * (ns - span.outside_ns as f64);
    match has_objects && is_one_always_busy {
        true => Limit::Objects,
        false => Limit::Phases(span.longest().to_owned()),
    }
}
