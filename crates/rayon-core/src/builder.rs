//! The settings of a pool.

use std::env;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;

use raddle_runtime::{BuildError, Builder, Runtime, open};

use crate::max_num_threads;
use crate::panics::{PanicHandler, Payload, run_guarded};
use crate::pool::ThreadPool;
use crate::registry::{self, Registry};
use crate::thread_spawn::{CustomSpawn, DefaultSpawn, ThreadBuilder, ThreadSpawn};

/// The error for a pool that could not be made.
#[derive(Debug)]
pub struct ThreadPoolBuildError {
    kind: ErrorKind,
}

#[derive(Debug)]
enum ErrorKind {
    GlobalPoolAlreadyInitialized,
    CurrentThreadAlreadyInPool,
    IOError(io::Error),
}

impl From<BuildError> for ThreadPoolBuildError {
    fn from(error: BuildError) -> Self {
        let kind = match error {
            BuildError::DefaultIsUp => ErrorKind::GlobalPoolAlreadyInitialized,
            BuildError::IsWorker => ErrorKind::CurrentThreadAlreadyInPool,
            BuildError::Thread { source, .. } => ErrorKind::IOError(source),
            error => ErrorKind::IOError(io::Error::other(error)),
        };
        Self { kind }
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::GlobalPoolAlreadyInitialized => {
                formatter.write_str("The global thread pool has already been initialized.")
            }
            ErrorKind::CurrentThreadAlreadyInPool => {
                formatter.write_str("The current thread is already part of another thread pool.")
            }
            ErrorKind::IOError(error) => error.fmt(formatter),
        }
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            ErrorKind::IOError(error) => error.source(),
            _ => None,
        }
    }
}

type OnThread = Arc<dyn Fn(usize) + Send + Sync>;

/// The settings of a new pool.
///
/// Settings that the program does not make are those of Raddle: placement, idling and the pool of
/// tasks come from the variables `RADDLE_…`, or are chosen by the runtime.
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    uses_current_thread: bool,
    panic_handler: Option<PanicHandler>,
    thread_name: Option<Box<dyn FnMut(usize) -> String>>,
    stack_size: Option<usize>,
    start_handler: Option<OnThread>,
    exit_handler: Option<OnThread>,
    is_breadth_first: bool,
    spawn_handler: S,
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self {
            num_threads: 0,
            uses_current_thread: false,
            panic_handler: None,
            thread_name: None,
            stack_size: None,
            start_handler: None,
            exit_handler: None,
            is_breadth_first: false,
            spawn_handler: DefaultSpawn,
        }
    }
}

impl ThreadPoolBuilder {
    /// Creates a builder with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a pool with threads that may borrow. Each thread calls `wrapper`, which calls
    /// [`ThreadBuilder::run`]. Calls `with_pool` with the pool, and returns its result after all
    /// threads have ended.
    ///
    /// # Errors
    /// Those of [`build`](Self::build).
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        thread::scope(|scope| {
            let wrapper = &wrapper;
            let pool = self
                .spawn_handler(|thread| {
                    let mut spawner = thread::Builder::new();
                    if let Some(name) = thread.name() {
                        spawner = spawner.name(name.to_owned());
                    }
                    if let Some(stack_size) = thread.stack_size() {
                        spawner = spawner.stack_size(stack_size);
                    }
                    spawner.spawn_scoped(scope, move || wrapper(thread))?;
                    Ok(())
                })
                .build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl<S: ThreadSpawn> ThreadPoolBuilder<S> {
    /// Makes a pool.
    ///
    /// # Errors
    /// If the system refuses a thread, a variable of the environment is bad, or the current thread
    /// is to be in two pools.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        let mut made = None;
        let registry = self.start(|builder, start| {
            let runtime = builder.build_with(start)?;
            let tasks = runtime.open_tasks();
            made = Some(runtime);
            Ok(tasks)
        })?;
        let runtime: Runtime = made.expect("the pool has started");
        Ok(ThreadPool::new_of(registry, runtime))
    }

    /// Makes the global pool, which is Raddle's default runtime. To be called before its first use.
    ///
    /// # Errors
    /// If the global pool has started already, and those of [`build`](Self::build).
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        let registry =
            self.start(|builder, start| Ok(builder.build_default_with(start)?.open_tasks()))?;
        registry::keep(registry);
        Ok(())
    }

    /// Starts a runtime with these settings by `build`, and returns its registry.
    fn start(
        mut self,
        build: impl FnOnce(
            Builder,
            &mut dyn FnMut(raddle_runtime::WorkerThread) -> io::Result<()>,
        ) -> Result<open::OpenTasks, BuildError>,
    ) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        let mut builder = Runtime::builder();
        if let Some(num_threads) = self.wanted_threads() {
            builder = builder.workers(num_threads.min(max_num_threads()));
        }
        if self.uses_current_thread {
            builder = builder.use_current_thread();
        }
        let panic_handler = self.panic_handler.take();
        let (panics, exit_panics) = (panic_handler.clone(), panic_handler.clone());
        if let Some(handler) = self.start_handler.take() {
            builder = builder.on_start(move |index| call_handler(&handler, index, panics.as_ref()));
        }
        if let Some(handler) = self.exit_handler.take() {
            builder =
                builder.on_exit(move |index| call_handler(&handler, index, exit_panics.as_ref()));
        }
        let mut registry = None;
        let is_breadth_first = self.is_breadth_first;
        let make = |tasks| {
            Arc::new(Registry::new(
                tasks,
                panic_handler.clone(),
                is_breadth_first,
            ))
        };
        let tasks = build(builder, &mut |worker| {
            let registry = registry.get_or_insert_with(|| make(worker.open_tasks()));
            let index = worker.worker_index();
            self.spawn_handler.spawn(ThreadBuilder {
                name: self.thread_name.as_mut().map(|name| name(index)),
                stack_size: self.stack_size,
                worker,
                registry: Arc::clone(registry),
            })
        })?;
        // The current thread may be the only one.
        let registry = registry.unwrap_or_else(|| make(tasks));
        if self.uses_current_thread {
            registry::enter(Arc::clone(&registry));
        }
        Ok(registry)
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Sets the function that starts the threads. It gets each thread, and arranges that some
    /// thread calls [`ThreadBuilder::run`].
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            spawn_handler: CustomSpawn::new(spawn),
            num_threads: self.num_threads,
            uses_current_thread: self.uses_current_thread,
            panic_handler: self.panic_handler,
            thread_name: self.thread_name,
            stack_size: self.stack_size,
            start_handler: self.start_handler,
            exit_handler: self.exit_handler,
            is_breadth_first: self.is_breadth_first,
        }
    }

    /// Returns the number of threads that the program or the environment asks for.
    fn wanted_threads(&self) -> Option<usize> {
        if self.num_threads > 0 {
            return Some(self.num_threads);
        }
        let number = |name| env::var(name).ok()?.parse::<usize>().ok();
        match number("RAYON_NUM_THREADS") {
            Some(0) => None,
            Some(number) => Some(number),
            // The old name of the variable.
            None => number("RAYON_RS_NUM_CPUS").filter(|&number| number > 0),
        }
    }

    /// Sets the function that returns the name of a thread from its index.
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.thread_name = Some(Box::new(closure));
        self
    }

    /// Sets the number of threads. Zero stands for `RAYON_NUM_THREADS`, or else for one thread for
    /// each CPU that the process may use.
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = num_threads;
        self
    }

    /// Makes the current thread the thread with index 0 of the pool, for the rest of its life. It
    /// runs work of the pool only while it waits or yields.
    pub fn use_current_thread(mut self) -> Self {
        self.uses_current_thread = true;
        self
    }

    /// Sets the function that gets panics for which no thread waits. Without one they abort the
    /// process.
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Payload) + Send + Sync + 'static,
    {
        self.panic_handler = Some(Arc::new(panic_handler));
        self
    }

    /// Sets the stack size of the threads in bytes.
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = Some(stack_size);
        self
    }

    /// Lets [`spawn`](crate::spawn()) act as [`spawn_fifo`](crate::spawn_fifo()).
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo`")]
    pub fn breadth_first(mut self) -> Self {
        self.is_breadth_first = true;
        self
    }

    /// Sets the function that each thread calls with its index at its start.
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.start_handler = Some(Arc::new(start_handler));
        self
    }

    /// Sets the function that each thread calls with its index at its end.
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.exit_handler = Some(Arc::new(exit_handler));
        self
    }
}

/// Calls a start or exit handler, except on a compensating thread of Raddle.
fn call_handler(handler: &OnThread, index: usize, panic_handler: Option<&PanicHandler>) {
    if open::is_worker() {
        run_guarded(panic_handler, || handler(index));
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ThreadPoolBuilder")
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
