//! JSON objects, and facts that have a row and a field each.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};

use super::Quantity;

/// A JSON object that is being filled.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Object(Map<String, Value>);

impl Object {
    /// Creates an object without fields.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a field, or replaces the one of that key.
    pub(crate) fn field(&mut self, key: &str, value: impl Serialize) -> &mut Self {
        self.0.insert(key.to_owned(), value_of(&value));
        self
    }

    /// Adds a field unless there is one of that key.
    pub(crate) fn field_or(&mut self, key: &str, value: impl Serialize) -> &mut Self {
        self.0
            .entry(key.to_owned())
            .or_insert_with(|| value_of(&value));
        self
    }

    /// Adds all fields of a value that serialises as an object.
    ///
    /// # Panics
    /// If the value serialises as something else, or not at all.
    pub(crate) fn fields(&mut self, value: &impl Serialize) -> &mut Self {
        match value_of(value) {
            Value::Object(map) => self.0.extend(map),
            other => unreachable!("expected an object, found {other:?}"),
        }
        self
    }

    /// Returns the object as a JSON value.
    pub(crate) fn value(self) -> Value {
        Value::Object(self.0)
    }
}

/// Returns a value as JSON, by way of its text. `serde_json::to_value` would extend an `f32` to an
/// `f64`, so that 45.85 became 45.849998474121094.
///
/// # Panics
/// If the value cannot be serialised.
fn value_of(value: &impl Serialize) -> Value {
    let text = serde_json::to_string(value).expect("results can be serialised");
    serde_json::from_str(&text).expect("text of a value is read back")
}

/// Rows for people, and the fields of one object that says the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    rows: Vec<(String, String)>,
    object: Object,
}

impl Facts {
    /// Creates facts without rows and fields.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a row with the text of a quantity, and a field with its value.
    pub(crate) fn quantity(&mut self, label: &str, key: &str, value: &impl Quantity) -> &mut Self {
        self.row(label, value.text()).field(key, value.json())
    }

    /// Adds a row. Fields that it covers follow as [`field`](Self::field).
    pub(crate) fn row(&mut self, label: &str, text: impl Into<String>) -> &mut Self {
        self.rows.push((label.to_owned(), text.into()));
        self
    }

    /// Adds a field.
    pub(crate) fn field(&mut self, key: &str, value: impl Serialize) -> &mut Self {
        self.object.field(key, value);
        self
    }

    /// Adds all fields of a value that serialises as an object.
    pub(crate) fn fields(&mut self, value: &impl Serialize) -> &mut Self {
        self.object.fields(value);
        self
    }

    /// Returns the rows.
    pub(super) fn rows(&self) -> &[(String, String)] {
        &self.rows
    }

    /// Returns the rows as text.
    pub(crate) fn text(&self) -> String {
        rows_as_text(&self.rows)
    }

    /// Returns the object.
    pub(crate) fn object(&self) -> &Object {
        &self.object
    }
}

/// Returns the rows below each other, with all values in one column.
pub(crate) fn rows_as_text(rows: &[(String, String)]) -> String {
    let widths = rows.iter().map(|(label, _)| label.chars().count());
    let width = widths.max().unwrap_or_default();
    let mut text = String::new();
    for (label, value) in rows {
        // Writing to a string cannot fail.
        let _infallible = writeln!(text, "{label:<width$}  {value}");
    }
    text
}
