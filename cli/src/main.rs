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
mod table;
mod times;
mod workers;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::error::CliError;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) | Err(CliError::ReaderGone) => ExitCode::SUCCESS,
        Err(error) => {
            // With the error stream gone there is nobody to tell; the exit code still says it.
            let _unheard = writeln!(io::stderr(), "error: {}", error::one_line(&error));
            match error {
                CliError::WrongCall { .. } => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), CliError> {
    let options = &arguments.options;
    match &arguments.command {
        Some(Command::Render(render)) => commands::render::run(render, options),
        Some(Command::Kdtree(kdtree)) => commands::kdtree::run(kdtree, options),
        Some(Command::Sort(sort)) => commands::sort::run(sort, options),
        Some(Command::Topology(topology)) => commands::topology::run(topology, options),
        Some(Command::Completions(completions)) => commands::completions::run(completions),
        None if options.show_binding => commands::binding::run(options),
        None => commands::demo::run(options),
    }
}
