//! `raddle --show-binding` without a command: where workers would run, and why.

use crate::arguments::Options;
use crate::error::CliError;
use crate::report::{RanOn, Report};
use crate::workers;

/// Reports the plan without starting a worker.
///
/// # Errors
/// [`CliError::Runtime`] if there is no plan, and [`CliError::WrongCall`] for `--stats`, which has
/// nothing to count.
pub(super) fn run(options: &Options) -> Result<Report, CliError> {
    if options.stats {
        return Err(CliError::WrongCall {
            options: "--show-binding --stats".to_owned(),
            reason: "no worker is started; expected a command as well, or no --stats".to_owned(),
        });
    }
    let plan = workers::builder(options)
        .plan()
        .map_err(|error| workers::refused(error, options))?;
    let mut report = Report::new();
    report.requested(&format!("{plan}\n"));
    Ok(report.on(RanOn::Plan(plan)))
}
