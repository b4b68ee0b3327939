//! The `raddle` program: reads the call, runs the command and sets the exit code.
//!
//! Exit codes: 0 means done. 1 means that the command failed; one line on standard error says why.
//! 2 means that the call was wrong, or an environment variable that replaces an option.
//! A reader that closes the output early (`raddle topology | head -1`) is no failure.
//!
//! # Rules
//! - A command accepts only the options that it uses. Options win over environment variables, which
//!   win over defaults.
//! - Each result is written once: [`report`] prints it as text or as JSON.
//! - A failure is one line on standard error: `error: FILE: PLACE: FOUND; expected WHAT`. A wrong
//!   call also shows a hint.
//! - The program knows before the work begins whether an output file can be written.
//! - A progress bar is drawn only on a terminal, and not before half a second has passed.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod environment;
mod error;
mod input;
mod memory;
mod output;
mod progress;
mod report;
mod slow_tree;
mod system_counts;
mod times;
mod trace;
mod units;
mod volume_input;
mod workers;

use std::io::{self, Write};
use std::process::ExitCode;

use raddle::net::Launch;

use crate::commands::Entry;
use crate::error::CliError;

fn main() -> ExitCode {
    let call = match commands::parse(std::env::args_os()) {
        Ok(call) => call,
        Err(answer) => return print_answer(&answer),
    };
    let entry = Entry::of(&call);
    if !entry.becomes_program {
        output::block_size_signal();
    }
    environment::warn(&entry);
    match entry.run() {
        Ok(()) | Err(CliError::ReaderGone) => ExitCode::SUCCESS,
        Err(error) => {
            if !is_reported_by_first_node(&error) {
                // If standard error is closed, the exit code still reports the failure.
                let _unread = writeln!(io::stderr(), "error: {}", error::one_line(&error));
            }
            match error.is_of_the_call() {
                true => ExitCode::from(2),
                false => ExitCode::FAILURE,
            }
        }
    }
}

/// Returns true if this process was started as a node and the first node prints the error, so that
/// there is only one error line. The first node notices the end of another node by itself; any
/// other error is sent to it here.
fn is_reported_by_first_node(error: &CliError) -> bool {
    Launch::is_started()
        && (error.is_end_of_a_node() || Launch::tell_first(&error::one_line(error)))
}

/// Prints the help, the version, or the reason why the call is wrong.
fn print_answer(answer: &clap::Error) -> ExitCode {
    let written = answer.print().and_then(|()| io::stdout().flush());
    match (written, u8::try_from(answer.exit_code())) {
        (Ok(()), Ok(code)) => ExitCode::from(code),
        (Err(error), _) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        (Err(error), _) => {
            // As in `main`.
            let _unread = writeln!(io::stderr(), "error: standard output: {error}");
            ExitCode::FAILURE
        }
        (Ok(()), Err(_)) => ExitCode::FAILURE,
    }
}
