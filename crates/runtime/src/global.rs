//! The default runtime: comes up on first use, with the settings of the environment.

use std::sync::OnceLock;

use raddle_sync::prim::fork_count;

use crate::config::BuildError;
use crate::fork::current_worker;
use crate::runtime::Runtime;

/// The default runtime of one process, and those of the processes that fork(2) makes of it.
///
/// A child process has a copy of its parent's, whose workers are not there. So it goes along the list to one of its own.
struct OfProcess {
    /// The [`fork_count`] of the process.
    forks: u64,
    runtime: OnceLock<Runtime>,
    of_child: OnceLock<Box<Self>>,
}

static OF_FIRST: OfProcess = OfProcess::of(0);

impl OfProcess {
    const fn of(forks: u64) -> Self {
        Self {
            forks,
            runtime: OnceLock::new(),
            of_child: OnceLock::new(),
        }
    }

    /// That of this process.
    fn here() -> &'static Self {
        let forks = fork_count();
        let mut default = &OF_FIRST;
        // Numbers grow along the list: each process adds itself at the end, behind those that it comes from.
        while default.forks != forks {
            default = default.of_child.get_or_init(|| Box::new(Self::of(forks)));
        }
        default
    }
}

/// The default runtime, brought up by this call if need be. It runs until the process ends.
///
/// A process that fork(2) makes gets a default runtime of its own on first use there.
///
/// # Panics
/// When it cannot be brought up: a bad environment variable, or a system that gives no threads. Programs that want an
/// error instead call [`Builder::build_default`](crate::Builder::build_default) first.
pub fn default_runtime() -> &'static Runtime {
    OfProcess::here()
        .runtime
        .get_or_init(|| match Runtime::new() {
            Ok(runtime) => runtime,
            Err(error) => panic!("the default runtime cannot be brought up: {error}"),
        })
}

/// Brings the default runtime up with settings of one's own.
pub(crate) fn set_default(
    build: impl FnOnce() -> Result<Runtime, BuildError>,
) -> Result<&'static Runtime, BuildError> {
    let default = OfProcess::here();
    if default.runtime.get().is_some() {
        return Err(BuildError::DefaultIsUp);
    }
    let mut error = Some(BuildError::DefaultIsUp);
    let runtime = build()?;
    let stands = default.runtime.get_or_init(|| {
        error = None;
        runtime
    });
    error.map_or(Ok(stands), Err)
}

/// The index of the worker that the current thread is, from 0; none on other threads.
///
/// Substitutes, which stand in for workers that wait, have indices from [`worker_count`] on, up to
/// 1,024 more. Any task may run on one, so tables of `worker_count` entries are too short: use
/// [`Private`](crate::Private) for what each worker has of its own.
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
