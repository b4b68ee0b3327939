//! The result of a measurement: one record per contender, as a JSON line or as a row of a table.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// The schema of a record. It grows by one when a field is renamed or removed, or when its meaning
/// changes.
const SCHEMA: u32 = 2;

/// One contender's figures in one case at one number of workers.
///
/// Serialised as one JSON object per line, with exactly these fields and `schema`. Only peers have
/// a `ratio`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The suite's name.
    pub(crate) suite: String,
    /// The case's name.
    pub(crate) case: String,
    /// The name of the contender: `raddle` or that of a peer.
    pub(crate) contender: String,
    /// The maximum number of workers that it could use.
    pub(crate) workers: usize,
    /// The unit of `median`, `min` and `max`.
    pub(crate) unit: String,
    /// The median of the figures.
    pub(crate) median: f64,
    /// The smallest figure.
    pub(crate) min: f64,
    /// The largest figure.
    pub(crate) max: f64,
    /// The number of figures.
    pub(crate) pairs: usize,
    /// The median over the pairs of Raddle's figure divided by the peer's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ratio: Option<f64>,
    /// The smallest and largest ratio of a pair. Shown in the table, absent from the JSON.
    #[serde(skip)]
    pub(crate) ratio_range: Option<(f64, f64)>,
    /// The processor, and the number of CPUs that this process may use.
    pub(crate) machine: String,
    /// `near`, `far`, `one-thread` or `mixed`, with `+loaded` if other processes used the machine
    /// throughout. A figure that was not measured in this run has an explanation here instead.
    pub(crate) mode: String,
    /// The commit that was built, with `-dirty` if the tree differed from it.
    pub(crate) commit: String,
}

/// The machine and the commit, the same for every record of a run.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    /// See [`Record::machine`].
    pub(crate) machine: String,
    /// See [`Record::commit`].
    pub(crate) commit: String,
}

impl Record {
    /// Returns the record as one JSON object, with the number of its schema.
    ///
    /// # Errors
    /// Those of [`serde_json::to_string`].
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Numbered<'record> {
            schema: u32,
            #[serde(flatten)]
            record: &'record Record,
        }
        serde_json::to_string(&Numbered {
            schema: SCHEMA,
            record: self,
        })
    }

    /// Returns true if no two workers were far from each other and no other process used the
    /// machine.
    pub(crate) fn counts_when_near(&self) -> bool {
        ["near", "one-thread"].contains(&self.mode.as_str())
    }

    /// Returns true if other processes used the machine throughout, which makes the figures
    /// unreliable.
    pub(crate) fn is_loaded(&self) -> bool {
        self.mode.ends_with("+loaded")
    }
}

impl Environment {
    /// Asks the kernel for the processor and git for the commit.
    pub(crate) fn find() -> Self {
        let model = fs::read_to_string("/proc/cpuinfo")
            .ok()
            .and_then(|text| processor_name(&text))
            .unwrap_or_else(|| std::env::consts::ARCH.to_owned());
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            machine: format!("{model}, {cpus} CPUs"),
            commit: commit(),
        }
    }
}

/// Reads the records of a suite from a file of `--json` lines. With `case`, returns only records
/// with a case name that begins with it.
///
/// # Errors
/// [`BenchError::Records`] if the file cannot be read, if a line is no record of this schema, or if
/// no record is left.
pub(crate) fn read(
    path: &Path,
    suite: &str,
    case: Option<&str>,
) -> Result<Vec<Record>, BenchError> {
    let failure = |message: String| BenchError::Records {
        path: path.to_owned(),
        message,
    };
    let text = fs::read_to_string(path).map_err(|error| failure(error.to_string()))?;
    let lines = text.lines().enumerate();
    let records = lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            parse(line).map_err(|message| failure(format!("line {}: {message}", index + 1)))
        });
    let mut records = records.collect::<Result<Vec<_>, _>>()?;
    records.retain(|record| {
        record.suite == suite && case.is_none_or(|case| record.case.starts_with(case))
    });
    if records.is_empty() {
        let case = case.map_or_else(String::new, |case| format!(" and its case {case}"));
        return Err(failure(format!("no record of the suite {suite}{case}")));
    }
    Ok(records)
}

/// Reads a record from its JSON object.
fn parse(line: &str) -> Result<Record, String> {
    let value: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if value["schema"] != SCHEMA {
        return Err(format!(
            "schema {}; expected a record of schema {SCHEMA}",
            value["schema"]
        ));
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn processor_name(cpuinfo: &str) -> Option<String> {
    cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))
        .and_then(|line| line.split_once(':'))
        .map(|(_, name)| name.trim().to_owned())
}

fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let Some(id) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_owned();
    };
    match git(&["status", "--porcelain", "--untracked-files=no"]) {
        Some(changes) if changes.is_empty() => id,
        _ => id + "-dirty",
    }
}

/// Returns the median of `values`: for an even count, the mean of the two middle ones.
///
/// # Panics
/// If `values` is empty.
pub(crate) fn median(values: &[f64]) -> f64 {
    assert!(!values.is_empty(), "a median needs at least one value");
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// Returns the smallest and the largest of `values`.
pub(crate) fn range(values: &[f64]) -> (f64, f64) {
    values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
            (low.min(value), high.max(value))
        })
}

/// Returns the head of the table for the rows of [`table_row`].
pub(crate) fn table_head() -> String {
    format!(
        "{:<20} {:>7}  {:<18} {:>11} {:>11} {:>11} {:<7} {:>5}  {:>6}  {:<13} {}",
        "case",
        "workers",
        "contender",
        "median",
        "min",
        "max",
        "unit",
        "pairs",
        "ratio",
        "of ratios",
        "mode"
    )
}

/// Formats a record as a row of the table.
pub(crate) fn table_row(record: &Record) -> String {
    let mut row = format!(
        "{:<20} {:>7}  {:<18} {:>11.3} {:>11.3} {:>11.3} {:<7} {:>5}",
        record.case,
        record.workers,
        record.contender,
        record.median,
        record.min,
        record.max,
        record.unit,
        record.pairs
    );
    let (ratio, range) = match (record.ratio, record.ratio_range) {
        (Some(ratio), Some((low, high))) => (format!("{ratio:.3}"), format!("{low:.3}–{high:.3}")),
        _ => (String::new(), String::new()),
    };
    // Writing to a string cannot fail.
    let _infallible = write!(row, "  {ratio:>6}  {range:<13} {}", record.mode);
    row
}

#[cfg(test)]
mod tests;
