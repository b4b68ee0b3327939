//! `raddle report`: the analysis of a recording, as a page, as text, as JSON or as CSV.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use raddle_analysis::summary::{Summary, TABLES};
use raddle_analysis::{Recording, page, text};
use raddle_timeline::{Format, ReadError, concatenate};

use crate::arguments::Options;
use crate::error::CliError;
use crate::output;
use crate::progress::Phase;
use crate::report::Report;

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle sort 1e7 --trace sort.pftrace
  raddle report sort.pftrace
  raddle report sort.pftrace -o sort.html
  raddle report sort.pftrace --csv profile > profile.csv
  raddle report job.pftrace.node-*";

/// `raddle report`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReportArguments {
    /// Recording that `--trace` or RADDLE_TRACE has written, or the parts FILE.node-N of several
    /// nodes, which a job leaves if one of them was killed
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, required = true)]
    files: Vec<PathBuf>,
    /// Write to this file instead of standard output: a page if its name ends in .html
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Print text also to a file that ends in .html
    #[arg(long)]
    text: bool,
    /// Print one table as CSV: findings, profile, waits, messages or another one
    #[arg(long, value_name = "TABLE", value_parser = table_parser(), hide_possible_values = true)]
    #[arg(conflicts_with_all = ["text", "json"])]
    csv: Option<String>,
    /// Largest number of rows of each table in text
    #[arg(long, value_name = "N", default_value_t = 12)]
    rows: usize,
    /// Print the result as one JSON object on one line, instead of text
    #[arg(long, conflicts_with = "text")]
    json: bool,
    /// Print neither progress nor warnings
    #[arg(short, long)]
    quiet: bool,
}

fn table_parser() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(TABLES)
}

impl ReportArguments {
    /// Returns the options for the output.
    pub(super) fn options(&self) -> Options {
        Options {
            json: self.json,
            quiet: self.quiet,
            ..Options::default()
        }
    }
}

/// Reads a recording, analyses it and reports.
///
/// # Errors
/// [`CliError::Recording`] for a file that is no recording, and those of writing.
pub(super) fn run(arguments: &ReportArguments) -> Result<Report, CliError> {
    if let Some(output) = &arguments.output {
        output::check_apart(output, arguments.files.iter().map(|file| &**file))?;
    }
    let phase = Phase::begin("reading", arguments.quiet);
    let recording = read(&arguments.files, arguments.quiet)?;
    drop(phase);
    let phase = Phase::begin("analysing", arguments.quiet);
    let summary = Summary::of(&recording);
    drop(phase);
    let mut report = Report::new();
    report.written_to(arguments.output.clone());
    if let Some(key) = &arguments.csv {
        let Some(table) = summary.table(key) else {
            let why = summary.no_forecast.as_ref().map(ToString::to_string);
            return Err(CliError::Recording {
                path: arguments.files[0].clone(),
                reason: format!("no table {key}: {}", why.unwrap_or_default()),
            });
        };
        report.requested(&table.to_csv());
        return Ok(report);
    }
    if arguments.json {
        report.fields(&summary);
        return Ok(report);
    }
    let is_page = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm")
    };
    match arguments.output.as_ref().is_some_and(is_page) && !arguments.text {
        true => report.requested(&page::render(&summary, &title(&arguments.files[0]))),
        false => report.requested(&text::render(&summary, arguments.rows)),
    };
    Ok(report)
}

fn title(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Reads a recording, or joins its parts.
fn read(paths: &[PathBuf], quiet: bool) -> Result<Recording, CliError> {
    let first = &paths[0];
    let failure_of = |path: &Path, reason: String| CliError::Recording {
        path: path.to_owned(),
        reason,
    };
    let failure = |reason: String| failure_of(first, reason);
    let open = |path: &PathBuf| {
        let file = File::open(path).map_err(ReadError::Input);
        file.map_err(|error| failure_of(path, error.to_string()))
    };
    let timeline = match paths {
        [_] => raddle_timeline::read(open(first)?),
        _ => {
            let parts = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
            let format = Format::of_path(&without_node(first));
            let joined = concatenate(format, parts, Vec::new());
            joined
                .map_err(ReadError::Input)
                .and_then(|joined| raddle_timeline::read(&joined[..]))
        }
    };
    let timeline = timeline.map_err(|error| failure(error.to_string()))?;
    if !quiet {
        for warning in timeline.warnings() {
            output::warn(&format!("{}: {warning}", first.display()));
        }
    }
    Recording::new(timeline).map_err(|error| failure(error.to_string()))
}

/// Returns the name of the file of which this is the part of a node.
fn without_node(path: &Path) -> PathBuf {
    let is_node = |extension: &str| extension.starts_with("node-");
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) if is_node(extension) => path.with_extension(""),
        _ => path.to_owned(),
    }
}
