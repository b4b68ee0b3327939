//! Options that several commands share. A command accepts only the options that it uses: those for
//! tasks if it has tasks, and that for mailboxes if it sends messages between workers.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use raddle::{BlockShape, IdlePolicy, MailboxKind, PoolKind, TaskMemory};
use raddle_topology::Affinity;

use super::values;
use crate::error::CliError;

/// The heading of the options for workers.
const WORKERS: &str = "Workers";
/// The heading of the options for the output.
const OUTPUT: &str = "Output";

/// The arguments of a command that starts workers, and the options for workers and output.
#[derive(Debug, Clone, Args)]
pub(crate) struct Running<A: Args, W: WorkOptions> {
    /// The arguments of this command alone.
    #[command(flatten)]
    pub(crate) arguments: A,
    /// The options of all commands with workers.
    #[command(flatten)]
    pub(crate) options: Options,
    /// The options that depend on whether the workers have tasks and messages.
    #[command(flatten)]
    pub(crate) work: W,
}

impl<A: Args, W: WorkOptions> Running<A, W> {
    /// Returns the options for workers and output, including those for tasks and messages.
    pub(crate) fn options(&self) -> Options {
        self.options.with(&self.work)
    }
}

/// Options for the work of workers, which not all commands with workers have.
pub(crate) trait WorkOptions: Args {
    /// Copies the options to `workers`.
    fn copy_to(&self, workers: &mut WorkerOptions);
}

/// The options of commands with tasks, such as joins and parallel loops.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = WORKERS)]
pub(crate) struct TaskOptions {
    /// Pool that holds the tasks: auto, deque, central, distributed, blocks, or another one that
    /// `raddle pools` lists [default: auto]
    #[arg(
        long,
        value_name = "NAME",
        ignore_case = true,
        hide_possible_values = true
    )]
    #[arg(value_parser = pool_parser())]
    pool: Option<PoolKind>,
    /// Shape of a pool DQ-BL-*: tasks per block, and number of public blocks [default: 4x2]
    #[arg(long, value_name = "TASKSxBLOCKS")]
    blocks: Option<BlockShape>,
}

impl WorkOptions for TaskOptions {
    fn copy_to(&self, workers: &mut WorkerOptions) {
        workers.pool = self.pool;
        workers.blocks = self.blocks;
    }
}

/// The option of commands in which workers send each other messages.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = WORKERS)]
pub(crate) struct MailboxOptions {
    /// Mailbox that holds the messages for a worker [default: lock-free]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = mailbox_parser())]
    mailbox: Option<MailboxKind>,
}

impl WorkOptions for MailboxOptions {
    fn copy_to(&self, workers: &mut WorkerOptions) {
        workers.mailbox = self.mailbox;
    }
}

/// The options of commands in which workers have tasks and send each other messages.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TaskAndMailboxOptions {
    #[command(flatten)]
    tasks: TaskOptions,
    #[command(flatten)]
    mailbox: MailboxOptions,
}

impl WorkOptions for TaskAndMailboxOptions {
    fn copy_to(&self, workers: &mut WorkerOptions) {
        self.tasks.copy_to(workers);
        self.mailbox.copy_to(workers);
    }
}

/// Options of commands that start workers.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Options {
    /// The workers.
    #[command(flatten)]
    pub(crate) runtime: WorkerOptions,
    /// Print how the workers were placed, then the CPU of each worker and the reason
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) show_binding: bool,
    /// Print the counters of the workers at the end
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) stats: bool,
    /// Record tasks, messages, waits and sections, and write them to this file: for Perfetto
    /// (https://ui.perfetto.dev), or for Chrome if its name ends in .json
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) trace: Option<PathBuf>,
    /// Print the result as one JSON object on one line, instead of text
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Print only errors, and output that other options ask for
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) quiet: bool,
}

/// Options for the workers of a runtime. The command line sets the fields without a name of an
/// option by [`WorkOptions`].
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = WORKERS)]
pub(crate) struct WorkerOptions {
    /// Number of workers [default: the number of CPUs that may be used]
    #[arg(long, value_name = "N", value_parser = values::worker_count)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) workers: Option<NonZeroUsize>,
    /// CPUs of the workers: auto, none, compact, scatter, or a list such as 0,2,4-7 [default: auto]
    #[arg(long, value_name = "WHERE")]
    pub(crate) affinity: Option<Affinity>,
    /// Behaviour of a worker without work [default: adaptive]
    #[arg(long, value_name = "POLICY", ignore_case = true, value_parser = idle_parser())]
    pub(crate) idle: Option<IdlePolicy>,
    /// Memory in which the closures of tasks and messages are allocated [default: cells]
    #[arg(long, value_name = "WHERE", ignore_case = true, value_parser = task_memory_parser())]
    pub(crate) task_memory: Option<TaskMemory>,
    /// The pool that holds the tasks.
    #[arg(skip)]
    pub(crate) pool: Option<PoolKind>,
    /// The shape of the blocks of a pool DQ-BL-*.
    #[arg(skip)]
    pub(crate) blocks: Option<BlockShape>,
    /// The mailbox that holds the messages for a worker.
    #[arg(skip)]
    pub(crate) mailbox: Option<MailboxKind>,
}

impl WorkerOptions {
    /// Refuses options that have no effect on the selected pool.
    ///
    /// # Errors
    /// [`CliError::WrongCall`], which names the option and the pool.
    pub(crate) fn check(&self) -> Result<(), CliError> {
        let in_environment = || std::env::var("RADDLE_POOL").ok()?.parse().ok();
        let (pool, selected_by) = match self.pool {
            Some(pool) => (pool, "--pool "),
            // A wrong value of the variable is reported when the workers start.
            None => (in_environment().unwrap_or_default(), "with RADDLE_POOL="),
        };
        let name = pool.name();
        // `auto` chooses between pools of both kinds.
        let has_no_blocks = pool != PoolKind::Auto && !name.starts_with("DQ-BL-");
        if self.blocks.is_some() && has_no_blocks {
            return Err(CliError::WrongCall {
                options: format!("--blocks {selected_by}{name}"),
                reason: "this pool has no blocks; expected a pool DQ-BL-*, blocks or auto"
                    .to_owned(),
            });
        }
        Ok(())
    }

    /// Returns the names of the given options that affect only tasks and messages. They have no
    /// effect on a command that starts no task and sends no message.
    pub(crate) fn for_tasks_and_messages(&self) -> Vec<&'static str> {
        [
            ("--pool", self.pool.is_some()),
            ("--blocks", self.blocks.is_some()),
            ("--idle", self.idle.is_some()),
            ("--task-memory", self.task_memory.is_some()),
            ("--mailbox", self.mailbox.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, is_given)| is_given.then_some(name))
        .collect()
    }
}

impl Options {
    /// Returns these options together with those for the work.
    pub(crate) fn with(&self, work: &impl WorkOptions) -> Self {
        let mut options = self.clone();
        work.copy_to(&mut options.runtime);
        options
    }

    /// Returns true if an option other than `--affinity` describes the workers of one process.
    pub(crate) fn describes_workers(&self) -> bool {
        let runtime = &self.runtime;
        runtime.workers.is_some() || !runtime.for_tasks_and_messages().is_empty() || self.stats
    }
}

/// The options for the output of commands without workers.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = OUTPUT)]
pub(crate) struct OutputOptions {
    /// Print the result as one JSON object on one line, instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only errors, and output that other options ask for
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl OutputOptions {
    /// Adds default options for the workers.
    pub(crate) fn options(&self) -> Options {
        Options {
            json: self.json,
            quiet: self.quiet,
            ..Options::default()
        }
    }
}

fn pool_parser() -> impl TypedValueParser<Value = PoolKind> {
    PossibleValuesParser::new(PoolKind::names()).try_map(|name| name.parse::<PoolKind>())
}

fn task_memory_parser() -> impl TypedValueParser<Value = TaskMemory> {
    PossibleValuesParser::new(TaskMemory::ALL.map(TaskMemory::name))
        .try_map(|name| name.parse::<TaskMemory>())
}

fn mailbox_parser() -> impl TypedValueParser<Value = MailboxKind> {
    PossibleValuesParser::new(MailboxKind::ALL.map(MailboxKind::name))
        .try_map(|name| name.parse::<MailboxKind>())
}

fn idle_parser() -> impl TypedValueParser<Value = IdlePolicy> {
    PossibleValuesParser::new(IdlePolicy::ALL.map(IdlePolicy::name))
        .try_map(|name| name.parse::<IdlePolicy>())
}
