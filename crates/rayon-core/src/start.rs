//! Starts the threads of a pool.

use std::env;
use std::fmt;
use std::io;
use std::sync::Arc;

use raddle_runtime::open::{self, OpenTasks};
use raddle_runtime::{BuildError, Builder, Runtime, WorkerThread};

use crate::max_num_threads;
use crate::panics::{PanicHandler, run_guarded};
use crate::registry::{self, Registry};
use crate::thread_spawn::{ThreadBuilder, ThreadSpawn};

/// A function that a thread calls with its index.
pub(crate) type OnThread = Arc<dyn Fn(usize) + Send + Sync>;

/// The settings of a pool, except for the way to start its threads.
#[derive(Default)]
pub(crate) struct Settings {
    /// Zero for the number that the environment asks for.
    pub(crate) num_threads: usize,
    pub(crate) uses_current_thread: bool,
    pub(crate) panic_handler: Option<PanicHandler>,
    pub(crate) thread_name: Option<Box<dyn FnMut(usize) -> String>>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) start_handler: Option<OnThread>,
    pub(crate) exit_handler: Option<OnThread>,
    /// `spawn` acts as `spawn_fifo`.
    pub(crate) is_breadth_first: bool,
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Settings")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.uses_current_thread)
            .field("thread_name", &self.thread_name.is_some())
            .field("panic_handler", &self.panic_handler.is_some())
            .field("stack_size", &self.stack_size)
            .field("start_handler", &self.start_handler.is_some())
            .field("exit_handler", &self.exit_handler.is_some())
            .field("breadth_first", &self.is_breadth_first)
            .finish_non_exhaustive()
    }
}

/// Starts a runtime of its own, and returns it with its registry.
///
/// # Errors
/// Those of [`Builder::build_with`].
pub(crate) fn start_own(
    settings: Settings,
    spawn: &mut dyn ThreadSpawn,
) -> Result<(Arc<Registry>, Runtime), BuildError> {
    let mut made = None;
    let registry = start(settings, spawn, |builder, start_thread| {
        let runtime = builder.build_with(start_thread)?;
        let tasks = runtime.open_tasks();
        made = Some(runtime);
        Ok(tasks)
    })?;
    Ok((registry, made.expect("the runtime has started")))
}

/// Starts the default runtime, and keeps its registry.
///
/// # Errors
/// Those of [`Builder::build_default_with`].
pub(crate) fn start_global(
    settings: Settings,
    spawn: &mut dyn ThreadSpawn,
) -> Result<(), BuildError> {
    let registry = start(settings, spawn, |builder, start_thread| {
        Ok(builder.build_default_with(start_thread)?.open_tasks())
    })?;
    registry::keep(registry);
    Ok(())
}

/// Starts a runtime by `build`, and returns its registry.
fn start(
    mut settings: Settings,
    spawn: &mut dyn ThreadSpawn,
    build: impl FnOnce(
        Builder,
        &mut dyn FnMut(WorkerThread) -> io::Result<()>,
    ) -> Result<OpenTasks, BuildError>,
) -> Result<Arc<Registry>, BuildError> {
    let panic_handler = settings.panic_handler.take();
    let is_breadth_first = settings.is_breadth_first;
    let builder = builder(&settings, panic_handler.as_ref());
    let make = |tasks| {
        Arc::new(Registry::new(
            tasks,
            panic_handler.clone(),
            is_breadth_first,
        ))
    };
    let mut registry = None;
    let tasks = build(builder, &mut |worker| {
        let registry = registry.get_or_insert_with(|| make(worker.open_tasks()));
        let index = worker.worker_index();
        spawn.spawn(ThreadBuilder {
            name: settings.thread_name.as_mut().map(|name| name(index)),
            stack_size: settings.stack_size,
            worker,
            registry: Arc::clone(registry),
        })
    })?;
    // The current thread may be the only one.
    let registry = registry.unwrap_or_else(|| make(tasks));
    if settings.uses_current_thread {
        registry::enter(Arc::clone(&registry));
    }
    Ok(registry)
}

/// Returns the builder of a runtime with these settings.
fn builder(settings: &Settings, panic_handler: Option<&PanicHandler>) -> Builder {
    // Threads that the program starts in a call must not inherit the CPU of a worker.
    let mut builder = Runtime::builder().unbound_by_default();
    if let Some(num_threads) = wanted_threads(settings) {
        builder = builder.workers(num_threads.min(max_num_threads()));
    }
    if settings.uses_current_thread {
        builder = builder.use_current_thread();
    }
    let guarded = |handler: &OnThread| {
        let (handler, panic_handler) = (Arc::clone(handler), panic_handler.cloned());
        move |index| {
            // Compensating threads of Raddle run no work of rayon.
            if open::is_worker() {
                run_guarded(panic_handler.as_ref(), || handler(index));
            }
        }
    };
    if let Some(handler) = &settings.start_handler {
        builder = builder.on_start(guarded(handler));
    }
    if let Some(handler) = &settings.exit_handler {
        builder = builder.on_exit(guarded(handler));
    }
    builder
}

/// Returns the number of threads that the program or the environment asks for.
fn wanted_threads(settings: &Settings) -> Option<usize> {
    if settings.num_threads > 0 {
        return Some(settings.num_threads);
    }
    let number = |name| env::var(name).ok()?.parse::<usize>().ok();
    match number("RAYON_NUM_THREADS") {
        Some(0) => None,
        Some(number) => Some(number),
        // The old name of the variable.
        None => number("RAYON_RS_NUM_CPUS").filter(|&number| number > 0),
    }
}
