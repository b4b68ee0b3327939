//! The registry of all systems, by number.
//!
//! The lock is one of `std`, which is invisible to models and seeded schedules: it outlives them,
//! and no thread yields while it holds the lock.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::engine::system::System;

static SYSTEMS: Mutex<Registry> = Mutex::new(Registry {
    next: 0,
    systems: Vec::new(),
});

struct Registry {
    next: u32,
    /// In the order of their numbers.
    systems: Vec<(u32, Weak<System>)>,
}

fn registry() -> impl std::ops::DerefMut<Target = Registry> {
    SYSTEMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers the system that `make` creates with its number. The registry holds only a weak
/// reference.
pub(crate) fn add(make: impl FnOnce(u32) -> System) -> Arc<System> {
    let mut registry = registry();
    let id = registry.next;
    registry.next += 1;
    let system = Arc::new(make(id));
    registry
        .systems
        .retain(|(_, system)| system.strong_count() > 0);
    registry.systems.push((id, Arc::downgrade(&system)));
    system
}

/// Returns the system with this number, unless it is gone.
pub(crate) fn find(id: u32) -> Option<Arc<System>> {
    let registry = registry();
    let at = registry
        .systems
        .binary_search_by_key(&id, |system| system.0);
    registry.systems[at.ok()?].1.upgrade()
}
