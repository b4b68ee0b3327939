//! The tasks of one quicksort, recorded on one thread: how many there are of each size, and the
//! speedups of simulated pools on them.
//!
//! The study's machine had 32 processors. A machine with fewer cannot repeat its speedups, but it
//! can measure each task once and [simulate](super::simulated) the pools on the record.

use std::time::{Duration, Instant};

use raddle_numerics::sort::{Part, ideal};

use super::parts::{self, split};
use super::simulated::{self, Pool, Task};
use crate::chart::{Chart, Lines, Place};
use crate::error::BenchError;
use crate::record::{Environment, Record};
use crate::suites::Measurement;

/// The numbers of simulated workers: as in figure 9 of the study, which ends with 32.
const WORKERS: [usize; 10] = [1, 2, 4, 8, 12, 16, 20, 24, 28, 32];
/// The unit of the simulated records.
const SPEEDUP: &str = "speedup";
/// The name of the line of equation (2).
const EQUATION: &str = "equation (2)";

/// Measures the sizes of the tasks of a quicksort of `len` random numbers.
///
/// # Errors
/// Those of [`Measurement::add`].
pub(super) fn sizes(
    measurement: &mut Measurement<'_>,
    name: &str,
    len: usize,
) -> Result<(), BenchError> {
    let tasks = record(&mut parts::random(len));
    let records = of_sizes(name, &tasks, &measurement.environment);
    measurement.add(records)
}

/// Simulates the pools on the tasks of a quicksort of `len` random numbers.
///
/// # Errors
/// Those of [`Measurement::add`].
pub(super) fn speedups(
    measurement: &mut Measurement<'_>,
    name: &str,
    len: usize,
) -> Result<(), BenchError> {
    let tasks = record(&mut parts::random(len));
    let records = of_speedups(name, &tasks, &measurement.environment);
    measurement.add(records)
}

/// Returns the records of the sizes: the number of tasks, their mean time, and their share of the
/// time of all tasks.
fn of_sizes(name: &str, tasks: &[Task], environment: &Environment) -> Vec<Record> {
    let total_s = total(tasks).as_secs_f64();
    let of_size = |size: Size| {
        let case = format!("{name}/{}", size.least);
        let time_s = size.time.as_secs_f64();
        [
            ("tasks", "tasks", size.count as f64),
            ("mean time", "us", time_s * 1e6 / size.count as f64),
            ("share of time", "%", time_s / total_s * 1e2),
        ]
        .map(|(contender, unit, value)| figure(&case, (contender, 1), (unit, value), environment))
    };
    by_size(tasks).into_iter().flat_map(of_size).collect()
}

/// Returns the records of the simulated speedups, and of those by the study's equation.
fn of_speedups(name: &str, tasks: &[Task], environment: &Environment) -> Vec<Record> {
    let total_s = total(tasks).as_secs_f64();
    let of_workers = |workers: usize| {
        let equation = ideal::speedup(tasks[0].len as u64, workers as u64);
        let simulated = Pool::ALL.map(|pool| {
            let makespan = simulated::makespan(tasks, workers, pool);
            (pool.name(), total_s / makespan.as_secs_f64())
        });
        std::iter::once((EQUATION, equation))
            .chain(simulated)
            .map(move |(contender, speedup)| (contender, workers, speedup))
    };
    WORKERS
        .into_iter()
        .flat_map(of_workers)
        .map(|(contender, workers, speedup)| {
            figure(name, (contender, workers), (SPEEDUP, speedup), environment)
        })
        .collect()
}

/// Returns the record of a single figure.
fn figure(
    case: &str,
    (contender, workers): (&str, usize),
    (unit, value): (&str, f64),
    environment: &Environment,
) -> Record {
    let mode = if unit == SPEEDUP {
        "simulated"
    } else {
        "one-thread"
    };
    Record {
        suite: "pools".to_owned(),
        case: case.to_owned(),
        contender: contender.to_owned(),
        workers,
        unit: unit.to_owned(),
        median: value,
        min: value,
        max: value,
        pairs: 1,
        ratio: None,
        ratio_range: None,
        machine: environment.machine.clone(),
        mode: mode.to_owned(),
        commit: environment.commit.clone(),
    }
}

/// Returns the charts of the sizes and of the simulated speedups, if the records have any.
pub(super) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    let sizes = Chart::of_curves(records, Lines::OfMostWorkers, |_, _| {
        Some("items, at least")
    });
    let speedups = Chart::of_ratios(records, SPEEDUP, |record| {
        (record.unit == SPEEDUP).then_some(Place {
            panel: record.case.as_str(),
            line: record.contender.as_str(),
            value: record.median,
        })
    });
    let titled = speedups.into_iter().map(|chart| {
        let title = chart
            .cases()
            .concat()
            .replace("simulated", "fig. 9, simulated, ");
        chart.titled(&title, SPEEDUP)
    });
    sizes.into_iter().chain(titled).collect()
}

/// Sorts `items` as the stack without synchronisation does, and records every task.
fn record(items: &mut [i32]) -> Vec<Task> {
    let task = |part: &Part<'_, i32>| Task {
        len: part.len(),
        time: Duration::ZERO,
        first_child: None,
    };
    let whole = Part::whole(items);
    let mut tasks = vec![task(&whole)];
    let mut stack = vec![(0, whole)];
    while let Some((index, part)) = stack.pop() {
        let began = Instant::now();
        let children = split(part);
        tasks[index].time = began.elapsed();
        if let Some((left, right)) = children {
            tasks[index].first_child = Some(tasks.len());
            for child in [left, right] {
                let child_index = tasks.len();
                tasks.push(task(&child));
                stack.push((child_index, child));
            }
        }
    }
    tasks
}

/// Returns the time of all tasks together.
fn total(tasks: &[Task]) -> Duration {
    tasks.iter().map(|task| task.time).sum()
}

/// The tasks of one decimal order of magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    /// The smallest number of items: a power of ten. Ten times as many belong to the next size.
    least: usize,
    count: usize,
    time: Duration,
}

/// Groups the tasks by size, smallest first. Empty parts count as parts of one item.
fn by_size(tasks: &[Task]) -> Vec<Size> {
    let exponent = |task: &Task| task.len.checked_ilog10().unwrap_or(0);
    let exponent_max = tasks.iter().map(exponent).max().unwrap_or(0);
    let size = |of: u32| {
        let tasks = || tasks.iter().filter(|task| exponent(task) == of);
        Size {
            least: 10_usize.pow(of),
            count: tasks().count(),
            time: tasks().map(|task| task.time).sum(),
        }
    };
    let all = (0..=exponent_max).map(size);
    all.filter(|size| size.count > 0).collect()
}

#[cfg(test)]
mod tests;
