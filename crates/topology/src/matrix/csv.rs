//! Reading of matrices as CSV: a line for each row, or a line for each pair of parties.
//!
//! The readers accept the output of pandas, R and spreadsheets: lines and columns of names, which
//! may be numbers, quoted values, thousands separators, decimal commas, and cells that pad the
//! table. The meaning of a file follows from its shape. A first line or column is treated as names
//! only if the numbers would not be square otherwise.
//!
//! | file | contents |
//! |---|---|
//! | this one | the layout of the table, and the numbers of a square matrix |
//! | `fields` | the fields of a line: separators and quotes |
//! | `marks` | the characters inside numbers |
//! | `number` | numbers in the notations of several countries |
//! | `edges` | lists of pairs: `src,dst,bytes` |

mod edges;
mod fields;
mod marks;
mod number;

use self::fields::{FIELDS_MAX, Field, Table};
use self::number::Notation;
use super::Matrix;
use super::text::Problem;

/// Parses a matrix, or a list of edges between at most `order_max` parties.
pub(super) fn parse(text: &str, order_max: usize) -> Result<Matrix, Problem> {
    let Some(table) = Table::new(text) else {
        return Err(Problem::at_end(
            text,
            "a matrix as CSV, Matrix Market file or Scotch graph",
        ));
    };
    if let Some(first) = table.numbered_rows().next()
        && first.1.len() > FIELDS_MAX
    {
        return Err(too_many_fields(first.0));
    }
    match edges::columns(&table) {
        Some(columns) => edges::parse(&table, columns, order_max),
        None => dense(&table, Layout::of(&table)),
    }
}

/// Returns the error of a line that has more fields than any matrix has columns.
#[cold]
fn too_many_fields(line: usize) -> Problem {
    Problem {
        line,
        column: 1,
        found: format!("a row of more than {FIELDS_MAX} fields"),
        expected: format!("at most {FIELDS_MAX}, the columns of the largest matrix as CSV"),
    }
}

/// The parts of a table that are names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// True if the first line has the names of the parties.
    has_header: bool,
    /// True if the first column has the names of the parties.
    has_index: bool,
    /// The number of parties.
    order: usize,
}

impl Layout {
    /// Detects the layout of a table from its shape and its first line and column.
    fn of(table: &Table<'_>) -> Self {
        let head = table.head();
        let (width, row_count) = (head.len(), table.row_count());
        let body_width = table.rows().nth(1).map_or(0, |row| row.len());
        let begins_with_nothing = head.first().is_some_and(|field| field.word.text.is_empty());
        let is_text = head
            .iter()
            .find(|field| !field.word.text.is_empty())
            .is_some_and(Field::is_name);
        let layout = |has_header, has_index, order| Self {
            has_header,
            has_index,
            order,
        };
        // R writes no name above the column of names.
        let has_no_corner = body_width == width + 1;
        if is_text && has_no_corner {
            return layout(true, true, width);
        }
        if is_text && begins_with_nothing && body_width + 1 == width {
            return layout(true, false, width - 1);
        }
        if is_text {
            let labels = || table.rows().skip(1).map(first_text);
            let mut two = table.rows().skip(1).take(2);
            let has_labels = width > 2
                && (two.all(|row| row.first().is_some_and(Field::is_name))
                    || row_count == width && (repeats(labels(), &head[1..]) || is_count(labels())));
            let is_index = begins_with_nothing && row_count != width + 1 || has_labels;
            return layout(true, is_index, width - usize::from(is_index));
        }
        let labels = table.rows().skip(1).map(first_text);
        if begins_with_nothing && row_count == width && repeats(labels, &head[1..]) {
            return layout(true, true, width - 1);
        }
        if row_count == width + 1 && is_header_of_numbers(table, &head) {
            return layout(true, has_no_corner, width);
        }
        if row_count + 1 == width && row_count > 2 && is_count(table.rows().map(first_text)) {
            return layout(false, true, row_count);
        }
        layout(false, false, width)
    }
}

/// Returns true if the labels of the rows repeat the names of the columns.
fn repeats<'text>(labels: impl Iterator<Item = &'text str>, names: &[Field<'_>]) -> bool {
    labels.eq(names.iter().map(|name| name.word.text))
}

/// Returns true if a first line of numbers can only be names: it counts the columns, or only this
/// line is quoted.
fn is_header_of_numbers(table: &Table<'_>, head: &[Field<'_>]) -> bool {
    let second_is_plain = table
        .rows()
        .nth(1)
        .is_some_and(|row| row.iter().any(|field| !field.is_quoted));
    // Two columns may contain 0 and 1 by chance.
    head.len() > 2 && is_count(head.iter().map(|field| field.word.text))
        || second_is_plain && head.iter().all(|field| field.is_quoted)
}

/// Returns the text of the first field of a row.
fn first_text<'text>(row: Vec<Field<'text>>) -> &'text str {
    row.first().map_or("", |field| field.word.text)
}

/// Returns true if the labels are integers that count up from 0 or 1.
fn is_count<'text>(labels: impl Iterator<Item = &'text str>) -> bool {
    let mut next = None;
    for label in labels {
        let Ok(number) = label.parse::<u64>() else {
            return false;
        };
        if next.map_or(number > 1, |next| next != number) {
            return false;
        }
        next = Some(number + 1);
    }
    next.is_some()
}

/// Parses a square matrix.
fn dense(table: &Table<'_>, layout: Layout) -> Result<Matrix, Problem> {
    let Layout {
        has_header,
        has_index,
        order,
    } = layout;
    let notation = Notation::of(table);
    let head = table.head();
    let mut names = Vec::new();
    if has_header {
        // A header without a corner has as many fields as there are parties.
        names.extend(head.iter().skip(head.len() - order).map(Field::name));
    }
    // The memory that is allocated before the rows are seen is about the size of the file.
    let mut matrix = Matrix::new(order);
    let mut row_count = 0;
    for (line, row) in table.numbered_rows().skip(usize::from(has_header)) {
        if row.len() > FIELDS_MAX {
            return Err(too_many_fields(line));
        }
        let fields = &row[usize::from(has_index).min(row.len())..];
        if fields.len() != order {
            return Err(Problem {
                line,
                column: 1,
                found: format!(
                    "a row of {} number{}",
                    fields.len(),
                    if fields.len() == 1 { "" } else { "s" }
                ),
                expected: if has_header {
                    format!("{order} numbers, one for each name")
                } else {
                    format!("{order} numbers as in the rows before")
                },
            });
        }
        if row_count == order {
            return Err(fields[0].word.wrong(format!(
                "the end of the file after {order} rows of {order} numbers"
            )));
        }
        for (to, field) in fields.iter().enumerate() {
            matrix.add(row_count, to, notation.bytes(field)?);
        }
        row_count += 1;
    }
    if row_count < order {
        let missing = format!("{order} rows to match the columns, not {row_count}");
        return Err(Problem::at_end(table.text(), missing));
    }
    matrix.names = names;
    Ok(matrix)
}
