//! The default runtime, which starts on first use with the settings of the environment.

use std::sync::OnceLock;

use raddle_sync::prim::fork_count;
use raddle_trace::Report;

use super::Runtime;
use crate::config::BuildError;
use crate::worker::{Worker, current_worker};

/// The default runtime of one process, and those of the child processes that fork(2) makes.
///
/// A child process has a copy of its parent's runtime, but not its workers. So it walks the list to
/// an entry of its own.
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

    /// Returns the entry of this process.
    fn here() -> &'static Self {
        let forks = fork_count();
        let mut default = &OF_FIRST;
        // Numbers grow along the list: each process adds itself at the end, behind its ancestors.
        while default.forks != forks {
            default = default.of_child.get_or_init(|| Box::new(Self::of(forks)));
        }
        default
    }
}

/// Returns the default runtime, and starts it if necessary. It runs until the process ends.
///
/// A process that fork(2) makes gets a default runtime of its own on first use.
///
/// # Panics
/// If the runtime cannot be started: a bad environment variable, or a system that refuses threads.
/// Programs that want an error instead call
/// [`Builder::build_default`](crate::Builder::build_default) first.
pub fn default_runtime() -> &'static Runtime {
    OfProcess::here()
        .runtime
        .get_or_init(|| match Runtime::new() {
            Ok(runtime) => runtime,
            Err(error) => panic!("cannot start the default runtime: {error}"),
        })
}

/// Starts the default runtime with given settings.
pub(crate) fn set_default(
    build: impl FnOnce() -> Result<Runtime, BuildError>,
) -> Result<&'static Runtime, BuildError> {
    let default = OfProcess::here();
    if default.runtime.get().is_some() {
        return Err(BuildError::DefaultIsUp);
    }
    let mut error = Some(BuildError::DefaultIsUp);
    let runtime = build()?;
    let started = default.runtime.get_or_init(|| {
        error = None;
        runtime
    });
    error.map_or(Ok(started), Err)
}

/// Returns the index of the current worker, from 0, or `None` on other threads.
///
/// Compensating threads, which replace waiting workers, have indices from [`worker_count`] on, up
/// to 1,024 more. Any task may run on one, so a table of `worker_count` entries is too short: use
/// [`Private`](crate::Private) for a value per worker.
pub fn worker_index() -> Option<usize> {
    current_worker().map(Worker::index)
}

/// Returns the counters of all workers of the runtime on which the caller runs; `None` on a thread
/// that is no worker.
///
/// # Examples
/// ```
/// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
/// let report = runtime.install(|| raddle_runtime::current_report().expect("this is a worker"));
/// assert_eq!(report.workers.len(), 2);
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
pub fn current_report() -> Option<Report> {
    current_worker().map(|worker| worker.shared().report())
}

/// Returns the number of workers of the current thread's runtime; on other threads, of the default
/// runtime.
pub fn worker_count() -> usize {
    current_worker().map_or_else(
        || default_runtime().worker_count(),
        |worker| worker.shared().worker_count(),
    )
}
