//! The counters of all workers at one moment, as a table or as JSON.

use std::fmt;

use serde::Serialize;

use crate::{Choice, Moves, Tally};

/// One worker's counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WorkerReport {
    /// Tasks and stolen forks run to completion.
    pub tasks: u64,
    /// Messages run; each counts as a task too.
    pub messages: u64,
    /// Forks called at their join without ever being offered to anybody.
    pub forks_inline: u64,
    /// Forks put into the pool because another worker asked for work, or raided a stalled one.
    pub forks_published: u64,
    /// Published forks that this worker took from the private stack of a stalled one.
    pub forks_raided: u64,
    /// Published forks that their owner took back.
    pub forks_reclaimed: u64,
    /// Looks into another worker's part of the pool.
    pub steals_tried: u64,
    /// Tasks taken from another worker.
    pub steals_done: u64,
    /// Times gone to sleep in the kernel.
    pub parks: u64,
    /// Times another worker was woken.
    pub wakes: u64,
    /// Nanoseconds with work.
    pub busy_ns: u64,
    /// Nanoseconds searching, waiting for stolen work, or asleep.
    pub idle_ns: u64,
}

impl WorkerReport {
    /// Reads `tally`. `forks_inline` and the worker's age come from where they are counted.
    pub fn read(tally: &Tally, forks_inline: u64, age_ns: u64) -> Self {
        let idle_ns = tally.idle.sum(age_ns).min(age_ns);
        Self {
            tasks: tally.tasks.get(),
            messages: tally.messages.get(),
            // A fork that was taken back is called at its join too, but it was offered before.
            forks_inline: forks_inline.saturating_sub(tally.forks_reclaimed.get()),
            forks_published: tally.forks_published.get(),
            forks_raided: tally.forks_raided.get(),
            forks_reclaimed: tally.forks_reclaimed.get(),
            steals_tried: tally.steals_tried.get(),
            steals_done: tally.steals_done.get(),
            parks: tally.parks.get(),
            wakes: tally.wakes.get(),
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

/// All workers' counters at one moment.
///
/// # Examples
/// ```
/// use raddle_trace::{Report, Tally, WorkerReport};
/// let tally = Tally::default();
/// tally.tasks.add(3);
/// let report = Report::new("deque", vec![WorkerReport::read(&tally, 10, 1_000)]);
/// assert_eq!(report.total.tasks, 3);
/// assert!(report.to_string().contains("inline"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The pool that the workers drew from.
    pub pool: String,
    /// What that pool has chosen, if it is one that chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
    /// What was moved while it ran, workers first; empty where nobody looked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<Moves>,
    /// One entry per worker, in the order of their indices.
    pub workers: Vec<WorkerReport>,
    /// The sums over the workers.
    pub total: WorkerReport,
}

impl Report {
    /// Adds up `workers`.
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

    /// The same, and what the pool has chosen.
    #[must_use]
    pub fn with_choice(mut self, choice: Option<Choice>) -> Self {
        self.choice = choice;
        self
    }

    /// The same, and what was moved.
    #[must_use]
    pub fn with_moves(mut self, moves: Vec<Moves>) -> Self {
        self.moves = moves;
        self
    }
}

const HEADS: [&str; 13] = [
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
        let mut rows = vec![HEADS.map(str::to_owned).to_vec()];
        let named = self
            .workers
            .iter()
            .enumerate()
            .map(|(index, row)| (index.to_string(), row));
        for (name, row) in named.chain([("all".to_owned(), &self.total)]) {
            rows.push([name].into_iter().chain(row.cells()).collect());
        }
        let widths: Vec<usize> = (0..HEADS.len())
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
