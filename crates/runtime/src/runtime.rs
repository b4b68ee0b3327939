//! The runtime: workers that come up, are entered, and end.

mod shutdown;

use std::any::Any;
use std::fmt;
use std::io;
use std::sync::Arc;

use raddle_sync::prim::{Mutex, mpsc};
use raddle_sync::wait::prepare_waits;
use raddle_topology::{BindError, CpuId, Matrix, Plan};
use raddle_trace::Report;

use crate::clock::reading_ns;
use crate::config::{BuildError, Builder, MoveError, SeedPolicy, Settled};
use crate::fork::current_worker;
use crate::fork::process::INHERITED;
use crate::mailbox::MailboxKind;
use crate::placing::{Placing, is_on_bound_worker};
use crate::post::Post;
use crate::task::{Handle, Scope, run_root, scope_in};
use crate::traffic::matrix_of;
use crate::worker::{Shared, run_worker};

pub use shutdown::Shutdown;

/// A set of workers with one pool.
///
/// Most programs need none of their own: [`join`](crate::join), [`scope`](crate::scope) and the loops bring up a default
/// runtime on first use. Dropping a runtime waits for all its tasks; on one of its own threads, which cannot wait for their own end,
/// it returns at once, and the runtime ends when its tasks have. [`shutdown_timeout`](Self::shutdown_timeout) waits for a limited time.
///
/// In a process that fork(2) has made of this one, the runtime has no workers: calls that need one panic there, and dropping it
/// does nothing. The default runtime starts anew there.
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
    seeds: SeedPolicy,
    models: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
    /// Its end has begun.
    has_ended: bool,
}

impl Runtime {
    /// Settings for a new runtime.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// A runtime with the settings of the environment and the defaults.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn new() -> Result<Self, BuildError> {
        Builder::new().build()
    }

    pub(crate) fn start(settled: Settled) -> Result<Self, BuildError> {
        prepare_once();
        let shared = Shared::new(
            settled.pool,
            &settled.pool_setup,
            settled.idle,
            settled.crowded,
            settled.task_memory,
            settled.mailbox,
            settled.threads,
        );
        let shared = shared.with_network(settled.network);
        let inherits = is_on_bound_worker();
        let runtime = Self {
            shared: Arc::new(shared.with_placing(Placing::new(settled.placed))),
            seeds: settled.seeds,
            models: Mutex::default(),
            has_ended: false,
        };
        let (bound, outcomes) = mpsc::channel();
        for worker_index in 0..runtime.worker_count() {
            let thread = WorkerThread {
                worker_index,
                inherits,
                shared: Arc::clone(&runtime.shared),
                bound: bound.clone(),
            };
            // On an error, dropping what stands lets the workers that run already end.
            let started = runtime
                .shared
                .start_thread(worker_index, move || thread.run());
            started.map_err(|source| BuildError::Thread {
                worker_index,
                source,
            })?;
        }
        for _ in 0..runtime.worker_count() {
            outcomes
                .recv()
                .expect("every worker says whether it is bound")?;
        }
        Ok(runtime)
    }

    /// Calls `call` on a worker of this runtime and returns its result; on such a worker already, at once.
    ///
    /// # Panics
    /// With the panic of `call`; in a process that fork(2) made after the runtime was started.
    pub fn install<R: Send>(&self, call: impl FnOnce() -> R + Send) -> R {
        match current_worker() {
            Some(worker) if Arc::ptr_eq(worker.shared(), &self.shared) => call(),
            _ => run_root(&self.shared, call),
        }
    }

    /// As [`crate::join`], on this runtime.
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| crate::join(a, b))
    }

    /// As [`crate::scope`], on this runtime.
    pub fn scope<'env, F, R>(&self, body: F) -> R
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R + Send,
        R: Send,
    {
        self.install(|| {
            let worker = current_worker().expect("`install` calls on a worker");
            scope_in(worker, body)
        })
    }

    /// Puts a task into the pool and returns a handle to its result.
    ///
    /// # Panics
    /// In a process that fork(2) made after the runtime was started.
    pub fn spawn<T: Send + 'static>(&self, call: impl FnOnce() -> T + Send + 'static) -> Handle<T> {
        self.shared.origin.expect_here();
        Handle::spawn(&self.shared, self.shared.substitutes.on_panic(), call)
    }

    /// Calls `call` on a thread kept for work that blocks (files, sockets, locks held long), never on a worker.
    ///
    /// Threads come up as they are needed and go after ten seconds without work. Calls beyond 512 threads queue up. A call that waits for
    /// this or another runtime (for a handle, or in [`install`](Self::install)) does not count while it waits: calls can be nested in each other, up to
    /// 1,024 deep. Calls that wait for each other in any other way must be fewer than 512; [`spawn_thread`](Self::spawn_thread) has no such
    /// limit. When the system gives no thread, the call
    /// waits for one that is up; if there is none at all, it runs on the calling thread.
    ///
    /// # Panics
    /// In a process that fork(2) made after the runtime was started.
    pub fn spawn_blocking<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Handle<T> {
        self.shared.origin.expect_here();
        let (handle, call) =
            Handle::blocking(&self.shared, self.shared.substitutes.on_panic(), call);
        self.shared.blocking.run(Box::new(call));
        handle
    }

    /// As [`spawn_blocking`](Self::spawn_blocking), but the call begins at once, on a thread of its own if need be: such calls may wait for
    /// each other, however many they are.
    ///
    /// # Errors
    /// Those of the system when it gives no thread, and one in a process that fork(2) made after the runtime was started.
    pub fn spawn_thread<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Handle<T>> {
        if self.shared.origin.is_other_process() {
            return Err(io::Error::other(INHERITED));
        }
        let (handle, call) =
            Handle::blocking(&self.shared, self.shared.substitutes.on_panic(), call);
        self.shared.blocking.run_now(Box::new(call))?;
        Ok(handle)
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// A way to send messages to given workers of this runtime.
    pub fn post(&self) -> Post {
        Post::new(&self.shared)
    }

    /// What a model of programs shares among all its users on this runtime, made by the first of them.
    ///
    /// The runtime lets go of it after its last worker has ended.
    pub fn model<M: Any + Send + Sync>(&self, make: impl FnOnce(Post) -> Arc<M>) -> Arc<M> {
        let mut models = self.models.lock().expect("nothing panics under this lock");
        let stands = models
            .iter()
            .find_map(|model| Arc::clone(model).downcast::<M>().ok());
        stands.unwrap_or_else(|| {
            let model = make(self.post());
            models.push(Arc::clone(&model) as Arc<dyn Any + Send + Sync>);
            model
        })
    }

    /// The number of workers.
    pub fn worker_count(&self) -> usize {
        self.shared.worker_count()
    }

    /// How new chares that are in no array are spread over the workers.
    pub fn seed_policy(&self) -> SeedPolicy {
        self.seeds
    }

    /// What the workers' mailboxes are made of.
    pub fn mailbox(&self) -> MailboxKind {
        self.shared.post.kind
    }

    /// Where the workers run at the moment, and why there.
    pub fn plan(&self) -> Plan {
        self.shared.placing.plan()
    }

    /// True where placement is left to the runtime ([`Affinity::Auto`](raddle_topology::Affinity::Auto)): what runs on it may be moved
    /// when that pays.
    pub fn places_by_itself(&self) -> bool {
        self.shared.placing.is_auto()
    }

    /// Sends each worker to a CPU, or lets it go unbound (`None`), while all of them run.
    ///
    /// Each goes before the next message or task that it begins, so this returns before they are there; [`plan`](Self::plan) tells
    /// who is. Like a list of CPUs, this is obeyed where others have claimed the CPUs, and where workers share one. The order in
    /// which workers look for victims ([`VictimOrder::Near`](crate::VictimOrder)) stays as it was made.
    ///
    /// # Errors
    /// [`MoveError`] when there is not one place for each worker, or a CPU that this process cannot be bound to. Then nobody moves.
    ///
    /// # Examples
    /// ```
    /// use raddle_runtime::Runtime;
    /// use raddle_topology::Topology;
    ///
    /// let runtime = Runtime::builder().workers(1).build()?;
    /// let last = Topology::this_machine()?.allowed_cpus().last().expect("there is one").id;
    /// runtime.bind_workers(&[Some(last)])?;
    /// // The worker was told before it is asked for this.
    /// let topology = Topology::this_machine()?;
    /// assert_eq!(runtime.install(|| topology.this_thread_last_cpu())?, last);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bind_workers(&self, cpus: &[Option<CpuId>]) -> Result<(), MoveError> {
        self.post().move_workers(cpus)
    }

    /// What workers have sent each other so far, and taken from each other: bytes from one to the other.
    ///
    /// These are the messages and tasks themselves, with what their closures hold, not what that refers to. Substitutes are left out.
    ///
    /// # Examples
    /// ```
    /// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
    /// let post = runtime.post();
    /// let (done, is_done) = std::sync::mpsc::channel();
    /// runtime.post().send(0, move || post.send(1, move || done.send(()).expect("somebody listens")));
    /// is_done.recv()?;
    /// assert!(runtime.traffic().get(0, 1) > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn traffic(&self) -> Matrix {
        matrix_of(self.worker_count(), &self.shared.traffic.flows())
    }

    /// The counters of all workers so far.
    pub fn report(&self) -> Report {
        self.shared.report()
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tasks, blocking_calls) = self.shared.unfinished();
        formatter
            .debug_struct("Runtime")
            .field("workers", &self.worker_count())
            .field("pool", &self.shared.pool.name())
            .field("mailbox", &self.mailbox().name())
            .field("tasks", &tasks)
            .field("blocking_calls", &blocking_calls)
            .finish_non_exhaustive()
    }
}

/// Finds out, while no worker runs, what a process finds out once. A process that fork(2) makes of
/// this one has all of it then, and waits for no thread of its parent.
fn prepare_once() {
    prepare_waits();
    let _kept = reading_ns();
}

/// What a worker's thread needs to begin.
#[derive(Debug)]
struct WorkerThread {
    worker_index: usize,
    /// Started by a bound worker, of another runtime.
    inherits: bool,
    shared: Arc<Shared>,
    bound: mpsc::Sender<Result<(), BuildError>>,
}

impl WorkerThread {
    fn run(self) {
        // Nobody listens when another worker failed; then this one ends like all.
        let _ = self.bound.send(self.bind());
        drop(self.bound);
        run_worker(self.worker_index, self.shared);
    }

    fn bind(&self) -> Result<(), BuildError> {
        let begun = self.shared.placing.begin(self.worker_index, self.inherits);
        begun.map_err(|source: BindError| BuildError::Bind {
            worker_index: self.worker_index,
            source,
        })
    }
}
