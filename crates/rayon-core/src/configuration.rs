//! The old names of the settings of a pool.
#![allow(deprecated, reason = "the old names use each other")]

use std::error::Error;

use crate::builder::ThreadPoolBuilder;
use crate::panics::Payload;
use crate::pool::ThreadPool;

/// The settings of a new pool.
#[deprecated(note = "use `ThreadPoolBuilder`")]
#[derive(Debug, Default)]
pub struct Configuration {
    builder: ThreadPoolBuilder,
}

/// Makes the global pool.
///
/// # Errors
/// Those of [`ThreadPoolBuilder::build_global`].
#[deprecated(note = "use `ThreadPoolBuilder::build_global`")]
pub fn initialize(config: Configuration) -> Result<(), Box<dyn Error>> {
    Ok(config.builder.build_global()?)
}

impl Configuration {
    /// Creates default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a pool.
    ///
    /// # Errors
    /// Those of [`ThreadPoolBuilder::build`].
    pub fn build(self) -> Result<ThreadPool, Box<dyn Error>> {
        Ok(self.builder.build()?)
    }

    fn map(self, change: impl FnOnce(ThreadPoolBuilder) -> ThreadPoolBuilder) -> Self {
        Self {
            builder: change(self.builder),
        }
    }

    /// Sets the names as [`ThreadPoolBuilder::thread_name`] does.
    pub fn thread_name<F>(self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.map(|builder| builder.thread_name(closure))
    }

    /// Sets the number as [`ThreadPoolBuilder::num_threads`] does.
    pub fn num_threads(self, num_threads: usize) -> Self {
        self.map(|builder| builder.num_threads(num_threads))
    }

    /// Sets the handler as [`ThreadPoolBuilder::panic_handler`] does.
    pub fn panic_handler<H>(self, panic_handler: H) -> Self
    where
        H: Fn(Payload) + Send + Sync + 'static,
    {
        self.map(|builder| builder.panic_handler(panic_handler))
    }

    /// Sets the size as [`ThreadPoolBuilder::stack_size`] does.
    pub fn stack_size(self, stack_size: usize) -> Self {
        self.map(|builder| builder.stack_size(stack_size))
    }

    /// Sets the order as [`ThreadPoolBuilder::breadth_first`] does.
    pub fn breadth_first(self) -> Self {
        self.map(ThreadPoolBuilder::breadth_first)
    }

    /// Sets the handler as [`ThreadPoolBuilder::start_handler`] does.
    pub fn start_handler<H>(self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.map(|builder| builder.start_handler(start_handler))
    }

    /// Sets the handler as [`ThreadPoolBuilder::exit_handler`] does.
    pub fn exit_handler<H>(self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.map(|builder| builder.exit_handler(exit_handler))
    }
}

impl ThreadPool {
    /// Makes a pool.
    ///
    /// # Errors
    /// Those of [`ThreadPoolBuilder::build`].
    #[deprecated(note = "use `ThreadPoolBuilder::build`")]
    pub fn new(configuration: Configuration) -> Result<Self, Box<dyn Error>> {
        configuration.build()
    }
}
