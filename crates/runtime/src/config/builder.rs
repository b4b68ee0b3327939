//! The builder of runtimes.

use std::any::Any;
use std::env;
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::Arc;

use raddle_topology::{Affinity, Claims, Plan, PlanError, Topology};

use super::place::{Claiming, Placed, place};
use super::{BuildError, IdlePolicy, SeedPolicy, TaskMemory};
use crate::mailbox::MailboxKind;
use crate::network::Network;
use crate::pool::{BlockShape, PoolKind, Setup, VictimOrder};
use crate::runtime::Runtime;
use crate::task::{OnPanic, discard};
use crate::worker::{SUBSTITUTES_MAX, WorkerThreads};

/// The largest number of workers of a runtime: more are a mistake.
pub const WORKER_COUNT_MAX: usize = 1 << 12;
const AFFINITIES: &str = "auto, none, compact, scatter or a list of CPUs";

type OnThread = Arc<dyn Fn(usize) + Send + Sync>;

/// What a runtime calls on its threads; see [`Builder`].
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) start: Option<OnThread>,
    pub(crate) exit: Option<OnThread>,
    pub(crate) panic: Option<OnPanic>,
}

impl Handlers {
    /// Calls the start handler; its panic stays its own.
    pub(crate) fn call_start(&self, worker_index: usize) {
        call(self.start.as_deref(), worker_index);
    }

    /// Calls the exit handler; its panic stays its own.
    pub(crate) fn call_exit(&self, worker_index: usize) {
        call(self.exit.as_deref(), worker_index);
    }
}

fn call(handler: Option<&(dyn Fn(usize) + Send + Sync)>, worker_index: usize) {
    if let Some(handler) = handler {
        discard(catch_unwind(AssertUnwindSafe(|| handler(worker_index))));
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Handlers")
            .field("start", &self.start.is_some())
            .field("exit", &self.exit.is_some())
            .field("panic", &self.panic.is_some())
            .finish()
    }
}

/// How a runtime shall be: workers, places, pool, idling, threads.
///
/// What is not set is taken from the environment (`RADDLE_WORKERS`, `RADDLE_AFFINITY`, `RADDLE_POOL`,
/// `RADDLE_BLOCKS`, `RADDLE_VICTIMS`, `RADDLE_IDLE`, `RADDLE_TASK_MEMORY`, `RADDLE_MAILBOX`, `RADDLE_SEEDS`,
/// `RADDLE_CLAIMS`), and what is not there either is chosen: a worker per CPU that the process may use, each bound to a CPU that
/// nobody else has ([`Affinity::Auto`]), the pool that chooses itself, adaptive idling.
///
/// # Variables of other runtimes
/// `RAYON_NUM_THREADS` and `OMP_NUM_THREADS` are not read, neither as the number of workers nor as its upper bound. They speak to
/// other thread pools in the same process, and their value often says nothing of this runtime: batch systems, launchers of
/// processes and package managers set `OMP_NUM_THREADS=1` so that libraries for linear algebra start no threads below a program
/// that is parallel already. Here that would make the program sequential without a word. What such a variable is to protect
/// is respected anyway: the default is a worker per CPU that the process may use, by its CPU mask and the limits of its control group. Set
/// `RADDLE_WORKERS` for another number. [`unknown_variables`](crate::unknown_variables) finds misspelt names.
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
    /// So many processes share the machine.
    processes: Option<NonZeroUsize>,
    /// And this one is that of them.
    process_index: usize,
    affinity: Option<Affinity>,
    claims: Option<Claims>,
    pool: Option<PoolKind>,
    blocks: Option<BlockShape>,
    victims: Option<VictimOrder>,
    idle: Option<IdlePolicy>,
    task_memory: Option<TaskMemory>,
    mailbox: Option<MailboxKind>,
    seeds: Option<SeedPolicy>,
    thread_name: Option<String>,
    stack_bytes: Option<usize>,
    handlers: Handlers,
    network: Option<Arc<dyn Network>>,
}

/// A builder with everything decided.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) placed: Placed,
    pub(crate) pool: PoolKind,
    pub(crate) pool_setup: Setup,
    pub(crate) idle: IdlePolicy,
    pub(crate) task_memory: TaskMemory,
    pub(crate) mailbox: MailboxKind,
    pub(crate) seeds: SeedPolicy,
    pub(crate) crowded: bool,
    pub(crate) threads: WorkerThreads,
    pub(crate) network: Option<Arc<dyn Network>>,
}

impl Builder {
    /// A builder that leaves everything to the environment and the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of workers.
    pub fn workers(mut self, worker_count: usize) -> Self {
        self.worker_count = Some(worker_count);
        self
    }

    /// Says that so many processes of one program share the machine, of which this is one: where no number of workers is set, it is this one's share
    /// of the CPUs, and 1 at least.
    pub fn processes(mut self, processes: NonZeroUsize) -> Self {
        self.processes = Some(processes);
        self
    }

    /// Says which of the [processes](Self::processes) this is, from 0: by [`Affinity::Compact`], [`Affinity::Scatter`] and a list, those before it have the first
    /// places, each as many as it has workers.
    pub fn process_index(mut self, process_index: usize) -> Self {
        self.process_index = process_index;
        self
    }

    /// Sets where workers run: by themselves, not bound, close together, far apart, or on listed CPUs.
    pub fn affinity(mut self, affinity: Affinity) -> Self {
        self.affinity = Some(affinity);
        self
    }

    /// Sets the group of processes that see each other's bound workers; all that do not ask for another are in one.
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

    /// Sets in which order a worker looks through the others for work.
    pub fn victims(mut self, victims: VictimOrder) -> Self {
        self.victims = Some(victims);
        self
    }

    /// Sets what workers do when there is no work.
    pub fn idle(mut self, idle: IdlePolicy) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Sets where the closures of tasks lie.
    pub fn task_memory(mut self, task_memory: TaskMemory) -> Self {
        self.task_memory = Some(task_memory);
        self
    }

    /// Sets how new chares that are in no array are spread over the workers.
    pub fn seeds(mut self, seeds: SeedPolicy) -> Self {
        self.seeds = Some(seeds);
        self
    }

    /// Sets what the workers' mailboxes are made of.
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

    /// Sets the size of the worker threads' stacks; the standard library's default otherwise.
    pub fn stack_bytes(mut self, stack_bytes: usize) -> Self {
        self.stack_bytes = Some(stack_bytes);
        self
    }

    /// Has the workers hear of other nodes.
    pub fn network(mut self, network: Arc<dyn Network>) -> Self {
        self.network = Some(network);
        self
    }

    /// Sets what every worker thread calls with its index before its first task, as the worker that it is.
    ///
    /// So do substitutes, whose indices lie beyond the number of workers.
    pub fn on_start(mut self, call: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.handlers.start = Some(Arc::new(call));
        self
    }

    /// Sets what every worker thread calls with its index after its last task.
    pub fn on_exit(mut self, call: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.handlers.exit = Some(Arc::new(call));
        self
    }

    /// Sets what is called with the panic of a spawned task for whose handle nobody waits any more.
    ///
    /// A panic inside the handler itself is dropped.
    pub fn on_panic(mut self, call: impl Fn(Box<dyn Any + Send>) + Send + Sync + 'static) -> Self {
        self.handlers.panic = Some(Arc::new(call));
        self
    }

    /// How many workers there will be.
    ///
    /// # Errors
    /// [`BuildError`]: a bad environment variable, or a number of workers out of range.
    pub fn worker_count(&self) -> Result<usize, BuildError> {
        let topology = Topology::this_machine()?;
        match self.worker_count {
            Some(count) => in_range(count),
            None => match worker_count_from_environment()? {
                Some(count) => Ok(count),
                None => in_range(self.share_of(topology).max(1)),
            },
        }
    }

    /// This process's share of the CPUs.
    fn share_of(&self, topology: &Topology) -> usize {
        topology.worker_count_default() / self.processes.map_or(1, NonZeroUsize::get)
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// [`BuildError`]: a bad environment variable, a number of workers out of range, CPUs that the process may not use, or
    /// a system that gives no threads.
    /// # Panics
    /// When a [`Network`] has no room for the workers and their stand-ins.
    pub fn build(self) -> Result<Runtime, BuildError> {
        Runtime::start(self.settle(Claiming::Claim)?)
    }

    /// Starts the default runtime with these settings; to be called before anything uses it.
    ///
    /// # Errors
    /// As [`build`](Self::build), and [`BuildError::DefaultIsUp`].
    pub fn build_default(self) -> Result<&'static Runtime, BuildError> {
        crate::global::set_default(|| self.build())
    }

    /// Tells where the workers would run, without starting them or claiming CPUs.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn plan(self) -> Result<Plan, BuildError> {
        Ok(self.settle(Claiming::Look)?.placed.plan)
    }

    pub(crate) fn settle(self, claiming: Claiming) -> Result<Settled, BuildError> {
        let topology = Topology::this_machine()?;
        let (share, worker_count) = (self.share_of(topology), self.worker_count()?);
        let thread_name = self.thread_name.unwrap_or_else(|| "raddle".to_owned());
        if thread_name.contains('\0') {
            return Err(BuildError::ThreadName { name: thread_name });
        }
        let workers = (self.process_index * worker_count, worker_count);
        let placed = settle_place(self.affinity, self.claims, topology, workers, claiming)?;
        let blocks = match self.blocks {
            Some(blocks) => blocks,
            None => from_environment("RADDLE_BLOCKS", BlockShape::EXPECTED)?.unwrap_or_default(),
        };
        let victims = match self.victims {
            Some(victims) => victims,
            None => from_environment("RADDLE_VICTIMS", VictimOrder::EXPECTED)?.unwrap_or_default(),
        };
        let pool_setup = pool_setup(topology, &placed.plan, blocks, victims);
        let crowded = worker_count > share || placed.plan.shares_a_cpu();
        Ok(Settled {
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
            seeds: match self.seeds {
                Some(seeds) => seeds,
                None => from_environment("RADDLE_SEEDS", SeedPolicy::EXPECTED)?.unwrap_or_default(),
            },
            mailbox: match self.mailbox {
                Some(mailbox) => mailbox,
                None => {
                    from_environment("RADDLE_MAILBOX", MailboxKind::EXPECTED)?.unwrap_or_default()
                }
            },
            crowded,
            threads: WorkerThreads {
                name: thread_name,
                stack_bytes: self.stack_bytes,
                handlers: self.handlers,
            },
            network: self.network,
        })
    }
}

/// Where the workers shall begin, of which others come before them; a variable that asks for what cannot be is to blame.
fn settle_place(
    affinity: Option<Affinity>,
    claims: Option<Claims>,
    topology: &'static Topology,
    (before, worker_count): (usize, usize),
    claiming: Claiming,
) -> Result<Placed, BuildError> {
    let claims = match claims {
        Some(claims) => claims,
        None => from_environment::<String>("RADDLE_CLAIMS", "the name of a group of processes")?
            .map_or_else(Claims::default, Claims::in_group),
    };
    let place = |affinity| -> Result<Placed, PlanError> {
        place(topology, affinity, worker_count, before, claims, claiming)
    };
    match affinity {
        Some(affinity) => Ok(place(affinity)?),
        None => match from_environment::<Affinity>("RADDLE_AFFINITY", AFFINITIES)? {
            Some(affinity) => blame("RADDLE_AFFINITY", place(affinity)),
            None => Ok(place(Affinity::Auto)?),
        },
    }
}

/// What a pool has to know of the workers.
fn pool_setup(topology: &Topology, plan: &Plan, blocks: BlockShape, victims: VictimOrder) -> Setup {
    let setup = Setup::new(plan.entries.len(), SUBSTITUTES_MAX, blocks);
    match victims {
        VictimOrder::Permuted => setup,
        VictimOrder::Near => setup.near_first(|worker, victim| {
            let cpu = |worker_index: usize| plan.entries[worker_index].cpu;
            topology.distance(cpu(worker)?, cpu(victim)?)
        }),
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

/// Reads `RADDLE_WORKERS`. All wrong values have one text, be they no numbers or out of range.
fn worker_count_from_environment() -> Result<Option<usize>, BuildError> {
    /// A number of workers that is in range.
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

/// Says which variable brought a value that is well formed and still does not do.
fn blame<T, E: fmt::Display>(name: &'static str, result: Result<T, E>) -> Result<T, BuildError> {
    result.map_err(|error| BuildError::Environment {
        name,
        reason: error.to_string(),
    })
}

/// Reads a variable; an unset or empty one is none.
fn from_environment<T>(name: &'static str, expected: &str) -> Result<Option<T>, BuildError>
where
    T: FromStr,
{
    let Some(value) = env::var_os(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    value
        .to_str()
        .and_then(|text| text.trim().parse().ok())
        .map(Some)
        .ok_or_else(|| BuildError::Environment {
            name,
            reason: format!("found {value:?}; expected {expected}"),
        })
}

#[cfg(test)]
mod tests;
