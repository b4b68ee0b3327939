//! A table of results: one form for text, CSV and pages.
//!
//! A cell is a text or a number; its column says the unit and the number of decimals. So a table is
//! filled once, and each form prints it in its own way.

use std::fmt;

use serde::Serialize;

/// The longest text of a cell in a terminal, in characters.
const TEXT_MAX: usize = 60;

/// A table with a title, columns and rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Table {
    /// A name in lower case without spaces, by which options and files name the table.
    pub key: &'static str,
    /// The title.
    pub title: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows: a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Column {
    /// The heading, with the unit.
    pub heading: String,
    /// The number of decimals of numbers that are not whole.
    pub decimals: usize,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// No value.
    Empty,
    /// A text.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number in the unit of its column.
    Real(f64),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

impl Table {
    /// Creates a table without rows. Each column is a heading and its number of decimals.
    pub fn new<'a>(
        key: &'static str,
        title: &'static str,
        columns: impl IntoIterator<Item = (&'a str, usize)>,
    ) -> Self {
        let column = |(heading, decimals): (&str, usize)| Column {
            heading: heading.to_owned(),
            decimals,
        };
        Self {
            key,
            title,
            columns: columns.into_iter().map(column).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let row: Vec<Cell> = cells.into_iter().collect();
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.key);
        self.rows.push(row);
    }

    /// Returns the text of a cell in a column.
    #[must_use]
    pub fn text_of(&self, column: usize, cell: &Cell) -> String {
        match cell {
            Cell::Empty => String::new(),
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Real(number) => {
                let decimals = self.columns.get(column).map_or(0, |column| column.decimals);
                format!("{number:.decimals$}")
            }
        }
    }

    /// Returns the table as CSV (RFC 4180): the headings, then the rows.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let headings = self.columns.iter().map(|column| &column.heading);
        let records = self.rows.iter().map(|row| {
            let cells = row.iter().enumerate();
            cells
                .map(|(column, cell)| self.text_of(column, cell))
                .collect::<Vec<_>>()
        });
        writer
            .write_record(headings)
            .and_then(|()| {
                records
                    .into_iter()
                    .try_for_each(|row| writer.write_record(row))
            })
            .expect("all rows are as long as the headings, and memory is written to");
        let bytes = writer.into_inner().expect("memory is written to");
        String::from_utf8(bytes).expect("all cells are text")
    }

    /// Returns the table with at most `count` rows as text: aligned columns below their headings.
    #[must_use]
    pub fn to_text(&self, count: usize) -> String {
        let headings = self.columns.iter().map(|column| column.heading.clone());
        let rows = self.rows.iter().take(count).map(|row| {
            let cells = row.iter().enumerate();
            cells
                .map(|(column, cell)| shortened(&one_line(&self.text_of(column, cell))))
                .collect()
        });
        let lines: Vec<Vec<String>> = [headings.collect()].into_iter().chain(rows).collect();
        // Texts are aligned to the left, and numbers to the right.
        let is_text = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let mut cells = cells.filter(|cell| **cell != Cell::Empty).peekable();
            cells.peek().is_some() && cells.all(|cell| matches!(cell, Cell::Text(_)))
        };
        let width_of = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let layout: Vec<(usize, bool)> = (0..self.columns.len())
            .map(|column| (width_of(column), is_text(column)))
            .collect();
        let mut text = String::new();
        for line in &lines {
            let cells = line
                .iter()
                .zip(&layout)
                .map(|(cell, &(width, is_text))| match is_text {
                    true => format!("{cell:<width$}"),
                    false => format!("{cell:>width$}"),
                });
            let cells: Vec<String> = cells.collect();
            text += cells.join("  ").trim_end();
            text.push('\n');
        }
        let left = self.rows.len().saturating_sub(count);
        if left > 0 {
            text += &format!("... and {left} more\n");
        }
        text
    }
}

/// Returns a text with at most [`TEXT_MAX`] characters. The ends of a path of modules say most.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= TEXT_MAX {
        return text.to_owned();
    }
    let begin: String = text.chars().take(TEXT_MAX / 3).collect();
    let end: String = text.chars().skip(count - 2 * TEXT_MAX / 3 + 1).collect();
    format!("{begin}…{end}")
}

/// Replaces control characters, which would have an effect on a terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_text(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("example", "Example", [("name", 0), ("ms", 2), ("n", 0)]);
        table.row(["a, \"b\"".into(), 1.5.into(), Cell::Empty]);
        table.row(["c".into(), 12.0.into(), 7_u64.into()]);
        table
    }

    #[test]
    fn text_is_aligned_and_names_the_rows_that_are_left_out() {
        assert_eq!(
            table().to_string(),
            "name       ms  n\na, \"b\"   1.50\nc       12.00  7\n"
        );
        assert!(table().to_text(1).ends_with("... and 1 more\n"));
        let mut table = table();
        table.row(["d\u{1b}[31m\ne".into(), Cell::Empty, Cell::Empty]);
        let text = table.to_string();
        assert!(text.ends_with("\nd\u{fffd}[31m\u{fffd}e\n"), "{text:?}");
    }

    #[test]
    fn a_long_text_is_shortened_in_text_alone() {
        let mut table = table();
        let name = format!("app::{}::render", "scene::".repeat(40));
        table.row([name.clone().into(), Cell::Empty, Cell::Empty]);
        let text = table.to_string();
        assert!(
            text.lines()
                .all(|line| line.chars().count() <= TEXT_MAX + 20),
            "{text}"
        );
        assert!(text.contains("app::") && text.contains("…") && text.contains("::render"));
        assert!(table.to_csv().contains(&name));
    }

    #[test]
    fn csv_quotes_commas_and_quotation_marks() {
        assert_eq!(
            table().to_csv(),
            "name,ms,n\n\"a, \"\"b\"\"\",1.50,\nc,12.00,7\n"
        );
    }
}
