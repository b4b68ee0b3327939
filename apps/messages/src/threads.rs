//! Starting threads, which the system may refuse: a user may have so many processes and threads,
//! and a control group, too.

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

/// What threads that will wait for each other wait for first: that all of them are there, or that
/// one was refused.
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
