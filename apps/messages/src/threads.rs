//! Starting threads. The system may refuse one, because it limits the number of threads of a user
//! and of a control group.

use std::io;
use std::sync::OnceLock;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// The system refused a thread.
#[derive(Debug, thiserror::Error)]
#[error("the system refused a thread: {0}")]
pub struct ThreadRefused(#[from] io::Error);

/// Starts a thread.
pub(crate) fn spawn<R: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> R + Send + 'static,
) -> Result<JoinHandle<R>, ThreadRefused> {
    Ok(named(name).spawn(alike(run))?)
}

/// Starts a thread of a scope.
pub(crate) fn spawn_in<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    run: impl FnOnce() -> R + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, R>, ThreadRefused> {
    Ok(named(name).spawn_scoped(scope, alike(run))?)
}

/// The start of a group of threads that wait for each other. Each first waits here until all of
/// them are there, or until the system has refused one.
#[derive(Debug, Default)]
pub(crate) struct Start {
    are_all_there: OnceLock<bool>,
}

impl Start {
    /// Lets those that wait begin, or end.
    pub(crate) fn tell(&self, are_all_there: bool) {
        let told = self.are_all_there.set(are_all_there);
        told.expect("it is told once");
    }

    /// True when all are there; false when one is not, and nothing is to begin.
    pub(crate) fn wait(&self) -> bool {
        *self.are_all_there.wait()
    }
}

#[cfg(not(test))]
fn named(name: &str) -> Builder {
    Builder::new().name(name.to_owned())
}

#[cfg(not(test))]
const fn alike<F>(run: F) -> F {
    run
}

#[cfg(test)]
use tests::{alike, named};

#[cfg(test)]
pub(crate) mod tests;
