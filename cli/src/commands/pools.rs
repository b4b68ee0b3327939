//! `raddle pools`: the pools that `--pool` and `RADDLE_POOL` accept.

use clap::Args;
use raddle::PoolKind;
use serde_json::json;

use crate::arguments::Options;
use crate::report::Report;

/// `raddle pools`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PoolsArguments {
    /// Print the result as one JSON object on one line, instead of text
    #[arg(long)]
    json: bool,
}

impl PoolsArguments {
    /// Returns the options for the output.
    pub(super) fn options(&self) -> Options {
        Options {
            json: self.json,
            ..Options::default()
        }
    }
}

/// The meaning of the parts of the names.
const NAMES: &str = "
Names: SQ is one queue for all workers, DQ one for each, DQ-BL one of blocks of tasks for each.
PTH, SL, TL and CLH are the lock of a queue: of Pthreads, simple, ticket, or by Craig, Landin and
Hagersten; LF means that there is no lock. SP: the owner inserts without the lock. TRY: thieves do
not wait for a lock. PRIV: a private buffer of one task. C: the part of each worker is on cache
lines of its own.
";

/// Lists the pools.
pub(super) fn run() -> Report {
    let mut report = Report::new();
    let mut families = Vec::new();
    for (name, pool) in PoolKind::FAMILIES {
        report.row(name, format!("The same as {pool}."));
        families.push(json!({ "name": name, "stands_for": pool.name() }));
    }
    let mut pools = Vec::new();
    for pool in PoolKind::ALL {
        report.row(pool.name(), pool.about());
        pools.push(json!({ "name": pool.name(), "about": pool.about() }));
    }
    report.field("families", families).field("pools", pools);
    report.text(NAMES);
    report
}
