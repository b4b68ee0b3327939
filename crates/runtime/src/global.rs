//! The default runtime: comes up on first use, with the settings of the environment.

use std::sync::OnceLock;

use crate::config::BuildError;
use crate::fork::current_worker;
use crate::runtime::Runtime;

static DEFAULT: OnceLock<Runtime> = OnceLock::new();

/// The default runtime, brought up by this call if need be. It runs until the process ends.
///
/// # Panics
/// When it cannot be brought up: a bad environment variable, or a system that gives no threads. Programs that want an
/// error instead call [`Builder::build_default`](crate::Builder::build_default) first.
pub fn default_runtime() -> &'static Runtime {
    DEFAULT.get_or_init(|| match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => panic!("the default runtime cannot be brought up: {error}"),
    })
}

/// Brings the default runtime up with settings of one's own.
pub(crate) fn set_default(
    build: impl FnOnce() -> Result<Runtime, BuildError>,
) -> Result<&'static Runtime, BuildError> {
    if DEFAULT.get().is_some() {
        return Err(BuildError::DefaultIsUp);
    }
    let mut error = Some(BuildError::DefaultIsUp);
    let runtime = build()?;
    let stands = DEFAULT.get_or_init(|| {
        error = None;
        runtime
    });
    error.map_or(Ok(stands), Err)
}

/// The index of the worker that the current thread is, from 0; none on other threads.
///
/// Substitutes, which stand in for workers that wait for handles, have indices from [`worker_count`] on, up to 64 more.
pub fn worker_index() -> Option<usize> {
    current_worker().map(crate::worker::Worker::index)
}

/// The number of workers of the runtime that the current thread belongs to; of the default one on other threads.
pub fn worker_count() -> usize {
    current_worker().map_or_else(
        || default_runtime().worker_count(),
        |worker| worker.shared().worker_count(),
    )
}
