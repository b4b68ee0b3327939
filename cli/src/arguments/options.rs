//! Options that several commands share. A command accepts only those that it honours.

use std::num::NonZeroUsize;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use raddle::{BlockShape, IdlePolicy, MailboxKind, PoolKind, TaskMemory};
use raddle_topology::Affinity;

use super::values;
use crate::error::CliError;

/// The heading of options for the output.
const OUTPUT: &str = "Output";

/// A command that starts workers: its own arguments, and the options for workers and output.
#[derive(Debug, Clone, Args)]
pub(crate) struct Running<A: Args> {
    /// What only this command knows.
    #[command(flatten)]
    pub(crate) arguments: A,
    /// What all commands with workers know.
    #[command(flatten)]
    pub(crate) options: Options,
}

/// Options of commands that start workers.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Options {
    /// The workers.
    #[command(flatten)]
    pub(crate) runtime: WorkerOptions,
    /// Print in one line how workers were placed, then which runs on which CPU, and why
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) show_binding: bool,
    /// Print the workers' counters at the end
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) stats: bool,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    /// Print only errors, and what other options ask for
    #[arg(short, long, help_heading = OUTPUT)]
    pub(crate) quiet: bool,
}

/// Options for the workers of a runtime.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Workers")]
pub(crate) struct WorkerOptions {
    /// Number of workers [default: as many as CPUs that may be used]
    #[arg(long, value_name = "N", value_parser = values::worker_count, allow_negative_numbers = true)]
    pub(crate) workers: Option<NonZeroUsize>,
    /// What keeps tasks until a worker asks: auto, deque, central, distributed, blocks, or another
    /// one that `raddle pools` lists [default: auto]
    #[arg(long, value_name = "NAME", ignore_case = true, hide_possible_values = true, value_parser = pool_parser())]
    pub(crate) pool: Option<PoolKind>,
    /// Tasks in a block and public blocks of a pool DQ-BL-* [default: 4x2]
    #[arg(long, value_name = "TASKSxBLOCKS")]
    pub(crate) blocks: Option<BlockShape>,
    /// Where workers run: auto, none, compact, scatter, or CPUs such as 0,2,4-7 [default: auto]
    #[arg(long, value_name = "WHERE")]
    pub(crate) affinity: Option<Affinity>,
    /// What a worker without work does [default: adaptive]
    #[arg(long, value_name = "POLICY", ignore_case = true, value_parser = idle_parser())]
    pub(crate) idle: Option<IdlePolicy>,
    /// Where the closures of tasks lie [default: cells]
    #[arg(long, value_name = "WHERE", ignore_case = true, value_parser = task_memory_parser())]
    pub(crate) task_memory: Option<TaskMemory>,
    /// Where messages for a worker wait [default: lock-free]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = mailbox_parser())]
    pub(crate) mailbox: Option<MailboxKind>,
}

impl WorkerOptions {
    /// Refuses options that have no effect on the pool that is named beside them.
    ///
    /// # Errors
    /// [`CliError::WrongCall`].
    pub(crate) fn check(&self) -> Result<(), CliError> {
        let Some(pool) = self.pool else {
            return Ok(());
        };
        let name = pool.name();
        // The pool `auto` has pools of both kinds among those that it chooses from.
        let has_no_blocks = pool != PoolKind::Auto && !name.starts_with("DQ-BL-");
        if self.blocks.is_some() && has_no_blocks {
            return Err(CliError::WrongCall {
                options: format!("--blocks --pool {name}"),
                reason: "this pool has no blocks; expected a pool DQ-BL-*, blocks or auto"
                    .to_owned(),
            });
        }
        Ok(())
    }
}

impl Options {
    /// Whether they describe the workers of one process, beyond where these run.
    pub(crate) const fn says_of_workers(&self) -> bool {
        let runtime = &self.runtime;
        runtime.workers.is_some()
            || runtime.pool.is_some()
            || runtime.blocks.is_some()
            || runtime.idle.is_some()
            || runtime.task_memory.is_some()
            || runtime.mailbox.is_some()
            || self.stats
    }
}

/// Options for the output of commands without workers.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = OUTPUT)]
pub(crate) struct OutputOptions {
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only errors, and what other options ask for
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl OutputOptions {
    /// The same beside no options for workers.
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
