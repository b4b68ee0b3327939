//! Warnings about environment variables that have no effect.

use raddle::chare::nodes::JobEnvironment;
use raddle::net::Launch;

use crate::commands::{Entry, Nodes};
use crate::output;

/// Prints one line on standard error for each variable that nothing reads, and one if the
/// environment asks for nodes and the command does not start any. Prints nothing with `--quiet`.
pub(crate) fn warn(entry: &Entry<'_>) {
    // Only the first node warns.
    let is_first = !Launch::is_started() && Launch::local_rank().is_none_or(|rank| rank == 0);
    if !is_first || entry.is_quiet() {
        return;
    }
    for unknown in raddle::unknown_variables() {
        output::warn(&unknown.to_string());
    }
    if entry.nodes == Nodes::One
        && let Ok(JobEnvironment {
            nodes: Some(nodes @ 2..),
            ..
        }) = JobEnvironment::read()
        && Launch::rank_count().is_none()
    {
        let command = entry.title;
        output::warn(&format!(
            "RADDLE_NODES is {nodes}, and {command} runs on one node; \
             dirt, kneighbor, pingpong and launch use more"
        ));
    }
}
