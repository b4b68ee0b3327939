//! `raddle simulate pingpong`: a message there and back.

use std::fmt::Write as _;

use raddle_model::simulate::Silent;
use raddle_model::simulate::pingpong::{Found, PingPong, Receive};
use serde_json::{Map, Value, json};

use super::{begin_trace, counts, finish_trace, head, parameters, report, told_of};
use crate::arguments::{Options, PingpongProgram, SpeedsChoice};
use crate::error::CliError;
use crate::table;

/// Simulates it.
///
/// # Errors
/// [`CliError`]: parameters or a size out of range, an output that fails.
pub(super) fn run(program: &PingpongProgram, options: &Options) -> Result<(), CliError> {
    let parameters = parameters(&program.run, Some(SpeedsChoice::Measured))?;
    let ways = program.receive.all_simulated();
    if program.run.trace.is_some() && ways.len() > 1 {
        return Err(CliError::WrongCall {
            options: "--trace".to_owned(),
            reason: "it shows one way to receive; expected --receive poll, notify or thread"
                .to_owned(),
        });
    }
    let mut rows: Vec<(Receive, Found)> = Vec::new();
    let mut left_out = 0;
    for &receive in ways {
        // No more than the command line takes.
        let trips = u32::try_from(program.trips).unwrap_or(u32::MAX);
        let mut what = PingPong::new(receive, trips, program.run.seed);
        what.data_bytes = program.bytes;
        what.is_inline = program.inline;
        let handler = (receive == Receive::Thread).then_some(1);
        let found = match (begin_trace(&program.run, handler)?, &program.run.trace) {
            (Some(trace), Some(path)) => {
                let (found, trace) = what.run(&parameters, trace)?;
                left_out = finish_trace(trace, path)?;
                found
            }
            _ => what.run(&parameters, Silent)?.0,
        };
        rows.push((receive, found));
    }
    let mut json = head("pingpong", &parameters, &program.run);
    json.insert("bytes".to_owned(), json!(program.bytes));
    json.insert("trips".to_owned(), json!(program.trips));
    json.insert("round_trips".to_owned(), rows.iter().map(row).collect());
    let mut text = format!(
        "round trips of {} on simulated nodes ({}), {} each\n\n{:<8} {:>12} {:>12} {:>12}\n",
        table::bytes(program.bytes.into()),
        parameters.name,
        table::grouped(program.trips),
        "receive",
        "mean",
        "min",
        "max"
    );
    for (receive, found) in &rows {
        let ns = |time: f64| format!("{time:.1} ns");
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            text,
            "{:<8} {:>12} {:>12} {:>12}",
            receive.name(),
            ns(found.mean.0),
            ns(found.min.0),
            ns(found.max.0)
        );
    }
    report(json, &(text + &told_of(left_out, &program.run)), options)
}

fn row((receive, found): &(Receive, Found)) -> Value {
    let mut row = Map::new();
    row.insert("receive".to_owned(), json!(receive.name()));
    row.insert("mean_ns".to_owned(), json!(found.mean));
    row.insert("min_ns".to_owned(), json!(found.min));
    row.insert("max_ns".to_owned(), json!(found.max));
    row.insert("counts".to_owned(), counts(&found.counts));
    Value::Object(row)
}
