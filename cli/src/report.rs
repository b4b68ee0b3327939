//! The result of a command, and the only code that prints one.
//!
//! A command computes, and returns one [`Report`]. The report lists its results in the order of the
//! text. A [`Quantity`] is written once, with its label and its JSON key:
//!
//! ```text
//! report.quantity("sorted in", "sort_s", &times);
//! ```
//!
//! A row that covers several values is a label and a text, followed by the JSON fields of these
//! values.
//!
//! [`finish`] prints the report as text or as one JSON object, and adds what all commands share:
//! the name of the command, the schema, the workers, their placement and their statistics. No
//! other code prints a result. Only the placement that `--show-binding` asks for is printed before
//! the work, because it helps while the work goes on. To report something new, a command adds a
//! quantity, or a row and its fields, in one place.
//!
//! # Text
//! Rows that follow each other share one column of values. [`Columns`] is a table with headings.
//! `--quiet` leaves out everything except what another option asks for ([`Report::requested`]).
//!
//! # JSON
//! The object is printed on one line and always has the keys `schema`, which is [`SCHEMA`], and
//! `command`. Keys are words in lower case, joined by `_`. The unit of a quantity is at the end of
//! its key, or of the key of the object that contains it: `_s`, `_ms`, `_us`, `_ns`, `_bytes`,
//! `_per_s`, `_share` of 1. Objects list their keys in alphabetical order, so a command may add
//! fields in any order.

mod columns;
mod object;
mod quantity;

use std::path::PathBuf;

use raddle::Runtime;
use raddle_topology::Plan;
use serde::Serialize;

use crate::arguments::Options;
use crate::error::CliError;
use crate::{memory, output};

pub(crate) use self::columns::{Column, Columns, Row};
pub(crate) use self::object::{Facts, Object, rows_as_text};
pub(crate) use self::quantity::{ByteCount, Count, Decimal, Plain, Quantity};

/// The schema of all objects. It grows by one when a key is renamed or removed, or when the unit
/// or the meaning of a key changes. A new key does not change it.
const SCHEMA: u32 = 1;

/// The result of a command.
#[derive(Debug, Default)]
pub(crate) struct Report {
    object: Object,
    blocks: Vec<Block>,
    /// Text that another option asks for; `--quiet` does not leave it out.
    requested: String,
    /// Text after everything else.
    closing: String,
    ran_on: RanOn,
    is_indented: bool,
    path: Option<PathBuf>,
}

/// A part of the text.
#[derive(Debug)]
enum Block {
    /// Labels and values.
    Rows(Vec<(String, String)>),
    /// Lines as they are printed.
    Text(String),
}

/// The plan or the runtime that a command used. It decides what [`finish`] adds to the report.
#[derive(Debug, Default)]
pub(crate) enum RanOn {
    /// Neither of them.
    #[default]
    Nothing,
    /// Threads that were bound as this plan says, without a runtime. `--show-binding` adds the
    /// plan to the JSON; the text was printed when the threads started.
    Plan(Plan),
    /// The workers of a runtime. [`finish`] adds their number, with `--show-binding` their plan,
    /// and with `--stats` their counters.
    Workers(Runtime),
}

impl Report {
    /// Creates an empty report.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a row with the text of a quantity, and a field with its value.
    pub(crate) fn quantity(&mut self, label: &str, key: &str, value: &impl Quantity) -> &mut Self {
        self.row(label, value.text()).field(key, value.json())
    }

    /// Adds a row to the text. Fields that it covers follow as [`field`](Self::field).
    pub(crate) fn row(&mut self, label: &str, text: impl Into<String>) -> &mut Self {
        let row = (label.to_owned(), text.into());
        match self.blocks.last_mut() {
            Some(Block::Rows(rows)) => rows.push(row),
            _ => self.blocks.push(Block::Rows(vec![row])),
        }
        self
    }

    /// Adds a field to the JSON object.
    pub(crate) fn field(&mut self, key: &str, value: impl Serialize) -> &mut Self {
        self.object.field(key, value);
        self
    }

    /// Adds all fields of a value that serialises as an object.
    pub(crate) fn fields(&mut self, value: &impl Serialize) -> &mut Self {
        self.object.fields(value);
        self
    }

    /// Adds the rows of some facts to the text, and their object under `key`.
    pub(crate) fn section(&mut self, key: &str, facts: &Facts) -> &mut Self {
        for (label, text) in facts.rows() {
            self.row(label, text.clone());
        }
        self.field(key, facts.object())
    }

    /// Adds text as it is; it ends with a line break.
    pub(crate) fn text(&mut self, text: impl Into<String>) -> &mut Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    /// Adds a table to the text, and the list of its rows' objects under `key`.
    pub(crate) fn list(&mut self, key: &str, table: &Columns) -> &mut Self {
        self.text(table.text()).field(key, table.objects())
    }

    /// Adds the largest amount of memory that the process has used so far.
    pub(crate) fn memory_peak(&mut self) -> &mut Self {
        let (label, key) = ("memory peak", "memory_peak_bytes");
        match memory::peak_bytes() {
            Some(peak) => self.quantity(label, key, &ByteCount(peak)),
            None => self.field(key, ()),
        }
    }

    /// Adds text that an option other than `--quiet` asks for, after all other text.
    pub(crate) fn requested(&mut self, text: &str) -> &mut Self {
        self.requested.push_str(text);
        self
    }

    /// Adds text behind everything else, also behind the statistics.
    pub(crate) fn closing(&mut self, text: &str) -> &mut Self {
        self.closing.push_str(text);
        self
    }

    /// Prints the JSON object on many indented lines.
    pub(crate) fn indented(&mut self, is_indented: bool) -> &mut Self {
        self.is_indented = is_indented;
        self
    }

    /// Writes the report to a file instead of standard output, if there is a path.
    pub(crate) fn written_to(&mut self, path: Option<PathBuf>) -> &mut Self {
        self.path = path;
        self
    }

    /// Sets what the command ran on.
    pub(crate) fn on(mut self, ran_on: RanOn) -> Self {
        self.ran_on = ran_on;
        self
    }

    /// Returns the text without the parts that [`finish`] adds.
    pub(crate) fn as_text(&self) -> String {
        let text_of = |block: &Block| match block {
            Block::Rows(rows) => rows_as_text(rows),
            Block::Text(text) => text.clone(),
        };
        self.blocks.iter().map(text_of).collect()
    }

    /// Returns everything that is printed without `--json`.
    fn whole_text(&self, options: &Options) -> String {
        let mut text = String::new();
        if !options.quiet {
            text += &self.as_text();
        }
        text += &self.requested;
        if let RanOn::Workers(runtime) = &self.ran_on
            && options.stats
        {
            text += &format!("\n{}", runtime.report());
        }
        if !options.quiet {
            text += &self.closing;
        }
        text
    }

    /// Returns everything that is printed with `--json`.
    fn whole_json(&self, command: &str, options: &Options) -> String {
        let mut object = self.object.clone();
        object.field("schema", SCHEMA).field("command", command);
        match &self.ran_on {
            RanOn::Nothing => {}
            RanOn::Plan(plan) => {
                if options.show_binding {
                    object.field("binding", plan);
                }
            }
            RanOn::Workers(runtime) => {
                // A command that used fewer workers than the runtime has says so itself.
                object.field_or("workers", runtime.worker_count());
                if options.show_binding {
                    object.field("binding", runtime.plan());
                }
                if options.stats {
                    object.field("stats", runtime.report());
                }
            }
        }
        match self.is_indented {
            true => format!("{:#}\n", object.value()),
            false => format!("{}\n", object.value()),
        }
    }
}

/// Prints the report of a command as the options ask: as text, as JSON, or only in part.
///
/// # Errors
/// Those of [`output::print`] and [`output::write_file`].
pub(crate) fn finish(report: &Report, command: &str, options: &Options) -> Result<(), CliError> {
    let text = match options.json {
        true => report.whole_json(command, options),
        false => report.whole_text(options),
    };
    match &report.path {
        Some(path) => output::write_file(path, &text),
        None if text.is_empty() => Ok(()),
        None => output::print(&text),
    }
}

#[cfg(test)]
mod tests;
