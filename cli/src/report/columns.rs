//! Tables with headings: the only code that pads cells.

use serde::Serialize;

use super::{Object, Quantity};

/// A table of rows, which have cells for people and an object for JSON.
#[derive(Debug)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    rows: Vec<Row>,
    is_ruled: bool,
}

/// The heading of a column, its width and its alignment.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    heading: String,
    width: usize,
    is_right: bool,
}

/// One row of a table. A row with fewer cells than the table has columns ends early.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    cells: Vec<String>,
    object: Object,
}

impl Column {
    /// Creates a column with cells at its left edge. `width` is in characters. A longer cell moves
    /// the cells behind it to the right.
    pub(crate) fn left(heading: &str, width: usize) -> Self {
        Self {
            heading: heading.to_owned(),
            width,
            is_right: false,
        }
    }

    /// Creates a column with cells at its right edge, as is usual for numbers.
    pub(crate) fn right(heading: &str, width: usize) -> Self {
        Self {
            is_right: true,
            ..Self::left(heading, width)
        }
    }

    fn pad(&self, cell: &str) -> String {
        let width = self.width;
        match self.is_right {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        }
    }
}

impl Row {
    /// Creates a row without cells.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a cell with the text of a quantity, and a field with its value.
    pub(crate) fn quantity(&mut self, key: &str, value: &impl Quantity) -> &mut Self {
        self.cell(value.text()).field(key, value.json())
    }

    /// Adds a cell. Fields that it covers follow as [`field`](Self::field).
    pub(crate) fn cell(&mut self, text: impl Into<String>) -> &mut Self {
        self.cells.push(text.into());
        self
    }

    /// Adds a field to the object of the row.
    pub(crate) fn field(&mut self, key: &str, value: impl Serialize) -> &mut Self {
        self.object.field(key, value);
        self
    }

    /// Adds all fields of a value that serialises as an object.
    pub(crate) fn fields(&mut self, value: &impl Serialize) -> &mut Self {
        self.object.fields(value);
        self
    }
}

impl Columns {
    /// Creates a table with a space between columns.
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
            is_ruled: false,
        }
    }

    /// Creates a table with `|` between columns, and a rule below the headings.
    pub(crate) fn ruled(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            is_ruled: true,
            ..Self::new(columns)
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Returns the objects of the rows.
    pub(crate) fn objects(&self) -> Vec<&Object> {
        self.rows.iter().map(|row| &row.object).collect()
    }

    /// Returns the headings and the rows as text, each on a line of its own.
    pub(crate) fn text(&self) -> String {
        let separator = if self.is_ruled { " | " } else { " " };
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells = self.columns.iter().zip(cells);
            let padded: Vec<_> = cells.map(|(column, cell)| column.pad(cell)).collect();
            padded.join(separator) + "\n"
        };
        let mut text = line(&mut self.columns.iter().map(|column| &*column.heading));
        if self.is_ruled {
            let dashes = self.columns.iter().map(|column| "-".repeat(column.width));
            text += &(dashes.collect::<Vec<_>>().join("-+-") + "\n");
        }
        for row in &self.rows {
            text += &line(&mut row.cells.iter().map(String::as_str));
        }
        text
    }
}
