//! `raddle kdtree`: its options, and those of the builder by messages.

use std::num::NonZeroUsize;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use raddle::chare::SectionForm;
use raddle_graphics::kdtree::messages::{
    MessageOptions, NodeGrain, ScanChoice, SharedArrays, WorkerTasks,
};

use super::InputArguments;
use super::values::{self, DepthChoice};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle kdtree dragon.ply.zst
  raddle kdtree dragon.ply.zst --builder sequential --depth 15 --repeat 5
  raddle kdtree --scene knot:100000 --check --json
  raddle kdtree dragon.ply.zst --builder messages --repeat 11
  raddle kdtree dragon.ply.zst --builder messages --grain 64 --worker-tasks static --sync two-level

Times are those of the builds that --repeat counts. Where these are several, with --builder messages
and a tuned grain, eight others go before, which the tuner learns from; it goes on learning where a
build takes less than 2 ms. With a number for --grain there are none.";

/// Which builder makes the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BuilderChoice {
    /// The plain one, on one thread; --workers is for its --check alone
    Sequential,
    /// The one that spreads over the workers
    Tasks,
    /// The one whose node tasks and worker tasks send messages
    Messages,
}

impl BuilderChoice {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Tasks => "tasks",
            Self::Messages => "messages",
        }
    }

    /// The one to compare with.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Sequential => Self::Tasks,
            Self::Tasks | Self::Messages => Self::Sequential,
        }
    }
}

/// `raddle kdtree`.
#[derive(Debug, Clone, Args)]
pub(crate) struct KdtreeArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// Which builder
    #[arg(long, value_enum, default_value_t = BuilderChoice::Tasks)]
    pub(crate) builder: BuilderChoice,
    /// Depth limit: a number up to 64, auto (from the number of triangles) or none, where 64 is the most all the same
    #[arg(
        long,
        value_name = "LEVELS",
        default_value = "auto",
        allow_negative_numbers = true
    )]
    pub(crate) depth: DepthChoice,
    /// Build a second tree with the sequential builder (tasks, if that is the first) and compare node for node
    #[arg(long)]
    pub(crate) check: bool,
    /// Build so often and report median, smallest and largest time; builds that a tuned grain is learned from go before and do not count
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::repeats, allow_negative_numbers = true)]
    pub(crate) repeat: u32,
    #[command(flatten)]
    pub(crate) messages: MessageArguments,
}

/// What `--builder messages` may be told.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options for --builder messages")]
pub(crate) struct MessageArguments {
    /// Into how many node tasks the tree is cut, or tuned: what was best in 8 builds that go before where --repeat is 2 or more, and do not count [default: tuned]
    #[arg(long, value_name = "TASKS", value_parser = NodeGrain::from_str, allow_negative_numbers = true)]
    pub(crate) grain: Option<NodeGrain>,
    /// Worker tasks made beforehand over ranges of workers, or for each cell [default: dynamic]
    #[arg(long, value_name = "KIND", ignore_case = true, value_parser = worker_tasks_parser())]
    pub(crate) worker_tasks: Option<WorkerTasks>,
    /// One worker task for each N triangles of a cell, at most 64 a worker [default: only cells near the root have any]
    #[arg(long, value_name = "N", value_parser = values::triangle_count, allow_negative_numbers = true)]
    pub(crate) triangles_per_task: Option<NonZeroUsize>,
    /// How node tasks call worker tasks and these answer; auto goes by their number, two-level needs --worker-tasks static [default: auto]
    #[arg(long, value_name = "FORM", ignore_case = true, value_parser = sync_parser())]
    pub(crate) sync: Option<SectionForm>,
    /// How worker tasks learn what comes before their share [default: by-depth]
    #[arg(long, value_name = "FORM", ignore_case = true, value_parser = scans_parser())]
    pub(crate) scans: Option<ScanChoice>,
    /// One array, written at places that scans tell, or a chunk of each worker task [default: chunked]
    #[arg(long, value_name = "KIND", ignore_case = true, value_parser = arrays_parser())]
    pub(crate) arrays: Option<SharedArrays>,
}

fn worker_tasks_parser() -> impl TypedValueParser<Value = WorkerTasks> {
    PossibleValuesParser::new(WorkerTasks::ALL.map(WorkerTasks::name))
        .try_map(|name| name.parse::<WorkerTasks>())
}

fn sync_parser() -> impl TypedValueParser<Value = SectionForm> {
    PossibleValuesParser::new(SectionForm::ALL.map(SectionForm::name))
        .try_map(|name| name.parse::<SectionForm>())
}

fn scans_parser() -> impl TypedValueParser<Value = ScanChoice> {
    PossibleValuesParser::new(ScanChoice::ALL.map(ScanChoice::name))
        .try_map(|name| name.parse::<ScanChoice>())
}

fn arrays_parser() -> impl TypedValueParser<Value = SharedArrays> {
    PossibleValuesParser::new(SharedArrays::ALL.map(SharedArrays::name))
        .try_map(|name| name.parse::<SharedArrays>())
}

impl MessageArguments {
    /// The options that were given, by their names.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        [
            ("--grain", self.grain.is_some()),
            ("--worker-tasks", self.worker_tasks.is_some()),
            ("--triangles-per-task", self.triangles_per_task.is_some()),
            ("--sync", self.sync.is_some()),
            ("--scans", self.scans.is_some()),
            ("--arrays", self.arrays.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, is_given)| is_given.then_some(name))
        .collect()
    }

    /// What was asked for, and the defaults.
    pub(crate) fn options(&self) -> MessageOptions {
        let default = MessageOptions::default();
        MessageOptions {
            grain: self.grain.unwrap_or(default.grain),
            worker_tasks: self.worker_tasks.unwrap_or(default.worker_tasks),
            triangles_per_task: self
                .triangles_per_task
                .map(NonZeroUsize::get)
                .or(default.triangles_per_task),
            sync: self.sync.unwrap_or(default.sync),
            scans: self.scans.unwrap_or(default.scans),
            arrays: self.arrays.unwrap_or(default.arrays),
        }
    }
}
