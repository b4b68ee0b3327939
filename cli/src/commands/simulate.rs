//! `raddle simulate`: programs on the simulated nodes of the notification study.

mod pingpong;
mod symmetric;
mod tracer;

use std::io::BufWriter;
use std::path::Path;

use raddle_model::parameters::Curve;
use raddle_model::simulate::timeline::Chrome;
use raddle_model::simulate::{Counts, Layout};
use raddle_model::{Origin, Parameters};
use raddle_trace::whole_file::WholeFile;
use serde_json::{Map, Value, json};

use super::model;
use crate::arguments::{Options, RunArguments, SimulateArguments, SimulatedProgram, SpeedsChoice};
use crate::error::CliError;
use crate::memory;
use crate::{output, schema};

/// A file for what happens.
type Trace = Chrome<BufWriter<WholeFile>>;

/// Simulates what was asked for, and reports.
///
/// # Errors
/// [`CliError`]: parameters or a program that make no sense, an output that fails.
pub(crate) fn run(arguments: &SimulateArguments, options: &Options) -> Result<(), CliError> {
    match &arguments.program {
        SimulatedProgram::Pingpong(program) => pingpong::run(program, options),
        SimulatedProgram::Symmetric(program) => symmetric::run(program, options),
        SimulatedProgram::Tracer(program) => tracer::run(program, options),
    }
}

/// The parameters, with the speeds that were asked for, or those that the program takes if nothing is said.
fn parameters(run: &RunArguments, speeds: Option<SpeedsChoice>) -> Result<Parameters, CliError> {
    let mut parameters = model::parameters(&run.machine)?;
    // What somebody has said of the curve counts more than what a program takes if nobody has.
    let is_said = ["core.curve", "core.aggregate", "core.saturation"]
        .into_iter()
        .any(|key| !matches!(parameters.origin(key), Origin::BuiltIn(..)));
    match run.speeds.or(speeds.filter(|_| !is_said)) {
        Some(SpeedsChoice::Measured) => parameters.core.curve = Curve::Measured,
        Some(SpeedsChoice::Fitted) => parameters.core.curve = Curve::Fitted,
        None => {}
    }
    Ok(parameters)
}

/// Refuses nodes that the machine has no memory for.
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

/// The file of what happens, if one is wanted. `handler` is the thread of each node that is called so.
fn begin_trace(run: &RunArguments, handler: Option<u32>) -> Result<Option<Trace>, CliError> {
    let Some(path) = &run.trace else {
        return Ok(None);
    };
    let out = BufWriter::new(output::begin_file(path)?);
    Ok(Some(Chrome::new(out, run.trace_events, handler)))
}

/// Ends it; says how many events have not been written.
fn finish_trace(trace: Trace, path: &Path) -> Result<u64, CliError> {
    let mut left_out = 0;
    let written = trace.finish().and_then(|(out, left)| {
        left_out = left;
        out.into_inner().map_err(|error| error.into_error())
    });
    output::finish_file(written, path)?;
    Ok(left_out)
}

/// What every answer in JSON begins with.
fn head(program: &str, parameters: &Parameters, run: &RunArguments) -> Map<String, Value> {
    Map::from_iter([
        ("command".to_owned(), json!("simulate")),
        ("program".to_owned(), json!(program)),
        ("parameters".to_owned(), json!(parameters.name)),
        ("seed".to_owned(), json!(run.seed)),
    ])
}

/// What happened, in JSON.
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

/// What is said of a trace that is not whole.
fn told_of(left_out: u64, run: &RunArguments) -> String {
    match (left_out, &run.trace) {
        (1.., Some(path)) => format!(
            "\n{}: {} events were left out; --trace-events says how many are written\n",
            path.display(),
            crate::table::grouped(left_out)
        ),
        _ => String::new(),
    }
}

/// Prints one or the other.
fn report(json: Map<String, Value>, text: &str, options: &Options) -> Result<(), CliError> {
    if options.json {
        schema::print(json)
    } else if options.quiet {
        Ok(())
    } else {
        output::print(text)
    }
}
