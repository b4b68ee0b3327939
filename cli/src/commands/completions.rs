//! `raddle completions`: a script that teaches a shell our commands and options.

use crate::arguments::{self, CompletionsArguments};
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
        &mut arguments::command(),
        "raddle",
        &mut script,
    );
    output::print(&String::from_utf8_lossy(&script))
}
