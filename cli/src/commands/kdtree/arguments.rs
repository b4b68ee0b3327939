//! The command line of `raddle kdtree`, including the options of the message builder.

use std::num::NonZeroUsize;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use raddle::chare::SectionForm;
use raddle_graphics::kdtree::messages::{
    MessageOptions, NodeGrain, ScanChoice, SharedArrays, WorkerTasks,
};

use crate::arguments::InputArguments;
use crate::arguments::values::{self, DepthChoice};

pub(crate) const EXAMPLES: &str = "\
Examples:
  raddle kdtree dragon.ply.zst
  raddle kdtree dragon.ply.zst --builder sequential --depth 15 --repeat 5
  raddle kdtree --scene knot:100000 --check --json
  raddle kdtree dragon.ply.zst --builder messages --repeat 11
  raddle kdtree dragon.ply.zst --builder messages --grain 64 --worker-tasks static --sync two-level

--repeat sets the number of builds that are measured. With --builder messages, --grain tuned and
--repeat 2 or more, eight builds run before these, and are not measured: the tuner learns the best
grain from them. If a build takes less than 2 ms, the tuner also learns from the measured builds.";

/// The builder of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BuilderChoice {
    /// Builds the tree on one worker; options for more workers, tasks or messages need --check
    Sequential,
    /// Builds subtrees in tasks, which spread over the workers
    Tasks,
    /// Builds with node tasks and worker tasks that send each other messages
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

    /// Returns the builder of the second tree, with which `--check` compares the first.
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
    /// Builder of the tree
    #[arg(long, value_enum, default_value_t = BuilderChoice::Tasks)]
    pub(crate) builder: BuilderChoice,
    /// Largest depth of the tree: a number from 0 to 64; auto, which depends on the number of
    /// triangles; or none, which means 64
    #[arg(
        long,
        value_name = "LEVELS",
        default_value = "auto",
        allow_negative_numbers = true
    )]
    pub(crate) depth: DepthChoice,
    /// Build a second tree with the sequential builder (or with tasks, if --builder is sequential),
    /// and compare the two node by node
    #[arg(long)]
    pub(crate) check: bool,
    /// Build this many times and report median, smallest and largest time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::repeats)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) repeat: u32,
    #[command(flatten)]
    pub(crate) messages: MessageArguments,
}

/// The options of `--builder messages`.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options for --builder messages")]
pub(crate) struct MessageArguments {
    /// Number of node tasks into which the tree is divided; or tuned, which learns the best number
    /// from several builds (see below) [default: tuned]
    #[arg(long, value_name = "TASKS", value_parser = NodeGrain::from_str)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) grain: Option<NodeGrain>,
    /// Creation of worker tasks: in advance, for ranges of workers (static); or for each cell
    /// (dynamic) [default: dynamic]
    #[arg(long, value_name = "KIND", ignore_case = true, value_parser = worker_tasks_parser())]
    pub(crate) worker_tasks: Option<WorkerTasks>,
    /// Create a worker task for each N triangles of a cell, at most 64 per worker [default: only
    /// cells near the root have worker tasks]
    #[arg(long, value_name = "N", value_parser = values::triangle_count)]
    #[arg(allow_negative_numbers = true)]
    pub(crate) triangles_per_task: Option<NonZeroUsize>,
    /// Form in which node tasks call worker tasks and receive their answers; auto selects by the
    /// number of worker tasks, and two-level needs --worker-tasks static [default: auto]
    #[arg(long, value_name = "FORM", ignore_case = true, value_parser = sync_parser())]
    pub(crate) sync: Option<SectionForm>,
    /// Form of the scans (prefix sums) that compute where the share of each worker task begins
    /// [default: by-depth]
    #[arg(long, value_name = "FORM", ignore_case = true, value_parser = scans_parser())]
    pub(crate) scans: Option<ScanChoice>,
    /// Arrays that worker tasks share: in one piece, written at positions that scans compute
    /// (plain); or with a chunk for each worker task (chunked) [default: chunked]
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
    /// Returns the names of the options that were given.
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

    /// Returns the options, with defaults for those that were not given.
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
