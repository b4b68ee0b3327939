//! `raddle completions`: a script that teaches a shell our commands and options.

use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsArguments, Options};
use crate::error::CliError;
use crate::output;

/// Prints the script.
///
/// # Errors
/// [`CliError::WrongCall`] with `--json`, and what [`output::print`] returns.
pub(crate) fn run(arguments: &CompletionsArguments, options: &Options) -> Result<(), CliError> {
    if options.json {
        return Err(CliError::WrongCall {
            options: "--json".to_owned(),
            reason: "a completion script is no JSON; expected a call without it".to_owned(),
        });
    }
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "raddle",
        &mut script,
    );
    output::print(&String::from_utf8_lossy(&script))
}
