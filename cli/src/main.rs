//! The `raddle` program: parses flags, draws progress, prints, sets exit codes.
//!
//! Exit codes: 0 done, 1 the command failed (one line on standard error says why), 2 the call was wrong.
//! A reader of the output who goes away (`raddle topology | head -1`) is no failure.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod error;
mod input;
mod memory;
mod output;
mod progress;
mod slow_tree;
mod system_counts;
mod table;
mod times;
mod workers;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use raddle::chare::nodes::JobError;
use raddle::net::{Launch, NetError, SendError};
use raddle_messages::nodes::NodesError;

use crate::arguments::{Arguments, Command};
use crate::error::CliError;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(told) => return tell(&told),
    };
    match run(&arguments) {
        Ok(()) | Err(CliError::ReaderGone) => ExitCode::SUCCESS,
        Err(error) => {
            if !is_told_by_the_first(&error) {
                // With the error stream gone there is nobody to tell; the exit code still says it.
                let _unheard = writeln!(io::stderr(), "error: {}", error::one_line(&error));
            }
            match error {
                CliError::WrongCall { .. } => ExitCode::from(2),
                CliError::Model(error) if error.is_of_the_call() => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// True in a node that another process has started, and that failed because another node ended: the first node says so.
fn is_told_by_the_first(error: &CliError) -> bool {
    let is_end = match error {
        CliError::Nodes { source, .. } => matches!(
            source,
            NodesError::Net(NetError::Died(_) | NetError::Left(_))
                | NodesError::Send(SendError::Died(_) | SendError::Left(_))
        ),
        CliError::Job { source, .. } => {
            matches!(source, JobError::Net(NetError::Died(_) | NetError::Left(_)))
        }
        _ => false,
    };
    is_end && Launch::is_started()
}

/// Prints the help, the version, or what is wrong with the call.
fn tell(told: &clap::Error) -> ExitCode {
    let written = told.print().and_then(|()| io::stdout().flush());
    match (written, u8::try_from(told.exit_code())) {
        (Ok(()), Ok(code)) => ExitCode::from(code),
        (Err(error), _) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        (Err(error), _) => {
            // As in `main`.
            let _unheard = writeln!(io::stderr(), "error: standard output: {error}");
            ExitCode::FAILURE
        }
        (Ok(()), Err(_)) => ExitCode::FAILURE,
    }
}

fn run(arguments: &Arguments) -> Result<(), CliError> {
    let options = &arguments.options;
    match &arguments.command {
        Some(Command::Render(render)) => commands::render::run(render, options),
        Some(Command::Kdtree(kdtree)) => commands::kdtree::run(kdtree, options),
        Some(Command::Sort(sort)) => commands::sort::run(sort, options),
        Some(Command::Lk23(lk23)) => commands::lk23::run(lk23, options),
        Some(Command::Matmul(matmul)) => commands::matmul::run(matmul, options),
        Some(Command::Kneighbor(kneighbor)) => commands::kneighbor::run(kneighbor, options),
        Some(Command::Pingpong(pingpong)) => commands::pingpong::run(pingpong, options),
        Some(Command::Launch(launch)) => commands::launch::run(launch, options),
        Some(Command::Predict(predict)) => commands::predict::run(predict, options),
        Some(Command::Simulate(simulate)) => commands::simulate::run(simulate, options),
        Some(Command::Topology(topology)) => commands::topology::run(topology, options),
        Some(Command::Place(place)) => commands::place::run(place, options),
        Some(Command::Completions(completions)) => commands::completions::run(completions, options),
        None if options.show_binding => commands::binding::run(options),
        None => commands::demo::run(options),
    }
}
