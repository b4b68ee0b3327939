//! A runtime: its construction, the ways into it, and its end.

mod builder;
mod default;
mod futures;
mod shutdown;

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::{Arc, PoisonError};

use raddle_sync::prim::{Mutex, mpsc};
use raddle_sync::wait::prepare_waits;
use raddle_topology::{BindError, CpuId, Matrix, Plan};
use raddle_trace::session::{BeginError, Options, Recording};
use raddle_trace::{Report, monitor, trace_file};

use crate::config::{BuildError, MoveError, Setting, Settings};
use crate::enter::run_root;
use crate::handle::Handle;
use crate::mailbox::MailboxKind;
use crate::origin::INHERITED;
use crate::placing::Placing;
use crate::post::Post;
use crate::traffic::matrix_of;
use crate::worker::{
    Shared, ThreadCount, Worker, become_worker, current_worker, is_on_bound_worker, run_worker,
};

pub(crate) use builder::ResolvedSettings;
pub use builder::{Builder, WORKER_COUNT_MAX};
pub use default::{current_report, default_runtime, worker_count, worker_index};
pub use futures::{block_on, spawn_future};
pub use shutdown::Shutdown;

/// A set of workers with one task pool.
///
/// Most programs do not need to create one: [`join`](crate::join), [`scope`](fn@crate::scope) and
/// the loops start a default runtime on first use. Dropping a runtime waits for all its tasks. A
/// thread of the runtime itself cannot wait for its own end: there, dropping returns at once, and
/// the runtime ends when its tasks have ended. [`shutdown_timeout`](Self::shutdown_timeout) waits
/// for a limited time.
///
/// In a child process made by fork(2) the runtime has no workers: calls that need one panic, and
/// dropping the runtime does nothing. The default runtime starts anew there.
///
/// # Examples
/// ```
/// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
/// let handle = runtime.spawn(|| 6 * 7);
/// assert_eq!(handle.wait(), 42);
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
pub struct Runtime {
    shared: Arc<Shared>,
    settings: Settings,
    models: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
    /// True once the end has begun.
    has_ended: bool,
}

impl Runtime {
    /// Returns a builder for a new runtime.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Starts a runtime with the settings of the environment and the defaults.
    ///
    /// # Errors
    /// Those of [`Builder::build`].
    pub fn new() -> Result<Self, BuildError> {
        Builder::new().build()
    }

    /// Starts a runtime. `start_thread` starts the threads; without it, they are started by the
    /// standard library, and this function returns when all of them are bound.
    pub(crate) fn start(
        resolved: ResolvedSettings,
        start_thread: Option<&mut StartThread<'_>>,
    ) -> Result<Self, BuildError> {
        if resolved.uses_current_thread && current_worker().is_some() {
            return Err(BuildError::IsWorker);
        }
        trace_file::begin_from_environment()?;
        monitor::begin_from_environment()?;
        // A child process made by fork(2) must not have a half-finished preparation.
        prepare_waits(resolved.placed.machine.cpu_count()?);
        let shared = Shared::new(
            resolved.pool,
            &resolved.pool_setup,
            resolved.idle,
            resolved.cpu_count,
            resolved.task_memory,
            resolved.mailbox,
            resolved.threads,
        );
        let shared = shared.with_network(resolved.network);
        let inherits = is_on_bound_worker();
        let runtime = Self {
            shared: Arc::new(shared.with_placing(Placing::new(resolved.placed))),
            settings: resolved.settings,
            models: Mutex::default(),
            has_ended: false,
        };
        runtime.shared.describe_in_recording();
        // Otherwise the runtime would end with a thread that the program drops before it runs.
        let _starting =
            (!resolved.uses_current_thread).then(|| ThreadCount::begin(&runtime.shared));
        let (bound, outcomes) = mpsc::channel();
        let mut start_thread = start_thread;
        let first_thread = usize::from(resolved.uses_current_thread);
        for worker_index in first_thread..runtime.worker_count() {
            let bound = bound.clone();
            let thread = WorkerThread::new(worker_index, inherits, &runtime.shared, bound);
            // On an error, dropping the runtime ends the workers that run already.
            let started = match &mut start_thread {
                Some(start_thread) => start_thread(thread),
                None => thread.start(),
            };
            started.map_err(|source| BuildError::Thread {
                worker_index,
                source,
            })?;
        }
        if resolved.uses_current_thread {
            become_worker(Box::new(Worker::new(0, Arc::clone(&runtime.shared))));
        }
        // The program may start its threads later.
        if start_thread.is_none() {
            for _ in first_thread..runtime.worker_count() {
                outcomes
                    .recv()
                    .expect("every worker reports whether it is bound")?;
            }
        }
        Ok(runtime)
    }

    /// Calls `call` on a worker of this runtime and returns its result. On such a worker, calls it
    /// directly.
    ///
    /// # Panics
    /// With the panic of `call`; in a process that fork(2) made after the runtime was started.
    pub fn install<R: Send>(&self, call: impl FnOnce() -> R + Send) -> R {
        match current_worker() {
            Some(worker) if Arc::ptr_eq(worker.shared(), &self.shared) => call(),
            _ => run_root(&self.shared, call),
        }
    }

    /// Puts a task into the pool and returns a handle to it.
    ///
    /// # Panics
    /// In a process that fork(2) made after the runtime was started.
    pub fn spawn<T: Send + 'static>(&self, call: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        self.shared.expect_here();
        Handle::spawn(&self.shared, self.shared.on_panic(), call)
    }

    /// Calls `call` on a thread for calls that block (on files, sockets, locks held long), never on
    /// a worker.
    ///
    /// Threads are started when they are needed and end after ten seconds without work. Calls
    /// beyond 512 threads queue up. A call that waits for this or another runtime (for a handle, or
    /// in [`install`](Self::install)) does not count while it waits: calls can be nested up to
    /// 1,024 deep. Calls that wait for each other in any other way must be fewer than 512;
    /// [`spawn_thread`](Self::spawn_thread) has no such limit. If the system refuses to start a
    /// thread, the call waits for a running one; if there is none, it runs on the calling thread.
    ///
    /// # Panics
    /// In a process that fork(2) made after the runtime was started.
    pub fn spawn_blocking<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Handle<T> {
        self.shared.expect_here();
        let (handle, call) = Handle::blocking(&self.shared, self.shared.on_panic(), call);
        self.shared.blocking().run(Box::new(call));
        handle
    }

    /// Calls `call` as [`spawn_blocking`](Self::spawn_blocking) does, but the call begins at once,
    /// on a new thread if necessary: any number of such calls may wait for each other.
    ///
    /// # Errors
    /// The error of the system if it refuses to start a thread; an error in a process that fork(2)
    /// made after the runtime was started.
    pub fn spawn_thread<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Handle<T>> {
        if self.shared.is_other_process() {
            return Err(io::Error::other(INHERITED));
        }
        let (handle, call) = Handle::blocking(&self.shared, self.shared.on_panic(), call);
        self.shared.blocking().run_now(Box::new(call))?;
        Ok(handle)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns a handle for sending messages to given workers of this runtime.
    pub fn post(&self) -> Post {
        Post::new(&self.shared)
    }

    /// Returns the state that a programming model shares among all its users on this runtime. The
    /// first caller creates it with `make`.
    ///
    /// The runtime drops the state after its last worker has ended. If `make` fails or panics, the
    /// next caller calls its own `make`.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn model<M: Any + Send + Sync, E>(
        &self,
        make: impl FnOnce(Post) -> Result<Arc<M>, E>,
    ) -> Result<Arc<M>, E> {
        // A `make` that has panicked under the lock has added nothing.
        let models = self.models.lock();
        let mut models = models.unwrap_or_else(PoisonError::into_inner);
        let present = models
            .iter()
            .find_map(|model| Arc::clone(model).downcast::<M>().ok());
        if let Some(model) = present {
            return Ok(model);
        }
        let model = make(self.post())?;
        models.push(Arc::clone(&model) as Arc<dyn Any + Send + Sync>);
        Ok(model)
    }

    /// Returns the number of workers.
    pub fn worker_count(&self) -> usize {
        self.shared.worker_count()
    }

    /// Returns a setting of a programming model: the value given to the builder, otherwise that of
    /// its environment variable, otherwise the default.
    ///
    /// # Errors
    /// [`BuildError::Environment`] if the variable has an invalid value.
    pub fn setting<S: Setting>(&self) -> Result<S, BuildError> {
        self.settings.get()
    }

    /// Returns the kind of the workers' mailboxes.
    pub fn mailbox(&self) -> MailboxKind {
        self.shared.mailboxes().kind()
    }

    /// Returns where the workers run at the moment, and why.
    pub fn plan(&self) -> Plan {
        self.shared.placing().plan()
    }

    /// Returns true if placement is left to the runtime
    /// ([`Affinity::Auto`](raddle_topology::Affinity::Auto)): a model may move its objects when
    /// that pays.
    pub fn places_by_itself(&self) -> bool {
        self.shared.placing().is_auto()
    }

    /// Moves each worker to a CPU, or unbinds it (`None`), while all of them run.
    ///
    /// Each worker moves before the next message or task that it begins, so this function returns
    /// before they have moved; [`plan`](Self::plan) shows where they are. As with a list of CPUs,
    /// the request is obeyed even if other processes have claimed the CPUs or workers share one.
    ///
    /// # Errors
    /// [`MoveError`] if `cpus` does not have one entry for each worker, or names a CPU to which
    /// this process cannot be bound. Then no worker moves.
    ///
    /// # Examples
    /// ```
    /// use raddle_runtime::Runtime;
    /// use raddle_topology::Topology;
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let last = Topology::this_machine()?.allowed_cpus().last().expect("there is one").id;
    /// runtime.bind_workers(&[Some(last)])?;
    /// // The worker gets the request to move before this call.
    /// let topology = Topology::this_machine()?;
    /// assert_eq!(runtime.install(|| topology.this_thread_last_cpu())?, last);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bind_workers(&self, cpus: &[Option<CpuId>]) -> Result<(), MoveError> {
        self.shared.move_workers("the program", cpus, false)?;
        Ok(())
    }

    /// Returns the bytes that workers have sent to each other and taken from each other so far,
    /// from one worker to the other.
    ///
    /// Messages and tasks are counted with their closures, but without the data to which the
    /// closures refer. Compensating threads are left out.
    ///
    /// # Examples
    /// ```
    /// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
    /// let post = runtime.post();
    /// let (done, is_done) = std::sync::mpsc::channel();
    /// runtime.post().send(0, move || {
    ///     post.send(1, move || done.send(()).expect("the receiver is alive"))
    /// });
    /// is_done.recv()?;
    /// assert!(runtime.traffic().get(0, 1) > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn traffic(&self) -> Matrix {
        matrix_of(self.worker_count(), &self.shared.traffic().flows())
    }

    /// Begins to record the events of this process: tasks, messages and waits of this runtime and
    /// of all others, and scopes. The recording ends when the result is dropped.
    ///
    /// # Errors
    /// If a recording is under way, for example because of `RADDLE_TRACE`.
    ///
    /// # Examples
    /// ```
    /// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
    /// let recording = runtime.trace()?;
    /// runtime.join(|| 6, || 7);
    /// let events = recording.events();
    /// assert!(events.tracks.iter().any(|track| !track.events.is_empty()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn trace(&self) -> Result<Recording, BeginError> {
        Recording::begin(&Options::default())
    }

    /// Returns the counters of all workers so far.
    pub fn report(&self) -> Report {
        self.shared.report()
    }
}

/// Methods for models, which have no builder.
#[cfg(any(loom, shuttle))]
impl Runtime {
    /// Sets a setting of a programming model.
    #[must_use]
    pub fn with_setting<S: Setting>(mut self, value: S) -> Self {
        self.settings.set(value);
        self
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tasks, blocking_calls) = self.shared.unfinished();
        formatter
            .debug_struct("Runtime")
            .field("workers", &self.worker_count())
            .field("pool", &self.shared.pool_name())
            .field("mailbox", &self.mailbox().name())
            .field("tasks", &tasks)
            .field("blocking_calls", &blocking_calls)
            .finish_non_exhaustive()
    }
}

/// The function of a program that starts the threads of a runtime.
pub(crate) type StartThread<'a> = dyn FnMut(WorkerThread) -> io::Result<()> + 'a;

/// A worker for which a thread is about to be started; see [`Builder::build_with`].
///
/// If it is dropped before it runs, the runtime is without this worker.
#[derive(Debug)]
pub struct WorkerThread {
    worker_index: usize,
    /// True if a bound worker of another runtime starts the thread.
    inherits: bool,
    thread: ThreadCount,
    bound: mpsc::Sender<Result<(), BuildError>>,
}

impl WorkerThread {
    fn new(
        worker_index: usize,
        inherits: bool,
        shared: &Arc<Shared>,
        bound: mpsc::Sender<Result<(), BuildError>>,
    ) -> Self {
        Self {
            worker_index,
            inherits,
            thread: ThreadCount::begin(shared),
            bound,
        }
    }

    /// Returns the index of the worker.
    pub fn worker_index(&self) -> usize {
        self.worker_index
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        self.thread.shared()
    }

    /// Runs the worker on the current thread until its runtime ends.
    ///
    /// # Panics
    /// If the current thread is a worker already.
    pub fn run(self) {
        assert!(
            current_worker().is_none(),
            "this thread is a worker already"
        );
        // The receiver is gone if another worker failed. Then this worker ends like all others.
        let _ = self.bound.send(self.bind());
        drop(self.bound);
        run_worker(self.worker_index, self.thread);
    }

    /// Starts a thread of the standard library that runs the worker.
    fn start(self) -> io::Result<()> {
        let shared = Arc::clone(self.thread.shared());
        shared.start_thread(self.worker_index, move || self.run())
    }

    fn bind(&self) -> Result<(), BuildError> {
        let begun = self
            .thread
            .shared()
            .placing()
            .begin(self.worker_index, self.inherits);
        begun.map_err(|source: BindError| BuildError::Bind {
            worker_index: self.worker_index,
            source,
        })
    }
}
