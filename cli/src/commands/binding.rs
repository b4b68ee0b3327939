//! `raddle --show-binding` without a command: where workers would run, and why.

use serde_json::{Map, json};

use crate::arguments::Options;
use crate::error::CliError;
use crate::{output, schema, workers};

/// Prints the plan without starting a worker.
///
/// # Errors
/// [`CliError::Runtime`] when there is no plan, and what [`output::print`] returns.
pub(crate) fn run(options: &Options) -> Result<(), CliError> {
    let plan = workers::builder(options)
        .plan()
        .map_err(|error| workers::refused(error, options))?;
    if options.json {
        let entries = [("command", json!("binding")), ("binding", json!(plan))];
        let entries = entries.map(|(key, value)| (key.to_owned(), value));
        schema::print(Map::from_iter(entries))
    } else {
        output::print(&format!("{plan}\n"))
    }
}
