//! `raddle simulate`: simulated nodes of the notification study.

mod arguments;
mod pingpong;
mod symmetric;
mod tiles;
mod tracer;

use std::path::Path;

use raddle_model::parameters::Curve;
use raddle_model::simulate::timeline::Recorder;
use raddle_model::simulate::{Counts, Layout};
use raddle_model::{Origin, Parameters};
use raddle_timeline::Format;
use raddle_trace::whole_file::WholeFile;
use serde_json::{Value, json};

pub(super) use self::arguments::{EXAMPLES, SimulateArguments};

use self::arguments::{RunArguments, SimulatedProgram, SpeedsChoice};
use super::model;
use crate::arguments::Options;
use crate::error::CliError;
use crate::report::Report;
use crate::{memory, output};

/// A file for a timeline.
type Trace = Recorder<WholeFile>;

/// Simulates the selected program, and reports.
///
/// # Errors
/// [`CliError`]: impossible parameters, or a timeline that cannot be written.
pub(super) fn run(arguments: &SimulateArguments, options: &Options) -> Result<Report, CliError> {
    match &arguments.program {
        SimulatedProgram::Pingpong(program) => pingpong::run(program),
        SimulatedProgram::Symmetric(program) => symmetric::run(program, options),
        SimulatedProgram::Tracer(program) => tracer::run(program, options),
    }
}

/// Returns the parameters with the speeds of `--speeds`. Without that option the parameters decide,
/// and if they leave it open, the default of the program.
fn parameters(run: &RunArguments, speeds: Option<SpeedsChoice>) -> Result<Parameters, CliError> {
    let mut parameters = model::parameters(&run.machine)?;
    // A curve that the user has set has priority over the default of a program.
    let is_set = ["core.curve", "core.aggregate", "core.saturation"]
        .into_iter()
        .any(|key| !matches!(parameters.origin(key), Origin::BuiltIn(..)));
    match run.speeds.or(speeds.filter(|_| !is_set)) {
        Some(SpeedsChoice::Measured) => parameters.core.curve = Curve::Measured,
        Some(SpeedsChoice::Fitted) => parameters.core.curve = Curve::Fitted,
        None => {}
    }
    Ok(parameters)
}

/// Refuses nodes that need more memory than the machine has.
///
/// # Errors
/// [`CliError::SimulationTooLarge`].
fn check_memory(layout: &Layout, parameters: &Parameters) -> Result<(), CliError> {
    let bytes = layout.memory_bytes(parameters);
    match memory::available_bytes() {
        Some(available) if bytes > available => Err(CliError::SimulationTooLarge {
            nodes: layout.nodes,
            bytes,
            available,
        }),
        _ => Ok(()),
    }
}

/// Creates the file of the timeline, if `--trace` asks for one. `handler` is the thread of each
/// node that is named "handler".
fn begin_trace(run: &RunArguments, handler: Option<u32>) -> Result<Option<Trace>, CliError> {
    let Some(path) = &run.trace else {
        return Ok(None);
    };
    let out = output::begin_file(path)?;
    let trace = Recorder::new(out, Format::of_path(path), handler);
    let trace = trace.map_err(|error| output::output_error(path, error))?;
    Ok(Some(trace))
}

/// Completes the file of a timeline.
fn finish_trace(trace: Trace, path: &Path) -> Result<(), CliError> {
    output::finish_file(trace.finish(), path)
}

/// Begins a report with the fields that all simulations share.
fn begin_report(program: &str, parameters: &Parameters, run: &RunArguments) -> Report {
    let mut report = Report::new();
    report
        .field("program", program)
        .field("parameters", &parameters.name)
        .field("seed", run.seed);
    report
}

/// Returns the object `counts` of a report.
fn counts(counts: &Counts) -> Value {
    json!({
        "events": counts.events,
        "messages": counts.sent,
        "packets": counts.packets,
        "refused": counts.refused + counts.refused_sends,
        "injected_bytes": counts.injected,
        "updated_bytes": counts.updated,
        "memory_bytes": counts.to_memory,
        "translations": counts.translations,
        "walks": counts.walks,
    })
}
