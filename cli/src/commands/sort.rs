//! `raddle sort`: quicksort of random numbers, and its speedup compared with the ideal one.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use clap::Args;
use raddle::{Private, Runtime};
use raddle_numerics::random;
use raddle_numerics::sort::{self, ideal};
use serde_json::json;

use crate::arguments::{Options, values};
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{RanOn, Report};
use crate::times::Times;
use crate::{memory, units, workers};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle sort 2e7
  raddle sort 1e8 --seed 7 --repeat 11 --stats
  raddle sort 1e7 --tasks --pool central --workers 8 --json

The numbers are 32-bit integers. The ideal speedup on p workers, which is printed beside the
measured one, is N log N / T for T = 2 N (1 - 1/2^ceil(log p)) + N/p (log N - ceil(log p)), with
logarithms to base 2.";

/// `raddle sort`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SortArguments {
    /// Number of integers to sort, such as 20000000 or 2e7
    #[arg(value_name = "N", value_parser = values::number_count)]
    count: usize,
    /// Seed of the numbers; the same seed gives the same numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Length of the longest part that one task sorts without splitting it
    #[arg(long, value_name = "C", default_value = "1000")]
    cutoff: NonZeroUsize,
    /// Sort this many times and report median, smallest and largest time
    #[arg(long, value_name = "R", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// Put a task into the pool (see --pool) for every part, instead of a join, which becomes a
    /// task only if another worker asks for work
    #[arg(long)]
    tasks: bool,
}

/// The number of updates of the progress bar: a worker updates it after each 1/256 of the numbers.
/// More frequent updates would become part of the measured time.
const UPDATES: u64 = 256;

/// Sorts, checks, and reports.
///
/// # Errors
/// [`CliError`]: not enough memory for the numbers, or a wrong result.
pub(super) fn run(arguments: &SortArguments, options: &Options) -> Result<Report, CliError> {
    let runtime = workers::start(options)?;
    let mut numbers = memory_for(arguments.count)?;
    let mut times = Vec::new();
    let mut sequential_times = Vec::new();
    let mut task_counts = Vec::new();
    // Sequential and parallel sorts take turns, so that both see the same state of the machine.
    for _ in 0..arguments.repeat {
        let phase = Phase::begin("sequential", options.quiet);
        let sort = |numbers: &mut [i32]| sort::sort_sequential(numbers);
        sequential_times.push(sort_checked(&runtime, arguments, &mut numbers, sort)?);
        drop(phase);
        let phase = Phase::begin("sorting", options.quiet);
        let counters = Private::new(WorkerCounters::default);
        let note = |settled| {
            let total = arguments.count as u64;
            counters.with(|counters| counters.note(settled as u64, total, &phase));
        };
        let cutoff = arguments.cutoff.get();
        let sort = |numbers: &mut [i32]| match arguments.tasks {
            true => sort::sort_tasks(numbers, cutoff, note),
            false => sort::sort_with(numbers, cutoff, note),
        };
        times.push(sort_checked(&runtime, arguments, &mut numbers, sort)?);
        task_counts.push(counters.into_values().map(|counters| counters.tasks).sum());
    }
    let sorted = Sorted {
        times: Times::of(times),
        sequential_times: Times::of(sequential_times),
        task_count: median_of(task_counts),
        worker_count: runtime.worker_count(),
    };
    Ok(sorted.report(arguments).on(RanOn::Workers(runtime)))
}

/// Allocates memory for `count` numbers, if the machine has that much.
fn memory_for(count: usize) -> Result<Vec<i32>, CliError> {
    let bytes = (count as u64).saturating_mul(size_of::<i32>() as u64);
    let available = memory::available_bytes();
    let mut numbers = Vec::new();
    // The system may grant more memory than is available, and end the process when it is used.
    if available.is_some_and(|available| available < bytes)
        || numbers.try_reserve_exact(count).is_err()
    {
        return Err(CliError::NumbersTooMany {
            count,
            bytes,
            available: memory::expected(available, "fewer numbers"),
        });
    }
    numbers.resize(count, 0);
    Ok(numbers)
}

/// Generates the numbers, sorts them on a worker, checks the result, and returns the time of the
/// sort.
fn sort_checked(
    runtime: &Runtime,
    arguments: &SortArguments,
    numbers: &mut [i32],
    sort: impl FnOnce(&mut [i32]) + Send,
) -> Result<Duration, CliError> {
    runtime.install(|| {
        random::fill(numbers, arguments.seed);
        let before = sort::fingerprint(numbers);
        let began = Instant::now();
        sort(numbers);
        let took = began.elapsed();
        let wrong = |what| CliError::SortedWrong {
            count: numbers.len(),
            seed: arguments.seed,
            what,
        };
        if let Some(index) = numbers.windows(2).position(|pair| pair[0] > pair[1]) {
            let (left, right) = (numbers[index], numbers[index + 1]);
            return Err(wrong(format!(
                "number {index} is {left} and the next is {right}; expected ascending order"
            )));
        }
        if sort::fingerprint(numbers) != before {
            let what = "some numbers were lost or added; expected those of the input";
            return Err(wrong(what.to_owned()));
        }
        Ok(took)
    })
}

/// Counters of one worker in one sort.
#[derive(Debug, Default)]
struct WorkerCounters {
    tasks: u64,
    /// The count of numbers that are in their final position.
    settled: u64,
    /// The part of `settled` that the progress bar shows.
    reported: u64,
}

impl WorkerCounters {
    /// Counts a task that has ended, and that put `settled` of `total` numbers in place.
    fn note(&mut self, settled: u64, total: u64, phase: &Phase) {
        self.tasks += 1;
        self.settled += settled;
        let unreported = self.settled - self.reported;
        if unreported * UPDATES >= total {
            self.reported = self.settled;
            phase.more_of(unreported, total);
        }
    }
}

/// Returns the median. The number of tasks of a shared partition depends on the timing of workers,
/// so it differs between sorts.
fn median_of(mut counts: Vec<u64>) -> u64 {
    counts.sort_unstable();
    counts[counts.len() / 2]
}

/// The measurements of a sort.
struct Sorted {
    times: Times,
    sequential_times: Times,
    task_count: u64,
    worker_count: usize,
}

impl Sorted {
    fn report(&self, arguments: &SortArguments) -> Report {
        // A handful of numbers may take less time than the clock resolves.
        let median = self.times.median.max(Duration::from_nanos(1));
        let sequential = self.sequential_times.median.as_secs_f64();
        let speedup = sequential / median.as_secs_f64();
        let ideal = ideal::speedup(arguments.count as u64, self.worker_count as u64);
        // The mean time of a task on a worker that runs all of them.
        let task_us = sequential * 1e6 / self.task_count.max(1) as f64;
        let (by, way, parts) = match arguments.tasks {
            true => ("tasks", "pool tasks", "tasks"),
            // A join becomes a task only if another worker takes it.
            false => ("joins", "joins", "parts"),
        };
        let (numbers, seed) = (arguments.count, arguments.seed);
        let workers = self.worker_count;
        let mut report = Report::new();
        report
            .row(
                "numbers",
                format!("{}, random (seed {seed})", units::grouped(numbers)),
            )
            .field("input", json!({ "numbers": numbers, "seed": seed }))
            .row(
                "sorted by",
                format!(
                    "{way}, {workers} {}, cut-off {}",
                    units::plural(workers, "worker"),
                    units::grouped(arguments.cutoff.get())
                ),
            )
            .field("by", by)
            .field("cutoff", arguments.cutoff)
            .quantity("sorted in", "sort_s", &self.times)
            .quantity("sequential", "sequential_s", &self.sequential_times)
            .row(
                "speedup",
                format!("{speedup:.2} (ideally {ideal:.2}, if one worker partitions each part)"),
            )
            .field("speedup", speedup)
            .field("speedup_ideal", ideal)
            .row(
                parts,
                format!(
                    "{}, {task_us:.2} µs each on average",
                    units::grouped(self.task_count)
                ),
            )
            .field("tasks", self.task_count)
            .field("task_us", task_us)
            .memory_peak()
            .row("check", "in order, and the same numbers as before");
        report
    }
}
