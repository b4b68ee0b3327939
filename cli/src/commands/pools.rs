//! `raddle pools`: the pools that `--pool` and `RADDLE_POOL` know.

use raddle::PoolKind;
use serde_json::{Map, json};

use crate::arguments::PoolsArguments;
use crate::error::CliError;
use crate::table::Table;
use crate::{output, schema};

/// What the letters of the names say.
const LETTERS: &str = "
Letters: SQ is one queue for all workers, DQ one for each, DQ-BL one of blocks of tasks for each.
PTH, SL, TL and CLH are the lock of a queue: of Pthreads, simple, ticket, or by Craig, Landin and
Hagersten; LF is no lock. SP: the owner puts without the lock. TRY: thieves do not wait for a lock.
PRIV: a private buffer of one task. C: each worker's part is on cache lines of its own.
";

/// Lists them.
///
/// # Errors
/// What [`output::print`] returns.
pub(crate) fn run(arguments: &PoolsArguments) -> Result<(), CliError> {
    if arguments.json {
        let pools = PoolKind::ALL.map(|pool| json!({ "name": pool.name(), "about": pool.about() }));
        let families = PoolKind::FAMILIES
            .map(|(name, pool)| json!({ "name": name, "stands_for": pool.name() }));
        let result = [
            ("command", json!("pools")),
            ("pools", json!(pools)),
            ("families", json!(families)),
        ];
        let result = result.map(|(key, value)| (key.to_owned(), value));
        return schema::print(Map::from_iter(result));
    }
    let mut table = Table::default();
    for (name, pool) in PoolKind::FAMILIES {
        table.row(name, format!("The same as {pool}."));
    }
    for pool in PoolKind::ALL {
        table.row(pool.name(), pool.about().to_owned());
    }
    output::print(&(table.text() + LETTERS))
}
