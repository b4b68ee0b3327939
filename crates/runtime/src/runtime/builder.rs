//! The builder of runtimes: takes each setting from the program, the environment or the default.

use std::any::Any;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;

use raddle_topology::{Affinity, Claims, Plan, Topology};

use super::default::set_default;
use super::{Runtime, WorkerThread};
use crate::config::{
    BuildError, IdlePolicy, Seed, Setting, Settings, TaskMemory, from_environment,
};
use crate::mailbox::MailboxKind;
use crate::network::Network;
use crate::placing::{Claiming, Machine, Placed, place};
use crate::pool::{BlockShape, PoolKind, Setup};
use crate::threads::{Handlers, WorkerThreads};
use crate::worker::COMPENSATING_MAX;

/// The largest number of workers of a runtime. A larger number is taken for a mistake.
pub const WORKER_COUNT_MAX: usize = 1 << 12;
const AFFINITIES: &str = "auto, none, compact, scatter or a list of CPUs";

/// The settings of a new runtime: workers, placement, pool, idling, threads.
///
/// A setting that the program does not make is taken from the environment (`RADDLE_WORKERS`,
/// `RADDLE_AFFINITY`, `RADDLE_POOL`, `RADDLE_BLOCKS`, `RADDLE_IDLE`, `RADDLE_TASK_MEMORY`,
/// `RADDLE_MAILBOX`, `RADDLE_CLAIMS`, `RADDLE_SEED`). Without a variable the default is used: one
/// worker per CPU that the process may use, each bound to a CPU that no other process has claimed
/// ([`Affinity::Auto`]), the pool that adapts itself, adaptive idling.
///
/// # Variables of other runtimes
/// `RAYON_NUM_THREADS` and `OMP_NUM_THREADS` are not read, neither as the number of workers nor as
/// its upper bound. They are meant for other thread pools in the same process, and their values
/// often say nothing about this runtime: batch systems, process launchers and package managers set
/// `OMP_NUM_THREADS=1` so that libraries for linear algebra start no threads below a program that
/// is parallel already. Obeying it would silently make the program sequential. The limit that such
/// a variable protects is respected anyway: the default is one worker per CPU that the process may
/// use, according to its CPU mask and the limits of its control group. Set `RADDLE_WORKERS` for
/// another number. [`unknown_variables`](crate::unknown_variables) finds misspelt names.
///
/// # Examples
/// ```
/// use raddle_runtime::Runtime;
/// let runtime = Runtime::builder().workers(2).thread_name("render").build()?;
/// let (a, b) = runtime.install(|| raddle_runtime::join(|| 6, || 7));
/// assert_eq!(a * b, 42);
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder builds nothing until `build` is called"]
pub struct Builder {
    worker_count: Option<usize>,
    /// The number of processes of the program that share the machine.
    processes: Option<NonZeroUsize>,
    /// The index of this process among them.
    process_index: usize,
    affinity: Option<Affinity>,
    default_affinity: Affinity,
    claims: Option<Claims>,
    pool: Option<PoolKind>,
    blocks: Option<BlockShape>,
    idle: Option<IdlePolicy>,
    task_memory: Option<TaskMemory>,
    mailbox: Option<MailboxKind>,
    settings: Settings,
    thread_name: Option<String>,
    stack_bytes: Option<usize>,
    compensating_max: Option<usize>,
    handlers: Handlers,
    network: Option<Arc<dyn Network>>,
    uses_current_thread: bool,
}

/// The settings of a new runtime, all decided.
#[derive(Debug)]
pub(crate) struct ResolvedSettings {
    pub(crate) placed: Placed,
    pub(crate) pool: PoolKind,
    pub(crate) pool_setup: Setup,
    pub(crate) idle: IdlePolicy,
    pub(crate) task_memory: TaskMemory,
    pub(crate) mailbox: MailboxKind,
    pub(crate) settings: Settings,
    /// The number of CPUs for the workers.
    pub(crate) cpu_count: usize,
    pub(crate) threads: WorkerThreads,
    pub(crate) network: Option<Arc<dyn Network>>,
    /// The thread that builds the runtime becomes worker 0.
    pub(crate) uses_current_thread: bool,
}

impl Builder {
    /// Creates a builder that leaves everything to the environment and the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of workers.
    pub fn workers(mut self, worker_count: usize) -> Self {
        self.worker_count = Some(worker_count);
        self
    }

    /// Sets the number of processes of this program that share the machine. Without a number of
    /// workers, this process gets its share of the CPUs, and at least 1 worker.
    pub fn processes(mut self, processes: NonZeroUsize) -> Self {
        self.processes = Some(processes);
        self
    }

    /// Sets the index of this process among the [processes](Self::processes), from 0.
    ///
    /// With [`Affinity::Compact`], [`Affinity::Scatter`] and a list of CPUs, the processes before
    /// this one have the first places, each as many as this process has workers.
    pub fn process_index(mut self, process_index: usize) -> Self {
        self.process_index = process_index;
        self
    }

    /// Sets where workers run: chosen by the runtime, unbound, close together, far apart, or on
    /// listed CPUs.
    pub fn affinity(mut self, affinity: Affinity) -> Self {
        self.affinity = Some(affinity);
        self
    }

    /// Leaves the workers unbound unless [`affinity`](Self::affinity) or `RADDLE_AFFINITY` says
    /// where they run.
    ///
    /// Threads and processes that a task starts inherit the binding of its worker, and see a
    /// machine with one CPU. So this is for programs in which tasks start some.
    pub fn unbound_by_default(mut self) -> Self {
        self.default_affinity = Affinity::None;
        self
    }

    /// Sets the group of processes that see each other's bound workers. By default all processes
    /// are in one group.
    pub fn claims(mut self, claims: Claims) -> Self {
        self.claims = Some(claims);
        self
    }

    /// Sets the pool.
    pub fn pool(mut self, pool: PoolKind) -> Self {
        self.pool = Some(pool);
        self
    }

    /// Sets how block-distributed pools group tasks.
    pub fn blocks(mut self, blocks: BlockShape) -> Self {
        self.blocks = Some(blocks);
        self
    }

    /// Sets what workers do when there is no work.
    pub fn idle(mut self, idle: IdlePolicy) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Sets where the closures of tasks are stored.
    pub fn task_memory(mut self, task_memory: TaskMemory) -> Self {
        self.task_memory = Some(task_memory);
        self
    }

    /// Sets a setting of a programming model, such as the seed policy of chares.
    pub fn setting<S: Setting>(mut self, value: S) -> Self {
        self.settings.set(value);
        self
    }

    /// Sets the kind of the workers' mailboxes.
    pub fn mailbox(mut self, mailbox: MailboxKind) -> Self {
        self.mailbox = Some(mailbox);
        self
    }

    /// Sets the name of the worker threads, which is followed by `-` and the worker's index.
    ///
    /// The system keeps 15 bytes of a thread's name: a longer name is cut before the index.
    pub fn thread_name(mut self, name: impl Into<String>) -> Self {
        self.thread_name = Some(name.into());
        self
    }

    /// Sets the stack size of the worker threads. The default is that of the standard library.
    pub fn stack_bytes(mut self, stack_bytes: usize) -> Self {
        self.stack_bytes = Some(stack_bytes);
        self
    }

    /// Sets the largest number of compensating threads: additional workers, each in place of one
    /// that waits for a handle, a blocking call or another runtime. At most 1,024, the default.
    ///
    /// If more workers wait like this at the same time, one inside the other, the innermost call
    /// has no thread, and the program stands still: its waits end with a panic that says so.
    pub fn max_compensating_threads(mut self, max: usize) -> Self {
        self.compensating_max = Some(max);
        self
    }

    /// Makes the thread that builds the runtime its worker 0, for the rest of the thread's life.
    ///
    /// The thread runs open tasks ([`crate::open`]) while it waits for some, and nothing otherwise:
    /// messages to it, and what it forks, wait until then. Like the function of this name in rayon.
    pub fn use_current_thread(mut self) -> Self {
        self.uses_current_thread = true;
        self
    }

    /// Sets the network from which the workers receive messages of other nodes.
    pub fn network(mut self, network: Arc<dyn Network>) -> Self {
        self.network = Some(network);
        self
    }

    /// Sets a function that every worker thread calls with its index before its first task.
    ///
    /// Compensating threads call it as well; their indices are not below the number of workers.
    ///
    /// Like `start_handler` of rayon and `on_thread_start` of tokio.
    pub fn on_start(mut self, call: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.handlers.start = Some(Arc::new(call));
        self
    }

    /// Sets a function that every worker thread calls with its index after its last task.
    ///
    /// Like `exit_handler` of rayon and `on_thread_stop` of tokio.
    pub fn on_exit(mut self, call: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.handlers.exit = Some(Arc::new(call));
        self
    }

    /// Sets a function that gets the panic of a spawned task if no thread waits for its handle.
    ///
    /// A panic of the function itself is discarded.
    pub fn on_panic(mut self, call: impl Fn(Box<dyn Any + Send>) + Send + Sync + 'static) -> Self {
        self.handlers.panic = Some(Arc::new(call));
        self
    }

    /// Returns the number of workers that the runtime will have.
    ///
    /// # Errors
    /// [`BuildError`]: a bad environment variable, or a number of workers out of range.
    pub fn worker_count(&self) -> Result<usize, BuildError> {
        match self.worker_count {
            Some(count) => in_range(count),
            None => match worker_count_from_environment()? {
                Some(count) => Ok(count),
                None => in_range(self.share()?.max(1)),
            },
        }
    }

    /// Returns this process's share of the CPUs.
    fn share(&self) -> Result<usize, BuildError> {
        Ok(Topology::worker_count_here()? / self.processes.map_or(1, NonZeroUsize::get))
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// [`BuildError`]: a bad environment variable, a number of workers out of range, CPUs that the
    /// process may not use, or a system that refuses threads.
    ///
    /// # Panics
    /// If a [`Network`] lacks capacity for the workers and compensating threads.
    pub fn build(self) -> Result<Runtime, BuildError> {
        Runtime::start(self.resolve(Claiming::Claim)?, None)
    }

    /// Starts the workers on threads of the program. `start_thread` gets each worker, and arranges
    /// that some thread calls [`WorkerThread::run`].
    ///
    /// The threads have the names and stack sizes that `start_thread` chooses. Compensating threads
    /// are started as usual. Like `spawn_handler` of rayon.
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and the errors of `start_thread`. The workers that have
    /// started end then.
    ///
    /// # Panics
    /// As `build`; with the panic of `start_thread`.
    ///
    /// # Examples
    /// ```
    /// use std::thread;
    /// let runtime = raddle_runtime::Runtime::builder().workers(2).build_with(&mut |worker| {
    ///     let name = format!("painter {}", worker.worker_index());
    ///     thread::Builder::new().name(name).spawn(move || worker.run())?;
    ///     Ok(())
    /// })?;
    /// let name = runtime.install(|| thread::current().name().map(str::to_owned));
    /// assert!(name.is_some_and(|name| name.starts_with("painter")));
    /// # Ok::<(), raddle_runtime::BuildError>(())
    /// ```
    pub fn build_with(
        self,
        start_thread: &mut dyn FnMut(WorkerThread) -> io::Result<()>,
    ) -> Result<Runtime, BuildError> {
        Runtime::start(self.resolve(Claiming::Claim)?, Some(start_thread))
    }

    /// Starts the default runtime as [`build_default`](Self::build_default) does, on threads of the
    /// program as in [`build_with`](Self::build_with).
    ///
    /// # Errors
    /// Those of both functions.
    pub fn build_default_with(
        self,
        start_thread: &mut dyn FnMut(WorkerThread) -> io::Result<()>,
    ) -> Result<&'static Runtime, BuildError> {
        set_default(|| self.build_with(start_thread))
    }

    /// Starts the default runtime with these settings. To be called before its first use.
    ///
    /// Like `build_global` of rayon.
    ///
    /// # Errors
    /// Those of [`build`](Self::build), and [`BuildError::DefaultIsUp`].
    ///
    /// # Examples
    /// ```
    /// use raddle_runtime::{BuildError, Runtime, worker_count};
    ///
    /// // At the start of `main`, before any call that uses the default runtime.
    /// Runtime::builder().workers(2).build_default()?;
    /// assert_eq!(worker_count(), 2);
    /// let again = Runtime::builder().workers(3).build_default();
    /// assert!(matches!(again, Err(BuildError::DefaultIsUp)));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn build_default(self) -> Result<&'static Runtime, BuildError> {
        set_default(|| self.build())
    }

    /// Returns where the workers would run, without starting them or claiming CPUs.
    ///
    /// # Errors
    /// Those of [`build`](Self::build).
    pub fn plan(self) -> Result<Plan, BuildError> {
        Ok(self.resolve(Claiming::Look)?.placed.plan)
    }

    /// Decides all settings.
    pub(crate) fn resolve(self, claiming: Claiming) -> Result<ResolvedSettings, BuildError> {
        let (share, worker_count) = (self.share()?, self.worker_count()?);
        let thread_name = self.thread_name.unwrap_or_else(|| "raddle".to_owned());
        if thread_name.contains('\0') {
            return Err(BuildError::ThreadName { name: thread_name });
        }
        let workers = (self.process_index * worker_count, worker_count);
        let affinities = (self.affinity, self.default_affinity);
        let placed = resolve_place(affinities, self.claims, workers, claiming)?;
        let blocks = match self.blocks {
            Some(blocks) => blocks,
            None => from_environment("RADDLE_BLOCKS", BlockShape::EXPECTED)?.unwrap_or_default(),
        };
        let compensating_max = self
            .compensating_max
            .map_or(COMPENSATING_MAX, |max| max.min(COMPENSATING_MAX));
        let Seed(seed) = self.settings.get()?;
        let pool_setup = Setup::new(worker_count, compensating_max, blocks).with_seed(seed);
        let cpu_count = match placed.plan.shares_a_cpu() {
            true => share.min(worker_count - 1),
            false => share,
        };
        Ok(ResolvedSettings {
            placed,
            pool: match self.pool {
                Some(pool) => pool,
                None => from_environment("RADDLE_POOL", &PoolKind::expected())?.unwrap_or_default(),
            },
            pool_setup,
            idle: match self.idle {
                Some(idle) => idle,
                None => from_environment("RADDLE_IDLE", IdlePolicy::EXPECTED)?.unwrap_or_default(),
            },
            task_memory: match self.task_memory {
                Some(task_memory) => task_memory,
                None => from_environment("RADDLE_TASK_MEMORY", TaskMemory::EXPECTED)?
                    .unwrap_or_default(),
            },
            settings: self.settings,
            mailbox: match self.mailbox {
                Some(mailbox) => mailbox,
                None => {
                    from_environment("RADDLE_MAILBOX", MailboxKind::EXPECTED)?.unwrap_or_default()
                }
            },
            cpu_count,
            threads: WorkerThreads {
                name: thread_name,
                stack_bytes: self.stack_bytes,
                handlers: self.handlers,
            },
            network: self.network,
            uses_current_thread: self.uses_current_thread,
        })
    }
}

/// Computes the initial placement of `worker_count` workers, with `before` workers of other
/// processes before them. An error that an environment variable caused names the variable.
fn resolve_place(
    (affinity, default): (Option<Affinity>, Affinity),
    claims: Option<Claims>,
    (before, worker_count): (usize, usize),
    claiming: Claiming,
) -> Result<Placed, BuildError> {
    let claims = match claims {
        Some(claims) => claims,
        None => from_environment::<String>("RADDLE_CLAIMS", "the name of a group of processes")?
            .map_or_else(Claims::default, Claims::in_group),
    };
    let (affinity, variable) = match affinity {
        Some(affinity) => (affinity, None),
        None => match from_environment::<Affinity>("RADDLE_AFFINITY", AFFINITIES)? {
            Some(affinity) => (affinity, Some("RADDLE_AFFINITY")),
            None => (default, None),
        },
    };
    if affinity == Affinity::None {
        return Ok(Placed::unbound(worker_count, Machine::Unread, claims));
    }
    let topology = Topology::this_machine()?;
    let placed = place(topology, affinity, worker_count, before, claims, claiming);
    match variable {
        Some(name) => name_variable(name, placed),
        None => Ok(placed?),
    }
}

fn in_range(worker_count: usize) -> Result<usize, BuildError> {
    if (1..=WORKER_COUNT_MAX).contains(&worker_count) {
        Ok(worker_count)
    } else {
        Err(BuildError::WorkerCount {
            found: worker_count,
            max: WORKER_COUNT_MAX,
        })
    }
}

/// Reads `RADDLE_WORKERS`. All invalid values have the same error text.
fn worker_count_from_environment() -> Result<Option<usize>, BuildError> {
    /// A number of workers in the valid range.
    struct WorkerCount(usize);

    impl FromStr for WorkerCount {
        type Err = ();

        fn from_str(text: &str) -> Result<Self, ()> {
            let count = text.parse().map_err(drop)?;
            in_range(count).map(Self).map_err(drop)
        }
    }

    let expected = format!("a number from 1 to {WORKER_COUNT_MAX}");
    let count = from_environment::<WorkerCount>("RADDLE_WORKERS", &expected)?;
    Ok(count.map(|count| count.0))
}

/// Adds to an error the environment variable that caused it with a well-formed value.
fn name_variable<T, E: fmt::Display>(
    name: &'static str,
    result: Result<T, E>,
) -> Result<T, BuildError> {
    result.map_err(|error| BuildError::Environment {
        name,
        reason: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
