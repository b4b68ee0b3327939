//! Lists of edges: a line for each pair of parties, below a line of names such as `src,dst,bytes`.
//!
//! The columns are found by their names, so a list is never mistaken for a matrix, regardless of
//! the number of edges. Parties are numbers from 0, or names, which are numbered in the order of
//! their first appearance. Several entries of the same pair are added up.
//!
//! | parties | interpretation |
//! |---|---|
//! | only numbers | indices; a number that is not an index (`-1`, `1.5`, `1e3`) is an error |
//! | some names | names, including `3` and `3e10`; a number with a sign or a fraction is an error |
//! | a quoted number that is not an index | a name |

use std::collections::HashMap;

use super::fields::{Field, Table};
use super::number::Notation;
use crate::matrix::Matrix;
use crate::matrix::text::Problem;

/// The first words, in lower case, of the names of the column of senders.
const FROM: [&str; 5] = ["src", "source", "from", "sender", "row"];
/// The first words of the names of the column of receivers.
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
/// The first words of the names of the column of bytes.
const BYTES: [&str; 13] = [
    "bytes", "byte", "size", "weight", "volume", "count", "value", "amount", "data", "load",
    "messages", "traffic", "w",
];

/// The positions of the columns of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    from: usize,
    to: usize,
    /// The column of bytes. `None` if each edge counts as 1.
    bytes: Option<usize>,
}

/// Returns the columns of a list of edges, or `None` if the table is a matrix.
pub(super) fn columns(table: &Table<'_>) -> Option<Columns> {
    let head = table.head();
    let find = |names: &[&str]| {
        let is_one = |field: &Field<'_>| names.contains(&first_word(field).as_str());
        head.iter().position(is_one)
    };
    let (from, to) = (find(&FROM)?, find(&TO)?);
    let bytes = find(&BYTES);
    let columns = |bytes| Columns { from, to, bytes };
    // The parties of a matrix may have such names too. But a matrix has as many rows as names, with
    // or without names in the first column.
    let row_count = table.row_count();
    let is_square = row_count == head.len() + 1 || row_count == head.len();
    match (bytes, head.len()) {
        (Some(_), _) => Some(columns(bytes)),
        (None, 2) if !is_square => Some(columns(None)),
        (None, 3) if !is_square => Some(columns((0..3).find(|at| *at != from && *at != to))),
        _ => None,
    }
}

/// Returns the first word of a field in lower case.
fn first_word(field: &Field<'_>) -> String {
    let text = field.word.text.to_ascii_lowercase();
    let mut words = text.split(|mark: char| !mark.is_ascii_alphanumeric());
    words.find(|word| !word.is_empty()).unwrap_or("").to_owned()
}

/// Parses a list of edges between at most `order_max` parties.
pub(super) fn parse(
    table: &Table<'_>,
    columns: Columns,
    order_max: usize,
) -> Result<Matrix, Problem> {
    let Columns { from, to, bytes } = columns;
    let notation = Notation::of(table);
    let width = table.head().len();
    let mut parties = Parties::of(table, columns, order_max - 1);
    let mut entries = Vec::new();
    for (line, row) in table.numbered_rows().skip(1) {
        let last = from.max(to).max(bytes.unwrap_or(0));
        if row.len() <= last {
            return Err(Problem {
                line,
                column: 1,
                found: format!(
                    "a line of {} field{}",
                    row.len(),
                    if row.len() == 1 { "" } else { "s" }
                ),
                expected: format!("{width} fields, one for each column name"),
            });
        }
        if row.len() > width {
            return Err(row[width].word.wrong(format!(
                "the end of the line after {width} fields, one for each column name"
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

/// The parties found so far.
struct Parties {
    /// The numbers of named parties. `None` if parties are numbers.
    names: Option<HashMap<String, u32>>,
    /// The number of parties.
    count: u32,
    /// The largest number that a party may have.
    number_max: usize,
}

impl Parties {
    /// Determines whether parties are names or numbers.
    fn of(table: &Table<'_>, columns: Columns, number_max: usize) -> Self {
        let ends = |row: &Vec<Field<'_>>| {
            [columns.from, columns.to].iter().all(|&at| {
                row.get(at)
                    .is_none_or(|end| is_index(end, number_max) || is_plain_number(end))
            })
        };
        let are_numbers = table.rows().skip(1).all(|row| ends(&row));
        Self {
            names: (!are_numbers).then(HashMap::new),
            count: 0,
            number_max,
        }
    }

    /// Returns the number of the party in a field.
    fn number(&mut self, field: &Field<'_>) -> Result<u32, Problem> {
        let number_max = self.number_max;
        let no_party = || {
            let hint = "or a name; a name that looks like a number must be quoted";
            Err(field
                .word
                .wrong(format!("a party from 0 to {number_max}, {hint}")))
        };
        let next = self.count;
        let number = match &mut self.names {
            Some(_) if field.word.text.is_empty() => return Err(field.word.wrong("a party")),
            // A name may be `3`, or `3e10` in hexadecimal digits, but hardly `-1` or `1.5`.
            Some(_) if is_plain_number(field) && has_sign_or_fraction(field) => return no_party(),
            Some(names) => *names.entry(field.name()).or_insert(next),
            None if !is_index(field, number_max) => return no_party(),
            None => field.word.index(0, number_max, "a party")? as u32,
        };
        self.count = self.count.max(number + 1);
        Ok(number)
    }

    /// Returns the names of the parties in the order of their numbers.
    fn into_names(self) -> Vec<String> {
        let mut names: Vec<_> = self.names.unwrap_or_default().into_iter().collect();
        names.sort_by_key(|&(_, number)| number);
        names.into_iter().map(|(name, _)| name).collect()
    }
}

/// Returns true if a field is the number of a party.
fn is_index(field: &Field<'_>, number_max: usize) -> bool {
    let number = field.word.text.parse::<usize>();
    number.is_ok_and(|number| number <= number_max)
}

/// Returns true if a field is an unquoted number, whether or not it is an index.
///
/// Addresses such as `10.0.0.1` are not numbers, nor are the words that `f64` accepts, such as
/// `nan`.
fn is_plain_number(field: &Field<'_>) -> bool {
    let text = field.word.text;
    let is_word =
        text.contains(|mark: char| mark.is_ascii_alphabetic() && !matches!(mark, 'e' | 'E'));
    // A decimal comma occurs only if another character separates fields. `f64` needs a point.
    !field.is_quoted && !is_word && text.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// Returns true if a number starts with a sign or has a fraction.
fn has_sign_or_fraction(field: &Field<'_>) -> bool {
    let text = field.word.text;
    text.starts_with(['-', '+']) || text.contains(['.', ','])
}
