//! The systems that there are, by their numbers.
//!
//! The lock is one of `std`, which no model and no seeded schedule sees: it outlives them, and under it nobody gives way to another thread.

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

/// Keeps a system that `make` makes of its number, as long as somebody else has it.
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

/// The system with this number, unless it is gone.
pub(crate) fn find(id: u32) -> Option<Arc<System>> {
    let registry = registry();
    let at = registry
        .systems
        .binary_search_by_key(&id, |system| system.0);
    registry.systems[at.ok()?].1.upgrade()
}
