//! `raddle completions`: a script that completes the commands and options of this program.

use clap::Args;
use clap_complete::Shell;

use super::call;
use crate::report::Report;

/// `raddle completions`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Returns the script.
pub(super) fn run(arguments: &CompletionsArguments) -> Report {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut call::definition(),
        "raddle",
        &mut script,
    );
    let mut report = Report::new();
    report.requested(&String::from_utf8_lossy(&script));
    report
}
