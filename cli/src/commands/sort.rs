//! `raddle sort`: quicksort of random numbers, and how its speedup compares with what is possible.

use std::time::{Duration, Instant};

use raddle::{Private, Runtime};
use raddle_numerics::random;
use raddle_numerics::sort::{self, ideal};
use serde_json::{Map, Value, json};

use crate::arguments::{Options, SortArguments};
use crate::error::CliError;
use crate::output;
use crate::progress::Phase;
use crate::table::{self, Table};
use crate::times::Times;
use crate::{memory, schema, workers};

/// A progress bar hears of every so many-th part of the numbers: more often, and telling it would be measured too.
const TOLD_SHARE: u64 = 256;

/// Sorts, checks, and reports.
///
/// # Errors
/// [`CliError`]: numbers that memory is too small for, a result that is wrong, an output that fails.
pub(crate) fn run(arguments: &SortArguments, options: &Options) -> Result<(), CliError> {
    let runtime = workers::start(options)?;
    let mut numbers = memory_for(arguments.count)?;
    let mut times = Vec::new();
    let mut times_alone = Vec::new();
    let mut task_counts = Vec::new();
    for _ in 0..arguments.repeat {
        let alone = Phase::begin("sequential", options.quiet);
        times_alone.push(sort_checked(
            &runtime,
            arguments,
            &mut numbers,
            |numbers| {
                sort::sort_sequential(numbers);
            },
        )?);
        drop(alone);
        let phase = Phase::begin("sorting", options.quiet);
        let tallies = Private::new(WorkerTally::default);
        let note = |settled| {
            tallies.with(|tally| tally.note(settled as u64, arguments.count as u64, &phase));
        };
        times.push(sort_checked(
            &runtime,
            arguments,
            &mut numbers,
            |numbers| {
                if arguments.tasks {
                    sort::sort_tasks(numbers, arguments.cutoff.get(), note);
                } else {
                    sort::sort_with(numbers, arguments.cutoff.get(), note);
                }
            },
        )?);
        task_counts.push(tallies.into_values().map(|tally| tally.tasks).sum());
    }
    let sorted = Sorted {
        times: Times::of(times),
        times_alone: Times::of(times_alone),
        task_count: median_of(task_counts),
        worker_count: runtime.worker_count(),
    };
    if options.json {
        let mut result = sorted.json(arguments);
        workers::describe(&runtime, options, &mut result);
        schema::print(result)?;
    } else if !options.quiet {
        output::print(&sorted.text(arguments))?;
    }
    workers::print_stats(&runtime, options)
}

/// Room for so many numbers, where the machine has it.
fn memory_for(count: usize) -> Result<Vec<i32>, CliError> {
    let bytes = (count as u64).saturating_mul(size_of::<i32>() as u64);
    let available = memory::available_bytes();
    let mut numbers = Vec::new();
    // Beyond what is available the system gives addresses, and ends the process when they are used.
    if available.is_some_and(|available| available < bytes)
        || numbers.try_reserve_exact(count).is_err()
    {
        return Err(CliError::NumbersTooMany {
            count,
            bytes,
            available: available.map_or_else(
                || "fewer numbers".to_owned(),
                |available| format!("at most {available} bytes"),
            ),
        });
    }
    numbers.resize(count, 0);
    Ok(numbers)
}

/// Makes the numbers anew, sorts them on a worker, checks the result, and returns what the sort took.
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
            let what = "some numbers were lost or came to be; expected those of the input";
            return Err(wrong(what.to_owned()));
        }
        Ok(took)
    })
}

/// The part of one sort that one worker did.
#[derive(Debug, Default)]
struct WorkerTally {
    tasks: u64,
    settled: u64,
    told: u64,
}

impl WorkerTally {
    /// Adds a task that has ended, and that put `settled` of `total` numbers in place.
    fn note(&mut self, settled: u64, total: u64, phase: &Phase) {
        self.tasks += 1;
        self.settled += settled;
        let untold = self.settled - self.told;
        if untold * TOLD_SHARE >= total {
            self.told = self.settled;
            phase.more_of(untold, total);
        }
    }
}

/// The tasks of a shared partition depend on who came when: of several sorts, the middle one speaks for all.
fn median_of(mut counts: Vec<u64>) -> u64 {
    counts.sort_unstable();
    counts[counts.len() / 2]
}

/// What there is to say about a sort.
struct Sorted {
    times: Times,
    times_alone: Times,
    task_count: u64,
    worker_count: usize,
}

impl Sorted {
    fn speedup(&self) -> f64 {
        // A handful of numbers may take no time that a clock can tell.
        let took = self.times.median.max(Duration::from_nanos(1));
        self.times_alone.median.as_secs_f64() / took.as_secs_f64()
    }

    fn speedup_ideal(&self, arguments: &SortArguments) -> f64 {
        ideal::speedup(arguments.count as u64, self.worker_count as u64)
    }

    /// What a task takes on average, in microseconds, on a worker that does all of them.
    fn task_us(&self) -> f64 {
        self.times_alone.median.as_secs_f64() * 1e6 / self.task_count.max(1) as f64
    }

    fn json(&self, arguments: &SortArguments) -> Map<String, Value> {
        let mut result = Map::new();
        let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
        insert("command", json!("sort"));
        insert(
            "input",
            json!({ "numbers": arguments.count, "seed": arguments.seed }),
        );
        insert("cutoff", json!(arguments.cutoff));
        insert("by", json!(if arguments.tasks { "tasks" } else { "joins" }));
        insert("sort_s", self.times.json());
        insert("sequential_s", self.times_alone.json());
        insert("speedup", json!(self.speedup()));
        insert("speedup_ideal", json!(self.speedup_ideal(arguments)));
        insert("tasks", json!(self.task_count));
        insert("task_us", json!(self.task_us()));
        insert("memory_peak_bytes", json!(memory::peak_bytes()));
        result
    }

    fn text(&self, arguments: &SortArguments) -> String {
        let way = if arguments.tasks {
            "pool tasks"
        } else {
            "joins"
        };
        let mut table = Table::default();
        table
            .row(
                "numbers",
                format!(
                    "{}, random (seed {})",
                    table::grouped(arguments.count as u64),
                    arguments.seed
                ),
            )
            .row(
                "sorted by",
                format!(
                    "{way}, {} {}, cut-off {}",
                    self.worker_count,
                    table::plural(self.worker_count, "worker"),
                    table::grouped(arguments.cutoff.get() as u64)
                ),
            )
            .row("sorted in", self.times.text())
            .row("sequential", self.times_alone.text())
            .row(
                "speedup",
                format!(
                    "{:.2} (ideally {:.2}, if one worker partitions each part)",
                    self.speedup(),
                    self.speedup_ideal(arguments)
                ),
            )
            // A join is a task only if somebody takes it away.
            .row(
                if arguments.tasks { "tasks" } else { "parts" },
                format!(
                    "{}, {:.2} µs each on average",
                    table::grouped(self.task_count),
                    self.task_us()
                ),
            );
        if let Some(peak) = memory::peak_bytes() {
            table.row("memory peak", table::bytes(peak));
        }
        table.row("check", "in order, and the same numbers as before");
        table.text()
    }
}
