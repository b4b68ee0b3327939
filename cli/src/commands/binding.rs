//! `raddle --show-binding` without a command: where workers would run, and why.

use crate::arguments::Options;
use crate::error::CliError;
use crate::report::{RanOn, Report};
use crate::workers;

/// Reports the plan without starting a worker.
///
/// # Errors
/// [`CliError::Runtime`] if there is no plan, and [`CliError::WrongCall`] for options that affect
/// only running workers.
pub(super) fn run(options: &Options) -> Result<Report, CliError> {
    let stats = options.stats.then_some("--stats");
    let for_running = options.runtime.for_tasks_and_messages().into_iter();
    let for_running: Vec<_> = for_running.chain(stats).collect();
    if !for_running.is_empty() {
        return Err(CliError::WrongCall {
            options: format!("--show-binding {}", for_running.join(" ")),
            reason: format!(
                "no worker is started; expected a command as well, or no {}",
                for_running.join(", ")
            ),
        });
    }
    let plan = workers::builder(options)
        .plan()
        .map_err(|error| workers::refused(error, options))?;
    let mut report = Report::new();
    report.requested(&format!("{plan}\n"));
    Ok(report.on(RanOn::Plan(plan)))
}
