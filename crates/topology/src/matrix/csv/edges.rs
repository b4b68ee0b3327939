//! Lists of edges: a line for each pair of parties, below a line of names such as `src,dst,bytes`.
//!
//! The columns are found by their names, so a list is never taken for a matrix, however many edges
//! it has. Parties are numbers from 0, or names, which are numbered in the order in which they
//! appear. What is said of a pair twice is added.

use std::collections::HashMap;

use super::fields::{Field, Table};
use super::number::Notation;
use crate::matrix::text::Problem;
use crate::matrix::{Matrix, order_max};

/// The first words of names of columns, in lower case.
const FROM: [&str; 5] = ["src", "source", "from", "sender", "row"];
const TO: [&str; 8] = [
    "dst",
    "dest",
    "destination",
    "target",
    "to",
    "receiver",
    "col",
    "column",
];
const BYTES: [&str; 13] = [
    "bytes", "byte", "size", "weight", "volume", "count", "value", "amount", "data", "load",
    "messages", "traffic", "w",
];

/// The columns of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    from: usize,
    to: usize,
    /// None where each edge counts as 1.
    bytes: Option<usize>,
}

/// Returns the columns of a list of edges; `None` where the table is a matrix.
pub(super) fn columns(table: &Table<'_>) -> Option<Columns> {
    let head = table.head();
    let find = |names: &[&str]| {
        let is_one = |field: &Field<'_>| names.contains(&first_word(field).as_str());
        head.iter().position(is_one)
    };
    let (from, to) = (find(&FROM)?, find(&TO)?);
    let bytes = find(&BYTES);
    let columns = |bytes| Columns { from, to, bytes };
    // Parties of a matrix may have such names too, but its rows are as many as its names.
    // Their names may stand in the first column as well.
    let row_count = table.row_count();
    let is_square = row_count == head.len() + 1 || row_count == head.len();
    match (bytes, head.len()) {
        (Some(_), _) => Some(columns(bytes)),
        (None, 2) if !is_square => Some(columns(None)),
        (None, 3) if !is_square => Some(columns((0..3).find(|at| *at != from && *at != to))),
        _ => None,
    }
}

fn first_word(field: &Field<'_>) -> String {
    let text = field.word.text.to_ascii_lowercase();
    let mut words = text.split(|mark: char| !mark.is_ascii_alphanumeric());
    words.find(|word| !word.is_empty()).unwrap_or("").to_owned()
}

/// Reads a list of edges.
pub(super) fn parse(table: &Table<'_>, columns: Columns) -> Result<Matrix, Problem> {
    let Columns { from, to, bytes } = columns;
    let notation = Notation::of(table);
    let width = table.head().len();
    let mut parties = Parties::of(table, columns);
    let mut entries = Vec::new();
    for (line, row) in table.numbered_rows().skip(1) {
        let last = from.max(to).max(bytes.unwrap_or(0));
        if row.len() <= last {
            return Err(Problem {
                line,
                column: 1,
                found: format!(
                    "an edge of {} field{}",
                    row.len(),
                    if row.len() == 1 { "" } else { "s" }
                ),
                expected: format!("one of {width} as the names of the columns"),
            });
        }
        if row.len() > width {
            return Err(row[width].word.wrong(format!(
                "the end of the line after {width} fields, as many as names of columns"
            )));
        }
        let value = bytes.map_or(Ok(1.0), |at| notation.bytes(&row[at]))?;
        entries.push((
            parties.number(&row[from])?,
            parties.number(&row[to])?,
            value,
        ));
    }
    let mut matrix = Matrix::from_entries(parties.count as usize, entries);
    matrix.names = parties.into_names();
    Ok(matrix)
}

/// The parties that were met.
struct Parties {
    /// None where parties are numbers.
    names: Option<HashMap<String, u32>>,
    count: u32,
    /// The largest number that a party may have.
    number_max: usize,
}

impl Parties {
    fn of(table: &Table<'_>, columns: Columns) -> Self {
        let ends = |row: &Vec<Field<'_>>| {
            [columns.from, columns.to].iter().all(|&at| {
                row.get(at)
                    .is_none_or(|end| end.word.text.trim().parse::<u32>().is_ok())
            })
        };
        let are_numbers = table.rows().skip(1).all(|row| ends(&row));
        Self {
            names: (!are_numbers).then(HashMap::new),
            count: 0,
            number_max: order_max(table.text()) - 1,
        }
    }

    fn number(&mut self, field: &Field<'_>) -> Result<u32, Problem> {
        let next = self.count;
        let number = match &mut self.names {
            Some(_) if field.word.text.is_empty() => return Err(field.word.wrong("a party")),
            Some(names) => *names.entry(field.name()).or_insert(next),
            None => field.word.index(0, self.number_max, "a party")? as u32,
        };
        self.count = self.count.max(number + 1);
        Ok(number)
    }

    fn into_names(self) -> Vec<String> {
        let mut names: Vec<_> = self.names.unwrap_or_default().into_iter().collect();
        names.sort_by_key(|&(_, number)| number);
        names.into_iter().map(|(name, _)| name).collect()
    }
}
