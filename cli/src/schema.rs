//! The JSON objects that the program prints, and the number of their schema.
//!
//! Every object is printed on a line of its own. It has the keys `schema`, which is [`SCHEMA`], and
//! `command`. Keys are words in lower case, joined by `_`. A quantity with a unit has the unit at
//! the end of its key or of the key of the object that it is in: `_s`, `_ms`, `_us`, `_ns`,
//! `_bytes`, `_per_s`, `_share` of 1.

use serde_json::{Map, Value, json};

use crate::error::CliError;
use crate::output;

/// The schema of all objects. It grows by one when a key is renamed or removed, or when its unit or
/// its meaning changes; a new key does not change it.
const SCHEMA: u32 = 1;

/// Prints one object, with the number of its schema.
///
/// # Errors
/// What [`output::print`] returns.
pub(crate) fn print(result: Map<String, Value>) -> Result<(), CliError> {
    output::print(&line(result))
}

/// One object with the number of its schema, as a line.
pub(crate) fn line(result: Map<String, Value>) -> String {
    format!("{}\n", numbered(result))
}

/// One object with the number of its schema, on many lines, for people.
pub(crate) fn indented(result: Map<String, Value>) -> String {
    format!("{:#}\n", numbered(result))
}

fn numbered(mut result: Map<String, Value>) -> Value {
    result.insert("schema".to_owned(), json!(SCHEMA));
    Value::Object(result)
}

/// The keys of an object, of which `value` serialises as one.
///
/// # Panics
/// Where it serialises as something else, or not at all.
pub(crate) fn object(value: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => map,
        other => unreachable!("expected an object, found {other:?}"),
    }
}
