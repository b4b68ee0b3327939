//! The `raddle` program: parses flags, draws progress, prints, sets exit codes.
//!
//! Exit codes: 0 done, 1 the command failed (one line on standard error says why), 2 the call was
//! wrong, or an environment variable that stands in for an option.
//! A reader of the output who goes away (`raddle topology | head -1`) is no failure.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod environment;
mod error;
mod input;
mod memory;
mod output;
mod progress;
mod schema;
mod slow_tree;
mod system_counts;
mod table;
mod times;
mod workers;

use std::io::{self, Write};
use std::process::ExitCode;

use raddle::net::Launch;

use crate::arguments::{Arguments, Command, Options};
use crate::error::CliError;

fn main() -> ExitCode {
    let arguments = match arguments::parse(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(told) => return tell(&told),
    };
    // A program that takes the place of this one would keep that.
    if !matches!(arguments.command, Some(Command::Launch(_))) {
        output::block_size_signal();
    }
    environment::warn(&arguments);
    match run(&arguments) {
        Ok(()) | Err(CliError::ReaderGone) => ExitCode::SUCCESS,
        Err(error) => {
            if !is_told_by_the_first(&error) {
                // With the error stream gone there is nobody to tell; the exit code still says it.
                let _unheard = writeln!(io::stderr(), "error: {}", error::one_line(&error));
            }
            match error.is_of_the_call() {
                true => ExitCode::from(2),
                false => ExitCode::FAILURE,
            }
        }
    }
}

/// True in a node that another process has started if that one says what went wrong, so that there
/// is one error line. It sees by itself that a node has ended; else it is told.
fn is_told_by_the_first(error: &CliError) -> bool {
    Launch::is_started()
        && (error.is_end_of_a_node() || Launch::tell_first(&error::one_line(error)))
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
    match &arguments.command {
        Some(Command::Render(it)) => commands::render::run(&it.arguments, checked(&it.options)?),
        Some(Command::Kdtree(it)) => commands::kdtree::run(&it.arguments, checked(&it.options)?),
        Some(Command::Sort(it)) => commands::sort::run(&it.arguments, checked(&it.options)?),
        Some(Command::Lk23(it)) => commands::lk23::run(&it.arguments, checked(&it.options)?),
        Some(Command::Matmul(it)) => commands::matmul::run(&it.arguments, checked(&it.options)?),
        Some(Command::Kneighbor(it)) => {
            commands::kneighbor::run(&it.arguments, checked(&it.options)?)
        }
        Some(Command::Pingpong(it)) => {
            commands::pingpong::run(&it.arguments, checked(&it.options)?)
        }
        Some(Command::Launch(launch)) => commands::launch::run(launch),
        Some(Command::Predict(predict)) => commands::predict::run(predict, &predict.options()),
        Some(Command::Simulate(simulate)) => {
            commands::simulate::run(simulate, &simulate.output.options())
        }
        Some(Command::Topology(topology)) => commands::topology::run(topology),
        Some(Command::Place(place)) => commands::place::run(place),
        Some(Command::Pools(pools)) => commands::pools::run(pools),
        Some(Command::Completions(completions)) => commands::completions::run(completions),
        None if arguments.options.show_binding => {
            commands::binding::run(checked(&arguments.options)?)
        }
        None => commands::demo::run(checked(&arguments.options)?),
    }
}

/// The options of a command with workers, unless they contradict each other.
fn checked(options: &Options) -> Result<&Options, CliError> {
    options.runtime.check()?;
    Ok(options)
}
