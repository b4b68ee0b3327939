//! Starting threads. The system may refuse a thread, because it limits the number of threads of a
//! user and of a control group.

use std::io;
use std::sync::OnceLock;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// The error when the system refuses a thread.
#[derive(Debug, thiserror::Error)]
#[error("the system refused a thread: {0}")]
pub struct ThreadRefused(#[from] io::Error);

/// Starts a thread.
pub(crate) fn spawn<R: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> R + Send + 'static,
) -> Result<JoinHandle<R>, ThreadRefused> {
    Ok(named(name).spawn(inherit_limit(run))?)
}

/// Starts a thread of a scope.
pub(crate) fn spawn_in<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    run: impl FnOnce() -> R + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, R>, ThreadRefused> {
    Ok(named(name).spawn_scoped(scope, inherit_limit(run))?)
}

/// The start of a group of threads that wait for each other. Each thread first waits here until all
/// of them exist, or until the system has refused one.
#[derive(Debug, Default)]
pub(crate) struct Start {
    is_complete: OnceLock<bool>,
}

impl Start {
    /// Lets the waiting threads begin if `is_complete`, and end otherwise.
    pub(crate) fn announce(&self, is_complete: bool) {
        let set = self.is_complete.set(is_complete);
        set.expect("the start is announced once");
    }

    /// Waits for the announcement. Returns true if all threads exist, and false if the caller must
    /// end without doing anything.
    pub(crate) fn wait(&self) -> bool {
        *self.is_complete.wait()
    }
}

#[cfg(not(test))]
fn named(name: &str) -> Builder {
    Builder::new().name(name.to_owned())
}

/// Makes a new thread inherit the limit of the number of threads, which only exists in tests.
#[cfg(not(test))]
const fn inherit_limit<F>(run: F) -> F {
    run
}

#[cfg(test)]
use tests::{inherit_limit, named};

#[cfg(test)]
pub(crate) mod tests;
