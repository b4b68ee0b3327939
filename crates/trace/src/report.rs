//! A snapshot of the counters of all workers, as a table or as JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Choice, Counters, Moves};

/// A snapshot of the counters of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WorkerReport {
    /// The number of tasks and stolen forks run to completion.
    pub tasks: u64,
    /// The number of messages run; each counts as a task too.
    pub messages: u64,
    /// The number of forks called at their join without ever being offered to other workers.
    pub forks_inline: u64,
    /// The number of forks put into the pool because another worker asked for work or raided.
    pub forks_published: u64,
    /// The number of published forks that this worker took from the private stack of a stalled one.
    pub forks_raided: u64,
    /// The number of published forks that their owner took back.
    pub forks_reclaimed: u64,
    /// The number of attempts to take a task from another worker's part of the pool.
    pub steals_tried: u64,
    /// The number of tasks taken from another worker.
    pub steals_done: u64,
    /// The number of times that this worker went to sleep in the kernel.
    pub parks: u64,
    /// The number of times that this worker woke another one.
    pub wakes: u64,
    /// The time with work, in nanoseconds.
    pub busy_ns: u64,
    /// The time without work, in nanoseconds: before the thread began, searching, waiting for
    /// stolen work, asleep, or resting.
    pub idle_ns: u64,
}

impl WorkerReport {
    /// Reads the counters of one worker. The caller passes `forks_inline` and the worker's age,
    /// because they are counted elsewhere.
    pub fn read(counters: &Counters, forks_inline: u64, age_ns: u64) -> Self {
        let idle_ns = counters.idle.sum(age_ns) + counters.absent.sum(age_ns);
        let idle_ns = idle_ns.min(age_ns);
        Self {
            tasks: counters.tasks.get(),
            messages: counters.messages.get(),
            // A fork that was taken back is called at its join too, but it was offered before.
            forks_inline: forks_inline.saturating_sub(counters.forks_reclaimed.get()),
            forks_published: counters.forks_published.get(),
            forks_raided: counters.forks_raided.get(),
            forks_reclaimed: counters.forks_reclaimed.get(),
            steals_tried: counters.steals_tried.get(),
            steals_done: counters.steals_done.get(),
            parks: counters.parks.get(),
            wakes: counters.wakes.get(),
            busy_ns: age_ns - idle_ns,
            idle_ns,
        }
    }

    fn plus(&self, other: &Self) -> Self {
        Self {
            tasks: self.tasks + other.tasks,
            messages: self.messages + other.messages,
            forks_inline: self.forks_inline + other.forks_inline,
            forks_published: self.forks_published + other.forks_published,
            forks_raided: self.forks_raided + other.forks_raided,
            forks_reclaimed: self.forks_reclaimed + other.forks_reclaimed,
            steals_tried: self.steals_tried + other.steals_tried,
            steals_done: self.steals_done + other.steals_done,
            parks: self.parks + other.parks,
            wakes: self.wakes + other.wakes,
            busy_ns: self.busy_ns + other.busy_ns,
            idle_ns: self.idle_ns + other.idle_ns,
        }
    }

    fn cells(&self) -> [String; 12] {
        [
            self.tasks.to_string(),
            self.messages.to_string(),
            self.forks_inline.to_string(),
            self.forks_published.to_string(),
            self.forks_raided.to_string(),
            self.forks_reclaimed.to_string(),
            self.steals_tried.to_string(),
            self.steals_done.to_string(),
            self.parks.to_string(),
            self.wakes.to_string(),
            milliseconds(self.busy_ns),
            milliseconds(self.idle_ns),
        ]
    }
}

/// A snapshot of the counters of all workers.
///
/// # Examples
/// ```
/// use raddle_trace::{Report, Counters, WorkerReport};
/// let counters = Counters::default();
/// counters.tasks.add(3);
/// let report = Report::new("deque", vec![WorkerReport::read(&counters, 10, 1_000)]);
/// assert_eq!(report.total.tasks, 3);
/// assert!(report.to_string().contains("inline"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The name of the pool that the workers took tasks from.
    pub pool: String,
    /// The decisions of the pool, if it is the self-choosing pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// The relocations at run time, workers first. Empty if none was ever evaluated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Moves>,
    /// One entry per worker, ordered by worker index.
    pub workers: Vec<WorkerReport>,
    /// The sums over the workers.
    pub total: WorkerReport,
}

impl Report {
    /// Creates a report of `workers`, and computes the totals.
    pub fn new(pool: &str, workers: Vec<WorkerReport>) -> Self {
        let total = workers
            .iter()
            .fold(WorkerReport::default(), |sum, worker| sum.plus(worker));
        Self {
            pool: pool.to_owned(),
            choice: None,
            moves: Vec::new(),
            workers,
            total,
        }
    }

    /// Adds the decisions of the pool to the report.
    #[must_use]
    pub fn with_choice(mut self, choice: Option<Choice>) -> Self {
        self.choice = choice;
        self
    }

    /// Adds the relocations to the report.
    #[must_use]
    pub fn with_moves(mut self, moves: Vec<Moves>) -> Self {
        self.moves = moves;
        self
    }
}

const HEADINGS: [&str; 13] = [
    "worker",
    "tasks",
    "messages",
    "inline",
    "published",
    "raided",
    "reclaimed",
    "tried",
    "stolen",
    "parks",
    "wakes",
    "busy ms",
    "idle ms",
];

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![HEADINGS.map(str::to_owned).to_vec()];
        let named = self
            .workers
            .iter()
            .enumerate()
            .map(|(index, row)| (index.to_string(), row));
        for (name, row) in named.chain([("all".to_owned(), &self.total)]) {
            rows.push([name].into_iter().chain(row.cells()).collect());
        }
        let widths: Vec<usize> = (0..HEADINGS.len())
            .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
            .collect();
        match &self.choice {
            Some(choice) => writeln!(formatter, "pool: {}: {choice}", self.pool)?,
            None => writeln!(formatter, "pool: {}", self.pool)?,
        }
        for moves in &self.moves {
            writeln!(formatter, "{moves}")?;
        }
        for row in rows {
            let line: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:>width$}", width = *width))
                .collect();
            writeln!(formatter, "{}", line.join("  "))?;
        }
        Ok(())
    }
}

fn milliseconds(nanoseconds: u64) -> String {
    format!(
        "{}.{:03}",
        nanoseconds / 1_000_000,
        nanoseconds / 1_000 % 1_000
    )
}
