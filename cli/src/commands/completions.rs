//! `raddle completions`: a script that teaches a shell our commands and options.

use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::error::CliError;
use crate::output;

/// Prints the script.
///
/// # Errors
/// What [`output::print`] returns.
pub(crate) fn run(arguments: &CompletionsArguments) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "raddle",
        &mut script,
    );
    output::print(&String::from_utf8_lossy(&script))
}
