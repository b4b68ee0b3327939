//! Message-driven objects under seeded schedules: `shuttle` runs these tests on the shipped runtime
//! under thousands of schedules.
//!
//! The assertions of a test must hold under every schedule. A schedule in which no thread can
//! continue fails automatically, which finds endless waits. [`raddle_runtime::model::explore`]
//! documents how to run a seed again.

#![cfg(shuttle)]

mod ends;
mod failures;
mod insertions;
mod moving;
mod nodes;
mod order;
mod over_nodes;
mod over_nodes_quiet;
mod over_nodes_sums;
mod over_nodes_wander;
mod priorities;
mod quiet;
mod reductions;
mod scans;
mod sections;
mod seeds;
mod teams;
mod travellers;
mod waiting;

use raddle_chare::SeedPolicy;
use raddle_runtime::Runtime;
use raddle_runtime::model::explore::Scenario;

/// Starts the runtime of a scenario.
fn runtime(setting: &Scenario) -> Runtime {
    with_policy(setting, setting.runtime())
}

/// Sets a seed policy, which the scenario's seed selects.
fn with_policy(setting: &Scenario, runtime: Runtime) -> Runtime {
    runtime.with_setting(setting.one_of(&SeedPolicy::ALL))
}
