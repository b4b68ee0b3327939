//! `raddle --show-binding` without a command: where workers would run, and why.

use serde_json::json;

use crate::arguments::Options;
use crate::error::CliError;
use crate::{output, workers};

/// Prints the plan without starting a worker.
///
/// # Errors
/// [`CliError::Runtime`] when there is no plan, and what [`output::print`] returns.
pub(crate) fn run(options: &Options) -> Result<(), CliError> {
    let plan = workers::builder(options)
        .plan()
        .map_err(|error| workers::refused(error, options))?;
    if options.json {
        output::print(&format!("{}\n", json!({ "binding": plan })))
    } else {
        output::print(&format!("{plan}\n"))
    }
}
