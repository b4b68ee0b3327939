//! The system of a runtime. It is created on its first use, and ends with the runtime.

use std::sync::Arc;
#[cfg(not(any(loom, shuttle)))]
use std::sync::Weak;

use raddle_runtime::{BuildError, Runtime, Seed};
use raddle_sync::prim::panicking;
#[cfg(not(any(loom, shuttle)))]
use raddle_trace::sources;

use crate::engine::local::deferred::Deferred;
use crate::engine::system::System;
use crate::engine::system::registry;
use crate::failure::Failure;
use crate::migration::Moves;
use crate::seeds::{SeedPolicy, Seeds};
use crate::state::SharedStates;
#[cfg(not(any(loom, shuttle)))]
use crate::watch::Watcher;

/// Returns the system of `runtime`, and creates it on the first call.
///
/// # Panics
/// If [`try_system_of`] fails.
pub(crate) fn system_of(runtime: &Runtime) -> Arc<System> {
    try_system_of(runtime).unwrap_or_else(|error| panic!("cannot start chares: {error}"))
}

/// Returns the system of `runtime`, and creates it on the first call.
///
/// # Errors
/// On the first call, if `RADDLE_SEEDS` has an invalid value.
pub(crate) fn try_system_of(runtime: &Runtime) -> Result<Arc<System>, BuildError> {
    let owner = runtime.model(|post| {
        let policy = runtime.setting::<SeedPolicy>()?;
        let Seed(seed) = runtime.setting()?;
        #[cfg(not(any(loom, shuttle)))]
        raddle_sync::exit::count_panics();
        let states = SharedStates::default()
            .with(Deferred::new(post.worker_count()))
            .with(Moves::default())
            .with(Seeds::new(policy, seed, post.worker_count()));
        let system = registry::add(|id| System::new(id, post, states));
        Ok::<_, BuildError>(Arc::new(Owner::new(system)))
    })?;
    Ok(Arc::clone(&owner.system))
}

/// The runtime's reference to its system.
///
/// Waiters share the system, so it may outlive the runtime. They are notified of the end.
struct Owner {
    system: Arc<System>,
    #[cfg(not(any(loom, shuttle)))]
    _watcher: Option<Watcher>,
}

impl Owner {
    fn new(system: Arc<System>) -> Self {
        #[cfg(not(any(loom, shuttle)))]
        {
            let of_system: Weak<System> = Arc::downgrade(&system);
            sources::add_messages(system.post().runtime_number(), of_system);
        }
        Self {
            #[cfg(not(any(loom, shuttle)))]
            _watcher: Watcher::from_environment(&system),
            system,
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.system.fail(Failure::new("the runtime has ended"));
        let system = &self.system;
        if !system.post().is_closed() {
            // The shutdown did not wait for the workers. Panics that they still cause are reported
            // by the exit code.
            return;
        }
        // Check for reporters before waiters: a future that is polled meanwhile is added to the
        // list of waiters before its thread stops being a reporter.
        if system.unreported().has_reporters() || system.waiters().has_any() {
            // These threads and futures get the failure. If they are dropped without being polled,
            // the exit code reports the panic.
            return;
        }
        let unreported = self.system.unreported().report();
        if let Some(failure) = unreported.filter(|_| !panicking()) {
            panic!("{failure}; nothing has waited for it until the end of the runtime");
        }
    }
}
