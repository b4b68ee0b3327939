//! What models and seeded schedules need of the runtime besides its public interface.

use raddle_topology::{Plan, PlanEntry};

use crate::config::{Handlers, Settled};
use crate::{IdlePolicy, PoolKind, Runtime};

/// A runtime whose workers are bound nowhere: a model asks neither the machine nor the environment.
///
/// # Panics
/// When a worker cannot be started, which in a model does not happen.
#[must_use]
pub fn runtime(worker_count: usize, pool: PoolKind, idle: IdlePolicy, crowded: bool) -> Runtime {
    let entries = (0..worker_count).map(|worker_index| PlanEntry {
        worker_index,
        cpu: None,
        reason: "a model has no CPUs".to_owned(),
    });
    Runtime::start(Settled {
        plan: Plan {
            entries: entries.collect(),
        },
        pool,
        idle,
        crowded,
        thread_name: "model".to_owned(),
        stack_bytes: None,
        handlers: Handlers::default(),
    })
    .expect("workers that are bound nowhere start")
}
