//! The ways to start the threads of a pool.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;

use raddle_runtime::WorkerThread;

use crate::registry::{Registry, with_registry};

/// A thread of a pool that is about to be started. Some thread has to call [`run`](Self::run).
pub struct ThreadBuilder {
    pub(crate) name: Option<String>,
    pub(crate) stack_size: Option<usize>,
    pub(crate) worker: WorkerThread,
    pub(crate) registry: Arc<Registry>,
}

impl ThreadBuilder {
    /// Returns the index of the thread in its pool.
    pub fn index(&self) -> usize {
        self.worker.worker_index()
    }

    /// Returns the name that the thread should have, if the program has set one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the stack size in bytes that the thread should have, if the program has set one.
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Returns the way to start the thread with its name and stack size.
    pub(crate) fn spawner(&self) -> thread::Builder {
        let mut spawner = thread::Builder::new();
        if let Some(name) = self.name() {
            spawner = spawner.name(name.to_owned());
        }
        if let Some(stack_size) = self.stack_size() {
            spawner = spawner.stack_size(stack_size);
        }
        spawner
    }

    /// Works for the pool on the current thread until the pool ends.
    ///
    /// # Panics
    /// If the current thread belongs to a pool already.
    pub fn run(self) {
        let worker = self.worker;
        with_registry(self.registry, || worker.run());
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ThreadBuilder")
            .field("pool", &self.registry)
            .field("index", &self.index())
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}

/// A way to start threads. Programs use it through
/// [`spawn_handler`](crate::ThreadPoolBuilder::spawn_handler).
pub trait ThreadSpawn: sealed::Sealed {
    /// Starts a thread that runs `thread`.
    ///
    /// # Errors
    /// The error of the system.
    #[doc(hidden)]
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
}

mod sealed {
    /// Implemented only here.
    pub trait Sealed {}
}

/// Starts threads of the standard library.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl sealed::Sealed for DefaultSpawn {}

impl ThreadSpawn for DefaultSpawn {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        thread.spawner().spawn(|| thread.run())?;
        Ok(())
    }
}

/// Starts threads with a function of the program.
#[derive(Debug)]
pub struct CustomSpawn<F>(F);

impl<F> CustomSpawn<F> {
    pub(crate) fn new(spawn: F) -> Self {
        Self(spawn)
    }
}

impl<F> sealed::Sealed for CustomSpawn<F> {}

impl<F: FnMut(ThreadBuilder) -> io::Result<()>> ThreadSpawn for CustomSpawn<F> {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        self.0(thread)
    }
}
