//! The settings of a pool.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;

use raddle_runtime::BuildError;

use crate::panics::Payload;
use crate::pool::ThreadPool;
use crate::start::{Settings, start_global, start_own};
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

/// The settings of a new pool.
///
/// Settings that the program does not make are those of Raddle: placement, idling and the pool of
/// tasks come from the variables `RADDLE_…`, or are chosen by the runtime.
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    settings: Settings,
    spawn: S,
}

// Not derived: programs write `ThreadPoolBuilder::default()` without a type for `S`, and print
// builders with closures.
impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            spawn: DefaultSpawn,
        }
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ThreadPoolBuilder")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
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
                    let spawner = thread.spawner();
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
    pub fn build(mut self) -> Result<ThreadPool, ThreadPoolBuildError> {
        let (registry, runtime) = start_own(self.settings, &mut self.spawn)?;
        Ok(ThreadPool::new_of(registry, runtime))
    }

    /// Makes the global pool, which is Raddle's default runtime. To be called before its first use.
    ///
    /// # Errors
    /// If the global pool has started already, and those of [`build`](Self::build).
    pub fn build_global(mut self) -> Result<(), ThreadPoolBuildError> {
        Ok(start_global(self.settings, &mut self.spawn)?)
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
            settings: self.settings,
            spawn: CustomSpawn::new(spawn),
        }
    }

    /// Sets the function that returns the name of a thread from its index.
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.settings.thread_name = Some(Box::new(closure));
        self
    }

    /// Sets the number of threads. Zero stands for `RAYON_NUM_THREADS`, or else for one thread for
    /// each CPU that the process may use.
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.settings.num_threads = num_threads;
        self
    }

    /// Makes the current thread the thread with index 0 of the pool, for the rest of its life. It
    /// runs work of the pool only while it waits or yields.
    pub fn use_current_thread(mut self) -> Self {
        self.settings.uses_current_thread = true;
        self
    }

    /// Sets the function that gets panics for which no thread waits. Without one they abort the
    /// process.
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Payload) + Send + Sync + 'static,
    {
        self.settings.panic_handler = Some(Arc::new(panic_handler));
        self
    }

    /// Sets the stack size of the threads in bytes.
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.settings.stack_size = Some(stack_size);
        self
    }

    /// Lets [`spawn`](crate::spawn()) act as [`spawn_fifo`](crate::spawn_fifo()).
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo`")]
    pub fn breadth_first(mut self) -> Self {
        self.settings.is_breadth_first = true;
        self
    }

    /// Sets the function that each thread calls with its index at its start.
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.settings.start_handler = Some(Arc::new(start_handler));
        self
    }

    /// Sets the function that each thread calls with its index at its end.
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.settings.exit_handler = Some(Arc::new(exit_handler));
        self
    }
}
