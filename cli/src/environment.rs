//! Warnings about environment variables that have no effect.

use raddle::chare::nodes::JobEnvironment;
use raddle::net::Launch;

use crate::arguments::{Arguments, Command};
use crate::output;

/// Warns of variables that nothing reads, and of nodes that the command does not start: a line for
/// each on standard error, none with `--quiet`.
pub(crate) fn warn(arguments: &Arguments) {
    // The first node warns for all.
    let is_first = !Launch::is_started() && Launch::local_rank().is_none_or(|rank| rank == 0);
    if !is_first || is_quiet(arguments) {
        return;
    }
    for unknown in raddle::unknown_variables() {
        output::warn(&unknown.to_string());
    }
    if let Some(command) = one_node_command(arguments)
        && let Ok(JobEnvironment {
            nodes: Some(nodes @ 2..),
            ..
        }) = JobEnvironment::read()
        && Launch::rank_count().is_none()
    {
        output::warn(&format!(
            "RADDLE_NODES is {nodes}, and {command} runs on one node; kneighbor, pingpong and launch use more"
        ));
    }
}

fn is_quiet(arguments: &Arguments) -> bool {
    match &arguments.command {
        Some(Command::Render(it)) => it.options.quiet,
        Some(Command::Kdtree(it)) => it.options.quiet,
        Some(Command::Sort(it)) => it.options.quiet,
        Some(Command::Lk23(it)) => it.options.quiet,
        Some(Command::Matmul(it)) => it.options.quiet,
        Some(Command::Kneighbor(it)) => it.options.quiet,
        Some(Command::Pingpong(it)) => it.options.quiet,
        Some(Command::Predict(it)) => it.output_options.quiet,
        Some(Command::Simulate(it)) => it.output.quiet,
        Some(
            Command::Launch(_)
            | Command::Topology(_)
            | Command::Place(_)
            | Command::Pools(_)
            | Command::Completions(_),
        ) => false,
        None => arguments.options.quiet,
    }
}

/// The command, if it starts the workers of one process whatever the environment says of nodes.
const fn one_node_command(arguments: &Arguments) -> Option<&'static str> {
    match &arguments.command {
        Some(Command::Render(_)) => Some("render"),
        Some(Command::Kdtree(_)) => Some("kdtree"),
        Some(Command::Sort(_)) => Some("sort"),
        Some(Command::Lk23(_)) => Some("lk23"),
        Some(Command::Matmul(_)) => Some("matmul"),
        None => Some("raddle without a command"),
        Some(_) => None,
    }
}
